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
    assert watch.look([busy], 150.0) == ([], [(item, 50.0)], [])
    assert watch.look([busy], 152.5) == ([], [], []), "it is named once"
    busy.began_s = 150.0
    assert slow(160.0) == [10.0], "another attempt begins anew"


def test_a_bound_below_the_slow_one_still_holds() -> None:
    worker: Worker[WorkItem] = Worker()
    item = worker.item = taken(filled(1))
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 2.0)
    assert watch.look([worker], 2.0) == ([], [(item, 2.0)], [])


def test_a_process_that_stood_still_has_no_stuck_handlers() -> None:
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 50.0)
    worker: Worker[WorkItem] = Worker()
    item = worker.item = taken(filled(1))
    now_s = 0.0
    for _ in range(3):  # it is stopped for a minute, again and again
        watch.begin(now_s)
        now_s += 2.5 + 60.0
        assert watch.look([worker], now_s) == ([], [], [])
    while now_s < 180.0 + 47.5:
        watch.begin(now_s)
        now_s += 2.5
        assert not watch.look([worker], now_s).stuck
    watch.begin(now_s)
    assert watch.look([worker], now_s + 2.5).stuck == [(item, 50.0)], "it had as long to run"


def test_a_handler_that_would_be_stuck_gets_a_turn_after_a_pause() -> None:
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 4.0)
    worker: Worker[WorkItem] = Worker()
    item = worker.item = taken(filled(1))
    watch.begin(3.5)
    assert watch.look([worker], 10.0) == ([], [], []), "the pause began before the watch was due"
    watch.begin(10.0)
    assert [each for each, _ in watch.look([worker], 11.0).stuck] == [item]


def test_a_handler_that_began_behind_a_pause_has_its_whole_age() -> None:
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 4.0)
    worker: Worker[WorkItem] = Worker()
    item = worker.item = taken(filled(1))
    worker.began_s = 100.0
    watch.begin(1.0)
    assert watch.look([worker], 100.0) == ([], [], [])
    watch.begin(103.0)
    assert watch.look([worker], 104.0).stuck == [(item, 4.0)]


def test_what_waits_for_a_dead_letter_is_no_handler() -> None:
    watch: HandlerWatch[WorkItem] = HandlerWatch(10.0, 20.0)
    worker: Worker[WorkItem] = Worker()
    item = worker.item = taken(filled(1))
    worker.is_handling = False
    assert watch.look([worker], 10.0) == ([], [], [(item, 10.0)])
    assert watch.look([worker], 25.0) == ([], [], [(item, 25.0)])
