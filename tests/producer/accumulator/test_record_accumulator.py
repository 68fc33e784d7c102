import random
import zlib
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aiokafka_lite.errors import KafkaError, ProducerClosed
from aiokafka_lite.producer.accumulator.incomplete_batches import IncompleteBatches
from aiokafka_lite.producer.accumulator.sequence_numbers import SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.record.batch_builder import record_upper_bound
from tests.producer.batches import Shelf, make_batch, prove_fast, values
from tests.support.reentry import ALL_WAYS


def test_records_go_to_the_last_batch_until_it_has_no_room() -> None:
    """A record goes into the last batch of its partition while there is room (C5)."""
    shelf = Shelf()
    first = shelf.append(b"x" * 40)
    assert shelf.append(b"x" * 40) is first
    second = shelf.append(b"x" * 100)
    assert second is not first
    assert first.is_closed
    assert not second.is_closed
    assert shelf.queue().batches == type(shelf.queue().batches)([first, second])


def test_a_large_record_gets_a_batch_of_its_size() -> None:
    """A record larger than `max_batch_size` gets a batch of its own size (C5, 2d-1)."""
    shelf = Shelf()
    assert len(shelf.append(b"x" * 5000).buffer or b"") > 5000
    assert shelf.accumulator.sizes.for_new(shelf.queue(), 100) == 200


def test_batches_never_outgrow_the_largest_request() -> None:
    shelf = Shelf(max_batch_size=500, max_request_size=300)
    assert shelf.accumulator.sizes.for_new(shelf.queue(), 100) == 300


def test_a_batch_is_due_after_linger_or_when_full() -> None:
    """A batch is due when it is full, or when it has lingered (2d-7)."""
    shelf = Shelf(linger_ms=100)
    shelf.append(now_s=10.0)
    ready = shelf.accumulator.ready(10.02)
    assert ready.node_ids == set()
    assert ready.delay_s == pytest.approx(0.08)
    assert shelf.drain(now_s=10.02) == []
    assert shelf.accumulator.ready(10.1).node_ids == {1}
    shelf.append(b"x" * 150, now_s=10.02)
    assert shelf.accumulator.ready(10.02).node_ids == {1}


def test_nothing_is_due_when_nothing_is_there() -> None:
    ready = Shelf().accumulator.ready(5.0)
    assert (ready.node_ids, ready.delay_s, ready.leaderless_topics) == (set(), None, set())


def test_flush_close_and_waiting_for_memory_make_everything_due() -> None:
    """A flush, a close and a wait for memory make every batch due (2d-3, 2d-7, 2d-21)."""
    shelf = Shelf()
    batch = shelf.append()
    assert shelf.accumulator.incomplete.begin_flush() == [batch]
    assert shelf.accumulator.ready(0.0).node_ids == {1}
    shelf.accumulator.incomplete.end_flush()
    assert shelf.accumulator.ready(0.0).node_ids == set()
    shelf.pool._waiters.append(None)  # type: ignore[arg-type]  # only counted
    assert shelf.accumulator.ready(0.0).node_ids == {1}
    shelf.pool._waiters.clear()
    shelf.accumulator.close(ProducerClosed("stopped"))
    assert shelf.accumulator.ready(0.0).node_ids == {1}
    assert shelf.pool.take_nowait(1) is None


def test_partitions_without_leader_are_named_and_not_waited_for() -> None:
    """Partitions without a leader are reported, and the others are sent (2d-7)."""
    shelf = Shelf()
    shelf.append(partition=0)
    shelf.append(partition=1)
    shelf.set_leader(0, None)
    ready = shelf.accumulator.ready(1.0)
    assert ready.leaderless_topics == {"orders"}
    assert ready.node_ids == {1}
    assert len(shelf.drain(now_s=1.0)) == 1
    shelf.set_leader(0, 2)
    assert shelf.accumulator.ready(1.0).node_ids == {2}
    assert [batch.topic_partition.partition for batch in shelf.drain(2, 1.0)] == [0]


