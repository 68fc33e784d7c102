"""Commits after each record, and begins there the next time."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def main() -> None:
    topic = f"short-{uuid.uuid4()}"
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(4):
            await producer.send_and_wait(topic, b"%d" % number, partition=0)
    for _ in range(2):
        consumer = AIOKafkaConsumer(
            topic,
            bootstrap_servers=sys.argv[1],
            group_id=topic,
            auto_offset_reset="earliest",
            enable_auto_commit=False,
        )
        async with consumer:
            for _ in range(2):
                print((await consumer.getone()).value)
                await consumer.commit()


asyncio.run(main())
