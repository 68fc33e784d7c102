"""What a poll hands out: A5, A6, A8, A9, and that nothing is ever lost, repeated or disordered."""

from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.arrow.record_columns import RecordColumnsBuilder
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.fetch import (
    _decoded_records_py,
    completed_fetch,
    decoded_records,
)
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector import FetchCollector
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    OffsetResetStrategy,
    SubscriptionState,
)
from aiokafka_lite.errors import (
    CorruptRecordException,
    KafkaError,
    RecordDeserializationError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.cursor.record_deserializer import RecordDeserializer
from aiokafka_lite.serialization import AnyDeserializer, NotPreparedError
from tests.consumer.batches import batches, marker, of_epoch, tps, with_bad_crc
from tests.support.twins import native_twin

P0, P1, P2 = tps(0, 1, 2)
ALL = 10_000


class Bench:
    """A collector with its subscription and buffer; partitions stand at offset 0."""

    def __init__(self, *partitions: TopicPartition) -> None:
        self.subscription = SubscriptionState(OffsetResetStrategy.EARLIEST)
        self.subscription.assign_from_user(partitions)
        for tp in partitions:
            self.subscription.seek(tp, 0)
        self.buffer = FetchBuffer(self.subscription.revision)
        self.collector = FetchCollector(self.subscription, self.buffer)
        self.collector.may_decode_on = lambda: True

    def add(
        self,
        tp: TopicPartition,
        data: bytes,
        at: int = 0,
        leader: LeaderAndEpoch | None = None,
        value_deserializer: AnyDeserializer[Any] | None = None,
    ) -> None:
        cursor = RecordCursor(data, topic=tp.topic, partition=tp.partition, fetch_offset=at)
        deserializer = None
        if value_deserializer is not None:
            deserializer = RecordDeserializer(tp.topic, tp.partition, None, value_deserializer)
        fetch = CompletedFetch(
            tp,
            at,
            node_id=1,
            cursor=cursor,
            deserializer=deserializer,
            size_in_bytes=len(data),
            leader=leader,
        )
        self.buffer.add(fetch)

    def fail(self, tp: TopicPartition, error: KafkaError) -> None:
        self.buffer.add(CompletedFetch(tp, self.position(tp), node_id=1, error=error))

    def poll(
        self, max_records: int = ALL, *partitions: TopicPartition
    ) -> dict[TopicPartition, list[int]]:
        self.collector.begin_poll()
        collected = self.collector.collect(max_records, partitions)
        return {tp: [record.offset for record in records] for tp, records in collected.items()}

    def one(self, *partitions: TopicPartition) -> tuple[TopicPartition, int] | None:
        record = None if partitions else self.collector.decoded.take()
        if record is None:
            self.collector.begin_poll()
            record = self.collector.collect_one(partitions)
        if record is None:
            return None
        return TopicPartition(record.topic, record.partition), record.offset

    def processed(self) -> dict[TopicPartition, int]:
        """What auto-commit would store."""
        self.collector.settle()
        return {tp: offset for tp, (offset, _) in self.subscription.processed().items()}

    def position(self, tp: TopicPartition) -> int:
        position = self.subscription.assigned(tp).position
        assert position is not None
        return position


def not_bad(data: bytes) -> str:
    if data == b"v3":
        raise ValueError("v3 is bad")
    return data.decode()


# Table 1 and its rules…


def test_table_1_ten_buffered_partitions_are_returned_one_after_the_other() -> None:
    partitions = tps(*range(10))
    bench = Bench(*partitions)
    for tp in partitions:
        bench.add(tp, batches(0, 1000))
    for poll in range(1, 10):
        assert bench.poll(100) == {P0: list(range((poll - 1) * 100, poll * 100))}
        assert bench.subscription.queue() == tuple(partitions)
        assert [fetch.topic_partition for fetch in bench.buffer] == partitions
    assert bench.poll(100) == {P0: list(range(900, 1000))}
    assert [fetch.topic_partition for fetch in bench.buffer] == partitions[1:]
    assert not bench.buffer.is_buffered(P0), "P0 is free from now on"
    bench.add(P0, batches(1000, 4), at=1000)
    assert bench.poll(100) == {P1: list(range(100))}
    assert [fetch.topic_partition for fetch in bench.buffer] == [*partitions[1:], P0]
    assert bench.subscription.queue() == (*partitions[1:], P0)


def test_a5_the_rest_is_returned_first_by_later_polls() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 3))
    assert bench.poll(2) == {P0: [0, 1]}
    bench.add(P1, batches(0, 3))
    assert bench.poll(2) == {P0: [2], P1: [0]}
    assert bench.poll(2) == {P1: [1, 2]}
    assert bench.poll(2) == {}


