import logging
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.errors import (
    BrokerResponseError,
    DeliveryTimeoutError,
    DuplicateSequenceNumber,
    InvalidRecordError,
    InvalidTimestampError,
    KafkaConnectionError,
    KafkaProtocolError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.send.batch_outcomes import BatchOutcomes
from aiokafka_lite.producer.send.produce_round import ProduceRound
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch
from aiokafka_lite.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
    PartitionProduceResponse,
    ProduceResponse,
    TopicProduceResponse,
)
from tests.producer.batches import Shelf
from tests.producer.send.test_produce_round import exchange, snapshot


class Desk:
    """Outcomes over a shelf with one partition, idempotent unless told otherwise."""

    def __init__(self, *, idempotent: bool = True, **options: Any) -> None:
        self.sequences: SequenceNumbers | None = None
        if idempotent:
            self.sequences = SequenceNumbers()
            self.sequences.set_producer(7, 0)
        else:
            options.setdefault("enable_idempotence", False)
        self.shelf = Shelf(sequences=self.sequences, **options)
        self.stale = 0
        self.outcomes = BatchOutcomes(
            self.shelf.config, self.shelf.accumulator, self.sequences, on_stale_metadata=self.count
        )

    def count(self) -> None:
        self.stale += 1

    def send(self, value: bytes = b"v", *, now_s: float = 1.0) -> ProduceRound:
        self.shelf.append(value, now_s=now_s - 1)
        return self.resend(now_s)

    def resend(self, now_s: float) -> ProduceRound:
        if self.sequences is not None:
            self.sequences.settle()
        return exchange(self.shelf.drain(now_s=now_s), snapshot())

    def answer(
        self, sent: ProduceRound, error: type[BrokerResponseError] | None = None, **facts: Any
    ) -> ProducerBatch:
        facts.setdefault("base_offset", -1 if error else 5)
        result = PartitionProduceResponse(index=0, error_code=error.errno if error else 0, **facts)
        response = ProduceResponse(
            responses=[TopicProduceResponse(name="orders", partition_responses=[result])]
        )
        self.outcomes.answered(sent, response, 10.0)
        return sent.batches[0]

    @property
    def queued(self) -> list[ProducerBatch]:
        return list(self.shelf.queue().batches)


def test_a_written_batch_is_done_and_its_memory_free() -> None:
    """A batch that the broker stored is done, and its memory is free (C6)."""
    desk = Desk()
    batch = desk.answer(desk.send(), log_append_time_ms=77, log_start_offset=3)
    metadata = batch.metadata_of(0, 0)
    assert (metadata.offset, metadata.timestamp, metadata.log_start_offset) == (5, 77, 3)
    assert desk.shelf.pool.used_bytes == 0
    assert not desk.shelf.accumulator.incomplete


def test_batches_of_which_all_are_written_have_their_places_without_a_message() -> None:
    desk = Desk()
    sent = desk.send()
    (batch,) = sent.batches
    desk.outcomes.written([(batch, 5, 6, 7)], 10.0)
    metadata = batch.metadata_of(0, 1)
    assert (metadata.offset, metadata.timestamp, metadata.log_start_offset) == (5, 6, 7)
    assert desk.shelf.pool.used_bytes == 0
    assert not desk.shelf.accumulator.incomplete.batches


def test_without_answer_to_wait_for_the_offset_is_unknown() -> None:
    """With `acks=0` the offset is unknown (2d-16)."""
    desk = Desk(idempotent=False, acks=0)
    sent = desk.send()
    desk.outcomes.answered(sent, None, 1.0)
    assert sent.batches[0].metadata_of(0, 0).offset == -1
    assert desk.shelf.pool.used_bytes == 0


def test_a_duplicate_is_a_success_without_offset() -> None:
    """A duplicate sequence number is a success with an unknown offset (2d-15)."""
    desk = Desk()
    batch = desk.answer(desk.send(), DuplicateSequenceNumber)
    assert batch.error_of(0) is None
    assert batch.metadata_of(0, 0).offset == -1


