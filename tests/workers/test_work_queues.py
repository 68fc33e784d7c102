"""Which record is handled next: in order per key, and nothing of a partition that goes."""

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers.work_queues import WorkItem
from tests.workers.records import TP, filled, queues, record_at, taken

OTHER = TopicPartition("t", 1)


class Schedule:
    """A random schedule of adding, taking, finishing and failing, held against the rules."""

    def __init__(self, order: str, draw: Callable[..., Any]) -> None:
        self.queues = queues(order=order)
        self.added = {TP: 0, OTHER: 0}
        self._order = order
        self._draw = draw
        self._running: list[WorkItem] = []
        self._put_off: list[WorkItem] = []
        self._begun: dict[Any, list[int]] = defaultdict(list)

    def _chain(self, item: WorkItem) -> Any:
        tp = item.partition.tp
        chains = {"key": (tp, item.record.key), "partition": tp}
        return chains.get(self._order, (tp, item.record.offset))

    def add(self) -> None:
        tp = self._draw(st.sampled_from([TP, OTHER]))
        key = self._draw(st.sampled_from([None, b"a", b"b"]))
        self.queues.add(self.queues.partition(tp), [record_at(self.added[tp], key, tp=tp)])
        self.added[tp] += 1

    def take(self) -> None:
        item = self.queues.take()
        if item is None:
            return
        busy = [self._chain(each) for each in [*self._running, *self._put_off]]
        assert self._chain(item) not in busy
        begun = self._begun[self._chain(item)]
        if item.failures == 0:
            assert all(offset < item.record.offset for offset in begun)
            begun.append(item.record.offset)
        self._running.append(item)

    def finish(self) -> None:
        if self._running:
            place = self._draw(st.integers(0, len(self._running) - 1))
            self.queues.finish(self._running.pop(place))

    def fail(self) -> None:
        if self._running:
            item = self._running.pop()
            item.failures += 1
            assert self.queues.put_off(item)
            self._put_off.append(item)

    def again(self) -> None:
        if self._put_off:
            assert self.queues.again(self._put_off.pop(0))

    def cut(self) -> None:
        """The log is another one from here on: its records come anew, and wait for no old ones."""
        offset = self._draw(st.integers(0, self.added[TP]))
        dropped = self.queues.cut(TP, offset, {*self._running, *self._put_off})
        self.added[TP] = offset
        before = len(self._running)
        self._running, void = (
            [item for item in self._running if item.is_void is is_void] for is_void in (False, True)
        )
        assert dropped >= before - len(self._running)
        self._put_off = [item for item in self._put_off if not item.is_void]
        for item in void:
            self.queues.finish(item)
        for chain, begun in self._begun.items():
            if TP in (chain, chain[0]):
                self._begun[chain] = [each for each in begun if each < offset]

    def end(self) -> int:
        """Finish everything, and return how many records were begun."""
        while self._put_off:
            self.again()
        while self._running or self.queues.ready:
            self.take()
            while self._running:
                self.queues.finish(self._running.pop())
        return sum(map(len, self._begun.values()))


STEPS = st.lists(st.sampled_from(["add", "take", "finish", "fail", "again", "cut"]), max_size=80)


@given(order=st.sampled_from(["key", "partition", "unordered"]), steps=STEPS, data=st.data())
def test_each_record_comes_once_and_in_its_order(
    order: str, steps: list[str], data: st.DataObject
) -> None:
    schedule = Schedule(order, data.draw)
    for step in steps:
        getattr(schedule, step)()
    assert schedule.end() == sum(schedule.added.values())
    made = schedule.queues
    assert made.records == made.byte_count == 0
    for tp, work in made.partitions.items():
        assert work.offsets.next_offset == (schedule.added[tp] or None)
        assert not work.chains
        assert not work.running


def test_a_failed_record_keeps_its_key_waiting() -> None:
    made = queues()
    made.add(made.partition(TP), [record_at(0, b"a"), record_at(1, b"a"), record_at(2, b"b")])
    first = taken(made)
    assert made.put_off(first)
    assert taken(made).record.offset == 2
    assert made.take() is None
    assert made.again(first)
    assert taken(made) is first


def test_a_function_of_the_record_names_the_chain() -> None:
    made = queues(order=lambda record: record.offset % 2)
    made.add(made.partition(TP), [record_at(n) for n in range(4)])
    assert [taken(made).record.offset for _ in range(2)] == [0, 1]
    assert made.take() is None


def test_a_key_that_is_not_hashable_raises() -> None:
    made = queues()
    with pytest.raises(
        HandlerFailedError, match=r"order gives no key of .*-0 offset 3: TypeError\("
    ) as caught:
        made.add(made.partition(TP), [record_at(2, b"a"), record_at(3, ["a"])])
    assert (caught.value.topic_partition, caught.value.offset) == (TP, 3)
    made = queues(order=lambda record: record.offset // 0)
    with pytest.raises(HandlerFailedError, match="ZeroDivisionError"):
        made.add(made.partition(TP), [record_at(0)])


def test_a_partition_that_goes_starts_nothing_more() -> None:
    made = queues()
    made.add(made.partition(TP), [record_at(0, b"a"), record_at(1, b"a"), record_at(2, b"b")])
    made.add(made.partition(OTHER), [record_at(0, b"a", tp=OTHER)])
    running = taken(made)
    (leaving,) = made.give_back([TP])
    assert taken(made).partition.tp == OTHER
    assert made.take() is None
    made.finish(running)
    assert leaving.offsets.next_offset == 1
    assert leaving.running == 0
    assert made.forget([leaving]) == [leaving]
    assert made.forget([leaving]) == []
    assert made.records == 1
    assert made.byte_count == 6


def test_what_ends_after_its_partition_is_gone_does_not_count() -> None:
    made = filled(2)
    running = taken(made)
    leaving = made.give_back([TP])
    made.forget(leaving)
    again = made.partition(TP)
    made.add(again, [record_at(0, b"0")])
    made.finish(running)
    assert again.offsets.next_offset == 0
    assert made.records == 1
    assert not made.put_off(running)
    assert not made.again(running)


def test_an_item_says_where_it_stands() -> None:
    assert str(taken(filled(1))) == "t-0 offset 0"


def test_records_that_could_not_be_queued_keep_the_offset_before_them() -> None:
    made = queues()
    made.refuse({TP: [record_at(4), record_at(5)]})
    assert made.partition(TP).offsets.next_offset == 4
    assert made.take() is None


def test_a_partition_that_comes_back_waits_for_its_late_handlers() -> None:
    made = filled(3)
    first, second = taken(made), taken(made)
    made.forget(made.give_back([TP]))
    work = made.partition(TP)
    made.add(work, [record_at(n, b"%d" % n) for n in range(3)])
    assert (made.ready, work.records) == (0, 3)
    made.finish(first)
    assert made.ready == 0
    assert not made.put_off(second)
    assert [taken(made).record.offset for _ in range(3)] == [0, 1, 2]


def test_late_handlers_of_two_ownerships_hold_the_third_back() -> None:
    made = filled(1)
    first = taken(made)
    made.forget(made.give_back([TP]))
    between = made.partition(TP)
    made.add(between, [record_at(0, b"0")])
    made.forget(made.give_back([TP]))
    made.add(made.partition(TP), [record_at(0, b"0")])
    assert made.ready == 0
    made.put_off(first)
    assert made.ready == 1
    assert taken(made).partition is not between
