"""The tasks of a pool: slow handlers are named by its watch, and stuck ones are told of."""

from collections import deque

import pytest

from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_loop import run_virtual
from aiokafka_lite.testing.virtual_network import VirtualNetwork
from aiokafka_lite.workers.handler_watch import HandlerWatch
from aiokafka_lite.workers.idle_workers import IdleWorkers
from aiokafka_lite.workers.pool_item import PoolItem
from aiokafka_lite.workers.pool_tasks import PoolTasks
from aiokafka_lite.workers.stop_request import StopRequest
from aiokafka_lite.workers.worker_pool import WorkerPool
from tests.share.records import record
from tests.share.share_kafka import TP


class Item:
    """The least that a pool needs."""

    def __init__(self, offset: int) -> None:
        self.record = record(offset)

    def __str__(self) -> str:
        return f"item {self.record.offset}"

    def why(self, error: BaseException) -> str:
        return repr(error)


class Queue:
    """Hands out items, and notes their outcomes."""

    def __init__(self, *items: Item) -> None:
        self._ready = deque(items)
        self.ended: list[object] = []

    @property
    def ready(self) -> int:
        return len(self._ready)

    def take(self) -> Item | None:
        return self._ready.popleft() if self._ready else None

    def put_off(self, item: Item) -> None:
        self.ended.append(item)

    def finished(self, item: Item, result: object) -> None:
        self.ended.append((item, result))

    async def failed(self, item: Item, error: BaseException) -> None:
        self.ended.append((item, error))


def _failure(item: PoolItem, what: str, _: BaseException) -> HandlerFailedError:
    return HandlerFailedError(f"{item} {what}", topic_partition=TP, offset=0)


def test_workers_work_and_the_watch_tells(caplog: pytest.LogCaptureFixture) -> None:
    async def main(clock: FakeClock, _: VirtualNetwork) -> None:
        one, two = Item(1), Item(2)
        queue, stop, told = Queue(one, two), StopRequest(), list[tuple[Item, float]]()

        async def handle(each: object) -> str:
            await clock.sleep(1 if each is one.record else 100)
            return "done"

        pool: WorkerPool[Item] = WorkerPool(
            2, handle, queue, queue, IdleWorkers(), stop, clock, _failure
        )
        watch: HandlerWatch[Item] = HandlerWatch(4.0, 12.0)
        tasks = PoolTasks("test", pool, watch, stop, clock, told.extend, _failure)
        await tasks.start()
        await clock.sleep(12.5)
        assert queue.ended == [(one, "done")]
        assert [item for item, _ in told] == [two]
        await tasks.close()
        assert queue.ended == [(one, "done"), two]
        assert stop.failure is None

    run_virtual(main)
    assert [text.split(" since")[0] for text in caplog.messages] == ["handler of item 2 works"] * 2