@pytest.mark.parametrize("idempotent", [True, False])
def test_a_retriable_error_sends_it_again_and_says_so_once(
    idempotent: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """A retriable error queues the batch again and is logged once (2d-15)."""
    desk = Desk(idempotent=idempotent)
    with caplog.at_level(logging.WARNING):
        batch = desk.answer(desk.send(), NotLeaderForPartitionError)
        assert desk.queued == [batch]
        desk.answer(desk.resend(12.0), NotLeaderForPartitionError)
    assert not batch.is_done
    assert batch.attempts == 2
    assert desk.stale == 2
    assert len(caplog.records) == 1
    desk.answer(desk.resend(20.0))
    assert batch.metadata_of(0, 0).offset == 5


def test_an_error_that_time_does_not_mend_fails_the_batch_with_its_facts() -> None:
    desk = Desk()
    batch = desk.answer(desk.send(), TopicAuthorizationFailedError, error_message="not yours")
    error = batch.error_of(0)
    assert isinstance(error, TopicAuthorizationFailedError)
    assert "1 record(s) for orders-0: not yours" in str(error)
    assert desk.shelf.pool.used_bytes == 0
    again = desk.send().batches[0]
    assert (again.producer_epoch, again.base_sequence) == (1, 0)  # the partition goes on (2d-19)


def test_retries_run_out() -> None:
    """A batch without retries left fails, with its numbers unresolved (2d-15, 2d-20)."""
    desk = Desk(retries=1)
    batch = desk.answer(desk.send(), NotLeaderForPartitionError)
    desk.answer(desk.resend(12.0), NotLeaderForPartitionError)
    assert isinstance(batch.error_of(0), NotLeaderForPartitionError)


def test_a_lost_request_sends_its_batches_again() -> None:
    """A request without an answer queues all of its batches again (2d-16)."""
    desk = Desk()
    sent = desk.send()
    desk.outcomes.lost(sent, KafkaConnectionError("gone"), 1.0)
    assert desk.queued == sent.batches
    assert desk.stale == 1
    desk.outcomes.lost(desk.resend(9.0), RequestTimedOutError("slow"), 9.0)
    assert desk.queued == sent.batches


def test_an_answer_without_the_partition_is_no_answer() -> None:
    desk = Desk()
    sent = desk.send()
    desk.outcomes.answered(sent, ProduceResponse(responses=[]), 1.0)
    (batch,) = desk.queued
    assert isinstance(batch.last_error, KafkaProtocolError)


def test_a_batch_that_is_too_large_is_split_at_once_and_that_was_no_attempt() -> None:
    """A batch too large for the broker is split at once, and that counts as no attempt (2d-14)."""
    desk = Desk(retries=0)
    desk.shelf.append(b"a")
    desk.shelf.append(b"b")
    batch = desk.answer(desk.send(b"c"), MessageSizeTooLargeError)
    first, second = desk.queued
    assert not batch.is_done
    for piece, base, count in ((first, 0, 2), (second, 2, 1)):
        assert (piece.base_sequence, piece.record_count, piece.attempts) == (base, count, 0)
        assert desk.answer(desk.resend(1.0), base_offset=40 + base) is piece
    assert batch.is_done
    assert [at.metadata_of(index, 0).offset for at, index in map(batch.place_of, range(3))] == [
        40,
        41,
        42,
    ]
    assert desk.shelf.pool.used_bytes == 0


def test_without_idempotence_it_is_split_as_well() -> None:
    """A batch too large for the broker is split without idempotence as well (2d-14)."""
    desk = Desk(idempotent=False)
    desk.shelf.append(b"a")
    desk.answer(desk.send(b"b"), MessageSizeTooLargeError)
    assert [piece.record_count for piece in desk.queued] == [1, 1]


def test_leaders_that_an_answer_names_are_passed_on_once_the_batch_is_queued() -> None:
    """Leaders that a response names are used once the batch is queued again (2d-15, KIP-951)."""
    heard: list[object] = []
    desk = Desk()

    def update_leaders(
        leaders: Mapping[TopicPartition, LeaderAndEpoch], nodes: Iterable[Node]
    ) -> Collection[TopicPartition]:
        heard.extend([dict(leaders), list(nodes), len(desk.queued)])
        return ()

    desk.outcomes = BatchOutcomes(
        desk.shelf.config,
        desk.shelf.accumulator,
        desk.sequences,
        on_stale_metadata=desk.count,
        update_leaders=update_leaders,
    )
    hint = LeaderIdAndEpoch(leader_id=2, leader_epoch=5)
    desk.answer(desk.send(), NotLeaderForPartitionError, current_leader=hint)
    assert heard == [{TopicPartition("orders", 0): (2, 5)}, [], 1]
    assert desk.stale == 1
    desk.answer(desk.resend(20.0), NotLeaderForPartitionError)
    desk.answer(desk.resend(40.0), current_leader=hint)
    assert len(heard) == 3


def test_one_record_that_is_too_large_fails_and_what_can_help_is_named() -> None:
    """A single record too large for the broker fails, and the error names remedies (2d-14)."""
    desk = Desk()
    batch = desk.answer(desk.send(), MessageSizeTooLargeError)
    with pytest.raises(
        MessageSizeTooLargeError,
        match=r"batch has 69 bytes, all of one record; send smaller records, or raise max\.message",
    ):
        raise batch.error_of(0) or AssertionError


def test_records_to_blame_fail_with_their_own_message() -> None:
    """Records that the broker blames fail with the message it gave for them (2d-15, KIP-467)."""
    desk = Desk()
    desk.shelf.append(b"a")
    sent = desk.send(b"b")
    blamed = BatchIndexAndErrorMessage(batch_index=1, batch_index_error_message="no key")
    batch = desk.answer(sent, InvalidRecordError, record_errors=[blamed], error_message="refused")
    assert "no key" in str(batch.error_of(1))
    assert "1 other record(s), at index 1" in str(batch.error_of(0))


def test_what_is_told_of_a_batch_is_not_what_its_good_records_are_told() -> None:
    """A transaction and an observer hear what the broker refused (2d-15, KIP-467)."""
    desk, told = Desk(), []
    desk.outcomes = BatchOutcomes(
        desk.shelf.config,
        desk.shelf.accumulator,
        desk.sequences,
        on_stale_metadata=desk.count,
        on_failed=lambda _, error: told.append(error),
    )
    blamed = BatchIndexAndErrorMessage(batch_index=0, batch_index_error_message="no key")
    batch = desk.answer(
        desk.send(b"a"), InvalidTimestampError, record_errors=[blamed], error_message="refused"
    )
    assert batch.error in told
    (error,) = told
    assert isinstance(error, InvalidTimestampError)
    assert "refused; no key" in str(error)
    assert "itself is fine" not in str(error)
    assert "no key" in str(batch.error_of(0))


def test_batches_expire_queued_or_in_flight_with_their_history() -> None:
    """Batches expire queued or in flight, and the error tells what happened to them (2d-13)."""
    desk = Desk(delivery_timeout_ms=31_000)
    sent = desk.send(now_s=1.0)
    desk.outcomes.lost(sent, KafkaConnectionError("gone"), 1.0)
    in_flight = desk.resend(9.0).batches[0]
    queued = desk.shelf.append(now_s=0.5)
    desk.outcomes.expire(31.6)
    error = in_flight.error_of(0)
    assert isinstance(error, DeliveryTimeoutError)
    assert isinstance(error, KafkaTimeoutError)
    assert "=31000: after 2 attempts it may have been written; last" in str(error)
    assert isinstance(error.__cause__, KafkaConnectionError)
    assert "never sent" in str(queued.error_of(0))
    assert not desk.shelf.accumulator.incomplete


def test_the_answer_to_an_expired_batch_is_ignored_but_its_sequence_is_not() -> None:
    """A late answer to an expired batch settles its sequence numbers and nothing else (2d-13)."""
    desk = Desk(delivery_timeout_ms=31_000)
    sent = desk.send(now_s=1.0)
    desk.outcomes.expire(40.0)
    assert desk.shelf.pool.used_bytes == 200
    batch = desk.answer(sent)
    assert isinstance(batch.error_of(0), DeliveryTimeoutError)
    assert desk.shelf.pool.used_bytes == 0
    again = desk.send(now_s=41.0).batches[0]
    assert (again.producer_epoch, again.base_sequence) == (0, 1)


def test_a_late_error_for_an_expired_batch_changes_nothing() -> None:
    desk = Desk(delivery_timeout_ms=31_000)
    sent = desk.send(now_s=1.0)
    desk.outcomes.expire(40.0)
    batch = desk.answer(sent, NotLeaderForPartitionError)
    assert isinstance(batch.error_of(0), DeliveryTimeoutError)
    assert desk.queued == []
    assert desk.shelf.pool.used_bytes == 0


def test_later_batches_wait_for_the_first_one_that_is_retried() -> None:
    """Later batches of the partition wait until the retried one has its outcome (2d-10, 2d-17)."""
    desk = Desk()
    desk.answer(desk.send())
    first = desk.send(b"x" * 120)
    second = desk.send(b"x" * 120)
    desk.answer(first, NotLeaderForPartitionError)
    desk.answer(second, OutOfOrderSequenceNumber)
    assert desk.queued == [*first.batches, *second.batches]
    again = desk.resend(20.0)
    assert again.batches == first.batches
    assert desk.resend(20.0).batches == []
    desk.answer(again)
    assert desk.resend(20.0).batches == second.batches
    assert second.batches[0].base_sequence == 2


@pytest.mark.parametrize(("is_answered", "kept"), [(True, 1), (False, 0)])
def test_a_buffer_is_used_again_only_once_its_request_was_answered(
    is_answered: bool, kept: int
) -> None:
    """The buffer of an expired batch stays until its request is answered (C6, 2d-13)."""
    desk = Desk(delivery_timeout_ms=31_000)
    sent = desk.send(now_s=1.0)
    desk.outcomes.expire(40.0)
    if is_answered:
        desk.answer(sent)
    else:
        desk.outcomes.lost(sent, KafkaConnectionError("gone"), 41.0)
    assert isinstance(sent.batches[0].error_of(0), DeliveryTimeoutError)
    assert desk.shelf.pool.kept_bytes == kept * 200


def test_a_buffer_is_used_again_with_acks_zero() -> None:
    """With `acks=0` a batch's buffer is free once its request is written (C6)."""
    desk = Desk(idempotent=False, acks=0)
    sent = desk.send()
    sent.batches[0].fail(KafkaConnectionError("expired"))
    sent.batches[0].error_of(0)
    desk.shelf.accumulator.forget(sent.batches[0])
    desk.outcomes.answered(sent, None, 1.0)
    assert desk.shelf.pool.kept_bytes == 200


def test_the_brokers_own_words_are_used_else_the_description_of_the_error() -> None:
    """An error has the broker's message, else the description of its code (C4)."""
    desk = Desk()
    batch = desk.answer(desk.send(), TopicAuthorizationFailedError)
    assert TopicAuthorizationFailedError.description in str(batch.error_of(0))


def test_a_queued_batch_that_expires_takes_no_more_records() -> None:
    """A batch that expired in the queue takes no more records (2d-13)."""
    desk = Desk(delivery_timeout_ms=31_000)
    batch = desk.shelf.append(now_s=0.0)
    desk.shelf.append(b"w")
    desk.outcomes.expire(31.0)
    assert batch.append(1, None, b"x", ()) is None
    assert "2 record(s)" in str(batch.error_of(1))
    assert desk.shelf.queue().open_batch is None


def test_numbers_of_a_batch_that_ran_out_of_retries_are_unresolved_those_refused_are_not() -> None:
    """Numbers are unresolved after the last retry, and unused after a refusal (2d-19, 2d-20)."""
    desk = Desk(retries=1)
    desk.answer(desk.send())
    batch = desk.answer(desk.send(), NotLeaderForPartitionError)
    desk.answer(desk.resend(12.0), NotLeaderForPartitionError)
    assert isinstance(batch.error_of(0), NotLeaderForPartitionError)
    assert desk.sequences is not None
    waiting = desk.shelf.append(now_s=12.0)
    assert not desk.sequences.may_send(waiting)  # until it is clear that nothing is in flight
    again = desk.resend(13.0).batches[0]
    assert (again.producer_epoch, again.base_sequence) == (1, 0)


def test_a_batch_out_of_retries_was_written_if_the_one_behind_it_is() -> None:
    """A stored batch proves that the one before it was stored, so the epoch stays (2d-13)."""
    desk = Desk(retries=1)
    desk.answer(desk.send())
    first, second = desk.send(), desk.send()
    desk.answer(first, NotLeaderForPartitionError)
    batch = desk.answer(desk.resend(12.0), NotLeaderForPartitionError)
    assert isinstance(batch.error_of(0), NotLeaderForPartitionError)
    desk.answer(second)
    after = desk.send(now_s=20.0).batches[0]
    assert (after.producer_epoch, after.base_sequence) == (0, 3)


def test_an_expired_batch_leaves_its_numbers_unresolved() -> None:
    """A batch that was sent and expired leaves its sequence numbers unresolved (2d-13)."""
    desk = Desk(delivery_timeout_ms=31_000)
    desk.answer(desk.send(now_s=1.0))
    desk.send(now_s=1.0)
    desk.outcomes.expire(40.0)
    waiting = desk.shelf.append(now_s=40.0)
    assert desk.sequences is not None
    assert not desk.sequences.may_send(waiting)


def test_without_idempotence_a_batch_expires_as_well() -> None:
    """A batch expires without idempotence as well (2d-13)."""
    desk = Desk(idempotent=False, delivery_timeout_ms=31_000)
    sent = desk.send(now_s=1.0)
    desk.outcomes.expire(40.0)
    assert isinstance(sent.batches[0].error_of(0), DeliveryTimeoutError)


def test_without_log_append_time_and_log_start_there_is_none_in_the_metadata() -> None:
    """A response without log-append time and log start leaves both out of the metadata (C7)."""
    desk = Desk()
    metadata = desk.answer(desk.send(), DuplicateSequenceNumber).metadata_of(0, 123)
    assert (metadata.timestamp, metadata.timestamp_type, metadata.log_start_offset) == (123, 0, -1)