def test_one_request_takes_one_batch_of_each_partition_lingered_or_not() -> None:
    """A request takes one batch of each partition, also those that still linger (2d-9)."""
    shelf = Shelf()
    for partition in range(3):
        shelf.append(partition=partition, now_s=float(partition))
    shelf.append(b"x" * 150, partition=0)
    drained = shelf.drain(now_s=0.1)
    assert [batch.topic_partition.partition for batch in drained] == [0, 1, 2]
    assert all(batch.is_in_flight and batch.is_closed for batch in drained)
    assert shelf.accumulator.has_more(1)
    assert len(shelf.drain(now_s=0.2)) == 1
    assert not shelf.accumulator.has_more(1)


def test_batches_that_another_node_gets_or_none_are_others() -> None:
    shelf = Shelf()
    assert not shelf.accumulator.has_others(1)
    shelf.append(partition=0)
    assert not shelf.accumulator.has_others(1)
    assert shelf.accumulator.has_others(2)
    shelf.append(partition=1)
    shelf.set_leader(1, 2)
    assert shelf.accumulator.has_others(1)
    shelf.set_leader(1, None)
    assert shelf.accumulator.has_others(1)
    assert len(shelf.drain(now_s=1.0)) == 1
    assert shelf.accumulator.has_others(1)


def test_a_request_stops_at_its_size_and_goes_on_there_next_time() -> None:
    """A request ends at `max_request_size`, and the next one goes on there (2d-9)."""
    shelf = Shelf(max_request_size=500)
    for partition in range(3):
        shelf.append(b"x" * 150, partition=partition)
        shelf.append(b"x" * 150, partition=partition)
    first = [batch.topic_partition.partition for batch in shelf.drain(now_s=1.0)]
    second = [batch.topic_partition.partition for batch in shelf.drain(now_s=1.0)]
    assert (first, second) == ([0, 1], [2, 0])


def test_a_single_oversize_batch_goes_alone() -> None:
    """A batch larger than a request may be is sent alone (2d-9)."""
    shelf = Shelf(max_request_size=500)
    shelf.append(b"x" * 800, partition=0)
    shelf.append(b"x" * 10, partition=1)
    assert [batch.topic_partition.partition for batch in shelf.drain(now_s=1.0)] == [0]
    assert [batch.topic_partition.partition for batch in shelf.drain(now_s=1.0)] == [1]


def test_one_in_flight_keeps_the_order_by_muting() -> None:
    """With one request in flight a partition is muted until its batch has an outcome (2d-12)."""
    shelf = Shelf(max_in_flight_requests_per_connection=1)
    first, second = shelf.append(b"x" * 150), shelf.append(b"x" * 150)
    assert shelf.drain() == [first]
    assert shelf.accumulator.ready(9.0).node_ids == set()
    assert shelf.drain(now_s=9.0) == []
    shelf.succeed(first)
    assert shelf.drain(now_s=9.0) == [second]


def test_a_retry_goes_to_the_front_after_its_backoff() -> None:
    """A batch to be sent again is first in its queue and waits for its backoff (2d-8, 2d-15)."""
    shelf = Shelf()
    first, second, third = (shelf.append(b"x" * 150) for _ in range(3))
    assert shelf.drain() == [first]
    assert shelf.drain() == [second]
    # The second comes back first: they go in the order of their first drain all the same.
    for batch in (second, first):
        shelf.accumulator.landed(batch, reusable=False)
        shelf.accumulator.retry(batch, 0.0)
    assert list(shelf.queue().batches) == [first, second, third]
    ready = shelf.accumulator.ready(0.0)
    assert ready.node_ids == set()
    assert ready.delay_s == pytest.approx(0.1)
    assert shelf.drain(now_s=0.05) == []
    assert shelf.drain(now_s=0.1) == [first]
    shelf.accumulator.landed(first, reusable=False)
    shelf.accumulator.retry(first, 0.1)
    assert first.retry_at_s == pytest.approx(0.3)


def test_backoff_is_skipped_for_a_new_leader() -> None:
    """A new leader ends the backoff of a batch (2d-8, KIP-951)."""
    shelf = Shelf()
    batch = shelf.append()
    shelf.set_leader(0, 1, epoch=4)
    assert shelf.drain(now_s=1.0) == [batch]
    shelf.accumulator.landed(batch, reusable=False)
    shelf.accumulator.retry(batch, 1.0)
    shelf.set_leader(0, 2, epoch=5)
    assert shelf.accumulator.ready(1.0).node_ids == {2}
    assert shelf.drain(2, 1.0) == [batch]


