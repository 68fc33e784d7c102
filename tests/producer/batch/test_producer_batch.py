import logging

import pytest

from aiokafka_lite.errors import (
    InvalidRecordError,
    InvalidTimestampError,
    KafkaError,
    MessageSizeTooLargeError,
)
from aiokafka_lite.model import TimestampType
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch, record_errors_from
from aiokafka_lite.producer.batch.record_ack import BEHIND_ALL, BatchAck
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from tests.producer.batches import TP, make_batch, values


def test_append_refuses_when_there_is_no_room() -> None:
    """A batch without room for a record refuses it and stays as it is (C7)."""
    buffer = bytearray(200)
    batch = ProducerBatch(TP, RecordBatchBuilder(buffer), buffer, 0.0)
    assert batch.append(1, b"k", b"v" * 50, ()) == 0
    assert batch.append(1, b"k", b"v" * 50, ()) == 1
    assert batch.append(1, b"k", b"v" * 50, ()) is None


def test_numbers_are_in_the_bytes_and_may_be_changed_before_it_is_sent_again() -> None:
    """A batch holds its producer id, epoch and sequence; a retry may change them (2d-11, 2d-18)."""
    batch = make_batch(3)
    assert not batch.has_sequence
    batch.set_sequence(7, 2, 100)
    assert batch.last_sequence == 102
    assert not batch.sequence_was_reset
    first = bytes(batch.wire())
    assert bytes(batch.wire()) == first
    batch.set_sequence(7, 3, 0)
    assert batch.sequence_was_reset
    second = bytes(batch.wire())
    # producer id, epoch and base sequence lie at 43, 51 and 53
    assert first[43:57] == (7).to_bytes(8, "big") + bytes([0, 2, 0, 0, 0, 100])
    assert second[43:57] == (7).to_bytes(8, "big") + bytes([0, 3, 0, 0, 0, 0])
    assert values(batch.wire()) == [b"v"] * 3


def test_sequences_wrap_to_zero() -> None:
    """Sequence numbers wrap from 2^31-1 to 0 (2d-10, 2d-11)."""
    batch = make_batch(5)
    batch.set_sequence(1, 0, 2**31 - 3)
    assert batch.last_sequence == 1


def test_metadata_has_each_records_own_offset_and_timestamp() -> None:
    """The metadata has each record's own offset and timestamp (C7, H3)."""
    batch = make_batch(3)
    assert batch.succeed(40, -1, 12)
    metadata = batch.metadata_of(2, 1002)
    assert (metadata.topic, metadata.partition, metadata.topic_partition) == ("orders", 0, TP)
    assert (metadata.offset, metadata.timestamp) == (42, 1002)
    assert metadata.timestamp_type == TimestampType.CREATE_TIME
    assert metadata.log_start_offset == 12


def test_log_append_time_replaces_the_records_timestamps() -> None:
    """Log-append time replaces the timestamps of all records (C7)."""
    batch = make_batch(2)
    batch.succeed(0, 9_999)
    metadata = batch.metadata_of(1, 1001)
    assert (metadata.timestamp, metadata.timestamp_type) == (9_999, TimestampType.LOG_APPEND_TIME)


def test_an_unknown_offset_stays_unknown_for_every_record() -> None:
    """An unknown base offset leaves every record's offset unknown (2d-15, 2d-16)."""
    batch = make_batch(2)
    batch.succeed(-1)
    assert batch.metadata_of(1, 0).offset == -1


def test_the_first_outcome_stays() -> None:
    batch = make_batch()
    error = KafkaError("late")
    assert batch.fail(error)
    assert not batch.succeed(5)
    assert not batch.fail(KafkaError("again"))
    assert batch.error_of(0) is error


def test_listeners_are_told_once_in_the_order_of_records() -> None:
    """Listeners of a batch run once, in the order of its records (C8)."""
    batch = make_batch(3)
    told: list[str] = []
    batch.add_listener(2, lambda: told.append("2"))
    batch.add_listener(0, lambda: told.append("0"))
    token = batch.add_listener(1, lambda: told.append("1"))
    batch.add_listener(0, lambda: told.append("0 again"))
    batch.remove_listener(token)
    batch.succeed(0)
    batch.remove_listener(token)
    assert told == ["0", "0 again", "2"]


def test_acks_do_not_keep_the_bytes_of_a_batch() -> None:
    batch = make_batch(2)
    batch.drop_bytes()
    assert batch.buffer is None
    assert batch.reserved_bytes == batch.size_in_bytes == batch.uncompressed_size == 0
    assert batch.append(1, None, b"v", ()) is None
    assert batch.record_count == 2
    assert not batch.is_sealed
    assert not batch.holds_buffer


def test_a_failure_nobody_asked_about_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """performance.md 3"""
    batch = make_batch(3)
    batch.fail(KafkaError("no luck"))
    with caplog.at_level(logging.ERROR):
        del batch
    (record,) = caplog.records
    assert record.getMessage() == (
        "3 records for orders-0 were not delivered, and nobody asked what became of them: "
        "KafkaError: no luck"
    )


