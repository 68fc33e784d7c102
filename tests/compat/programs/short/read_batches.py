"""Reads many records at a time, by partition."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer


async def main() -> None:
    topic = f"short-{uuid.uuid4()}"
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        sent = [await producer.send(topic, b"%d" % n, partition=0) for n in range(1000)]
        await asyncio.gather(*sent)
    consumer = AIOKafkaConsumer(
        topic, bootstrap_servers=sys.argv[1], group_id=topic, auto_offset_reset="earliest"
    )
    async with consumer:
        total = 0
        while total < 1000:
            for records in (await consumer.getmany(timeout_ms=1000)).values():
                total += sum(int(record.value) >= 0 for record in records)
        print(total)


asyncio.run(main())