def test_a5_a_full_poll_leaves_what_the_next_fetch_has_decoded_ahead() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 3))
    bench.add(P1, batches(0, 4))
    assert bench.one(P1) == (P1, 0)
    assert bench.poll(3) == {P0: [0, 1, 2]}
    assert bench.poll(3) == {P1: [1, 2, 3]}


def test_a6_position_and_fetch_agree_after_each_poll() -> None:
    bench = Bench(P0)
    bench.add(P0, batches(0, 4, 4))
    for expected in (3, 6, 8):
        bench.poll(3)
        assert bench.position(P0) == expected
        for fetch in bench.buffer:
            assert fetch.next_offset == expected


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a6_2b_14_the_epoch_of_the_position_is_that_of_the_last_record(one_by_one: bool) -> None:
    bench = Bench(P0)
    bench.add(P0, of_epoch(7, batches(0, 2)) + of_epoch(8, batches(2, 2)))
    epochs = []
    for _ in range(2):
        for _ in range(2):
            _ = bench.one() if one_by_one else bench.poll(1)
        epochs.append(bench.subscription.assigned(P0).offset_epoch)
    assert epochs == ([8, 8] if one_by_one else [7, 8]), "8 was decoded ahead, and has all of 7"


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a6_e4_the_position_follows_past_a_marker_even_if_an_error_comes_behind_it(
    one_by_one: bool,
) -> None:
    bench = Bench(P0)
    bench.add(P0, marker(0) + with_bad_crc(batches(1, 3)))
    with pytest.raises(CorruptRecordException):
        _ = bench.one() if one_by_one else bench.poll()
    assert bench.position(P0) == 1
    assert bench.collector.standing_error() is not None


@pytest.mark.parametrize("change", ["seek", "reset", "unassign", "reassign"])
def test_a6_a_fetch_that_does_not_fit_the_position_is_dropped_without_a_word(change: str) -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 4))
    bench.add(P1, batches(0, 2))
    bench.poll(1)
    subscription = bench.subscription
    if change == "seek":
        subscription.seek(P0, 3)
    elif change == "reset":
        subscription.await_reset(P0, OffsetResetStrategy.LATEST)
    else:
        subscription.assign_from_user([P1])
    if change == "reassign":
        subscription.assign_from_user([P0, P1])
        subscription.seek(P0, 9)
    assert bench.poll() == {P1: [0, 1]}
    assert len(bench.buffer) == 0


def test_a8_a_used_up_partition_goes_to_the_end() -> None:
    bench = Bench(P0, P1, P2)
    bench.add(P0, batches(0, 2))
    bench.poll(1)
    assert bench.subscription.queue() == (P0, P1, P2)
    bench.poll(1)
    assert bench.subscription.queue() == (P1, P2, P0)


def test_a9_records_of_one_partition_out_of_two_fetches_are_joined_in_order() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 3))
    bench.add(P1, batches(0, 1))
    bench.add(P0, batches(3, 3), at=3)
    assert bench.poll() == {P0: [0, 1, 2, 3, 4, 5], P1: [0]}


def test_a_fetch_answered_twice_is_returned_once() -> None:
    """After a leader moved, the old and the new leader may both have answered."""
    bench = Bench(P0)
    bench.add(P0, batches(0, 3))
    bench.add(P0, batches(0, 3))
    assert bench.poll() == {P0: [0, 1, 2]}
    assert len(bench.buffer) == 0


