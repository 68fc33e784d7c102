"""Tests of `record/batch_reader.py`: every twin of the cursor keeps these promises."""

import dataclasses
import gc
import gzip
import struct
import sys
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.arrow.record_columns import RecordColumnsBuilder
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.model import ConsumerRecord
from aiokafka_lite.record import _batch_reader_py, batch_reader
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_header import CONTROL, TRANSACTIONAL, assign_offsets
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from tests.support.twins import native_twin

ALL = 1_000_000


def twin_of(kind):
    """The RecordCursor of that kind; skips where it was not built."""
    if kind == "pure":
        return _batch_reader_py.RecordCursor
    return native_twin("aiokafka_lite.record._batch_reader").RecordCursor


@pytest.fixture(scope="module", params=["pure", "native"])
def twin(request):
    return twin_of(request.param)


@pytest.fixture
def cursor(twin):
    """`cursor(data, fetch_offset=0, ...)` -> a RecordCursor of topic t, partition 3."""

    def make(data, fetch_offset=0, **options):
        return twin(data, topic="t", partition=3, fetch_offset=fetch_offset, **options)

    return make


def batch(base_offset, count, *, size=100, compression=CompressionType.NONE, epoch=-1, pid=None):
    """Return a batch whose records' values begin with their offset."""
    builder = RecordBatchBuilder(
        bytearray(1 << 20), compression=compression, is_transactional=pid is not None
    )
    for index in range(count):
        value = (b"%d " % (base_offset + index)).ljust(size, b"x")
        assert builder.append(1_000 + index, b"key", value) == index
    builder.stamp(-1 if pid is None else pid, 0, 0)
    wire = bytearray(builder.wire())
    assign_offsets(wire, base_offset, epoch)
    return bytes(wire)


def marker(offset, pid, control=ControlRecordType.ABORT):
    return build_control_batch(
        control, base_offset=offset, producer_id=pid, producer_epoch=0, timestamp_ms=5
    )


def offsets(records):
    return [record.offset for record in records]


def drain(taker, size=1):
    """Take everything, into a list that survives the error at the end."""
    found = []
    error = None
    for _ in range(100):
        position = taker.next_offset
        try:
            found += taker.take(size)
        except CorruptRecordException as raised:
            error = raised
            break
        assert taker.next_offset >= position
        if taker.exhausted:
            break
    else:
        pytest.fail("the cursor does not come to an end")
    if error is not None:
        assert (error.topic, error.partition, error.offset) == ("t", 3, taker.next_offset)
    return found, error


# What a record is…


def test_the_chosen_reader_makes_the_public_record(raw_batch, raw_record):
    chosen = batch_reader.RecordCursor(
        raw_batch([raw_record(0)]), topic="t", partition=3, fetch_offset=0
    )
    (record,) = chosen.take(1)
    assert type(record) is ConsumerRecord


def test_record_has_all_its_fields(cursor, raw_batch, raw_record):
    headers = [(b"a", b"1"), ("ü".encode(), None), (b"a", b"")]
    data = raw_batch([raw_record(0, b"key", b"value", headers, timestamp_delta=-7)], base_offset=40)
    (record,) = cursor(data, 40).take(1)
    assert dataclasses.asdict(record) == {
        "topic": "t",
        "partition": 3,
        "offset": 40,
        "timestamp": 993,
        "timestamp_type": 0,
        "key": b"key",
        "value": b"value",
        "checksum": None,
        "serialized_key_size": 3,
        "serialized_value_size": 5,
        "headers": (("a", b"1"), ("ü", None), ("a", b"")),
    }
    record.trace = "attributes of the user's own"
    record.offset = 1


def test_absent_key_and_value_are_none_and_their_sizes_minus_one(cursor, raw_batch, raw_record):
    (record,) = cursor(raw_batch([raw_record(0, None, None)])).take(1)
    assert (record.key, record.value) == (None, None)
    assert (record.serialized_key_size, record.serialized_value_size) == (-1, -1)
    (record,) = cursor(raw_batch([raw_record(0, b"", b"")])).take(1)
    assert (record.key, record.value) == (b"", b"")
    assert (record.serialized_key_size, record.serialized_value_size) == (0, 0)


def test_fields_are_bytes_of_their_own(cursor):
    data = bytearray(batch(0, 2))
    records = cursor(data).take(2)
    data[:] = bytes(len(data))
    assert records[1].value.startswith(b"1 ")
    assert type(records[0].value) is bytes
    assert type(records[0].key) is bytes


def test_log_append_time_is_the_batchs_max_timestamp_for_all(cursor, raw_batch, raw_record):
    """With log-append time every record has the batch's largest timestamp (2g-3)."""
    records = [raw_record(0, timestamp_delta=1), raw_record(1, timestamp_delta=2)]
    data = raw_batch(records, attributes=8, max_timestamp=77_000)
    found = cursor(data).take(ALL)
    assert [(r.timestamp, r.timestamp_type) for r in found] == [(77_000, 1), (77_000, 1)]


