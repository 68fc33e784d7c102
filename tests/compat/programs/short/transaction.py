"""Moves records to another topic, with their offsets, in a transaction."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition


async def main() -> None:
    name = f"short-{uuid.uuid4()}"
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1], transactional_id=name) as producer:
        async with producer.transaction():
            await producer.send_and_wait(name, b"order 1", partition=0)
        consumer = AIOKafkaConsumer(
            name,
            bootstrap_servers=sys.argv[1],
            group_id=name,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
            enable_auto_commit=False,
        )
        async with consumer:
            record = await consumer.getone()
            async with producer.transaction():
                await producer.send(f"{name}-out", record.value.upper(), partition=0)
                place = TopicPartition(name, 0)
                await producer.send_offsets_to_transaction({place: record.offset + 1}, name)
            while not (stored := await consumer.committed(place)):
                await asyncio.sleep(0.05)  # a cluster ends transactions in the background
            print(record.value, stored)


asyncio.run(main())