# Errors, and the records before them (A9)…


def test_a9_an_error_with_nothing_before_it_is_raised() -> None:
    bench = Bench(P0)
    bench.add(P0, with_bad_crc(batches(0, 3)))
    with pytest.raises(CorruptRecordException) as caught:
        bench.poll()
    assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("t", 0, 0)
    assert bench.position(P0) == 0


def test_a9_records_of_other_partitions_come_before_the_error() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 2))
    bench.add(P1, with_bad_crc(batches(0, 3)))
    assert bench.poll() == {P0: [0, 1]}
    with pytest.raises(CorruptRecordException):
        bench.poll()


def test_a9_records_of_the_same_partition_come_before_the_error() -> None:
    bench = Bench(P0)
    bench.add(P0, batches(0, 6), value_deserializer=not_bad)
    assert bench.poll() == {P0: [0, 1, 2]}
    with pytest.raises(RecordDeserializationError) as caught:
        bench.poll()
    assert caught.value.offset == 3
    assert caught.value.value_bytes == b"v3"
    assert bench.position(P0) == 3


def test_a9_a_fetch_that_failed_without_data_is_removed_and_blocks_nothing() -> None:
    bench = Bench(P0, P1)
    bench.fail(P0, TopicAuthorizationFailedError("no"))
    bench.add(P1, batches(0, 2))
    with pytest.raises(TopicAuthorizationFailedError):
        bench.poll()
    assert not bench.buffer.is_buffered(P0)
    assert bench.poll() == {P1: [0, 1]}


def test_a9_a_failure_behind_records_waits_for_the_next_poll() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 2))
    bench.fail(P1, TopicAuthorizationFailedError("no"))
    assert bench.poll() == {P0: [0, 1]}
    assert bench.buffer.is_buffered(P1)
    with pytest.raises(TopicAuthorizationFailedError):
        bench.poll()


def test_a9_after_it_was_raised_a_bad_partition_stands_aside() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, with_bad_crc(batches(0, 3)))
    with pytest.raises(CorruptRecordException):
        bench.poll()
    bench.add(P1, batches(0, 2))
    assert bench.poll() == {P1: [0, 1]}
    assert bench.poll() == {}, "raising it again is the poll's decision"
    assert isinstance(bench.collector.standing_error(), CorruptRecordException)
    assert bench.position(P0) == 0
    assert bench.buffer.is_buffered(P0), "it is not asked for again"


@pytest.mark.parametrize("one_by_one", [True, False])
def test_a9_standing_aside_frees_the_bytes_and_goes_to_the_end_of_the_queue(
    one_by_one: bool,
) -> None:
    """Data that cannot be read on keeps no other partition from a fetch (2b-16, A11)."""
    bench = Bench(P0, P1)
    bench.add(P0, with_bad_crc(batches(0, 3)))
    before = bench.subscription.revision.number
    with pytest.raises(CorruptRecordException):
        _ = bench.one() if one_by_one else bench.poll()
    assert bench.buffer.unread_bytes(1) == 0
    assert bench.subscription.revision.number > before, "the next fetch has to be planned anew"
    assert bench.subscription.queue() == (P1, P0)
    assert bench.buffer.is_buffered(P0)
    assert isinstance(bench.collector.standing_error(), CorruptRecordException)


@pytest.mark.parametrize("way_out", ["seek", "unassign"])
def test_a9_a_seek_or_the_end_of_the_assignment_ends_the_error(way_out: str) -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 6), value_deserializer=not_bad)
    bench.poll()
    with pytest.raises(RecordDeserializationError):
        bench.poll()
    if way_out == "seek":
        bench.subscription.seek(P0, 4)
    else:
        bench.subscription.assign_from_user([P1])
    assert bench.poll() == {}
    assert bench.collector.standing_error() is None


def test_a9_the_error_of_a_paused_or_unwanted_partition_is_not_raised() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, with_bad_crc(batches(0, 3)))
    with pytest.raises(CorruptRecordException):
        bench.poll()
    assert bench.collector.standing_error([P1]) is None
    bench.subscription.pause(P0)
    assert bench.collector.standing_error() is None


