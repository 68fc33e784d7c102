"""amgi: an application of AsyncFast's kind on its Kafka server, with and without a group."""

import asyncio
import sys
from typing import Any

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from amgi_aiokafka import Server

BOOTSTRAP, MARK = sys.argv[1:]


async def serve(group: str | None) -> None:
    topic, replies = f"am-{MARK}-{group}", f"am-{MARK}-{group}-replies"
    handled: asyncio.Queue[str] = asyncio.Queue()
    started = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "lifespan":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            started.set()
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
            return
        await send(
            {
                "type": "message.send",
                "address": replies,
                "headers": [(b"from", b"app")],
                "payload": b"re: " + scope["payload"],
            }
        )
        await send({"type": "message.ack"})
        await handled.put(scope["payload"].decode())

    async with AIOKafkaProducer(bootstrap_servers=BOOTSTRAP) as producer:
        await producer.send_and_wait(topic, b"before the start", partition=0)
        server = Server(
            app,
            topic,
            bootstrap_servers=BOOTSTRAP,
            group_id=group and f"am-{MARK}-{group}",
            auto_offset_reset="earliest" if group else "latest",
        )
        serving = asyncio.create_task(server.serve())
        await asyncio.wait_for(started.wait(), 20)
        for number in range(3):
            await producer.send_and_wait(topic, f"order {number}".encode(), partition=0)
    expected = 4 if group else 3
    print(group, [await asyncio.wait_for(handled.get(), 20) for _ in range(expected)])
    await asyncio.sleep(0.3)
    server.stop()
    await asyncio.wait_for(serving, 20)
    reader = AIOKafkaConsumer(
        replies,
        bootstrap_servers=BOOTSTRAP,
        group_id=group and f"am-{MARK}-{group}",
        auto_offset_reset="earliest",
    )
    async with reader:
        print(sorted([(await reader.getone()).value.decode() for _ in range(expected)]))
        if group:
            print("stored", await reader.committed(TopicPartition(topic, 0)))


async def main() -> None:
    await serve("group")
    await serve(None)


asyncio.run(main())