def test_header_name_that_is_no_utf8_does_not_hide_the_record(cursor, raw_batch, raw_record):
    """Java's client replaces such bytes as well."""
    (record,) = cursor(raw_batch([raw_record(0, headers=[(b"\xff", b"x")])])).take(1)
    assert record.headers == (("�", b"x"),)


numbers = st.one_of(
    st.integers(-70, 70),
    st.integers(-8_200, 8_200),
    st.integers(-(2**40), 2**40),
)
contents = st.one_of(
    st.none(),
    st.binary(max_size=80),
    st.sampled_from([62, 63, 64, 65, 8_190, 8_191, 8_192, 8_193]).map(bytes),
)
rows = st.tuples(
    numbers,
    contents,
    contents,
    st.lists(st.tuples(st.text(max_size=70), contents), max_size=3),
    st.sampled_from([1, 1, 1, 2, 63, 64, 8_192]),
)


@given(rows=st.lists(rows, min_size=1, max_size=8), takes=st.integers(1, 9))
def test_any_batch_is_read_in_any_portions(twin, raw_batch, raw_record, rows, takes):
    """What a take leaves comes first in the next, with no loss or repetition (A5)."""
    encoded, expected = [], []
    offset = 0
    for timestamp, key, value, headers, gap in rows:
        names = [(name.encode(), content) for name, content in headers]
        encoded.append(raw_record(offset, key, value, names, timestamp))
        expected.append((offset + 9, timestamp + 1_000, key, value, tuple(headers)))
        offset += gap
    data = raw_batch(encoded, base_offset=9, last_offset_delta=offset)
    cursor = twin(data, topic="t", partition=0, fetch_offset=9)
    found = []
    while records := cursor.take(takes):
        assert len(records) <= takes
        found += records
        assert cursor.next_offset in (records[-1].offset + 1, offset + 10)
    assert [(r.offset, r.timestamp, r.key, r.value, r.headers) for r in found] == expected
    assert cursor.next_offset == offset + 10
    assert cursor.exhausted


# Taking…


def test_take_goes_on_over_batches_and_stops_at_max_records(cursor):
    """A take goes on over batches and ends at `max_records` (A5, A6)."""
    taker = cursor(batch(0, 3) + batch(3, 4) + batch(7, 3))
    assert offsets(taker.take(5)) == [0, 1, 2, 3, 4]
    assert (taker.next_offset, taker.exhausted) == (5, False)
    assert offsets(taker.take(4)) == [5, 6, 7, 8]
    assert offsets(taker.take(4)) == [9]
    assert (taker.next_offset, taker.exhausted) == (10, True)
    assert taker.take(4) == []


def test_used_up_cursor_is_exhausted_at_once(cursor):
    """A cursor that is used up says so without another take (A8)."""
    taker = cursor(batch(0, 10))
    assert len(taker.take(10)) == 10
    assert taker.exhausted


@pytest.mark.parametrize(
    ("data", "fetch_offset", "end"),
    [
        (lambda: b"", 7, 7),
        (lambda: batch(0, 10) + batch(10, 5), 3, 15),
        (lambda: batch(0, 10) + batch(10, 5)[:-1], 0, 10),
        (lambda: batch(0, 3) + marker(3, 1), 0, 4),
        (lambda: batch(0, 3), 5, 5),
    ],
    ids=["nothing", "two batches", "a partial one", "a marker", "all before the fetch offset"],
)
def test_end_offset_is_where_the_cursor_will_stand_when_used_up(cursor, data, fetch_offset, end):
    taker = cursor(data(), fetch_offset)
    assert taker.end_offset() == end
    drain(taker)
    assert taker.next_offset == end


def test_end_offset_is_not_known_behind_a_header_that_cannot_be(cursor):
    impossible = bytearray(batch(3, 1))
    impossible[8:12] = b"\x00\x00\x00\x01"  # its length
    assert cursor(batch(0, 3) + impossible).end_offset() is None
    impossible = bytearray(batch(3, 1))
    impossible[23:27] = b"\xff\xff\xff\xff"  # where its last offset lies
    assert cursor(batch(0, 3) + impossible).end_offset() is None


@pytest.mark.parametrize("compression", CompressionType)
def test_take_stops_near_max_bytes_but_returns_one_record_at_least(cursor, compression):
    data = batch(0, 50, size=1_000, compression=compression) + batch(50, 50, size=1_000)
    taker = cursor(data)
    assert offsets(taker.take(ALL, 1)) == [0]
    assert offsets(taker.take(ALL, 0)) == [1]
    assert offsets(taker.take(ALL, 5_000)) == [2, 3, 4, 5, 6]
    assert len(taker.take(ALL, 60_000)) in (59, 60)
    assert len(taker.take(ALL, None)) in (33, 34)