def test_a_batch_in_backoff_is_not_taken_along_with_others() -> None:
    shelf = Shelf()
    retried = shelf.append(partition=0)
    shelf.drain(now_s=1.0)
    shelf.accumulator.landed(retried, reusable=False)
    shelf.accumulator.retry(retried, 1.0)
    other = shelf.append(partition=1, now_s=0.0)
    assert shelf.drain(now_s=1.0) == [other]


def test_sequence_numbers_gate_what_is_drained() -> None:
    """A batch that the sequence numbers hold back is not drained (2d-10)."""
    sequences = SequenceNumbers()
    shelf = Shelf(sequences=sequences)
    batch = shelf.append()
    assert shelf.drain(now_s=1.0) == []
    assert shelf.accumulator.ready(1.0).node_ids == set()
    sequences.set_producer(7, 3)
    assert shelf.drain(now_s=1.0) == [batch]
    assert (batch.producer_id, batch.producer_epoch, batch.base_sequence) == (7, 3, 0)


def test_a_gated_partition_does_not_hide_when_another_is_due() -> None:
    sequences = SequenceNumbers()
    sequences.set_producer(7, 0)
    shelf = Shelf(sequences=sequences)
    blocked = shelf.append(partition=0)
    assert shelf.drain(now_s=1.0) == [blocked]
    sequences.abandoned(blocked)
    shelf.append(partition=0, now_s=1.0)
    shelf.append(partition=1, now_s=1.0)
    assert shelf.accumulator.ready(1.0).delay_s == pytest.approx(0.1)


def test_memory_returns_when_the_outcome_is_there_and_no_request_needs_it() -> None:
    """Memory returns when a batch has its outcome and no request needs its bytes (C6)."""
    shelf = Shelf()
    batch = shelf.append()
    assert shelf.pool.used_bytes == 200
    shelf.drain(now_s=1.0)
    batch.fail(KafkaError("expired"))
    batch.error_of(0)
    shelf.accumulator.forget(batch)
    assert not shelf.accumulator.incomplete
    assert shelf.pool.used_bytes == 200
    shelf.accumulator.landed(batch, reusable=True)
    assert shelf.pool.used_bytes == 0
    assert batch.buffer is None


@pytest.mark.parametrize("reusable", [True, False])
def test_bytes_that_may_still_be_on_their_way_are_not_written_over(reusable: bool) -> None:
    """The buffer of an expired batch is kept while its request may be in the socket (C6)."""
    shelf = Shelf()
    batch = shelf.append()
    buffer = batch.buffer
    shelf.drain(now_s=1.0)
    batch.fail(KafkaError("expired"))
    batch.error_of(0)
    shelf.accumulator.forget(batch)
    shelf.accumulator.landed(batch, reusable=reusable)
    assert shelf.pool.used_bytes == 0
    assert (shelf.append().buffer is buffer) == reusable


def test_an_abort_fails_what_was_never_sent_and_nothing_else() -> None:
    """An abort fails only batches that never got sequence numbers (2d'-3)."""
    shelf = Shelf()
    again, in_flight = shelf.append(), shelf.append(partition=1)
    assert set(shelf.drain(now_s=1.0)) == {again, in_flight}
    shelf.accumulator.landed(again, reusable=True)
    shelf.accumulator.retry(again, 1.0)
    unsent = shelf.append()
    shelf.accumulator.fail_unsent(KafkaError("aborted"))
    assert shelf.accumulator.incomplete.batches == [again, in_flight]
    assert "aborted" in str(unsent.error_of(0))
    for batch in shelf.drain(now_s=9.0), [in_flight]:
        shelf.succeed(batch[0])
    assert shelf.pool.used_bytes == 0


def test_what_fails_all_at_once_keeps_no_later_batch_from_being_sent() -> None:
    """Batches that all failed keep no later batch waiting (2d-18)."""
    sequences = SequenceNumbers()
    sequences.set_producer(7, 0)
    shelf = Shelf(sequences=sequences)
    first = shelf.append()
    assert shelf.drain(now_s=1.0) == [first]
    shelf.accumulator.fail_all(KafkaError("failed"))
    first.error_of(0)
    shelf.accumulator.landed(first, reusable=True)
    sequences.settle()
    shelf.append(now_s=2.0)
    assert len(shelf.drain(now_s=9.0)) == 1


