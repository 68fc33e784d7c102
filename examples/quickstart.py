"""Sends three records and reads them back: `python examples/quickstart.py [BOOTSTRAP]`.

Without an address it uses an embedded broker.
"""

import asyncio
import sys

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker


async def out_and_back(bootstrap_servers: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for number in range(3):
            ack = await producer.send("greetings", b"hello %d" % number, key=b"me")
            print("written at offset", (await ack).offset)

    async with AIOKafkaConsumer(
        "greetings", bootstrap_servers=bootstrap_servers, auto_offset_reset="earliest"
    ) as consumer:
        for partition, records in (await consumer.getmany(timeout_ms=5000)).items():
            for record in records:
                print("read", partition.topic, record.offset, record.value)


async def main() -> None:
    if len(sys.argv) > 1:
        await out_and_back(sys.argv[1])
        return
    async with EmbeddedBroker() as broker:
        await out_and_back(broker.bootstrap_servers)


if __name__ == "__main__":
    asyncio.run(main())