def test_records_before_the_fetch_offset_are_passed_over(cursor):
    """Records below the offset that was asked for are skipped (2b-17)."""
    data = batch(0, 10) + batch(10, 10)
    assert offsets(cursor(data, 7).take(5)) == [7, 8, 9, 10, 11]
    assert offsets(cursor(data, 13).take(5)) == [13, 14, 15, 16, 17]
    taker = cursor(data, 20)
    assert (taker.take(5), taker.next_offset, taker.exhausted) == ([], 20, True)


@pytest.mark.parametrize("first", [0, 3, 9])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
@pytest.mark.parametrize("portions", [(1, ALL), (4, 2, ALL), (ALL,)])
def test_the_bytes_of_the_taken_records_are_counted(
    cursor, raw_batch, raw_record, first, compress, portions
):
    """As Java counts them: records as they are encoded, without codec, headers and skipped ones."""
    records = [raw_record(n, b"k" * n, b"v" * 40 * n, [(b"h", None)] * (n % 2)) for n in range(10)]
    codec = 0 if compress is bytes else 1
    data = raw_batch(records, attributes=codec, compress=compress)
    more = raw_batch([raw_record(0)], base_offset=10)
    reader, taken = cursor(data + more, first), 0
    for portion in portions:
        taken += len(reader.take(portion))
        sizes = [len(each) for each in (*records[first:], raw_record(0))]
        assert reader.read_bytes == sum(sizes[:taken])
    assert taken == 11 - first


@pytest.mark.parametrize("first", [0, 3, 9])
def test_the_bytes_of_records_in_columns_are_counted(cursor, raw_batch, raw_record, first):
    records = [raw_record(n, b"k" * n, b"v" * 40 * n) for n in range(10)]
    reader = cursor(raw_batch(records), first)
    columns = RecordColumnsBuilder(4, None)
    assert reader.take_columns(columns) == min(4, 10 - first)
    assert reader.read_bytes == sum(map(len, records[first : first + 4]))


def test_fetch_offset_within_a_batch_does_not_count_against_max_records(cursor):
    taker = cursor(batch(0, 100), 90)
    assert offsets(taker.take(3)) == [90, 91, 92]
    assert offsets(taker.take(100)) == list(range(93, 100))


def test_fetch_offset_behind_max_bytes_gets_one_record_at_a_time_all_the_same(cursor):
    reader = cursor(batch(0, 10), fetch_offset=7)
    assert offsets(reader.take(ALL, 1)) == [7]
    assert offsets(reader.take(ALL, 1)) == [8]