def test_a_queued_batch_with_an_outcome_leaves_its_queue() -> None:
    shelf = Shelf()
    batch = shelf.append()
    batch.close()
    batch.fail(KafkaError("expired"))
    batch.error_of(0)
    shelf.accumulator.forget(batch)
    shelf.accumulator.forget(batch)
    assert shelf.pool.used_bytes == 0
    assert shelf.accumulator.ready(9.0).node_ids == set()
    assert shelf.append() is not batch


def test_batches_expire_from_their_creation_queued_or_in_flight() -> None:
    """`delivery_timeout_ms` counts from the creation of a batch, queued or in flight (2d-13)."""
    shelf = Shelf(delivery_timeout_ms=31_000)
    assert shelf.accumulator.incomplete.next_expiry_s is None
    first = shelf.append(now_s=5.0)
    shelf.drain(now_s=6.0)
    second = shelf.append(now_s=7.0)
    assert shelf.accumulator.incomplete.next_expiry_s == 36.0
    assert list(shelf.accumulator.incomplete.expired(35.9)) == []
    assert list(shelf.accumulator.incomplete.expired(36.0)) == [first]
    assert list(shelf.accumulator.incomplete.expired(38.0)) == [first, second]


def test_failing_all_fails_what_is_queued_and_what_is_in_flight() -> None:
    shelf = Shelf()
    in_flight = shelf.append()
    shelf.drain(now_s=1.0)
    queued = shelf.append()
    shelf.accumulator.fail_all(ProducerClosed("stopped"))
    assert in_flight.is_done
    assert queued.is_done
    assert queued.error_of(0) is in_flight.error_of(0)
    assert not shelf.accumulator.incomplete
    assert shelf.pool.used_bytes == 200  # the request may still read it
    shelf.accumulator.landed(in_flight, reusable=False)
    assert shelf.pool.used_bytes == 0


def test_compressed_batches_use_their_room_once_the_ratio_is_known() -> None:
    """A batch takes more records once its topic's compression ratio is known (2d-2)."""
    shelf = Shelf(compression_type="gzip", max_batch_size=1000)
    rng = random.Random(1)
    words = [b"%05d" % rng.randrange(20) for _ in range(50)]
    sizes = []
    for _ in range(400):
        batch = shelf.append(b"".join(rng.choices(words, k=15)))
        while shelf.queue().open_batch is batch:
            shelf.append(b"".join(rng.choices(words, k=15)))
        assert shelf.drain() == [batch]
        sizes.append(len(shelf.accumulator.seal(batch)))
        assert batch.buffer is None  # the compressed copy is what counts from here
        assert batch.reserved_bytes == sizes[-1]
        shelf.succeed(batch)
    assert sizes[0] < 600
    assert 700 < sizes[-1] <= 1050
    shelf.accumulator.fail_all(KafkaError("end"))
    assert shelf.pool.used_bytes == 0


def test_compressed_bytes_can_be_read_and_what_does_not_shrink_still_counts_within_bounds() -> None:
    shelf = Shelf(compression_type="gzip", max_batch_size=300)
    noise = random.Random(1).randbytes(200)
    batch = shelf.append(noise)
    shelf.drain(now_s=1.0)
    assert values(shelf.accumulator.seal(batch)) == [noise]
    assert shelf.pool.used_bytes <= 300
    assert zlib.crc32(noise)  # the wire was read back above
    shelf.succeed(batch)
    assert shelf.pool.used_bytes == 0