# Pausing and choosing…


def test_2b_10_a_paused_partition_keeps_its_buffer_and_its_place() -> None:
    """Pausing drops nothing: after the resume its records come at its place (KAFKA-7548)."""
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 2))
    bench.add(P1, batches(0, 2))
    bench.subscription.pause(P0)
    assert bench.poll() == {P1: [0, 1]}
    bench.subscription.resume(P0)
    assert bench.poll() == {P0: [0, 1]}


def test_only_the_named_partitions_are_returned() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 2))
    bench.add(P1, batches(0, 2))
    assert bench.poll(ALL, P1) == {P1: [0, 1]}
    assert bench.one(P1) is None
    assert bench.one(P0) == (P0, 0)


# One by one…


def test_a5_after_a_record_of_a_named_partition_the_oldest_is_served_again() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 3))
    bench.add(P1, batches(0, 3))
    assert [bench.one(), bench.one(P1), bench.one()] == [(P0, 0), (P1, 0), (P0, 1)]


def test_one_by_one_returns_the_same_records_in_the_same_order() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 300))
    bench.add(P1, batches(0, 2))
    expected = [(P0, offset) for offset in range(300)] + [(P1, 0), (P1, 1)]
    seen = []
    while (record := bench.one()) is not None:
        seen.append(record)
        assert bench.position(record[0]) == record[1] + 1
    assert seen == expected
    assert len(bench.buffer) == 0


def test_the_last_record_of_a_chunk_takes_the_whole_way_since_it_may_free_a_partition() -> None:
    bench = Bench(P0)
    bench.add(P0, batches(0, 3))
    assert bench.collector.decoded.take() is None
    assert bench.collector.collect_one() is not None
    assert bench.collector.decoded.take() is not None
    assert bench.collector.decoded.take() is None
    assert bench.one() == (P0, 2)


@pytest.mark.parametrize("value_deserializer", [None, bytes.decode], ids=["bytes", "objects"])
def test_more_is_decoded_without_a_poll_while_the_turn_lasts(
    monkeypatch: pytest.MonkeyPatch, value_deserializer: AnyDeserializer[Any] | None
) -> None:
    monkeypatch.setattr(completed_fetch, "CHUNK_RECORDS", 4)
    bench = Bench(P0)
    data = of_epoch(7, batches(0, 6)) + marker(6) + of_epoch(8, batches(7, 7))
    bench.add(P0, data, value_deserializer=value_deserializer)
    state = bench.subscription.assigned(P0)
    assert bench.one() == (P0, 0)
    asked: list[int] = []

    def may_decode_on() -> bool:
        asked.append(state.offset)
        return state.offset < 9

    bench.collector.may_decode_on = may_decode_on
    seen, epochs = [], []
    while (record := bench.collector.decoded.take()) is not None:
        seen.append(record.offset)
        assert isinstance(record.value, str if value_deserializer else bytes)
        epochs.append(state.offset_epoch)
        assert state.offset == record.offset + 1
    assert asked == [3, 8, 12]
    assert seen == [1, 2, 3, 4, 5, 7, 8, 9, 10, 11]
    assert epochs == [7, 7, *[8] * 8], "of the newest record that was decoded with it"
    assert bench.processed() == {P0: 11}
    assert [bench.one() for _ in range(2)] == [(P0, 12), (P0, 13)]
    assert len(bench.buffer) == 0


def test_a9_an_error_behind_what_was_decoded_is_left_to_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completed_fetch, "CHUNK_RECORDS", 4)
    bench = Bench(P0)
    bench.add(P0, batches(0, 4) + with_bad_crc(batches(4, 3)))
    assert bench.one() == (P0, 0)
    taken = [bench.collector.decoded.take() for _ in range(3)]
    assert [record and record.offset for record in taken] == [1, 2, None]
    assert bench.one() == (P0, 3)
    with pytest.raises(CorruptRecordException):
        bench.one()
    assert bench.position(P0) == 4