@pytest.mark.parametrize("count", [3, 600, 3_000])
def test_records_made_after_others_were_freed_have_nothing_of_them(
    cursor, raw_batch, raw_record, count
):
    shapes = [
        (b"key" * 5, b"value" * 20, ((b"h", b"x"),)),
        (None, b"v", ()),
        (b"k", None, ()),
        (None, b"V" * 90, ()),
        (b"K" * 20, b"value" * 30, ()),
        (b"", b"", ((b"h", None),)),
    ]
    for first in range(len(shapes)):
        rows = [shapes[(first + index // 2) % len(shapes)] for index in range(count)]
        data = raw_batch(
            [
                raw_record(index, key=key, value=value, headers=headers)
                for index, (key, value, headers) in enumerate(rows)
            ]
        )
        records = cursor(data).take(ALL)
        read = [(record.key, record.value, record.headers) for record in records]
        assert read == [
            (key, value, tuple((name.decode(), each) for name, each in headers))
            for key, value, headers in rows
        ]
        assert offsets(records) == list(range(count))
        del records


def test_taking_nothing_changes_nothing(cursor):
    taker = cursor(batch(0, 3))
    assert taker.take(0) == []
    assert offsets(taker.take(3)) == [0, 1, 2]


def test_compacted_tail_moves_the_position_when_the_batch_is_finished(
    cursor, raw_batch, raw_record
):
    """The next offset is behind the batch even if its last record is compacted (2b-17, E4)."""
    data = raw_batch([raw_record(2), raw_record(5)], base_offset=10, last_offset_delta=30)
    taker = cursor(data, 10)
    assert offsets(taker.take(1)) == [12]
    assert taker.next_offset == 13
    assert offsets(taker.take(1)) == [15]
    assert (taker.next_offset, taker.exhausted) == (41, True)


def test_batch_emptied_by_compaction_moves_the_position(cursor, raw_batch):
    taker = cursor(raw_batch([], base_offset=10, last_offset_delta=4), 10)
    assert taker.take(5) == []
    assert (taker.next_offset, taker.exhausted) == (15, True)


def test_leader_epoch_is_the_newest_batchs_looked_into(cursor):
    """The leader epoch is that of the last batch that was read (2b-14)."""
    taker = cursor(batch(0, 2, epoch=4) + batch(2, 2, epoch=6) + batch(4, 2, epoch=9))
    assert taker.last_leader_epoch == -1
    taker.take(1)
    assert taker.last_leader_epoch == 4
    taker.take(2)
    assert taker.last_leader_epoch == 6


# Partial and no batches…


def test_trailing_partial_batch_is_ignored(cursor):
    """A partial batch at the end is ignored (2b-12)."""
    whole, cut = batch(0, 2), batch(2, 5)
    for size in (1, 11, 12, 16, 17, 60, 61, len(cut) - 1):
        taker = cursor(whole + cut[:size])
        assert offsets(taker.take(ALL)) == [0, 1]
        assert (taker.next_offset, taker.exhausted, taker.has_complete_batch) == (2, True, True)


def test_bytes_without_one_complete_batch_are_told(cursor):
    """Bytes without one complete batch are reported to the caller (A4)."""
    taker = cursor(batch(0, 5)[:-1])
    assert not taker.has_complete_batch
    assert taker.take(5) == []
    assert taker.next_offset == 0
    assert not cursor(b"").has_complete_batch
    assert cursor(b"").exhausted


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_taken(cursor, kind):
    assert offsets(cursor(kind(batch(0, 3))).take(ALL)) == [0, 1, 2]


# Control batches and transactions…


@pytest.mark.parametrize("read_committed", [False, True])
@pytest.mark.parametrize("control", ControlRecordType)
def test_control_batches_are_never_returned_and_move_the_position(cursor, control, read_committed):
    """Control batches are not returned, and the next offset moves past them (E4)."""
    data = batch(0, 2, pid=1) + marker(2, 1, control) + batch(3, 2) + marker(5, 1, control)
    taker = cursor(data, read_committed=read_committed)
    assert offsets(taker.take(2)) == [0, 1]
    assert taker.next_offset == 3
    assert offsets(taker.take(2)) == [3, 4]
    assert (taker.next_offset, taker.exhausted) == (6, True)


def test_bytes_of_control_batches_only_move_the_position(cursor):
    taker = cursor(marker(5, 1) + marker(6, 2), 5)
    assert taker.take(9) == []
    assert (taker.next_offset, taker.exhausted) == (7, True)


def test_aborted_transactions_are_skipped_in_read_committed_only(cursor):
    """Batches of aborted transactions are skipped with `read_committed` only (E2, E3, 2b-18)."""
    data = (
        batch(0, 2, pid=1)  # aborted
        + batch(2, 2, pid=2)  # committed
        + batch(4, 2)  # not transactional
        + marker(6, 1)
        + batch(7, 2, pid=1)  # the same producer's next transaction, committed
        + marker(9, 2, ControlRecordType.COMMIT)
        + marker(10, 1, ControlRecordType.COMMIT)
    )
    aborted = [(1, 0)]
    committed = cursor(data, read_committed=True, aborted_transactions=aborted)
    assert offsets(committed.take(ALL)) == [2, 3, 4, 5, 7, 8]
    assert committed.next_offset == 11
    uncommitted = cursor(data, read_committed=False, aborted_transactions=aborted)
    assert offsets(uncommitted.take(ALL)) == [0, 1, 2, 3, 4, 5, 7, 8]


def test_aborted_transactions_are_sorted_here_not_by_the_broker(cursor):
    """Aborted transactions of one producer count in the order of first offsets (2b-18)."""
    data = (
        batch(0, 1, pid=1)
        + marker(1, 1)
        + batch(2, 1, pid=1)
        + marker(3, 1, ControlRecordType.COMMIT)
        + batch(4, 1, pid=1)
        + marker(5, 1)
        + batch(6, 1, pid=1)
    )
    taker = cursor(data, read_committed=True, aborted_transactions=[(1, 4), (1, 0)])
    assert offsets(taker.take(ALL)) == [2, 6]


def test_transaction_aborted_later_does_not_hide_earlier_batches(cursor):
    """A transaction that was aborted later does not hide earlier batches (2b-18)."""
    data = batch(0, 3, pid=1) + marker(3, 1, ControlRecordType.COMMIT) + batch(4, 3, pid=1)
    taker = cursor(data, read_committed=True, aborted_transactions=[(1, 4)])
    assert offsets(taker.take(ALL)) == [0, 1, 2]
    assert taker.next_offset == 7


def test_transaction_whose_records_lie_before_the_fetch_ends_with_its_marker(cursor):
    """An abort marker ends a transaction whose records precede the fetch (2b-18)."""
    data = marker(7, 1) + batch(8, 2, pid=1) + marker(10, 1, ControlRecordType.COMMIT)
    taker = cursor(data, 6, read_committed=True, aborted_transactions=[(1, 3)])
    assert offsets(taker.take(ALL)) == [8, 9]
    assert taker.next_offset == 11


def test_transaction_that_begins_in_a_batch_before_the_fetch_offset_is_hidden(cursor):
    """A fetch from the middle of an aborted batch hides the whole of it (2b-18)."""
    data = batch(0, 4, pid=1) + batch(4, 2) + marker(6, 1)
    taker = cursor(data, 2, read_committed=True, aborted_transactions=[(1, 0)])
    assert offsets(taker.take(ALL)) == [4, 5]
    assert taker.next_offset == 7


def test_aborts_of_two_producers_end_each_with_its_own_marker(cursor):
    """An abort marker ends the aborted transaction of its own producer only (E3, 2b-18)."""
    data = (
        batch(0, 1, pid=1)
        + batch(1, 1, pid=2)
        + marker(2, 1)
        + batch(3, 1, pid=1)
        + batch(4, 1, pid=2)
        + marker(5, 2)
        + batch(6, 1, pid=2)
    )
    taker = cursor(data, read_committed=True, aborted_transactions=[(2, 1), (1, 0)])
    assert offsets(taker.take(ALL)) == [3, 6]


def test_marker_in_a_compressed_batch_is_read_too(cursor, raw_batch, raw_record):
    """A marker in a compressed batch is read too, although no broker writes one (2b-18)."""
    key, value = b"\0\0\0\0", b"\0\0\0\0\0\0"  # version 0, abort
    abort = raw_batch(
        [raw_record(0, key, value)],
        base_offset=1,
        attributes=CompressionType.GZIP | TRANSACTIONAL | CONTROL,
        producer_id=1,
        compress=lambda records: compress(CompressionType.GZIP, records, None),
    )
    data = batch(0, 1, pid=1) + abort + batch(2, 1, pid=1)
    taker = cursor(data, read_committed=True, aborted_transactions=[(1, 0)])
    assert offsets(taker.take(ALL)) == [2]


def test_commit_marker_does_not_end_an_abort(cursor):
    """A commit marker does not end an aborted transaction (2b-18)."""
    data = batch(0, 1, pid=1) + marker(1, 1, ControlRecordType.COMMIT) + batch(2, 1, pid=1)
    taker = cursor(data, read_committed=True, aborted_transactions=[(1, 0)])
    assert taker.take(ALL) == []


def test_plain_batch_of_an_aborting_producer_is_shown(cursor):
    """Only transactional batches of an aborted producer are skipped (E3)."""
    builder = RecordBatchBuilder(bytearray(1_000))
    builder.append(1, b"k", b"v")
    builder.stamp(1, 0, 0)
    taker = cursor(builder.wire(), read_committed=True, aborted_transactions=[(1, 0)])
    assert offsets(taker.take(ALL)) == [0]


# Corrupt data…


def corrupt(data, position, flip=0x10):
    changed = bytearray(data)
    changed[position] ^= flip
    return bytes(changed)


def test_wrong_checksum_names_topic_partition_and_offset(cursor):
    """A wrong checksum raises an error that names topic, partition and offset (2b-17)."""
    taker = cursor(corrupt(batch(40, 3), 100), 41)
    with pytest.raises(CorruptRecordException, match=r"t-3 at offset 41: .*CRC-32C") as caught:
        taker.take(5)
    assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("t", 3, 41)


def test_records_before_an_error_come_first_and_the_error_stays(cursor):
    """Records before an error come first, and the error stays until a seek (A9, 2b-20)."""
    taker = cursor(batch(0, 3) + corrupt(batch(3, 3), 100) + batch(6, 3))
    assert offsets(taker.take(ALL)) == [0, 1, 2]
    for _ in range(3):
        assert (taker.next_offset, taker.exhausted) == (3, False)
        with pytest.raises(CorruptRecordException, match="offset 3"):
            taker.take(ALL)
    taker.release()
    assert taker.exhausted


def test_error_does_not_come_before_its_batch_is_reached(cursor):
    taker = cursor(batch(0, 3) + corrupt(batch(3, 3), 100))
    assert offsets(taker.take(2)) == [0, 1]
    assert offsets(taker.take(1)) == [2]
    with pytest.raises(CorruptRecordException):
        taker.take(1)


def test_checksums_may_go_unchecked(cursor):
    data = corrupt(batch(0, 3), 110)
    assert offsets(cursor(data, check_crcs=False).take(ALL)) == [0, 1, 2]


def test_control_batches_are_checked_too(cursor):
    with pytest.raises(CorruptRecordException, match="CRC-32C"):
        cursor(corrupt(marker(0, 1), 50)).take(1)


def test_bad_record_in_the_middle_of_a_batch(cursor, raw_batch, raw_record):
    """The records before a bad one in its batch are returned first (2b-20)."""
    bad = bytearray(raw_record(2))
    bad[4] = 0x0B  # a key of -6 bytes
    taker = cursor(raw_batch([raw_record(0), raw_record(1), bytes(bad)]))
    assert offsets(taker.take(ALL)) == [0, 1]
    with pytest.raises(CorruptRecordException, match="t-3 at offset 2: a key of -6 bytes"):
        taker.take(ALL)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"count": 0, "last_offset_delta": 0}, None),
        ({"count": 500}, "records count 500 does not fit"),
        ({"count": 2**31 - 1}, "does not fit"),
        ({"count": -1, "last_offset_delta": 0}, "records count -1"),
        ({"last_offset_delta": -1}, "offsets"),
        ({"base_offset": 2**63 - 1}, "base offset"),
        ({"base_offset": -3}, "base offset -3"),
        ({"attributes": 5}, "codec 5"),
    ],
)
def test_impossible_headers_are_corrupt(cursor, raw_batch, raw_record, options, words):
    data = raw_batch([raw_record(0, b"k" * 20)], **options)
    if words is None:  # a batch emptied by compaction: what follows its header is not looked at
        assert cursor(data).take(1) == []
        return
    with pytest.raises(CorruptRecordException, match=words):
        cursor(data).take(5)


