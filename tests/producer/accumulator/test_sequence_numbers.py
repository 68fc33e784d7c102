import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import (
    DuplicateSequenceNumber,
    InvalidProducerEpoch,
    KafkaConnectionError,
    MessageSizeTooLargeError,
    NotLeaderForPartitionError,
    OutOfOrderSequenceNumber,
    UnknownProducerId,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.accumulator.sequence_numbers import (
    MAX_EPOCH,
    SequenceNumbers,
    TransactionGate,
)
from aiokafka_lite.producer.batch.batch_split import split_batch
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from tests.producer.batches import TP, make_batch


def numbers(
    gate: TransactionGate | None = None, *, producer_id: int = 7, epoch: int = 0
) -> SequenceNumbers:
    sequences = SequenceNumbers(gate)
    sequences.set_producer(producer_id, epoch)
    return sequences


def sent(sequences: SequenceNumbers, records: int = 1, tp: TopicPartition = TP) -> ProducerBatch:
    """A batch in flight; more than a real sender would let go before the first is acknowledged."""
    batch = make_batch(records, tp=tp)
    sequences.assign(batch)
    batch.is_in_flight = True
    return batch


def place(batch: ProducerBatch) -> tuple[int, int, int]:
    return batch.producer_id, batch.producer_epoch, batch.base_sequence


def test_nothing_is_sent_without_a_producer_id() -> None:
    """An idempotent producer sends no batch before it has a producer id (2d-10)."""
    assert not SequenceNumbers().may_send(make_batch())


def test_numbers_go_up_by_partition() -> None:
    """Sequence numbers count the records of each partition (2d-11)."""
    sequences = numbers()
    other = TopicPartition("orders", 1)
    assert place(sent(sequences, 3)) == (7, 0, 0)
    assert place(sent(sequences, 2)) == (7, 0, 3)
    assert place(sent(sequences, 2, other)) == (7, 0, 0)
    assert place(sent(sequences)) == (7, 0, 5)


def test_numbers_stay_at_a_retry() -> None:
    """A batch that is sent again keeps its sequence numbers (2d-11)."""
    sequences = numbers()
    batch = sent(sequences, 3)
    sequences.assign(batch)
    assert place(batch) == (7, 0, 0)
    assert place(sent(sequences)) == (7, 0, 3)


def test_numbers_wrap_to_zero() -> None:
    """Sequence numbers wrap from 2^31-1 to 0 (2d-11)."""
    sequences = numbers()
    first = sent(sequences)
    state = sequences._partitions[TP]
    sequences.completed(first)
    state.next_sequence = 2**31 - 2
    state.last_acked_sequence = 2**31 - 3
    crossing = sent(sequences, 4)
    assert (crossing.base_sequence, crossing.last_sequence) == (2**31 - 2, 1)
    after = sent(sequences)
    assert after.base_sequence == 2
    sequences.completed(crossing)
    assert state.last_acked_sequence == 1
    sequences.completed(after)
    assert state.last_acked_sequence == 2
    assert state.expected_sequence == 3


def test_the_first_batch_of_an_epoch_goes_alone() -> None:
    """The first batch of an epoch goes alone, as a new broker takes any number (2d-10)."""
    sequences = numbers()
    first = make_batch()
    sequences.assign(first)
    assert not sequences.may_send(make_batch())
    sequences.completed(first)
    second = make_batch()
    sequences.assign(second)
    assert sequences.may_send(make_batch())
    sequences.refused(second, MessageSizeTooLargeError)
    sequences.settle()
    third = make_batch()
    sequences.assign(third)
    assert third.producer_epoch == 1
    assert not sequences.may_send(make_batch())


@pytest.mark.parametrize("error", [UnknownTopicIdError, UnknownTopicOrPartitionError])
def test_the_first_batch_after_a_topic_was_not_there_goes_alone(error: type) -> None:
    """The log of a topic that was made anew knows nothing of the producer (2d-10)."""
    sequences = numbers()
    sequences.completed(sent(sequences))
    batch = sent(sequences)
    assert sequences.may_send(make_batch())
    assert sequences.may_retry(batch, error, -1)
    assert not sequences.may_send(make_batch())
    sequences.completed(batch)
    sent(sequences)
    assert sequences.may_send(make_batch())


def test_the_first_batch_after_a_topic_got_another_id_goes_alone() -> None:
    """The log of a topic that was made anew knows nothing of the producer (2d-10)."""
    sequences = numbers()
    sequences.follow(lambda _: uuid.UUID(int=1))
    sequences.completed(sent(sequences))
    sent(sequences)
    for number, may_send in [(1, True), (0, True), (1, True), (2, False)]:
        sequences.follow({TP.topic: uuid.UUID(int=number)}.__getitem__)
        assert sequences.may_send(make_batch()) is may_send


def test_only_the_oldest_of_those_sent_is_sent_again() -> None:
    """Of the batches to be sent again, only the partition's oldest may leave (2d-10)."""
    sequences = numbers()
    first, second = sent(sequences), sent(sequences)
    assert sequences.may_send(first)
    assert not sequences.may_send(second)
    sequences.completed(first)
    assert sequences.may_send(second)


@pytest.mark.parametrize("error", [KafkaConnectionError, NotLeaderForPartitionError])
def test_retriable_errors_are_retried_as_they_are(error: type) -> None:
    """A retriable error is followed by another attempt with the same numbers (2d-15)."""
    sequences = numbers()
    assert sequences.may_retry(sent(sequences), error, -1)
    sequences.settle()
    assert sequences.producer.epoch == 0


def test_other_errors_are_not_retried() -> None:
    sequences = numbers()
    batch = sent(sequences)
    assert not sequences.may_retry(batch, MessageSizeTooLargeError, -1)
    assert not sequences.may_retry(batch, DuplicateSequenceNumber, -1)


def test_a_refused_batch_restarts_the_partition_in_the_next_epoch() -> None:
    """After a refused batch the partition starts at 0 in the next epoch (2d-19, KIP-360)."""
    sequences = numbers()
    first, second, elsewhere = (
        sent(sequences, 2),
        sent(sequences, 3),
        sent(sequences, 1, TopicPartition("orders", 1)),
    )
    first.is_in_flight = False
    sequences.refused(first, MessageSizeTooLargeError)
    sequences.settle()
    # The bytes of the second may be on their way: they must not change.
    assert place(second) == (7, 0, 2)
    assert not sequences.may_send(second)
    second.is_in_flight = False
    sequences.settle()
    assert place(second) == (7, 1, 0)
    assert second.sequence_was_reset
    assert sequences.may_send(second)
    assert place(sent(sequences)) == (7, 1, 3)
    # The other partition ends its own in the old epoch, and new ones wait for that (2d-18).
    new = make_batch(tp=TopicPartition("orders", 1))
    assert not sequences.may_send(new)
    sequences.completed(elsewhere)
    assert sequences.may_send(new)
    sequences.assign(new)
    assert place(new) == (7, 1, 0)


def test_out_of_order_behind_a_failed_one_waits_for_its_turn() -> None:
    """A batch out of order behind one that is retried is retried after it (2d-17)."""
    sequences = numbers()
    first, second = sent(sequences), sent(sequences)
    assert sequences.may_retry(first, NotLeaderForPartitionError, -1)
    assert sequences.may_retry(second, OutOfOrderSequenceNumber, -1)
    first.is_in_flight = second.is_in_flight = False
    sequences.settle()
    assert (place(first), place(second)) == ((7, 0, 0), (7, 0, 1))


def test_out_of_order_of_the_expected_one_restarts_the_partition() -> None:
    """The next expected batch being out of order restarts the partition (2d-17)."""
    sequences = numbers()
    first, second = sent(sequences), sent(sequences)
    sequences.completed(first)
    assert sequences.may_retry(second, OutOfOrderSequenceNumber, -1)
    second.is_in_flight = False
    sequences.settle()
    assert place(second) == (7, 1, 0)


def test_unknown_producer_restarts_the_partition_when_the_broker_knows_its_log() -> None:
    """UNKNOWN_PRODUCER_ID with a log start restarts the partition in the next epoch (2d-17)."""
    sequences = numbers()
    batch = sent(sequences)
    assert sequences.may_retry(batch, UnknownProducerId, -1)
    batch.is_in_flight = False
    sequences.settle()
    assert place(batch) == (7, 0, 0)
    assert sequences.may_retry(batch, UnknownProducerId, 5)
    sequences.settle()
    assert place(batch) == (7, 1, 0)
    assert sequences.may_retry(batch, UnknownProducerId, 5)  # asked before the restart
    sequences.settle()
    assert place(batch) == (7, 1, 0)


def test_unknown_producer_for_good_lets_the_partition_begin_at_zero() -> None:
    """After a final UNKNOWN_PRODUCER_ID the partition's sequence begins at 0 (2d-19)."""
    sequences = numbers()
    batch = sent(sequences, 4)
    sequences.refused(batch, UnknownProducerId)
    assert place(sent(sequences)) == (7, 0, 0)


def test_an_abandoned_batch_holds_back_new_ones_until_its_fate_is_clear() -> None:
    """New batches wait until it is clear whether an abandoned one was stored (2d-13, 2d-20)."""
    sequences = numbers()
    first, second = sent(sequences), sent(sequences)
    sequences.abandoned(first)
    new = make_batch()
    assert not sequences.may_send(new)
    second.is_in_flight = False
    sequences.completed(second)  # it was written, so the first was, too
    sequences.settle()
    assert sequences.may_send(new)
    assert sequences.producer.epoch == 0


def test_a_late_answer_to_an_abandoned_batch_settles_it() -> None:
    """A late answer to an abandoned batch resolves its sequence numbers (2d-13)."""
    sequences = numbers()
    batch = sent(sequences)
    sequences.abandoned(batch)
    sequences.completed(batch)
    sequences.settle()
    assert place(sent(sequences)) == (7, 0, 1)


def test_an_answer_that_comes_behind_those_of_newer_batches_takes_nothing_back() -> None:
    """Also across the last sequence number: a leader that was left may answer last."""
    sequences = numbers()
    sequences.completed(sent(sequences))
    state = sequences._partitions[TP]
    state.next_sequence, state.last_acked_sequence = 2**31 - 1, 2**31 - 2
    first, second = sent(sequences), sent(sequences)
    sequences.abandoned(first)
    sequences.completed(second)
    sequences.completed(first)
    sequences.settle()
    assert place(sent(sequences)) == (7, 0, 1)


def test_an_abandoned_batch_that_stays_unknown_costs_an_epoch() -> None:
    """An abandoned batch whose fate stays unknown raises the epoch (2d-20)."""
    sequences = numbers()
    sequences.abandoned(sent(sequences))
    sequences.settle()
    assert place(sent(sequences)) == (7, 1, 0)


def test_the_one_right_behind_an_abandoned_batch_proves_the_gap() -> None:
    """Out-of-order for the batch behind an abandoned one proves that it was not stored (2d-17)."""
    sequences = numbers()
    first, second, third = sent(sequences), sent(sequences), sent(sequences)
    sequences.abandoned(first)
    assert sequences.may_retry(third, OutOfOrderSequenceNumber, -1)
    third.is_in_flight = False
    sequences.settle()
    assert sequences.producer.epoch == 0
    assert sequences.may_retry(second, OutOfOrderSequenceNumber, -1)
    second.is_in_flight = False
    sequences.settle()
    assert (place(second), place(third)) == ((7, 1, 0), (7, 1, 1))


def test_a_batch_never_sent_leaves_no_trace() -> None:
    sequences = numbers()
    batch = make_batch()
    sequences.abandoned(batch)
    sequences.refused(batch, MessageSizeTooLargeError)
    sequences.completed(batch)
    sequences.settle()
    assert place(sent(sequences)) == (7, 0, 0)


def test_used_up_epochs_ask_for_another_producer_id() -> None:
    """A used-up epoch makes the producer ask for another producer id (2d-18)."""
    sequences = numbers(epoch=MAX_EPOCH)
    first, second = sent(sequences), sent(sequences)
    sequences.refused(first, MessageSizeTooLargeError)
    second.is_in_flight = False
    sequences.settle()
    assert not sequences.has_producer_id
    assert not sequences.may_send(second)
    sequences.set_producer(8, 0)
    sequences.settle()
    assert place(second) == (8, 0, 0)


def test_a_producer_id_the_broker_refuses_is_given_up() -> None:
    sequences = numbers()
    batch, elsewhere = sent(sequences), sent(sequences, 1, TopicPartition("orders", 1))
    sequences.refused(batch, InvalidProducerEpoch)
    assert not sequences.has_producer_id
    sequences.set_producer(9, 0)
    sequences.refused(elsewhere, InvalidProducerEpoch)  # the old id's answer: the new one stays
    assert sequences.has_producer_id
    sequences.settle()
    assert place(sent(sequences)) == (9, 0, 0)
    assert place(sent(sequences, 1, TopicPartition("orders", 1))) == (9, 0, 0)


class _Log:
    """What a broker does with sequence numbers, for one partition; keeps five batches."""

    def __init__(self) -> None:
        self.epoch = -1
        self.next = 0
        self.recent: list[tuple[int, int, int]] = []
        self.records: list[int] = []

    def write(self, batch: ProducerBatch, name: int) -> type | None:
        key = (batch.producer_epoch, batch.base_sequence, batch.record_count)
        if key in self.recent:
            return None
        if batch.producer_epoch < self.epoch:
            return InvalidProducerEpoch
        if self.epoch == -1:
            pass  # a producer it does not know may begin anywhere
        elif batch.producer_epoch > self.epoch:
            if batch.base_sequence != 0:
                return OutOfOrderSequenceNumber
        elif batch.base_sequence != self.next:
            return OutOfOrderSequenceNumber
        self.epoch = batch.producer_epoch
        self.next = batch.last_sequence + 1
        self.recent = [*self.recent, key][-5:]
        self.records.append(name)
        return None


@given(st.data())
def test_whatever_gets_lost_the_log_has_each_batch_once_and_in_order(data: st.DataObject) -> None:
    """Whatever gets lost, the log has each batch once and in order (2d-10 to 2d-20)."""
    sequences, log = numbers(), _Log()
    queue = [(name, make_batch(name % 3 + 1)) for name in range(8)]
    names = {id(batch): name for name, batch in queue}
    flying: list[ProducerBatch] = []
    acked: list[int] = []
    for _ in range(300):
        sequences.settle()
        may = bool(queue) and len(flying) < 5 and sequences.may_send(queue[0][1])
        if may and (not flying or data.draw(st.booleans())):
            batch = queue.pop(0)[1]
            sequences.assign(batch)
            batch.is_in_flight = True
            flying.append(batch)
            continue
        if not flying:
            break
        # One connection: the oldest is answered first; when it breaks, all are lost.
        fate = data.draw(st.sampled_from(["ok", "ok", "ok", "lost before", "lost after"]))
        landed = flying[:1] if fate == "ok" else flying[:]
        del flying[: len(landed)]
        back: list[ProducerBatch] = []
        for batch in landed:
            error = None if fate == "lost before" else log.write(batch, names[id(batch)])
            batch.is_in_flight = False
            if fate == "ok" and error is None:
                sequences.completed(batch)
                acked.append(names[id(batch)])
            else:
                assert sequences.may_retry(batch, error or KafkaConnectionError, 0), error
                back.append(batch)
        queue[:0] = [(names[id(batch)], batch) for batch in back]
        queue.sort(key=lambda entry: entry[0])
    assert acked == list(range(8))
    assert log.records == list(range(8))


def test_pieces_take_the_place_of_their_batch() -> None:
    """The pieces of a batch take its place, and later batches wait (2d-14)."""
    sequences = numbers()
    sequences.completed(sent(sequences))
    batch = sent(sequences, 4)
    behind = sent(sequences, 1)
    pieces = split_batch(batch, 80, RecordBatchBuilder)
    assert [place(piece) for piece in pieces] == [(7, 0, 1), (7, 0, 3)]
    batch.is_in_flight = False
    sequences.split(batch, pieces)
    assert [sequences.may_send(each) for each in (*pieces, behind)] == [True, False, False]
    sequences.assign(pieces[0])
    sequences.completed(pieces[0])
    assert [sequences.may_send(each) for each in (pieces[1], behind)] == [True, False]
    sequences.completed(pieces[1])
    assert sequences.may_send(behind)
    assert place(sent(sequences)) == (7, 0, 6)


def test_splitting_what_has_no_numbers_changes_nothing() -> None:
    """Splitting a batch without numbers changes no sequence (2d-14)."""
    sequences = numbers()
    batch = make_batch(2)
    sequences.split(batch, [make_batch(), make_batch()])
    sent(sequences)
    sequences.split(batch, [make_batch(), make_batch()])
    assert place(sent(sequences)) == (7, 0, 1)


# With transactions…


class Gate:
    """A transaction that has these partitions, and counts the batches sent."""

    def __init__(self, *partitions: TopicPartition) -> None:
        self.partitions = set(partitions)
        self.sent = 0

    def may_send(self, topic_partition: TopicPartition) -> bool:
        return topic_partition in self.partitions

    def batch_is_sent(self) -> None:
        self.sent += 1


def in_transaction() -> tuple[SequenceNumbers, Gate]:
    gate = Gate(TP)
    return numbers(gate), gate


def test_only_partitions_of_the_transaction_are_sent_to() -> None:
    """Batches of a partition leave only once it belongs to the transaction (2d-10, 2d'-2)."""
    sequences, _ = in_transaction()
    assert sequences.may_send(make_batch())
    assert not sequences.may_send(make_batch(tp=TopicPartition("orders", 1)))


def test_the_transaction_hears_of_every_batch_that_is_sent() -> None:
    sequences, gate = in_transaction()
    batch = sent(sequences)
    sequences.assign(batch)
    assert gate.sent == 2


def test_a_new_epoch_begins_every_partition_at_zero() -> None:
    """A new epoch starts the sequence of every partition at 0 (2d'-8)."""
    sequences, _ = in_transaction()
    first = sent(sequences, 3)
    sequences.completed(first)
    assert place(sent(sequences)) == (7, 0, 3)
    sequences.begin_epoch(8, 4)
    assert place(sent(sequences)) == (8, 4, 0)


def test_a_new_epoch_forgets_gaps() -> None:
    """A new epoch forgets unresolved sequence numbers (2d'-8, 2d-20)."""
    sequences, _ = in_transaction()
    sequences.abandoned(sent(sequences))
    sequences.settle()
    assert not sequences.may_send(make_batch())
    sequences.begin_epoch(7, 1)
    assert sequences.may_send(make_batch())


def test_an_epoch_that_another_partition_needs_begins_behind_what_is_on_its_way() -> None:
    """A partition takes the new epoch once nothing of the old one is in flight (2d-20)."""
    sequences = numbers()
    other = TopicPartition("orders", 1)
    sequences.completed(sent(sequences, tp=other))
    before = sent(sequences, tp=other)
    sequences.refused(sent(sequences), MessageSizeTooLargeError)
    sequences.settle()
    assert sequences.producer.epoch == 1
    assert not sequences.may_send(make_batch(tp=other))
    sequences.completed(before)
    assert sequences.may_send(make_batch(tp=other))
    assert place(sent(sequences, tp=other)) == (7, 1, 0)


@pytest.mark.parametrize("error", [MessageSizeTooLargeError, None])
def test_a_batch_of_the_epoch_before_leaves_no_gap_in_the_next(error: type | None) -> None:
    sequences, _ = in_transaction()
    late = sent(sequences, 3)
    sequences.begin_epoch(7, 1)
    sequences.completed(sent(sequences))
    if error is None:
        sequences.abandoned(late)
    else:
        sequences.refused(late, error)
    sequences.settle()
    assert sequences.may_send(make_batch())
    assert place(sent(sequences)) == (7, 1, 1)


def test_a_late_answer_of_the_epoch_before_changes_nothing() -> None:
    sequences, _ = in_transaction()
    late = sent(sequences, 3)
    sequences.abandoned(late)
    sequences.begin_epoch(7, 1)
    batch = sent(sequences)
    sequences.completed(late)
    assert place(batch) == (7, 1, 0)
    assert not sequences.may_send(make_batch())  # the first of an epoch goes alone
    sequences.completed(batch)
    assert place(sent(sequences)) == (7, 1, 1)


@pytest.mark.parametrize(
    "error", [MessageSizeTooLargeError, InvalidProducerEpoch, OutOfOrderSequenceNumber]
)
def test_a_refused_batch_bumps_no_epoch_in_a_transaction(error: type) -> None:
    """A refused batch fails its transaction, which raises the epoch by itself (2d-19)."""
    sequences, _ = in_transaction()
    sequences.refused(sent(sequences), error)
    assert not sequences.settle()
    assert sequences.producer == (7, 0)
    assert not sequences.may_send(make_batch())


def test_what_was_sent_behind_a_refused_batch_goes_to_its_end() -> None:
    """In a transaction, batches sent behind a refused one may still be retried (2d-19)."""
    sequences, _ = in_transaction()
    first, second, third = sent(sequences), sent(sequences), sent(sequences)
    sequences.refused(first, MessageSizeTooLargeError)
    assert sequences.may_send(second)
    assert not sequences.may_send(third)
    assert not sequences.may_send(make_batch())


def test_an_abandoned_batch_is_a_lost_sequence_once_it_stays_unknown() -> None:
    """An abandoned batch whose fate stays unknown fails its transaction, once (2d-20)."""
    sequences, _ = in_transaction()
    first, second = sent(sequences), sent(sequences)
    sequences.abandoned(first)
    assert not sequences.settle()
    sequences.refused(second, OutOfOrderSequenceNumber)
    assert sequences.settle()
    assert not sequences.settle()
    assert sequences.producer == (7, 0)


def test_an_abandoned_batch_that_was_written_after_all_is_no_loss() -> None:
    """An abandoned batch that was stored after all needs no new epoch (2d-20)."""
    sequences, _ = in_transaction()
    batch = sent(sequences)
    sequences.abandoned(batch)
    sequences.completed(batch)
    assert not sequences.settle()
    assert sequences.may_send(make_batch())


def test_out_of_order_ends_a_transaction_unless_it_waits_for_its_turn() -> None:
    """Out-of-order fails a transaction, unless the batch waits for an older one (2d-17)."""
    sequences, _ = in_transaction()
    first, second = sent(sequences), sent(sequences)
    assert sequences.may_retry(second, OutOfOrderSequenceNumber, -1)
    assert not sequences.may_retry(first, OutOfOrderSequenceNumber, -1)


@pytest.mark.parametrize("log_start_offset", [-1, 0, 5])
def test_an_unknown_producer_ends_a_transaction(log_start_offset: int) -> None:
    """UNKNOWN_PRODUCER_ID fails a transaction (2d-17)."""
    sequences, _ = in_transaction()
    assert not sequences.may_retry(sent(sequences), UnknownProducerId, log_start_offset)


def test_retriable_errors_end_no_transaction() -> None:
    """A retriable error of a batch does not fail its transaction (2d-15)."""
    sequences, _ = in_transaction()
    assert sequences.may_retry(sent(sequences), NotLeaderForPartitionError, -1)


def test_what_is_unresolved_stays_so_until_the_last_one_in_flight_has_its_outcome() -> None:
    """Numbers stay unresolved until the last batch in flight has its outcome (2d-20)."""
    sequences = numbers()
    sequences.completed(sent(sequences))
    expired, behind = sent(sequences), sent(sequences)
    sequences.abandoned(expired)
    sequences.settle()
    new = make_batch()
    assert not sequences.may_send(new)
    behind.is_in_flight = False
    sequences.completed(behind)
    sequences.settle()
    assert sequences.may_send(new)
    assert sequences.producer.epoch == 0  # the one behind it was taken: so was the expired one