def test_a_failure_somebody_asked_about_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    batch = make_batch(3)
    batch.fail(KafkaError("no luck"))
    batch.error_of(1)
    good = make_batch()
    good.succeed(1)
    del batch, good
    assert not caplog.records


def test_repr_says_where_it_stands() -> None:
    batch = make_batch(closed=False)
    assert repr(batch) == "<ProducerBatch orders-0, 1 records, open>"
    batch.close()
    assert repr(batch) == "<ProducerBatch orders-0, 1 records, closed>"
    batch.is_in_flight = True
    assert repr(batch) == "<ProducerBatch orders-0, 1 records, in flight>"
    batch.succeed(7)
    assert repr(batch) == "<ProducerBatch orders-0, 1 records, written at 7>"
    failed = make_batch()
    failed.fail(KafkaError("x"))
    failed.error_of(0)
    assert repr(failed).endswith("failed: KafkaError('x')>")


def test_records_to_blame_have_their_own_error_and_the_others_say_so() -> None:
    """Records to blame have their own error, unlike the others of the batch (2d-15, KIP-467)."""
    messages = {1: "no key", 4: None}
    error, errors = record_errors_from(InvalidTimestampError, messages, "bad batch", 5)
    assert isinstance(error, InvalidTimestampError)
    assert "record 1 of 5: bad batch; no key" in str(error)
    assert "itself is fine" not in str(error)
    assert "no key" in str(errors[1])
    assert "bad batch" in str(errors[4])
    batch = make_batch(5)
    batch.fail(error, errors)
    assert batch.error_of(1) is errors[1]
    assert isinstance(batch.error_of(0), InvalidRecordError)
    assert "is fine" in str(batch.error_of(0))
    assert "2 other record(s), at index 1, 4: bad batch; no key" in str(batch.error_of(0))
    whole = BatchAck(batch, 0)
    assert whole.exception() is error


def test_without_records_to_blame_all_have_the_brokers_error() -> None:
    error, blamed = record_errors_from(MessageSizeTooLargeError, {}, "too large", 2)
    assert isinstance(error, MessageSizeTooLargeError)
    assert "too large" in str(error)
    assert blamed == {}
    bare, _ = record_errors_from(MessageSizeTooLargeError, {}, None, 2)
    assert bare.args == ()


def split_in_two(batch: ProducerBatch) -> tuple[ProducerBatch, ProducerBatch]:
    pieces = make_batch(2), make_batch(1)
    batch.split_into(pieces)
    return pieces


def test_listeners_move_with_their_records_and_those_of_the_batch_hear_of_the_last() -> None:
    """Listeners follow their records; the batch's own hears of the last (C7, C8, 2d-14)."""
    heard: list[object] = []
    batch = make_batch(3)
    for index in (2, 0, 1):
        batch.add_listener(index, lambda index=index: heard.append(index))  # type: ignore[misc]
    batch.add_listener(BEHIND_ALL, lambda: heard.append("all"))
    first, second = split_in_two(batch)
    assert repr(batch) == "<ProducerBatch orders-0, 3 records, split into 2>"
    second.succeed(9)
    assert heard == [2]
    assert not batch.is_done
    first.succeed(7)
    assert heard == [2, 0, 1, "all"]
    assert batch.is_done


def test_a_listener_is_taken_back_wherever_its_record_went() -> None:
    """A listener is removed after a split with the token from before it (C7, 2d-14)."""
    heard: list[int] = []
    batch = make_batch(3)
    tokens = [
        batch.add_listener(index, lambda index=index: heard.append(index))  # type: ignore[misc]
        for index in range(3)
    ]
    first, second = split_in_two(batch)
    own = second.add_listener(0, lambda: heard.append(77))
    assert own not in tokens
    batch.remove_listener(tokens[0])
    batch.remove_listener(tokens[2])
    first.succeed(1)
    second.succeed(3)
    assert heard == [1, 77]


def test_a_piece_that_is_split_again_is_followed_to_the_end() -> None:
    """A record is followed through pieces that are split again (2d-14)."""
    heard: list[str] = []
    batch = make_batch(3)
    batch.add_listener(BEHIND_ALL, lambda: heard.append("all"))
    batch.add_listener(1, lambda: heard.append("record"))
    first, second = split_in_two(batch)
    thirds = make_batch(1), make_batch(1)
    first.split_into(thirds)
    assert [batch.place_of(index) for index in range(3)] == [
        (thirds[0], 0),
        (thirds[1], 0),
        (second, 0),
    ]
    second.succeed(5)
    thirds[0].succeed(3)
    assert heard == []
    thirds[1].fail(KafkaError("no"))
    assert heard == ["record", "all"]
    assert thirds[1].error_of(0) is not None


def test_metadata_carries_the_sizes_beside_the_tuple() -> None:
    """The metadata has the serialized sizes beside its tuple (C7)."""
    batch = make_batch()
    batch.succeed(1)
    metadata = batch.metadata_of(0, 5, 3, 100)
    assert (metadata.serialized_key_size, metadata.serialized_value_size) == (3, 100)
    assert metadata == batch.metadata_of(0, 5)
    assert batch.metadata_of(0, 5).serialized_key_size == -1
    assert len(metadata) == 7