def test_records_that_are_missing_are_corrupt(cursor, raw_batch, raw_record):
    taker = cursor(raw_batch([raw_record(0, b"k" * 20)], count=2))
    assert offsets(taker.take(ALL)) == [0]
    with pytest.raises(CorruptRecordException, match="a record ends beyond its batch"):
        taker.take(ALL)


@pytest.mark.parametrize("count", [1, 2])
def test_bytes_behind_the_last_record_are_corrupt(cursor, raw_batch, raw_record, count):
    records = [raw_record(index) for index in range(3)]
    taker = cursor(raw_batch(records, count=count, last_offset_delta=2))
    assert offsets(taker.take(ALL)) == list(range(count))
    with pytest.raises(CorruptRecordException, match="follow a batch's last record"):
        taker.take(ALL)


def hostile_records(raw_record):
    """Records whose inner lengths lie, and a word of the error."""
    head = b"\0\0\0"  # attributes, deltas
    body = {
        "key beyond": head + b"\x7e" + b"k" * 5,
        "value beyond": head + b"\x02k" + b"\x7e" + b"v" * 5,
        "value of 2 GiB": head + b"\x02k" + b"\xfe\xff\xff\xff\x0f" + b"v" * 5,
        "value of -2 bytes": head + b"\x02k\x03\0",
        "value of -100 bytes": head + b"\x02k\xc7\x01\0",
        "key of -100 bytes": head + b"\xc7\x01\x02v\0",
        "endless varint": head + b"\x80" * 20,
        "endless timestamp": b"\0" + b"\x80" * 20,
        "offset before the batch": b"\0\0\x01\x02k\x02v\0",
        "far before the batch": b"\0\0\x81\x01\x02k\x02v\0",
        "headers beyond": head + b"\x02k\x02v\x04",
        "2^31 headers": head + b"\x02k\x02v\xfe\xff\xff\xff\x0f",
        "headers of -1": head + b"\x02k\x02v\x01",
        "header name of -1": head + b"\x02k\x02v\x02\x01\x00",
        "header name beyond": head + b"\x02k\x02v\x02\x40a\x00",
        "header value of -2": head + b"\x02k\x02v\x02\x02a\x03",
        "header value beyond": head + b"\x02k\x02v\x02\x02a\x40",
        "bytes left over": head + b"\x02k\x02v\0junk",
        "nothing": b"",
    }
    cases = {name: bytes([len(content) << 1]) + content for name, content in body.items()}
    cases["length too small"] = b"\x0a" + raw_record(0)[1:]
    cases["length of -1"] = b"\x01" + raw_record(0)[1:]
    cases["length of 2 GiB"] = b"\xfe\xff\xff\xff\x0f" + raw_record(0)[1:]
    cases["length cut"] = b"\x80"
    cases["behind the last offset"] = raw_record(5)
    return cases


