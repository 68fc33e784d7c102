"""Is told of its partitions, by a listener."""

import asyncio
import sys
import uuid

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, ConsumerRebalanceListener


class Watch(ConsumerRebalanceListener):  # type: ignore[misc]
    async def on_partitions_revoked(self, revoked: object) -> None:
        print("revoked", len(list(revoked)))  # type: ignore[call-overload]

    async def on_partitions_assigned(self, assigned: object) -> None:
        print("assigned", len(list(assigned)))  # type: ignore[call-overload]


async def main() -> None:
    topic = f"short-{uuid.uuid4()}"
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        await producer.send_and_wait(topic, b"order 1", partition=0)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=sys.argv[1], group_id=topic, auto_offset_reset="earliest"
    )
    consumer.subscribe([topic], listener=Watch())
    async with consumer:
        print((await consumer.getone()).value)


asyncio.run(main())
