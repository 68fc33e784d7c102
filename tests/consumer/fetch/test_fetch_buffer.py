"""The queue completed_fetches and its book of unread bytes (A5, A7, A11)."""

from collections.abc import Callable
from functools import partial

import pytest

from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer import AnswerMemory, FetchBuffer
from aiokafka_lite.consumer.position.partition_state import FetchState, PartitionState
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.consumer.batches import batches, tps
from tests.support.reentry import ALL_WAYS

P0, P1 = tps(0, 1)


def fetch_of(tp: TopicPartition, size: int, node_id: int = 1) -> CompletedFetch:
    cursor = RecordCursor(batches(0, 1), topic=tp.topic, partition=tp.partition, fetch_offset=0)
    return CompletedFetch(tp, 0, node_id=node_id, cursor=cursor, size_in_bytes=size)


def test_fetches_stand_in_the_order_they_came() -> None:
    buffer = FetchBuffer()
    first, second = fetch_of(P1, 10), fetch_of(P0, 10)
    buffer.add(first)
    buffer.add(second)
    assert list(buffer) == [first, second]
    assert len(buffer) == 2


def test_a7_a_partition_is_buffered_until_its_last_fetch_is_gone() -> None:
    buffer = FetchBuffer()
    first, second = fetch_of(P0, 1), fetch_of(P0, 1)
    buffer.add(first)
    buffer.add(second)
    buffer.remove(first)
    assert buffer.is_buffered(P0)
    buffer.remove(second)
    assert not buffer.is_buffered(P0)
    assert not buffer.is_buffered(P1)


def test_a11_unread_bytes_are_counted_per_node() -> None:
    buffer = FetchBuffer()
    mine, theirs = fetch_of(P0, 100, node_id=1), fetch_of(P1, 30, node_id=2)
    buffer.add(mine)
    buffer.add(theirs)
    assert (buffer.unread_bytes(1), buffer.unread_bytes(2), buffer.unread_bytes(3)) == (100, 30, 0)
    buffer.remove(mine)
    assert buffer.unread_bytes(1) == 0


def test_a11_the_memory_of_an_answer_is_held_until_the_last_fetch_in_it_is_used_up() -> None:
    buffer = FetchBuffer()
    answer = AnswerMemory(1000)
    first, second = fetch_of(P0, 300), fetch_of(P1, 100)
    buffer.add(first, answer)
    buffer.add(second, answer)
    buffer.add(fetch_of(P0, 50))
    buffer.add(fetch_of(P1, 7, node_id=2))
    assert (buffer.held_bytes(1), buffer.held_bytes(2)) == (1050, 7)
    buffer.remove(first)
    assert buffer.held_bytes(1) == 1050
    buffer.set_aside(second, ValueError("bad"))
    assert (buffer.held_bytes(1), buffer.held_bytes(2)) == (50, 0), (
        "what was behind it is gone, too"
    )
    buffer.remove(second)
    assert buffer.held_bytes(1) == 50


def test_a11_what_is_left_of_answers_that_are_mostly_read_gets_memory_of_its_own() -> None:
    """And nothing else is copied, nothing twice."""
    buffer = FetchBuffer()
    read, unread = AnswerMemory(1000), AnswerMemory(1000)
    frame = bytearray(batches(0, 1))
    cursor = RecordCursor(memoryview(frame), topic="t", partition=0, fetch_offset=0)
    left = CompletedFetch(P0, 0, node_id=1, cursor=cursor, size_in_bytes=499)
    buffer.add(left, read)
    buffer.add(fetch_of(P1, 500), unread)
    for _ in range(2):
        buffer.copy_leftovers(1)
        assert buffer.held_bytes(1) == 499 + 1000
    frame.clear()  # BufferError while anything refers to it
    buffer.copy_leftovers(2)
    assert [record.offset for record in left.take(9)] == [0]
    buffer.remove(left)
    assert (buffer.held_bytes(1), buffer.unread_bytes(1)) == (1000, 500)


def test_removed_fetches_let_go_of_their_bytes() -> None:
    buffer = FetchBuffer()
    fetch = fetch_of(P0, 1)
    buffer.add(fetch)
    buffer.discard(lambda tp: tp == P0)
    assert len(buffer) == 0
    assert fetch.take(10) == []


def test_every_change_is_seen_in_the_revision() -> None:
    buffer = FetchBuffer()
    fetch = fetch_of(P0, 1)
    before = buffer.revision.number
    buffer.add(fetch)
    after_add = buffer.revision.number
    buffer.set_aside(fetch, ValueError())
    after_set_aside = buffer.revision.number
    buffer.remove(fetch)
    assert before < after_add < after_set_aside < buffer.revision.number


def test_a9_a11_a_fetch_set_aside_is_kept_for_its_error_and_its_bytes_do_not_count() -> None:
    buffer = FetchBuffer()
    fetch = fetch_of(P0, 10)
    buffer.add(fetch)
    error = ValueError()
    buffer.set_aside(fetch, error)
    assert list(buffer) == [fetch]
    assert fetch.error is error
    assert buffer.is_buffered(P0)
    assert (buffer.unread_bytes(1), fetch.size_in_bytes) == (0, 0)
    buffer.remove(fetch)
    assert buffer.unread_bytes(1) == 0


def test_room_is_made_newest_first_and_only_where_no_poll_can_make_it() -> None:
    """A paused partition keeps its data (KAFKA-7548), but does not stop its node's others."""
    buffer = FetchBuffer()
    old, new, other = fetch_of(P0, 60), fetch_of(P1, 60), fetch_of(P1, 500, node_id=2)
    for fetch in (old, new, other):
        buffer.add(fetch)
    assert buffer.make_room(1, 100, idle=lambda fetch: fetch is old) == []
    assert list(buffer) == [old, new, other]
    assert buffer.make_room(1, 100, idle=lambda _fetch: True) == [P1]
    assert list(buffer) == [old, other]


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("outer", ["add", "remove", "set_aside", "copy_leftovers", "next", "end"])
def test_a_seek_in_the_middle_leaves_nothing_behind(outer: str, way: str) -> None:
    """Nothing is counted for ever, and no node is left unread because of it (C1)."""
    state = PartitionState(P0, FetchState.FETCHING, offset=0)
    for place in range(1, 400):
        buffer = FetchBuffer()
        answer = AnswerMemory(1000)
        first, second = fetch_of(P0, 100), fetch_of(P0, 50)
        buffer.add(first, answer)
        buffer.add(second, answer)
        added = fetch_of(P0, 10)
        calls: dict[str, Callable[[], object]] = {
            "add": partial(buffer.add, added, answer),
            "remove": partial(buffer.remove, first),
            "set_aside": partial(buffer.set_aside, first, ValueError("bad")),
            "copy_leftovers": partial(buffer.copy_leftovers, 1),
            "next": partial(buffer.is_next, first),
            "end": partial(buffer.end_offset, state),
        }
        seek = partial(buffer.discard, lambda _: True)
        with ALL_WAYS[way](seek, after=place) as interruption:
            calls[outer]()
        assert interruption.error is None
        seek()
        assert (len(buffer), buffer.unread_bytes(1), buffer.held_bytes(1)) == (0, 0, 0)
        assert not buffer.is_buffered(P0)
        if not interruption.came:
            break