def test_hostile_records_are_corrupt_whatever_lies(cursor, raw_batch, raw_record):
    """Lengths are refused before anything is allocated, whether more bytes follow or not."""
    for name, bad in hostile_records(raw_record).items():
        for tail in ([], [raw_record(2)], [raw_record(2, b"k" * 5_000)]):
            for before in ([], [raw_record(0)]):
                data = raw_batch([*before, bad, *tail], last_offset_delta=2)
                tracemalloc.start()
                try:
                    found, error = drain(cursor(data))
                    peak = tracemalloc.get_traced_memory()[1]
                finally:
                    tracemalloc.stop()
                assert offsets(found) == [0] * len(found), name
                assert len(found) <= len(before), name
                assert error is not None, name
                assert peak < 100_000, name


def drained(twin, data, size, **options):
    """What a twin makes of hostile bytes: records, where it stands then, and whether it failed."""
    cursor = twin(data, topic="t", partition=3, fetch_offset=0, **options)
    end_offset = cursor.end_offset()
    found, error = drain(cursor, size)
    rows = [dataclasses.astuple(record) for record in found]
    if error is None:
        assert end_offset == cursor.next_offset
    return rows, cursor.next_offset, cursor.last_leader_epoch, error is not None, end_offset


@given(data=st.data())
def test_mutated_bytes_give_records_or_the_one_error_and_both_twins_the_same(data):
    """Never IndexError, struct.error or MemoryError, with checksums or without."""
    compression = data.draw(st.sampled_from(CompressionType))
    start = batch(0, 3, size=12, compression=compression, pid=1) + marker(3, 1)
    mutated = bytearray(start + batch(4, 3, size=70) + batch(7, 1, size=9_000)[:200])
    for _ in range(data.draw(st.integers(1, 6))):
        position = data.draw(st.integers(0, len(mutated) - 1))
        mutated[position] = data.draw(st.integers(0, 255))
    options = {
        "check_crcs": data.draw(st.booleans()),
        "read_committed": data.draw(st.booleans()),
        "aborted_transactions": [(1, 0)],
        "max_decompressed_bytes": 1 << 20,
    }
    size = data.draw(st.integers(1, 5))
    pure = drained(twin_of("pure"), mutated, size, **options)
    assert drained(twin_of("native"), mutated, size, **options) == pure