def test_pieces_take_the_place_of_a_batch_that_was_too_large() -> None:
    """Pieces take the place, the age and the memory of the batch they come from (2d-14)."""
    shelf = Shelf(max_batch_size=400, delivery_timeout_ms=31_000)
    batch = shelf.append(b"x" * 60, now_s=0.0)
    for _ in range(3):
        assert shelf.append(b"x" * 60) is batch
    assert shelf.drain(now_s=1.0) == [batch]
    later = shelf.append(b"y", now_s=2.0)
    shelf.accumulator.landed(batch, reusable=True)
    shelf.accumulator.split(batch)
    first, second, last = shelf.queue().batches
    assert (first.attempts, first.drain_number) == (0, batch.drain_number)
    assert last is later
    assert shelf.accumulator.incomplete.batches == [first, second, later]
    assert shelf.accumulator.incomplete.next_expiry_s == 31.0
    assert 400 < shelf.pool.used_bytes <= 800
    assert batch.size_in_bytes == 0
    assert shelf.drain(now_s=2.0) == [first]
    shelf.accumulator.landed(first, reusable=True)
    shelf.accumulator.retry(first, 2.0)
    assert list(shelf.queue().batches) == [first, second, later]
    for expected in (first, second, later):
        assert shelf.drain(now_s=9.0) == [expected]
        shelf.succeed(expected)
    assert batch.is_done
    assert shelf.pool.used_bytes == 0


def test_pieces_of_a_compressed_batch_count_with_its_compressed_size_at_most() -> None:
    """The pieces of a compressed batch count as no more memory than it had (2d-14)."""
    shelf = Shelf(compression_type="gzip", max_batch_size=2000)
    rng = random.Random(1)
    batch = shelf.append(rng.randbytes(300))
    while shelf.queue().open_batch is batch:
        shelf.append(rng.randbytes(300))
    shelf.drain()
    shelf.accumulator.seal(batch)
    reserved = batch.reserved_bytes
    other = shelf.pool.used_bytes - reserved
    shelf.accumulator.landed(batch, reusable=True)
    shelf.accumulator.split(batch)
    pieces = list(shelf.queue().batches)[:-1]
    assert len(pieces) == 2
    assert sum(piece.reserved_bytes for piece in pieces) == shelf.pool.used_bytes - other
    assert shelf.pool.used_bytes - other <= reserved
    shelf.accumulator.fail_all(KafkaError("end"))
    assert all(piece.error_of(0) for piece in pieces)
    assert shelf.pool.used_bytes == 0


def test_batches_that_fill_a_request_to_the_byte_go_together() -> None:
    """Batches that fill a request to its last byte go into it together (2d-9)."""
    shelf = Shelf(max_request_size=294)
    batches = [shelf.append(b"x" * 77, partition=partition) for partition in range(3)]
    assert [batch.size_in_bytes for batch in batches[:2]] == [147, 147]
    assert shelf.drain(now_s=1.0) == batches[:2]
    assert shelf.drain(now_s=1.0) == batches[2:]


def test_after_a_full_round_the_next_begins_with_the_first_partition() -> None:
    """After a request with all partitions the next one begins with the first (2d-9)."""
    shelf = Shelf(max_request_size=200, enable_idempotence=False)
    for partition in range(2):
        shelf.append(partition=partition)
    shelf.drain(now_s=1.0)
    batches = [shelf.append(b"x" * 60, partition=partition, now_s=1.0) for partition in range(2)]
    assert shelf.drain(now_s=2.0) == batches[:1]


def test_the_buffer_of_a_written_batch_is_kept_for_the_next() -> None:
    """The buffer of a stored batch is kept for the next batch (C6, 2d-3)."""
    shelf = Shelf()
    batch = shelf.append()
    buffer = batch.buffer
    shelf.drain(now_s=1.0)
    shelf.succeed(batch)
    assert "200 bytes kept" in repr(shelf.pool)
    assert shelf.append().buffer is buffer


def test_drains_are_counted_from_one() -> None:
    shelf = Shelf()
    first = shelf.append()
    shelf.drain(now_s=1.0)
    second = shelf.append(now_s=1.0)
    shelf.drain(now_s=2.0)
    assert (first.drain_number, second.drain_number) == (1, 2)


def test_the_open_batch_of_a_queue_that_fails_is_no_longer_open() -> None:
    """A batch that failed takes no more records (C5)."""
    shelf = Shelf()
    batch = shelf.append()
    batch.fail(KafkaError("no"))
    batch.error_of(0)
    shelf.accumulator.forget(batch)
    assert shelf.queue().open_batch is None
    assert batch.is_closed


