"""Reads again what was written since a time."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition


async def main() -> None:
    place = TopicPartition(f"short-{uuid.uuid4()}", 0)
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(5):
            await producer.send_and_wait(
                place.topic, b"%d" % number, partition=0, timestamp_ms=1_000_000 + number
            )
    async with AIOKafkaConsumer(bootstrap_servers=sys.argv[1]) as consumer:
        consumer.assign([place])
        found = await consumer.offsets_for_times({place: 1_000_003})
        consumer.seek(place, found[place].offset)
        print([(await consumer.getone()).value for _ in range(2)])


asyncio.run(main())
