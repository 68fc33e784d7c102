"""Reads a topic from its beginning to its end, without a group."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition


async def main() -> None:
    place = TopicPartition(f"short-{uuid.uuid4()}", 0)
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for number in range(10):
            await producer.send_and_wait(place.topic, b"%d" % number, partition=0)
    async with AIOKafkaConsumer(bootstrap_servers=sys.argv[1]) as consumer:
        consumer.assign([place])
        await consumer.seek_to_beginning(place)
        end = (await consumer.end_offsets([place]))[place]
        while await consumer.position(place) < end:
            print((await consumer.getone()).value)


asyncio.run(main())