STEPS = ("append", "append", "drain", "answer", "retry", "split")


@settings(deadline=None)
@given(st.data(), st.sampled_from([{}, {"max_batch_size": 100, "max_backlog_batch_size": 700}]))
def test_whatever_happens_order_is_kept_and_no_memory_is_lost(
    data: st.DataObject, options: dict[str, int]
) -> None:
    """Whatever happens, order is kept and no memory is lost (C5, C6, 2d-14, 2d-15)."""
    sequences = SequenceNumbers()
    sequences.set_producer(1, 0)
    shelf = Shelf(sequences=sequences, buffer_memory=4000, **options)
    now_s = 0.0
    flying: list[ProducerBatch] = []
    written: dict[int, list[bytes | None]] = {0: [], 1: []}
    sent: dict[int, list[bytes]] = {0: [], 1: []}

    def split(batch: ProducerBatch) -> None:
        if batch.record_count > 1:
            shelf.accumulator.landed(batch, reusable=True)
            shelf.accumulator.split(batch)
        else:
            land(batch, answered=False)

    def land(batch: ProducerBatch, *, answered: bool) -> None:
        """A broker takes a batch only when those before it are there."""
        shelf.accumulator.landed(batch, reusable=True)
        if answered and sequences._partitions[batch.topic_partition].in_flight[0] is batch:
            written[batch.topic_partition.partition] += values(batch.wire())
            sequences.completed(batch)
            shelf.succeed(batch)
        else:
            shelf.accumulator.retry(batch, now_s)

    for step in range(data.draw(st.integers(5, 60))):
        action = data.draw(st.sampled_from(STEPS))
        if action == "append" and shelf.pool.available_bytes > 1000:
            partition = data.draw(st.integers(0, 1))
            value = b"%d" % step * data.draw(st.integers(1, 60))
            shelf.append_within_bounds(value, partition=partition, now_s=now_s)
            sent[partition].append(value)
        elif action == "drain":
            now_s += 0.2
            flying += shelf.drain(now_s=now_s)
        elif flying and action == "split":
            split(flying.pop(0))
        elif flying:
            land(flying.pop(0), answered=action == "answer")
    for _ in range(300):
        now_s += 2.0
        flying += shelf.drain(now_s=now_s)
        while flying:
            land(flying.pop(0), answered=True)
    assert written == sent
    assert shelf.pool.used_bytes == 0
    assert not shelf.accumulator.incomplete


# Behind a backlog…


def _fill(shelf: Shelf, *, partition: int = 0) -> ProducerBatch:
    """Fill the last batch of a partition, or a new one."""
    batch = shelf.append(b"x" * 20, partition=partition)
    while batch.append(0, None, b"x" * 20, ()) is not None:
        pass
    return batch


def test_a_batch_behind_others_is_as_large_as_they_are_together_up_to_a_limit() -> None:
    shelf = Shelf(max_backlog_batch_size=1300)
    sizes = [len(_fill(shelf).buffer or b"") for _ in range(7)]
    assert sizes == [200, 200, 400, 800, 1300, 1300, 1300]
    assert len(_fill(shelf, partition=1).buffer or b"") == 200  # a backlog of another partition
    assert shelf.accumulator.sizes.for_new(shelf.queue(), 5000) == 5000


def test_without_backlog_batches_have_their_usual_size() -> None:
    """Without a backlog each batch has `max_batch_size` (C5)."""
    shelf = Shelf(max_backlog_batch_size=1300)
    for _ in range(5):
        batch = _fill(shelf)
        shelf.queue().close_open_batch()
        assert len(batch.buffer or b"") == 200
        assert shelf.drain() == [batch]


@pytest.mark.parametrize("most", [0, 199, 200])
def test_no_more_than_the_usual_size_for_a_backlog_is_off(most: int) -> None:
    shelf = Shelf(max_backlog_batch_size=most)
    assert [len(_fill(shelf).buffer or b"") for _ in range(5)] == [200] * 5


