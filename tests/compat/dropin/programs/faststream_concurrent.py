"""faststream-concurrent-aiokafka: handlers side by side, commits of what is done, in batches."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiokafka import AIOKafkaConsumer, TopicPartition
from faststream import AckPolicy, ContextRepo, FastStream
from faststream.kafka import KafkaBroker
from faststream_concurrent_aiokafka import (
    KafkaConcurrentProcessingMiddleware,
    initialize_concurrent_processing,
    stop_concurrent_processing,
)

BOOTSTRAP, MARK = sys.argv[1:]
TOPIC = f"fc-{MARK}"
broker = KafkaBroker(BOOTSTRAP, logger=None)
broker.add_middleware(KafkaConcurrentProcessingMiddleware)
running = most = 0
done: list[int] = []


@asynccontextmanager
async def lifespan(context: ContextRepo) -> AsyncIterator[None]:
    await initialize_concurrent_processing(
        context=broker.context,
        concurrency_limit=5,
        commit_batch_size=10,
        commit_batch_timeout_sec=0.5,
    )
    try:
        yield
    finally:
        await stop_concurrent_processing(broker.context)


app = FastStream(broker, logger=None, lifespan=lifespan)


@broker.subscriber(TOPIC, group_id=TOPIC, ack_policy=AckPolicy.MANUAL, auto_offset_reset="earliest")
async def handle(number: int) -> None:
    global running, most  # noqa: PLW0603
    running += 1
    most = max(most, running)
    await asyncio.sleep(0.05)
    running -= 1
    done.append(number)
    if len(done) == 30:
        asyncio.get_running_loop().call_later(1.5, app.exit)


async def main() -> None:
    async with KafkaBroker(BOOTSTRAP, logger=None) as sender:
        await sender.start()
        for number in range(30):
            await sender.publish(number, TOPIC, partition=0)
    await asyncio.wait_for(app.run(), 60)
    print(sorted(done) == list(range(30)), most)
    async with AIOKafkaConsumer(bootstrap_servers=BOOTSTRAP, group_id=TOPIC) as consumer:
        print(await consumer.committed(TopicPartition(TOPIC, 0)))


asyncio.run(main())
