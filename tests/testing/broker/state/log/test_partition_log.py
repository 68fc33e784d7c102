"""The log of a partition: offsets, limits of a read, retention, epochs, timestamps."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import CorruptRecordException, OffsetOutOfRangeError
from aiokafka_lite.record.batch_header import parse_header
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from aiokafka_lite.record.memory_records import iter_batches
from aiokafka_lite.testing.broker.state.log.partition_log import PartitionLog
from tests.support.record_batches import validate_batch
from tests.testing.broker.bench import batch, marker

END = 1 << 62


def log_of(*sizes: int, **options: int) -> PartitionLog:
    """A log whose batches have that many records."""
    log = PartitionLog("t", 0, **options)
    for size in sizes:
        log.append(batch(*[b"x" * 10] * size), leader_epoch=0)
    return log


def read(log: PartitionLog, offset: int, max_bytes: int = END, *, first: bool = True) -> bytes:
    return bytes(log.read(offset, max_bytes, END, at_least_one=first).records)


def offsets_in(data: bytes) -> list[tuple[int, int]]:
    return [(found.base_offset, found.last_offset) for found in iter_batches(data)]


# Appending…


def test_append_sets_offset_and_epoch_and_leaves_the_rest() -> None:
    log = PartitionLog("t", 0)
    original = batch(b"a", b"b", producer=(7, 0, 3))
    assert log.append(original, leader_epoch=4) == 0
    assert log.append(original, leader_epoch=5) == 2
    second = parse_header(list(log.batches())[1].data)
    assert (second.base_offset, second.partition_leader_epoch) == (2, 5)
    assert (second.producer_id, second.base_sequence) == (7, 3)
    assert bytes(list(log.batches())[1].data)[16:] == original[16:]
    assert log.log_end_offset == log.high_watermark == 4


def test_append_copies_what_it_is_given() -> None:
    data = bytearray(batch(b"a"))
    log = PartitionLog("t", 0)
    log.append(data, leader_epoch=0)
    data[-1] ^= 0xFF
    assert [record.value for record in log.records()] == [b"a"]


def test_append_takes_several_batches_at_once() -> None:
    log = PartitionLog("t", 0)
    assert log.append(batch(b"a", b"b") + batch(b"c"), leader_epoch=0) == 0
    assert [record.offset for record in log.records()] == [0, 1, 2]


@pytest.mark.parametrize("codec", list(CompressionType))
def test_records_of_every_codec_come_back(codec: CompressionType) -> None:
    log = PartitionLog("t", 3)
    log.append(batch(b"a" * 100, b"b" * 100, compression=codec), leader_epoch=0)
    assert [(r.partition, r.offset, (r.value or b"")[:1]) for r in log.records()] == [
        (3, 0, b"a"),
        (3, 1, b"b"),
    ]


def test_log_append_time_replaces_timestamps_and_the_crc_fits() -> None:
    """Log-append time replaces the records' timestamps by the batch's largest (2g-3)."""
    log = PartitionLog("t", 0)
    log.append(batch(b"a", b"b"), leader_epoch=0, log_append_time_ms=5000)
    assert [(r.timestamp, r.timestamp_type) for r in log.records()] == [(5000, 1), (5000, 1)]
    validate_batch(read(log, 0))


def test_kept_offsets_may_leave_a_gap_as_compaction_does() -> None:
    source = log_of(2, 3, 2)
    target = PartitionLog("t", 0)
    kept = list(source.batches())
    target.append(kept[0].data, leader_epoch=0, keep_offsets=True)
    target.append(kept[2].data, leader_epoch=0, keep_offsets=True)
    assert [record.offset for record in target.records()] == [0, 1, 5, 6]
    assert offsets_in(read(target, 3)) == [(5, 6)]


def test_an_offset_below_the_end_is_refused() -> None:
    log = log_of(2)
    with pytest.raises(ValueError, match="at offset 0 cannot follow the end of the log, 2"):
        log.append(batch(b"a"), leader_epoch=0, keep_offsets=True)


def test_bytes_that_are_no_whole_batch_are_refused() -> None:
    with pytest.raises(ValueError, match="the 7 bytes at 0 are not a whole record batch"):
        log_of().append(b"garbage", leader_epoch=0)
    with pytest.raises(CorruptRecordException):
        log_of().append(b"\0" * 100, leader_epoch=0)


def test_a_corrupted_batch_stays_corrupt() -> None:
    log = log_of(1, 1, 1)
    log.corrupt(1)
    validate_batch(next(log.batches()).data)
    with pytest.raises(CorruptRecordException):
        validate_batch(list(log.batches())[1].data)
    with pytest.raises(OffsetOutOfRangeError, match=r"no batch .* holds offset 3"):
        log.corrupt(3)


# Reading…


def test_a_read_begins_with_the_batch_that_holds_the_offset() -> None:
    log = log_of(3, 3, 3)
    assert offsets_in(read(log, 4)) == [(3, 5), (6, 8)]
    assert read(log, 9) == b""


def test_a_read_is_cut_anywhere_behind_its_first_batch() -> None:
    """A read may end in a partial batch, as with Apache Kafka (2b-12)."""
    log = log_of(3, 3, 3)
    size = len(read(log, 6))
    cut = read(log, 0, 2 * size + 5)
    assert len(cut) == 2 * size + 5
    assert offsets_in(cut) == [(0, 2), (3, 5)]


def test_a_first_batch_that_does_not_fit_comes_whole_or_not_at_all() -> None:
    """The first batch of a response comes whole (A4)."""
    log = log_of(3, 3)
    assert offsets_in(read(log, 0, 1)) == [(0, 2)]
    assert len(read(log, 0, 1)) == len(read(log, 3))
    assert read(log, 0, 1, first=False) == b""
    assert read(log, 0, 0, first=False) == b""


def test_only_whole_batches_below_the_upper_bound_are_read() -> None:
    log = log_of(3, 3)
    assert log.read(0, END, 3, at_least_one=True).end_offset == 3
    assert log.read(0, END, 2, at_least_one=True).records == b""
    assert log.available_bytes(0, 3) == len(read(log, 3))


@given(
    sizes=st.lists(st.integers(1, 4), min_size=1, max_size=12),
    start=st.integers(0, 40),
    max_bytes=st.integers(0, 1500),
    is_first=st.booleans(),
    deleted=st.integers(0, 20),
)
def test_reads_agree_with_one_long_byte_string(
    sizes: list[int], start: int, max_bytes: int, is_first: bool, deleted: int
) -> None:
    log = log_of(*sizes)
    whole = [bytes(stored.data) for stored in log.batches()]
    lasts = [stored.last_offset for stored in log.batches()]
    log.delete_records(min(deleted, log.log_end_offset))
    start = max(start, log.log_start_offset)
    wanted = [data for data, last in zip(whole, lasts, strict=True) if last >= start]
    expected = b"".join(wanted)[:max_bytes]
    if wanted and len(expected) < len(wanted[0]):
        expected = wanted[0] if is_first else b""
    assert read(log, start, max_bytes, first=is_first) == expected
    assert log.available_bytes(start, END) == len(b"".join(wanted))


# Retention…


def test_the_oldest_batches_are_dropped_when_the_bound_is_exceeded() -> None:
    size = len(batch(b"x" * 10))
    log = log_of(*[1] * 10, retention_bytes=3 * size)
    assert log.size_in_bytes == 3 * size
    assert (log.log_start_offset, log.log_end_offset) == (7, 10)
    assert [record.offset for record in log.records()] == [7, 8, 9]


def test_the_newest_batch_always_stays() -> None:
    log = log_of(1, 50, retention_bytes=10)
    assert (log.log_start_offset, log.log_end_offset) == (1, 51)


def test_a_long_log_keeps_its_positions_while_its_head_is_cut() -> None:
    size = len(batch(b"x" * 10))
    log = log_of(*[1] * 1000, retention_bytes=7 * size)
    assert log.size_in_bytes == 7 * size
    assert offsets_in(read(log, 995)) == [(995 + i,) * 2 for i in range(5)]
    assert len(log._batches) < 200


def test_deleted_records_move_the_start_even_within_a_batch() -> None:
    log = log_of(3, 3)
    log.delete_records(4)
    assert log.log_start_offset == 4
    assert [record.offset for record in log.records()] == [4, 5]
    log.delete_records(2)
    assert log.log_start_offset == 4
    log.delete_records(6)
    assert log.records() == []
    assert log.size_in_bytes == 0
    log.append(batch(b"a"), leader_epoch=0)
    assert [record.offset for record in log.records()] == [6]
    with pytest.raises(OffsetOutOfRangeError, match="the log ends at 7"):
        log.delete_records(8)


# Transactions…


def test_last_stable_offset_stays_before_the_oldest_open_transaction() -> None:
    """The last stable offset stays before the oldest open transaction (E1)."""
    log = log_of(2)
    log.append(batch(b"a", producer=(7, 0, 0), is_transactional=True), leader_epoch=0)
    log.append(batch(b"b"), leader_epoch=0)
    assert (log.last_stable_offset, log.high_watermark) == (2, 4)
    log.append(marker(7, ControlRecordType.ABORT), leader_epoch=0)
    assert log.last_stable_offset == log.high_watermark == 5
    assert log.transactions.aborted_between(0, 5) == [(7, 2)]


def test_a_committed_transaction_is_not_listed_as_aborted() -> None:
    log = log_of()
    log.append(batch(b"a", producer=(7, 0, 0), is_transactional=True), leader_epoch=0)
    log.append(marker(7, ControlRecordType.COMMIT), leader_epoch=0)
    assert log.last_stable_offset == 2
    assert log.transactions.aborted_between(0, 5) == []


# Timestamps…


def test_offset_for_timestamp_is_that_of_the_first_record_at_or_after() -> None:
    log = log_of()
    log.append(batch(b"a", b"b", timestamps=(100, 300)), leader_epoch=0)
    log.append(batch(b"c", b"d", timestamps=(200, 400)), leader_epoch=0)
    assert log.offset_for_timestamp(0) == (0, 100)
    assert log.offset_for_timestamp(150) == (1, 300)
    assert log.offset_for_timestamp(301) == (3, 400)
    assert log.offset_for_timestamp(401) is None
    assert log.offset_of_max_timestamp() == (3, 400)
    assert log_of().offset_of_max_timestamp() is None


def test_records_below_the_start_of_the_log_are_not_found_by_time() -> None:
    log = log_of()
    log.append(batch(b"a", b"b", timestamps=(100, 300)), leader_epoch=0)
    log.delete_records(1)
    assert log.offset_for_timestamp(0) == (1, 300)


def test_markers_have_a_timestamp_too() -> None:
    log = log_of()
    log.append(batch(b"a", timestamps=(100,)), leader_epoch=0)
    control = ControlRecordType.COMMIT
    log.append(
        build_control_batch(
            control, base_offset=0, producer_id=7, producer_epoch=0, timestamp_ms=200
        ),
        leader_epoch=0,
    )
    assert log.offset_for_timestamp(101) == (1, 200)
    assert log.offset_of_max_timestamp() == (1, 200)


# Leader epochs…


def test_end_of_an_epoch_is_the_start_of_the_next_one() -> None:
    """The end of a leader epoch is the start of the next one (KIP-320)."""
    log = log_of()
    for epoch, size in ((0, 3), (2, 4), (5, 1)):
        log.append(batch(*[b"x"] * size), leader_epoch=epoch)
    assert [log.end_of_epoch(epoch) for epoch in range(7)] == [
        (0, 3),
        (0, 3),
        (2, 7),
        (2, 7),
        (2, 7),
        (5, 8),
        (-1, -1),
    ]
    assert log.end_of_epoch(-1) == (-1, -1)
    assert [log.epoch_of(offset) for offset in (0, 2, 3, 6, 7, 8)] == [0, 0, 2, 2, 5, 5]


def test_an_epoch_below_all_that_are_known_ends_where_the_first_begins() -> None:
    log = PartitionLog("t", 0)
    log.start_epoch(3, 0)
    assert log.end_of_epoch(1) == (1, 0)


def test_an_epoch_without_records_vanishes() -> None:
    log = log_of(2)
    log.start_epoch(1, 2)
    log.start_epoch(4, 2)
    assert log.end_of_epoch(1) == (0, 2)
    assert log.epoch_of(2) == 4


def test_a_truncated_log_ends_at_whole_batches_and_knows_no_later_epochs() -> None:
    """A truncated log ends at a whole batch and has no later epochs (KIP-320)."""
    log = log_of(1, 1, 1)
    log.start_epoch(1, 3)
    log.append(batch(b"a", b"b"), leader_epoch=1)
    log.truncate(4)
    assert (log.log_end_offset, len(list(log.batches()))) == (3, 3)
    assert log.end_of_epoch(1) == (-1, -1)
    assert log.append(batch(), leader_epoch=2) == 3
    assert log.end_of_epoch(1) == (0, 3)
    assert [record.offset for record in log.records()] == [0, 1, 2, 3]
    log.truncate(0)
    assert log.log_end_offset == 0


def test_repr_says_what_is_there() -> None:
    assert repr(log_of(3)).startswith("<PartitionLog t-0 [0, 3) ")


# Older formats…


def test_messages_of_format_1_keep_their_offsets() -> None:
    # Offset 5, size 27, CRC, magic 1, attributes 0, timestamp 1234, key null, value "hello".
    message = bytes.fromhex(
        "0000000000000005 0000001b 00000000 01 00 00000000000004d2 ffffffff 00000005 68656c6c6f"
    )
    log = PartitionLog("t", 0)
    assert log.append(message, leader_epoch=0) == 5
    assert log.log_end_offset == 6
    assert next(log.batches()).max_timestamp == 1234