def test_a_large_batch_is_full_at_the_usual_size_once_no_other_delays_it() -> None:
    """A batch waits no longer for being allowed to grow larger (2d-7)."""
    shelf = Shelf(max_backlog_batch_size=1600, linger_ms=100)
    first, second = _fill(shelf), _fill(shelf)
    third = shelf.append(b"x" * 150)
    assert third.append(0, None, b"x" * 100, ()) is not None
    assert third.size_in_bytes > 200
    assert shelf.drain() == [first]
    assert not third.is_closed
    assert shelf.drain() == [second]
    assert third.is_closed
    assert shelf.queue().open_batch is None
    assert shelf.drain() == [third]  # at once, not after linger_ms


def test_a_large_batch_with_little_in_it_goes_on_as_a_usual_one() -> None:
    shelf = Shelf(max_backlog_batch_size=1600, linger_ms=100)
    for _ in range(2):
        _fill(shelf)
    third = shelf.append(b"x" * 40)
    assert third.reserved_bytes == 400
    shelf.drain()
    shelf.drain()
    assert not third.is_closed
    assert shelf.drain() == []
    assert shelf.append(b"x" * 40) is third
    assert shelf.append(b"x" * 40) is not third
    assert third.size_in_bytes <= 200
    assert shelf.drain() == [third]


def test_a_backlog_ends_when_what_was_before_it_expires() -> None:
    shelf = Shelf(max_backlog_batch_size=1600)
    before = [_fill(shelf), _fill(shelf)]
    third = shelf.append(b"x" * 250)
    for batch in before:
        assert not third.is_closed
        batch.fail(KafkaError("expired"))
        batch.error_of(0)
        shelf.accumulator.forget(batch)
    assert third.is_closed


def test_a_topic_that_finds_a_batch_too_large_gets_none_of_those_any_more() -> None:
    """After a batch that was too large, its topic gets batches of `max_batch_size` only (2d-14)."""
    shelf = Shelf(max_backlog_batch_size=1600)
    grown = [_fill(shelf) for _ in range(4)][-1]
    for _ in range(4):
        (batch,) = shelf.drain()
        if batch is not grown:
            shelf.succeed(batch)
    shelf.accumulator.landed(grown, reusable=True)
    assert grown.size_in_bytes > 700
    shelf.accumulator.split(grown)
    assert [len(_fill(shelf).buffer or b"") for _ in range(4)] == [200] * 4
    other = shelf.queue(topic="payments")
    for _ in range(2):
        buffer = bytearray(200)
        shelf.accumulator.add(shelf.accumulator.new_batch(other, buffer, 0.0))
    assert shelf.accumulator.sizes.for_new(other, 100) == 400


# What it costs…


def test_a_drain_looks_at_the_partitions_with_batches_and_at_no_other() -> None:
    """One partition of a node or five thousand: what is not active costs nothing."""
    shelf = Shelf(linger_ms=0)
    looked_at: list[int] = []

    class Watched(deque[ProducerBatch]):
        """The batches of one partition."""

        partition = -1

        def __getitem__(self, index: Any) -> Any:
            looked_at.append(self.partition)
            return super().__getitem__(index)

    for partition in range(5000):
        shelf.queue(partition)
    for partition in (7, 4321):
        shelf.append(partition=partition)
    for partition in range(5000):
        queue = shelf.queue(partition)
        queue.batches = watched = Watched(queue.batches)
        watched.partition = partition
    assert shelf.accumulator.ready(0.0).node_ids == {1}
    assert set(looked_at) == {7}
    assert [batch.topic_partition.partition for batch in shelf.drain()] == [7, 4321]
    assert set(looked_at) == {7, 4321}
    looks = len(looked_at)
    assert looks < 10
    assert not shelf.accumulator.has_more(1)
    assert shelf.drain() == []
    assert shelf.accumulator.ready(0.0).node_ids == set()
    assert len(looked_at) == looks


def test_no_batch_is_looked_at_for_its_expiry_before_the_oldest_has_expired() -> None:
    """The accumulator looks at no batch before the oldest may have expired (2d-13)."""
    copies: list[int] = []

    class Watched(IncompleteBatches):
        """Counts how often all batches are asked for."""

        @property
        def batches(self) -> list[ProducerBatch]:
            copies.append(len(self))
            return super().batches

    incomplete = Watched(30.1)
    batches = [make_batch(created_s=float(second)) for second in range(3)]
    for batch in batches:
        incomplete.add(batch)
    assert list(incomplete.expired(30.0)) == []
    assert copies == []
    assert list(incomplete.expired(31.5)) == batches[:2]
    assert copies == [3]


