"""broadcaster: two subscribers of a channel read what is published afterwards."""

import asyncio
import sys

from aiokafka import AIOKafkaProducer
from broadcaster import Broadcast

BOOTSTRAP, MARK = sys.argv[1:]


async def main() -> None:
    channel = f"br-{MARK}"
    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP) as producer:
        await producer.send_and_wait(channel, b"before")
    async with Broadcast(f"kafka://{BOOTSTRAP}") as broadcast:

        async def read(ready: asyncio.Event) -> list[str]:
            found: list[str] = []
            async with broadcast.subscribe(channel=channel) as subscriber:
                ready.set()
                async for event in subscriber:
                    found.append(event.message)
                    if event.message == "last":
                        await asyncio.sleep(0.5)
                        return sorted(found)
            return found

        readers = []
        for _ in range(2):
            ready = asyncio.Event()
            readers.append(asyncio.create_task(read(ready)))
            await asyncio.wait_for(ready.wait(), 20)
        await asyncio.sleep(1)
        for message in ("hello", "again", "last"):
            await broadcast.publish(channel=channel, message=message)
            await asyncio.sleep(0.2)
        print(await asyncio.wait_for(asyncio.gather(*readers), 20))


asyncio.run(main())