@given(data=st.data())
def test_mutated_records_with_headers_are_the_same_to_both_twins(raw_batch, raw_record, data):
    """Without a checksum and a codec in front, so that the change reaches the records."""
    headers = [(b"trace", b"1"), (b"none", None)]
    records = b"".join(
        raw_record(index, b"key", b"value" * 40, headers, timestamp_delta=index * 5_000)
        for index in range(4)
    )
    mutated = bytearray(raw_batch([records], count=4, last_offset_delta=3, base_timestamp=2**62))
    for _ in range(data.draw(st.integers(1, 3))):
        position = data.draw(st.integers(61, len(mutated) - 1))
        mutated[position] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(mutated)))
    for wire in (mutated, mutated[:cut]):
        pure = drained(twin_of("pure"), wire, ALL, check_crcs=False)
        assert drained(twin_of("native"), wire, ALL, check_crcs=False) == pure


@given(noise=st.binary(max_size=200))
def test_noise_gives_records_or_the_one_error(twin, noise):
    for prefix in (b"", bytes(8) + struct.pack(">iib", len(noise) + 5, 0, 2)):
        cursor = twin(prefix + noise, topic="t", partition=3, fetch_offset=0, check_crcs=False)
        drain(cursor, 10)


def test_timestamps_beyond_64_bits_go_around_the_corner(cursor, raw_batch, raw_record):
    """As in Java's client; a broker does not look at deltas."""
    records = [raw_record(0, timestamp_delta=1), raw_record(1, timestamp_delta=1 << 62)]
    data = raw_batch(records, base_timestamp=2**63 - 1)
    assert [record.timestamp for record in cursor(data).take(ALL)] == [
        -(2**63),
        -(2**63) + 2**62 - 1,
    ]


@pytest.mark.parametrize("codec", list(CompressionType)[1:])
def test_decompression_is_bounded(cursor, raw_batch, raw_record, codec):
    """Decompression is bounded, so that a small batch cannot fill the memory (2b-21)."""
    data = raw_batch(
        [raw_record(0, value=bytes(1 << 20))],
        attributes=codec,
        compress=lambda records: bytes(compress(codec, records)),
    )
    assert len(cursor(data).take(1)) == 1
    with pytest.raises(CorruptRecordException, match=r"at offset 0: .* the bound is 65,536 bytes"):
        cursor(data, max_decompressed_bytes=1 << 16).take(1)


@pytest.mark.parametrize("codec", list(CompressionType)[1:])
def test_batch_that_does_not_decompress_is_corrupt_with_the_cause(cursor, raw_batch, codec):
    data = raw_batch([b"\x82SNAPPY no codec's data"], attributes=codec)
    with pytest.raises(CorruptRecordException, match="t-3 at offset 0: malformed"):
        cursor(data).take(1)


def test_records_count_is_held_against_the_decompressed_size(cursor, raw_batch, raw_record):
    data = raw_batch(
        [raw_record(0)],
        attributes=1,
        count=100,
        compress=lambda records: zlib.compress(records, wbits=31),
    )
    with pytest.raises(CorruptRecordException, match="records count 100 does not fit"):
        cursor(data).take(1)


# Older formats…


def message(offset, value, magic=1, crc=None):
    checked = struct.pack(">bbqii", magic, 0, 55, -1, len(value)) + value
    return struct.pack(">qiI", offset, len(checked) + 4, crc or zlib.crc32(checked)) + checked