def test_a_batch_that_was_taken_is_not_searched_for_when_it_is_forgotten() -> None:
    shelf = Shelf()
    first = shelf.append(b"v" * 150)
    shelf.append(b"v" * 150)
    shelf.drain()
    queue = shelf.queue()
    assert (first.is_queued, len(queue.batches)) == (False, 1)
    queue.batches = mock.Mock()  # which cannot be searched
    shelf.succeed(first)
    queue.batches.remove.assert_not_called()
    assert not shelf.accumulator.incomplete.batches[0].is_done


def _send(shelf: Shelf, value: bytes) -> None:
    """Do what a `send` does that may grow a batch."""
    queue = shelf.queue()
    batch = queue.open_batch
    if batch is None or batch.append(0, None, value, ()) is None:
        shelf.accumulator.grow(queue, record_upper_bound(None, value))
        shelf.append(value, now_s=1.0)


def _sent_by(shelf: Shelf, batches: list[ProducerBatch]) -> None:
    """Drain what is due, as a handler of signals does that sends."""
    batches += shelf.drain(now_s=9.0)


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize("inner", ["send", "drain"])
@pytest.mark.parametrize("outer", ["send", "close", "grow", "retry", "drain"])
def test_a_send_in_the_middle_loses_and_doubles_nothing(outer: str, inner: str, way: str) -> None:
    """Each batch is drained once, in the order of its numbers, with the records it took (C1)."""
    if (outer, inner) == ("drain", "drain"):
        return  # the sender begins none inside another
    for place in range(1, 400):
        sequences = SequenceNumbers()
        sequences.set_producer(1, 0)
        shelf = Shelf(sequences=sequences, linger_ms=0, max_backlog_batch_size=1000)
        prove_fast(shelf.accumulator.pace_of(1))
        drained: list[ProducerBatch] = []
        shelf.append(b"first", now_s=1.0)
        _sent_by(shelf, drained)
        first = drained[0]
        sequences.completed(first)
        first.is_in_flight = False
        retried: list[ProducerBatch] = [first]
        if outer == "retry":
            shelf.append(b"retried", now_s=1.0)
            _sent_by(shelf, retried)
            shelf.append(b"sent twice, too", now_s=1.0)
            _sent_by(shelf, retried)
            for batch in retried[1:]:
                shelf.accumulator.landed(batch, True)
            shelf.accumulator.retry(retried[1], -9.0)
        shelf.append(b"x" * 60, now_s=1.0)
        calls: dict[str, Callable[[], object]] = {
            "send": partial(_send, shelf, b"y" * 60),
            "close": partial(shelf.accumulator.close_full, shelf.queue()),
            "grow": partial(shelf.accumulator.grow, shelf.queue(), 150),
            "retry": partial(shelf.accumulator.retry, retried[-1], -9.0),
            "drain": partial(_sent_by, shelf, drained),
        }
        middle = partial(_send, shelf, b"z" * 60)
        with ALL_WAYS[way](
            middle if inner == "send" else partial(_sent_by, shelf, drained), after=place
        ) as interruption:
            calls[outer]()
        where = f"{inner} at {place} of {outer}"
        assert interruption.error is None, where
        assert shelf.accumulator.has_waiting == bool(shelf.queue().batches), where
        assert shelf.accumulator.has_more(1) == shelf.accumulator.has_waiting, where
        for batch in drained[1:]:
            sequences.completed(batch)
            batch.is_in_flight = False
        while (more := shelf.drain(now_s=9.0)) != []:
            drained += more
            for batch in more:
                sequences.completed(batch)
                batch.is_in_flight = False
        assert not shelf.queue().batches, where
        assert len(set(drained)) == len(drained), where
        numbers = [batch.base_sequence for batch in drained]
        assert numbers == sorted(numbers), where
        ends = [batch.base_sequence + batch.record_count for batch in drained]
        assert numbers[1:] == ends[:-1], where
        for batch in drained:
            assert len(values(batch.wire())) == batch.record_count, where
        if not interruption.came:
            break
