"""Slow handlers are named once until their age has doubled; stuck ones are told apart."""

from aiokafka_lite.workers.handler_watch import HandlerWatch
from aiokafka_lite.workers.work_queues import WorkItem
from aiokafka_lite.workers.worker_pool import Worker
from tests.workers.records import filled, taken


def test_slow_and_stuck_handlers() -> None:
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 50.0)
    assert watch.interval_s == 2.5
    idle: Worker[WorkItem] = Worker()
    busy: Worker[WorkItem] = Worker()
    item = busy.item = taken(filled(1))
    busy.began_s = 100.0

    def slow(now_s: float) -> list[float]:
        found = watch.look([idle, busy], now_s)
        assert all(each is item for each, _ in found.slow)
        assert not found.stuck
        return [age_s for _, age_s in found.slow]

    assert slow(109.9) == []
    assert slow(110.0) == [10.0]
    assert slow(119.9) == []
    assert slow(120.0) == [20.0]
    assert slow(139.0) == []
    assert watch.look([busy], 150.0) == ([], [(item, 50.0)])
    assert watch.look([busy], 152.5) == ([], []), "it is named once"
    busy.began_s = 150.0
    assert slow(160.0) == [10.0], "another attempt begins anew"


def test_a_bound_below_the_slow_one_still_holds() -> None:
    worker: Worker[WorkItem] = Worker()
    item = worker.item = taken(filled(1))
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 2.0)
    assert watch.look([worker], 2.0) == ([], [(item, 2.0)])