def test_a9_a_value_that_cannot_be_deserialized_is_left_to_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completed_fetch, "CHUNK_RECORDS", 2)
    bench = Bench(P0)
    bench.add(P0, batches(0, 6), value_deserializer=not_bad)
    assert bench.one() == (P0, 0)
    taken = [bench.collector.decoded.take() for _ in range(2)]
    assert [record and record.offset for record in taken] == [1, None]
    assert bench.one() == (P0, 2)
    with pytest.raises(RecordDeserializationError, match="v3 is bad"):
        bench.one()
    assert bench.position(P0) == 3


def test_a_deserializer_that_has_to_wait_is_noted_also_without_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completed_fetch, "CHUNK_RECORDS", 4)
    known: set[bytes] = {b"v0", b"v1", b"v2", b"v3", b"v5"}

    async def learn() -> None:
        known.add(b"v4")

    def deserialize(data: bytes) -> str:
        if data not in known:
            raise NotPreparedError(f"{data!r} is not known", learn)
        return data.decode()

    bench = Bench(P0)
    bench.add(P0, batches(0, 6), value_deserializer=deserialize)
    assert bench.one() == (P0, 0)
    taken = [bench.collector.decoded.take() for _ in range(3)]
    assert [record and record.offset for record in taken] == [1, 2, None]
    (fetch,) = bench.collector.unprepared
    assert bench.one() is None
    known.add(b"v4")
    fetch.prepared([], None)
    assert [bench.one() for _ in range(4)] == [(P0, 3), (P0, 4), (P0, 5), None]


def test_a_deserializer_that_seeks_ends_what_is_handed_out_without_a_poll(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(completed_fetch, "CHUNK_RECORDS", 4)
    bench = Bench(P0)

    def seek_at_4(data: bytes) -> bytes:
        if data == b"v4":
            bench.subscription.seek(P0, 5)
        return data

    bench.add(P0, batches(0, 6), value_deserializer=seek_at_4)
    assert bench.one() == (P0, 0)
    taken = [bench.collector.decoded.take() for _ in range(3)]
    assert [record and record.offset for record in taken] == [1, 2, None]
    assert bench.position(P0) == 5


@pytest.mark.parametrize("change", ["seek", "pause", "unassign", "new data"])
def test_a_change_keeps_records_that_were_decoded_ahead_from_being_taken(change: str) -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 10))
    assert bench.one() == (P0, 0)
    if change == "seek":
        bench.subscription.seek(P0, 5)
    elif change == "pause":
        bench.subscription.pause(P0)
    elif change == "unassign":
        bench.subscription.assign_from_user([P1])
    else:
        bench.add(P1, batches(0, 1))
    assert bench.collector.decoded.take() is None
    assert bench.one() == ((P0, 1) if change == "new data" else None)


def test_errors_met_one_by_one_stand_aside_too() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 6), value_deserializer=not_bad)
    bench.add(P1, batches(0, 1))
    assert [bench.one() for _ in range(3)] == [(P0, 0), (P0, 1), (P0, 2)]
    with pytest.raises(RecordDeserializationError):
        bench.one()
    assert bench.one() == (P1, 0)
    assert bench.one() is None


# Any history…


