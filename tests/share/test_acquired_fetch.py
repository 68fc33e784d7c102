"""Acquired offsets are decoded when they are taken; those without a record become gaps."""

import asyncio
from itertools import pairwise

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import RecordDeserializationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.serialization import NotPreparedError
from aiokafka_lite.share.acquired_fetch import AcquiredFetch
from aiokafka_lite.share.share_deserializer import ShareDeserializer

TP = TopicPartition("t", 0)
Taken = list[tuple[int, int, list[int], int]]


def batch(base_offset: int, count: int) -> bytes:
    builder = RecordBatchBuilder(bytearray(65_536))
    for number in range(count):
        assert builder.append(0, None, b"%d" % (base_offset + number)) == number
    builder.seal()
    return base_offset.to_bytes(8, "big") + bytes(builder.wire())[8:]


def fetch(
    data: bytes, *ranges: tuple[int, int, int], deserializer: ShareDeserializer | None = None
) -> AcquiredFetch:
    cursor = RecordCursor(data, topic="t", partition=0, fetch_offset=ranges[0][0])
    return AcquiredFetch(TP, 1, cursor, ranges, deserializer, expires_at_s=30.0)


def take_all(acquired: AcquiredFetch, room: int = 1000) -> Taken:
    taken: Taken = []
    while (portion := acquired.peek(room)) is not None:
        offsets = [record.offset for record in portion.records]
        counts = {record.delivery_count for record in portion.records}
        assert counts <= {portion.delivery_count}
        taken.append((portion.first, portion.last, offsets, portion.delivery_count))
        acquired.took()
    assert acquired.is_drained
    return taken


def test_only_acquired_records_are_taken() -> None:
    acquired = fetch(batch(0, 10), (2, 3, 1), (6, 7, 4))
    assert acquired.left() == [(2, 3), (6, 7)]
    assert take_all(acquired) == [(2, 3, [2, 3], 1), (6, 7, [6, 7], 4)]


def test_a_limit_divides_a_range() -> None:
    acquired = fetch(batch(0, 5), (0, 4, 1))
    first = acquired.peek(2)
    assert first is not None
    assert (first.first, first.last) == (0, 1)
    acquired.took()
    assert acquired.left() == [(2, 4)]
    assert take_all(acquired) == [(2, 4, [2, 3, 4], 1)]


def test_offsets_without_records_are_gaps_of_the_range() -> None:
    acquired = fetch(batch(0, 2) + batch(5, 2), (0, 9, 1))
    taken = take_all(acquired)
    assert [offset for _, _, offsets, _ in taken for offset in offsets] == [0, 1, 5, 6]
    assert taken[0][0] == 0
    assert taken[-1][1] == 9
    assert all(before[1] + 1 == after[0] for before, after in pairwise(taken))


def test_a_range_without_any_record() -> None:
    assert take_all(fetch(b"", (3, 4, 1))) == [(3, 4, [], 1)]


def test_a_long_range_is_taken_in_portions_without_a_hole() -> None:
    acquired = fetch(b"".join(batch(base, 100) for base in range(0, 1200, 100)), (0, 1199, 1))
    taken = take_all(acquired)
    assert [offset for _, _, offsets, _ in taken for offset in offsets] == list(range(1200))
    assert len(taken) > 1


def test_a_record_that_fails_ends_the_portion_and_the_rest_follows() -> None:
    def odd(value: bytes) -> int:
        if value == b"2":
            raise ValueError("two")
        return int(value)

    acquired = fetch(batch(0, 5), (0, 4, 1), deserializer=ShareDeserializer("t", 0, None, odd))
    portion = acquired.peek(1000)
    assert portion is not None
    assert acquired.deserialize(portion) is None
    assert [record.value for record in portion.records] == [0, 1]
    assert isinstance(portion.failure, RecordDeserializationError)
    assert portion.failure.offset == 2
    acquired.took()
    assert acquired.left() == [(3, 4)]
    rest = acquired.peek(1000)
    assert rest is not None
    assert acquired.deserialize(rest) is None
    assert [record.value for record in rest.records] == [3, 4]


