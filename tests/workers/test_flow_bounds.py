"""Partitions are paused above their share, and resumed at half of it."""

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.workers import flow_bounds
from aiokafka_lite.workers.flow_bounds import FlowBounds
from aiokafka_lite.workers.work_queues import WorkQueues
from tests.workers.records import TP, queues, record_at, taken

OTHER = TopicPartition("t", 1)


def add(made: WorkQueues, tp: TopicPartition, count: int) -> None:
    work = made.partition(tp)
    begun = work.offsets.next_offset or 0
    first = begun + len(work.offsets)
    made.add(work, [record_at(first + n, b"k", tp=tp) for n in range(count)])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9)), max_size=80))
def test_the_bound_of_records_holds_and_nothing_stays_paused(steps: list[tuple[int, int]]) -> None:
    """The model: a poll returns at most `poll_limit` records of partitions that are not paused."""
    made = queues(order="unordered")
    works = [made.partition(TopicPartition("t", n)) for n in range(3)]
    bounds = FlowBounds(made, 30, 10**9)
    offsets = [0, 0, 0]
    for number, amount in steps:
        if number < 3:
            if works[number].is_paused:
                continue
            count = min(amount, bounds.poll_limit())
            records = [record_at(offsets[number] + n, tp=works[number].tp) for n in range(count)]
            offsets[number] += count
            made.add(works[number], records)
            bounds.to_pause([works[number]])
        for _ in range(amount if number == 3 else 0):
            item = made.take()
            if item is not None:
                made.finish(item)
                bounds.to_resume(item.partition)
        assert made.records <= 30
        assert bounds.paused == sum(work.is_paused for work in works)
    while (item := made.take()) is not None:
        made.finish(item)
        bounds.to_resume(item.partition)
    assert bounds.paused == 0
    assert not bounds.is_full
    assert bounds.poll_limit() == 10


def test_one_partition_with_its_share_is_paused_alone() -> None:
    made = queues()
    busy, quiet = made.partition(TP), made.partition(OTHER)
    bounds = FlowBounds(made, 100, 10_000)
    add(made, TP, 37)
    add(made, OTHER, 3)
    assert bounds.to_pause([busy, quiet]) == []
    assert bounds.poll_limit() == 13
    add(made, TP, 1)
    assert bounds.to_pause([busy, quiet]) == [busy]
    assert bounds.poll_limit() == 47
    while busy.records > 26:
        made.finish(taken(made))
        assert bounds.to_resume(busy) == []
    while busy.records > 25:
        made.finish(taken(made))
    assert bounds.to_resume(busy) == [busy]


def test_bytes_are_a_bound_and_polls_become_smaller_before() -> None:
    made = queues()
    work = made.partition(TP)
    bounds = FlowBounds(made, 100, 60)
    assert bounds.poll_limit() == 100
    add(made, TP, 4)  # six bytes each
    assert bounds.to_pause([work]) == []
    assert bounds.poll_limit() == 6
    add(made, TP, 6)
    assert bounds.to_pause([work]) == [work]
    assert bounds.is_full


def test_all_are_paused_when_they_are_full_together() -> None:
    made = queues(order="unordered")
    works = [made.partition(TopicPartition("t", n)) for n in range(20)]
    bounds = FlowBounds(made, 10, 10_000)
    for work in works[:10]:
        assert bounds.poll_limit() == 1
        add(made, work.tp, 1)
        assert work in bounds.to_pause([work])
    assert all(work.is_paused for work in works)
    for left in range(9, 5, -1):
        item = taken(made)
        made.finish(item)
        assert bounds.to_resume(item.partition) == [], left
    item = taken(made)
    made.finish(item)
    assert bounds.to_resume(item.partition) == [*works[:5], *works[10:]]
    assert not bounds.is_full


def test_a_record_that_does_not_end_pauses_its_partition_at_last() -> None:
    made = queues(order="unordered")
    work = made.partition(TP)
    bounds = FlowBounds(made, flow_bounds.MOST_TRACKED * 10, 10**9)
    add(made, TP, 1)
    taken(made)
    for _ in range(flow_bounds.MOST_TRACKED):
        add_one(made)
    assert bounds.to_pause([work]) == [work]


def add_one(made: WorkQueues) -> None:
    work = made.partition(TP)
    made.add(work, [record_at(work.offsets._known[-1] + 1)])
    made.finish(taken(made))


def test_partitions_that_are_gone_do_not_count_as_paused() -> None:
    made = queues()
    work = made.partition(TP)
    bounds = FlowBounds(made, 10, 10_000)
    add(made, TP, 10)
    bounds.to_pause([work])
    bounds.forget(made.forget(made.give_back([TP])))
    assert bounds.paused == 0
    assert bounds.to_resume() == []
    assert not bounds.is_full


def test_a_handler_that_ends_after_its_partition_is_gone_resumes_nothing() -> None:
    made = queues()
    work, other = made.partition(TP), made.partition(OTHER)
    bounds = FlowBounds(made, 100, 60)
    add(made, TP, 4)  # six bytes each
    assert bounds.to_pause([work]) == [work]
    bounds.forget(made.forget(made.give_back([TP])))
    assert other.is_paused is bounds.is_full is False
    assert bounds.to_resume(work) == []
    assert bounds.paused == 0


def test_a_partition_that_the_user_resumed_is_paused_again() -> None:
    made = queues()
    work = made.partition(TP)
    bounds = FlowBounds(made, 10, 10_000)
    add(made, TP, 8)
    assert bounds.to_pause([work]) == [work]
    add(made, TP, 1)
    assert bounds.to_pause([work]) == [work]
    assert bounds.paused == 1