class Model:
    """A bench against the simplest model: a partition returns exactly the offsets from its
    position on, whatever happens in between.
    """

    def __init__(self, sizes: list[int]) -> None:
        self.partitions = tps(0, 1, 2)
        self.bench = Bench(*self.partitions)
        self.sizes = sizes
        self.expected = dict.fromkeys(self.partitions, 0)

    def run(self, action: str, number: int) -> None:
        getattr(self, action)(number)
        for tp in self.partitions:
            assert self.bench.position(tp) == self.expected[tp]

    def fetch(self, number: int) -> None:
        tp = self.partitions[number % 3]
        if not self.bench.buffer.is_buffered(tp):
            offset = self.expected[tp]
            self.bench.add(tp, batches(offset, *self.sizes), at=offset)

    def pause(self, number: int) -> None:
        self.bench.subscription.pause(self.partitions[number % 3])

    def resume(self, number: int) -> None:
        self.bench.subscription.resume(self.partitions[number % 3])

    def seek(self, number: int) -> None:
        tp = self.partitions[number % 3]
        self.expected[tp] += 10
        self.bench.subscription.seek(tp, self.expected[tp])
        self.bench.buffer.discard(lambda other: other == tp)

    def many(self, number: int) -> None:
        returned = self.bench.poll(number)
        assert sum(map(len, returned.values())) <= number
        for tp, offsets in returned.items():
            for offset in offsets:
                self._see(tp, offset)

    def one(self, number: int) -> None:
        for _ in range(number):
            record = self.bench.one()
            if record is not None:
                self._see(*record)

    def _see(self, tp: TopicPartition, offset: int) -> None:
        assert offset == self.expected[tp]
        assert tp not in self.bench.subscription.paused()
        self.expected[tp] += 1


actions = st.tuples(
    st.sampled_from(["many", "many", "one", "one", "fetch", "fetch", "pause", "resume", "seek"]),
    st.integers(1, 7),
)


@given(st.lists(actions, max_size=40), st.lists(st.integers(1, 5), min_size=1, max_size=4))
def test_a5_nothing_is_lost_repeated_or_disordered(
    history: list[tuple[str, int]], sizes: list[int]
) -> None:
    model = Model(sizes)
    for action, number in history:
        model.run(action, number)
    for number in range(3):
        model.run("resume", number)
    model.run("many", ALL)
    assert len(model.bench.buffer) == 0


# What counts as processed (B7)…


def test_b7_only_what_earlier_polls_returned_is_processed() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 4))
    bench.add(P1, batches(0, 4))
    bench.collector.begin_poll()
    assert bench.poll(6) == {P0: [0, 1, 2, 3], P1: [0, 1]}
    assert bench.subscription.processed() == {P0: (0, -1), P1: (0, -1)}
    bench.collector.begin_poll()
    assert bench.poll(6) == {P1: [2, 3]}
    assert bench.subscription.processed() == {P0: (4, -1), P1: (2, -1)}


def test_b7_of_records_taken_one_by_one_only_the_newest_is_not_processed() -> None:
    bench = Bench(P0)
    bench.add(P0, batches(0, 8))
    bench.collector.begin_poll()
    for offset in range(4):
        assert bench.one() == (P0, offset)
    bench.collector.settle()
    assert bench.subscription.processed()[P0][0] == 3
    assert bench.one() == (P0, 4)
    bench.subscription.seek(P0, 100)
    bench.collector.settle()
    assert bench.subscription.processed()[P0][0] == 4
    bench.collector.begin_poll()
    assert bench.subscription.processed()[P0][0] == 100


def test_no_record_of_a_partition_that_is_being_revoked_is_returned() -> None:
    bench = Bench(P0, P1)
    bench.add(P0, batches(0, 4))
    bench.add(P1, batches(0, 4))
    bench.subscription.revoke_soon([P0])
    assert bench.poll() == {P1: [0, 1, 2, 3]}


@pytest.mark.parametrize("epoch", [0, -1], ids=["validated", "of unknown epoch"])
@pytest.mark.parametrize("leader", [LeaderAndEpoch(2, 1), LeaderAndEpoch(1, 1)])
def test_2b_14_what_was_fetched_before_the_leadership_changed_is_dropped(
    leader: LeaderAndEpoch, epoch: int
) -> None:
    """What was fetched ahead, too; that the position itself is valid, or that its epoch is not
    known, changes nothing. Other partitions are read on."""
    bench = Bench(P0, P1)
    state = bench.subscription.assigned(P0)
    bench.subscription.follow_leader(state, LeaderAndEpoch(1, 0))
    bench.add(P0, of_epoch(epoch, batches(0, 4)), leader=LeaderAndEpoch(1, 0))
    bench.add(P0, of_epoch(epoch, batches(4, 4)), at=4, leader=LeaderAndEpoch(1, 0))
    bench.add(P1, batches(0, 4))
    assert bench.poll(2) == {P0: [0, 1]}
    bench.subscription.follow_leader(state, leader)
    assert (state.fetch_state is FetchState.AWAIT_VALIDATION) is (epoch == 0)
    assert bench.poll(2) == {P1: [0, 1]}
    assert [fetch.topic_partition for fetch in bench.buffer] == [P1]
    if epoch == 0:
        bench.subscription.complete_validation(state)
    assert bench.position(P0) == 2
    bench.add(P0, batches(2, 1), at=2, leader=leader)
    assert bench.poll() == {P0: [2], P1: [2, 3]}


