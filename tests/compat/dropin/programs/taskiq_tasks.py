"""taskiq: a sender and a worker, with and without a group, and a topic of a task's own."""

import asyncio
import sys

from taskiq import InMemoryBroker
from taskiq.receiver import Receiver
from taskiq_aio_kafka import AioKafkaBroker

BOOTSTRAP, MARK, *GROUPS = sys.argv[1:]


async def tasks(group: str | None) -> None:
    broker = AioKafkaBroker(
        bootstrap_servers=BOOTSTRAP,
        kafka_topic=f"tq-{MARK}-{group}",
        kafka_topics=[f"tq-{MARK}-{group}-mail"],
    )
    broker.configure_consumer(group_id=group and f"tq-{MARK}-{group}", auto_offset_reset="earliest")
    broker.configure_producer(request_timeout_ms=20_000)
    done: asyncio.Queue[str] = asyncio.Queue()

    @broker.task
    async def add(one: int, other: int) -> None:
        await done.put(f"{one} and {other} are {one + other}")

    @broker.task_with_topic(f"tq-{MARK}-{group}-mail")
    async def mail(to: str) -> None:
        await done.put(f"mail to {to}")

    broker.is_worker_process = True
    await broker.startup()
    receiver = Receiver(broker, max_async_tasks=2, run_startup=False)
    finish = asyncio.Event()
    worker = asyncio.create_task(receiver.listen(finish))
    await add.kiq(1, 2)
    await add.kiq(3, other=4)
    await mail.kiq("ann")
    print(sorted([await asyncio.wait_for(done.get(), 20) for _ in range(3)]))
    finish.set()
    await asyncio.wait_for(worker, 20)
    await broker.shutdown()


async def main() -> None:
    assert InMemoryBroker
    for group in GROUPS or [None]:
        await tasks(group)


asyncio.run(main())
