"""Sends values as JSON, with keys and headers, and waits for all together."""

import asyncio
import json
import sys
import uuid

from aiokafka import AIOKafkaProducer


async def main() -> None:
    options = {"bootstrap_servers": sys.argv[1], "compression_type": "gzip"}
    topic = f"short-{uuid.uuid4()}"
    async with AIOKafkaProducer(
        value_serializer=lambda value: json.dumps(value).encode(), **options
    ) as producer:
        sent = [
            await producer.send(topic, {"n": n}, key=b"ann", headers=[("from", b"shop")])
            for n in range(100)
        ]
        print([meta.offset for meta in await asyncio.gather(*sent)][-1])


asyncio.run(main())