async def test_a_cancelled_deserializer_goes_on_where_it_was() -> None:
    seen: list[bytes] = []
    go_on = asyncio.Event()

    async def slow(value: bytes) -> bytes:
        seen.append(value)
        if value == b"1":
            await go_on.wait()
        return value * 2

    acquired = fetch(batch(0, 3), (0, 2, 1), deserializer=ShareDeserializer("t", 0, None, slow))
    portion = acquired.peek(1000)
    assert portion is not None
    attempt = asyncio.create_task(acquired.deserialize_waiting(portion, SYSTEM_CLOCK))
    while seen != [b"0", b"1"]:
        await asyncio.sleep(0)
    attempt.cancel()
    await asyncio.wait([attempt])
    go_on.set()
    await acquired.deserialize_waiting(portion, SYSTEM_CLOCK)
    assert seen == [b"0", b"1", b"1", b"2"]
    assert [record.value for record in portion.records] == [b"00", b"11", b"22"]


async def test_a_smaller_poll_divides_what_is_deserialized() -> None:
    async def double(value: bytes) -> bytes:
        return value * 2

    acquired = fetch(batch(0, 3), (0, 2, 1), deserializer=ShareDeserializer("t", 0, None, double))
    portion = acquired.peek(1000)
    assert portion is not None
    await acquired.deserialize_waiting(portion, SYSTEM_CLOCK)
    small = acquired.peek(1)
    assert small is portion
    assert [record.value for record in small.records] == [b"00"]
    acquired.took()
    rest = acquired.peek(1000)
    assert rest is not None
    assert rest.done == 2
    await acquired.deserialize_waiting(rest, SYSTEM_CLOCK)
    assert [record.value for record in rest.records] == [b"11", b"22"]


def test_what_is_behind_a_failure_comes_before_the_part_that_a_smaller_poll_put_off() -> None:
    def odd(value: bytes) -> int:
        if value == b"1":
            raise ValueError("one")
        return int(value)

    acquired = fetch(batch(0, 5), (0, 4, 1), deserializer=ShareDeserializer("t", 0, None, odd))
    assert acquired.peek(1000) is not None  # its poll ends before anything is deserialized
    portion = acquired.peek(3)
    assert portion is not None
    assert acquired.deserialize(portion) is None
    assert portion.failure is not None
    acquired.took()
    assert acquired.left() == [(2, 2), (3, 4)]
    rest = []
    while (portion := acquired.peek(1000)) is not None:
        assert acquired.deserialize(portion) is None
        rest += [record.value for record in portion.records]
        acquired.took()
    assert rest == [2, 3, 4]


async def test_a_deserializer_may_have_to_be_prepared() -> None:
    class Prepared:
        is_ready = False

        async def prepare(self) -> None:
            self.is_ready = True

    preparation = Prepared()

    def value(data: bytes) -> int:
        if not preparation.is_ready:
            raise NotPreparedError("not yet", preparation.prepare)
        return int(data)

    acquired = fetch(batch(7, 1), (7, 7, 1), deserializer=ShareDeserializer("t", 0, None, value))
    portion = acquired.peek(1)
    assert portion is not None
    assert isinstance(acquired.deserialize(portion), NotPreparedError)
    await acquired.deserialize_waiting(portion, SYSTEM_CLOCK)
    assert acquired.deserialize(portion) is None
    assert portion.records[0].value == 7


def test_releasing_drops_everything() -> None:
    acquired = fetch(batch(0, 3), (0, 2, 1))
    assert acquired.peek(1) is not None
    acquired.release()
    assert acquired.is_drained
    assert acquired.peek(1) is None


@pytest.mark.parametrize("room", [1, 2, 7])
def test_any_limit_takes_everything_once(room: int) -> None:
    acquired = fetch(batch(0, 4) + batch(6, 4), (1, 2, 1), (3, 8, 2))
    taken = take_all(acquired, room)
    assert [offset for _, _, offsets, _ in taken for offset in offsets] == [1, 2, 3, 6, 7, 8]
    assert all(len(offsets) <= room for _, _, offsets, _ in taken)