def test_magic_1_and_2_follow_each_other_after_an_upgrade(cursor):
    data = message(0, b"a") + message(1, b"b") + batch(2, 2)
    taker = cursor(data, 1)
    (record,) = taker.take(1)
    assert (record.offset, record.value, record.timestamp, record.checksum) == (
        1,
        b"b",
        55,
        zlib.crc32(struct.pack(">bbqii", 1, 0, 55, -1, 1) + b"b"),
    )
    assert (record.serialized_key_size, record.serialized_value_size) == (-1, 1)
    assert offsets(taker.take(5)) == [2, 3]


def test_corrupt_message_names_its_place(cursor):
    taker = cursor(message(0, b"a") + message(1, b"b", crc=1))
    assert offsets(taker.take(5)) == [0]
    with pytest.raises(CorruptRecordException, match="t-3 at offset 1: the message's CRC-32"):
        taker.take(5)


# Memory…


def test_used_up_or_released_cursor_lets_the_buffer_go(cursor):
    """A cursor that is used up or released holds no buffer (2b-21)."""
    for finish in (lambda taker: taker.take(ALL), lambda taker: taker.release()):
        frame = bytearray(batch(0, 3) + batch(3, 3))
        held = sys.getrefcount(frame)
        taker = cursor(memoryview(frame))
        assert sys.getrefcount(frame) > held
        finish(taker)
        assert sys.getrefcount(frame) == held
        assert taker.exhausted
        assert taker.take(1) == []


@given(
    st.lists(st.tuples(st.integers(1, 4), st.booleans()), max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=6),
    st.integers(0, 3),
    st.sampled_from(["pure", "native"]),
)
def test_a_cursor_with_bytes_of_its_own_goes_on_the_same_and_lets_the_buffer_go(
    batches, takes, copied_after, kind
):
    """Wherever it stands: before, within or behind a batch, compressed or not (A11)."""
    parts, offset = [], 0
    for count, is_compressed in batches:
        codec = CompressionType.GZIP if is_compressed else CompressionType.NONE
        parts.append(batch(offset, count, compression=codec))
        offset += count
    frame = bytearray(b"before" + b"".join(parts) + batch(offset, 2)[:40])
    taker = twin_of(kind)(memoryview(frame)[6:], topic="t", partition=3, fetch_offset=0)
    seen = []
    for number, take in enumerate(takes):
        if number == copied_after:
            taker.own_bytes()
            frame.clear()  # BufferError while anything refers to it
        seen += offsets(taker.take(take))
    taker.own_bytes()
    taker.own_bytes()
    assert seen + offsets(taker.take(ALL)) == list(range(offset))
    assert taker.exhausted
    taker.own_bytes()


def test_a_cursor_with_bytes_of_its_own_goes_on_with_columns(cursor):
    frame = bytearray(batch(0, 4))
    taker = cursor(memoryview(frame))
    first, rest = RecordColumnsBuilder(1, None), RecordColumnsBuilder(9, None)
    taker.take_columns(first)
    taker.own_bytes()
    frame.clear()
    taker.take_columns(rest)
    assert rest.finish().to_pyarrow()["offset"].to_pylist() == [1, 2, 3]


def test_failed_cursor_holds_the_buffer_by_itself_only(cursor):
    frame = bytearray(corrupt(batch(0, 3), 100))
    held = sys.getrefcount(frame)
    taker = cursor(memoryview(frame))
    try:
        taker.take(1)
    except CorruptRecordException as error:
        kept = error
    taker.release()
    gc.collect()
    assert sys.getrefcount(frame) == held
    assert kept.offset == 0


def test_one_batch_at_a_time_is_decompressed(cursor):
    """Batches are decompressed one at a time, as far as a take needs (2b-21)."""
    data = b"".join(
        batch(index, 1, size=500_000, compression=CompressionType.GZIP) for index in range(20)
    )
    tracemalloc.start()
    try:
        cursor(data).take(1)
        assert tracemalloc.get_traced_memory()[1] < 3_000_000
    finally:
        tracemalloc.stop()


def test_repr_says_where_it_stands(cursor):
    taker = cursor(batch(5, 2) + corrupt(batch(7, 1), 100), 5)
    assert repr(taker) == "<RecordCursor t-3 at 5, readable>"
    taker.take(5)
    assert repr(taker) == "<RecordCursor t-3 at 7, failed>"
    assert repr(cursor(b"")) == "<RecordCursor t-3 at 0, exhausted>"


def test_bytes_are_let_go_by_a_cursor_that_only_the_collector_finds(twin):
    """A buffer that is not released can never be resized or reused."""
    data = bytearray(batch(0, 3))

    class Topic(str):
        __slots__ = ("cursor",)
        cursor: object

    def take_in_a_circle():
        topic = Topic("t")
        topic.cursor = cursor = twin(data, topic=topic, partition=3, fetch_offset=0)
        cursor.take(1)

    take_in_a_circle()
    gc.collect()
    data.append(0)