def test_2c_3_what_is_buffered_behind_a_truncated_position_is_dropped() -> None:
    bench = Bench(P0)
    bench.add(P0, batches(0, 4))
    assert bench.poll(2) == {P0: [0, 1]}
    state = bench.subscription.assigned(P0)
    bench.subscription.truncate(state, 1, 0)
    assert bench.poll() == {}
    assert len(bench.buffer) == 0


def test_what_was_fetched_of_a_topic_that_is_no_more_is_dropped_even_at_the_same_offset() -> None:
    bench = Bench(P0)
    bench.add(P0, batches(0, 4))
    state = bench.subscription.assigned(P0)
    bench.subscription.follow_topic(state, UUID(int=1))
    bench.subscription.follow_topic(state, UUID(int=2))
    bench.subscription.reset(P0, OffsetResetStrategy.EARLIEST, 0)
    assert bench.poll() == {}
    assert len(bench.buffer) == 0


def columns(bench: Bench, max_records: int) -> dict[TopicPartition, list[int]]:
    """A poll for columns, of which it returns the offsets."""
    builder = RecordColumnsBuilder(max_records, None)
    bench.collector.begin_poll()
    bench.collector.collect_columns(builder)
    returned: dict[TopicPartition, list[int]] = {}
    rows = builder.finish().to_pyarrow()
    for number, offset in zip(rows["partition"], rows["offset"], strict=True):
        returned.setdefault(TopicPartition("t", number.as_py()), []).append(offset.as_py())
    return returned


@given(
    st.lists(st.tuples(st.sampled_from(["one", "of P1", "many", "columns"]), st.integers(1, 6))),
    st.lists(st.booleans()),
    st.sampled_from(["pure", "native"]),
)
def test_b7_only_what_the_newest_poll_returned_is_not_processed(
    polls: list[tuple[str, int]], looks: list[bool], twin: str
) -> None:
    """However the polls are mixed, and however often somebody asks what is processed."""
    decoded = _decoded_records_py
    if twin == "native":
        decoded = native_twin("aiokafka_lite.consumer.fetch._decoded_records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decoded_records, "DecodedRecords", decoded.DecodedRecords)
        bench = Bench(P0, P1)
    bench.add(P0, batches(0, 9, 20))
    bench.add(P1, batches(0, 20))
    look = iter(looks)
    for how, number in polls:
        for _ in range(number if how in ("one", "of P1") else 1):
            before = {tp: bench.position(tp) for tp in (P0, P1)}
            if how == "many":
                bench.poll(number)
            elif how == "columns":
                columns(bench, number)
            else:
                bench.one(*([P1] if how == "of P1" else []))
            if next(look, False):
                assert bench.processed() == before
    bench.poll(1)
    processed = bench.processed()
    assert sum(map(bench.position, processed)) - sum(processed.values()) <= 1


def test_b7_a_poll_that_takes_while_another_one_waits_leaves_its_own_records_unprocessed() -> None:
    """Two tasks read: one takes records one by one, the other's poll was waiting before that and
    now takes the rest."""
    bench = Bench(P0)
    bench.collector.begin_poll()  # of the other, which finds nothing and waits
    bench.add(P0, batches(0, 10))
    for _ in range(3):
        bench.one()
    assert bench.collector.collect(ALL)[P0][0].offset == 3
    assert bench.processed()[P0] <= 2
