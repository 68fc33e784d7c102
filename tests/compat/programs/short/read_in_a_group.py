"""Reads records as a member of a group, by `async for`."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def main() -> None:
    topic = f"short-{uuid.uuid4()}"
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(10):
            await producer.send_and_wait(topic, b"%d" % number, partition=0)
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=sys.argv[1], group_id=topic, auto_offset_reset="earliest"
    )
    async with consumer:
        async for record in consumer:
            print(record.partition, record.offset, record.key, record.value)
            if record.value == b"9":
                break


asyncio.run(main())
