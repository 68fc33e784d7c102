"""Sends a record, and prints where it is."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaProducer


async def main() -> None:
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        sent = await producer.send_and_wait(f"short-{uuid.uuid4()}", b"order 1", partition=0)
        print(sent.partition, sent.offset)


asyncio.run(main())
