"""Tests of `arrow/record_columns.py`: both twins fill the same columns, whoever takes them."""

import gc
import tracemalloc
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.arrow import _record_columns_py
from aiokafka_lite.arrow.record_schema import field_mask, record_schema
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record import _batch_reader_py
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.batch_header import assign_offsets
from aiokafka_lite.record.control_record import ControlRecordType, build_control_batch
from tests.support.twins import native_twin

ALL = 1_000_000
READER = {"module": _batch_reader_py}
STATM = Path("/proc/self/statm")


@pytest.fixture(params=["pure", "native"])
def twin(request):
    """Columns and, for `cursor`, reader of the same build; a property tries them crosswise."""
    return use_twins(request.param == "native")


def use_twins(native, native_reader=None):
    """Let `cursor` make those of that build; return the module of the columns."""
    READER["module"] = _batch_reader_py
    if native if native_reader is None else native_reader:
        READER["module"] = native_twin("aiokafka_lite.record._batch_reader")
    return native_twin("aiokafka_lite.arrow._record_columns") if native else _record_columns_py


def cursor(data, fetch_offset=0, **options):
    make = READER["module"].RecordCursor
    return make(data, topic="t", partition=3, fetch_offset=fetch_offset, **options)


def table(twin, data, fetch_offset=0, max_records=ALL, **options):
    """Return all records of the bytes as the rows of one batch."""
    builder = twin.RecordColumnsBuilder(max_records)
    cursor(data, fetch_offset, **options).take_columns(builder)
    batch = builder.finish().to_pyarrow()
    batch.validate(full=True)
    return rows_of(batch)


def rows_of(batch):
    """Return the rows as tuples; timestamps as milliseconds, headers as a tuple of pairs."""
    columns = {name: batch.column(name) for name in batch.schema.names}
    if "timestamp" in columns:
        columns["timestamp"] = columns["timestamp"].cast(pa.int64())
    lists = [column.to_pylist() for column in columns.values()]
    if "headers" in columns:
        lists[-1] = [tuple((h["key"], h["value"]) for h in headers) for headers in lists[-1]]
    return list(zip(*lists, strict=True))


def rows_by_take(data, fetch_offset=0, **options):
    """Return what `take` has, as the same tuples."""
    return [
        (r.topic, r.partition, r.offset, _time(r), r.timestamp_type, r.key, r.value, r.headers)
        for r in cursor(data, fetch_offset, **options).take(ALL)
    ]


def _time(record):
    return None if record.timestamp_type < 0 else record.timestamp


def batch(base_offset, records, *, compression=CompressionType.NONE, pid=None, append_time=None):
    """Return a batch of (timestamp, key, value, headers)."""
    builder = RecordBatchBuilder(
        bytearray(1 << 20), compression=compression, is_transactional=pid is not None
    )
    for record in records:
        assert builder.append(*record) is not None
    builder.stamp(-1 if pid is None else pid, 0, 0)
    wire = bytearray(builder.wire())
    assign_offsets(wire, base_offset, -1, append_time)
    return bytes(wire)


def abort_marker(offset, pid):
    return build_control_batch(
        ControlRecordType.ABORT, base_offset=offset, producer_id=pid, producer_epoch=0,
        timestamp_ms=5,
    )  # fmt: skip


some_bytes = st.none() | st.binary(max_size=20) | st.just(b"long" * 100)
headers = st.lists(st.tuples(st.text(max_size=5), some_bytes), max_size=3).map(tuple)
records = st.lists(
    st.tuples(st.integers(0, 2**42), some_bytes, some_bytes, headers), min_size=1, max_size=12
)


@st.composite
def logs(draw):
    """Bytes of several batches: codecs, transactions, log-append time; the open ones' producers."""
    data, offset, aborted = b"", draw(st.integers(0, 1000)), []
    first = offset
    for _ in range(draw(st.integers(1, 4))):
        rows = draw(records)
        pid = draw(st.none() | st.integers(0, 2))
        data += batch(
            offset,
            rows,
            compression=draw(st.sampled_from(CompressionType)),
            pid=pid,
            append_time=draw(st.none() | st.just(77_000)),
        )
        if pid is not None and draw(st.booleans()):
            aborted.append((pid, offset))
            offset += len(rows)
            data += abort_marker(offset, pid)
            offset += 1
        else:
            offset += len(rows) + draw(st.integers(0, 3))
    return data, first, aborted


# The same rows as take()…


@given(
    log=logs(),
    ahead=st.integers(0, 20),
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=3),
    read_committed=st.booleans(),
)
@pytest.mark.parametrize("native", [False, True], ids=["pure", "native"])
@pytest.mark.parametrize("native_reader", [False, True], ids=["by pure", "by native"])
def test_rows_are_the_records_take_returns(
    native, native_reader, log, ahead, sizes, read_committed
):
    twin = use_twins(native, native_reader)
    data, first, aborted = log
    options = {"read_committed": read_committed, "aborted_transactions": aborted}
    wanted = rows_by_take(data, first + ahead, **options)
    assert table(twin, data, first + ahead, **options) == wanted
    by_portions: list[Any] = []
    walker = cursor(data, first + ahead, **options)
    while not walker.exhausted:
        builder = twin.RecordColumnsBuilder(sizes[len(by_portions) % len(sizes)])
        walker.take_columns(builder)
        by_portions += rows_of(builder.finish().to_pyarrow())
    assert by_portions == wanted
    other = cursor(data, first + ahead, **options)
    other.take(ALL)
    assert walker.next_offset == other.next_offset


def test_messages_of_magic_0_and_1_are_rows(twin):
    old = bytes.fromhex("0000000000000005 00000010 00000000 00 00 ffffffff 00000002 6869")
    later = bytes.fromhex(
        "0000000000000006 00000018 00000000 01 00 00000000000003e8 00000001 6b ffffffff"
    )
    later = later[:11] + bytes([len(later) - 12]) + later[12:]
    rows = table(twin, old + later, 5, check_crcs=False)
    assert rows == [
        ("t", 3, 5, None, -1, None, b"hi", ()),  # magic 0 knows no time
        ("t", 3, 6, 1000, 0, b"k", None, ()),
    ]


def test_header_name_that_is_no_utf8_does_not_hide_the_record(twin, raw_batch, raw_record):
    data = raw_batch([raw_record(0, headers=[(b"\xff\x61", b"x"), ("ü".encode(), None)])])
    [row] = table(twin, data)
    assert row[-1] == (("\ufffda", b"x"), ("ü", None))


def test_timestamp_that_does_not_fit_64_bits_wraps_as_in_java(twin, raw_batch, raw_record):
    data = raw_batch([raw_record(0, timestamp_delta=2**63 - 1)], base_timestamp=1)
    assert table(twin, data)[0][3] == -(2**63)


def test_an_empty_batch_has_the_schema(twin):
    batch = twin.RecordColumnsBuilder(10).finish().to_pyarrow()
    assert batch.num_rows == 0
    assert batch.schema == record_schema()
    batch.validate(full=True)


def test_columns_that_are_not_wanted_are_left_out(twin):
    data = batch(0, [(1, b"key", b"value", (("a", b"b"),))] * 5)
    for names in (["value"], ["offset", "headers"], ["topic", "key", "timestamp"]):
        builder = twin.RecordColumnsBuilder(ALL, fields=field_mask(names))
        cursor(data).take_columns(builder)
        taken = builder.finish().to_pyarrow()
        taken.validate(full=True)
        whole = twin.RecordColumnsBuilder(ALL)
        cursor(data).take_columns(whole)
        wanted = [name for name in record_schema().names if name in names]
        assert taken.schema.names == wanted
        assert taken.num_rows == 5
        assert taken == whole.finish().to_pyarrow().select(wanted)


# Limits…


def test_max_records_is_exact_and_the_rest_follows(twin):
    data = batch(0, [(1, None, b"v", ())] * 10)
    walker = cursor(data)
    sizes = []
    while not walker.exhausted:
        builder = twin.RecordColumnsBuilder(4)
        walker.take_columns(builder)
        assert builder.is_full == (len(builder) == 4)
        sizes.append(len(builder.finish()))
    assert sizes == [4, 4, 2]


def test_max_bytes_ends_with_the_record_that_reaches_it(twin):
    data = batch(0, [(1, None, b"x" * 100, ())] * 10)
    for max_bytes, rows in ((1, 1), (100, 1), (110, 2), (330, 4), (10_000, 10)):
        builder = twin.RecordColumnsBuilder(ALL, max_bytes)
        assert cursor(data).take_columns(builder) == rows


def test_records_passed_over_do_not_count_against_max_bytes(twin):
    data = batch(0, [(1, None, b"x" * 100, ())] * 10)
    builder = twin.RecordColumnsBuilder(ALL, 300)
    assert cursor(data, 5).take_columns(builder) == 3
    assert builder.next_offset == 8


@pytest.mark.parametrize("record", [(1, b"x" * 60, b"", ()), (1, b"", b"x" * 60, ()),
                                    (1, None, None, (("x" * 60, b""),)),
                                    (1, None, None, (("", b"x" * 60),))])  # fmt: skip
def test_no_column_grows_beyond_what_its_offsets_reach(twin, record):
    data = batch(0, [record] * 5)
    walker = cursor(data)
    sizes = []
    while not walker.exhausted:
        builder = twin.RecordColumnsBuilder(ALL, max_column_bytes=128)
        walker.take_columns(builder)
        taken = builder.finish().to_pyarrow()
        taken.validate(full=True)
        sizes.append(taken.num_rows)
    assert sizes == [2, 2, 1]


def test_one_record_comes_however_large_it_is(twin):
    data = batch(0, [(1, b"k" * 500, b"v" * 500, (("h", b"x" * 500),))])
    builder = twin.RecordColumnsBuilder(ALL, 1, max_column_bytes=128)
    assert cursor(data).take_columns(builder) == 1
    assert builder.is_full


def test_rows_of_several_partitions_stand_side_by_side(twin):
    builder = twin.RecordColumnsBuilder(ALL)
    for topic, partition in (("one", 0), ("two", 7)):
        data = batch(partition, [(1, None, b"v", ())] * 2)
        READER["module"].RecordCursor(
            data, topic=topic, partition=partition, fetch_offset=partition
        ).take_columns(builder)
    rows = rows_of(builder.finish().to_pyarrow())
    assert [row[:3] for row in rows] == [("one", 0, 0), ("one", 0, 1), ("two", 7, 7), ("two", 7, 8)]


def test_append_takes_decoded_records(twin):
    builder = twin.RecordColumnsBuilder(ALL)
    builder.begin("t", 1)
    assert builder.append(5, 1_000, 0, b"k", None, (("ü", b"1"), ("b", None)))
    assert builder.append(9, -1, -1, None, b"", ())
    assert rows_of(builder.finish().to_pyarrow()) == [
        ("t", 1, 5, 1_000, 0, b"k", None, (("ü", b"1"), ("b", None))),
        ("t", 1, 9, None, -1, None, b"", ()),
    ]


def test_append_says_when_there_is_no_room(twin):
    builder = twin.RecordColumnsBuilder(ALL, max_column_bytes=10)
    builder.begin("t", 1)
    assert builder.append(0, 1, 0, b"12345", b"123456", ())
    assert not builder.append(1, 1, 0, b"12345", b"123456", (("a", b"b"),))
    assert builder.is_full
    [row] = rows_of(builder.finish().to_pyarrow())
    assert row[2] == 0


def test_finished_columns_take_no_more(twin):
    builder = twin.RecordColumnsBuilder(ALL)
    builder.finish()
    for call in (
        builder.finish,
        lambda: len(builder),
        lambda: builder.is_full,
        lambda: builder.append(0, 0, 0, None, None, ()),
        lambda: builder.decode(b"", 0, 1, 0, 0, 0, 0, 0, 0),
    ):
        with pytest.raises(ValueError, match="finished"):
            call()


# Bad bytes…


def test_rows_before_a_bad_record_come_first_and_the_error_stays(twin, raw_batch, raw_record):
    good, bad = raw_record(0, b"k", b"v"), bytearray(raw_record(1, b"k", b"v"))
    bad[4] = 0x7F  # a key of -64 bytes
    data = raw_batch([good, bytes(bad), raw_record(2)])
    walker = cursor(data)
    builder = twin.RecordColumnsBuilder(ALL)
    assert walker.take_columns(builder) == 1
    assert walker.next_offset == 1
    for _ in range(2):
        with pytest.raises(CorruptRecordException, match="a key of -64 bytes") as caught:
            walker.take_columns(builder)
        assert caught.value.offset == 1
    [row] = rows_of(builder.finish().to_pyarrow())
    assert row[2] == 0


def test_null_of_a_bad_record_does_not_stay_behind_for_the_next_partition(
    twin, raw_batch, raw_record
):
    bad = raw_record(1, None, None, [(b"name", None), (b"x", b"yz")])[:-1] + b"\x01"
    data = raw_batch([raw_record(0), bad[:-4] + bad[-3:]])
    builder = twin.RecordColumnsBuilder(ALL)
    assert cursor(data).take_columns(builder) == 1
    cursor(batch(7, [(1, b"k", b"v", (("a", b"b"),))] * 2), 7).take_columns(builder)
    taken = builder.finish().to_pyarrow()
    taken.validate(full=True)
    assert [row[5:] for row in rows_of(taken)][1:] == [(b"k", b"v", (("a", b"b"),))] * 2


HOSTILE = {
    "ends nowhere": b"\x0a\x00\x00",
    "length is no varint": b"\xff" * 6,
    "length of nothing": b"\x00" * 7,
    "negative length": b"\x0d\x00\x00\x00\x01\x01\x00",
    "longer than the batch": b"\x7e\x00\x00\x00\x01\x01\x00",
    "key beyond": b"\x0c\x00\x00\x00\x7e\x01\x00",
    "value beyond": b"\x0c\x00\x00\x00\x01\x7e\x00",
    "key of -2": b"\x0c\x00\x00\x00\x03\x01\x00",
    "value of -2": b"\x0c\x00\x00\x00\x01\x03\x00",
    "huge key": b"\x14\x00\x00\x00\xfe\xff\xff\xff\x0f\x01\x00",
    "too many headers": b"\x0c\x00\x00\x00\x01\x01\x7e",
    "negative headers": b"\x0c\x00\x00\x00\x01\x01\x01",
    "header name of -1": b"\x10\x00\x00\x00\x01\x01\x02\x01\x00",
    "header value of -2": b"\x10\x00\x00\x00\x01\x01\x02\x00\x03",
    "header name beyond": b"\x10\x00\x00\x00\x01\x01\x02\x7e\x00",
    "header value beyond": b"\x10\x00\x00\x00\x01\x01\x02\x00\x7e",
    "too short": b"\x0a\x00\x00\x00\x01\x01\x00",
    "too long": b"\x0e\x00\x00\x00\x01\x01\x00\x00",
    "before the batch": b"\x0c\x00\x00\x01\x01\x01\x00",
    "behind the batch": b"\x0c\x00\x00\x7e\x01\x01\x00",
    "long delta": b"\x20\x00" + b"\xff" * 10 + b"\x00\x00\x00\x01\x01\x00",
}


@pytest.mark.parametrize("record", HOSTILE.values(), ids=HOSTILE)
def test_hostile_record_is_corrupt(twin, record):
    for tail in (b"", b"\x00" * 64):
        builder = twin.RecordColumnsBuilder(ALL)
        with pytest.raises(CorruptRecordException):
            builder.decode(record + tail, 0, 2, 0, 1, 1_000, 0, 1_000, 0)
        assert len(builder) == 0
        assert builder.position == 0
        assert builder.records_read == 0


def _decoded(twin, data, count, fetch_offset):
    """Return the class of the error, rows and state after one `decode` of these bytes."""
    builder = twin.RecordColumnsBuilder(50)
    error = None
    try:
        builder.decode(data, 0, count, 100, 130, 1_000, 0, 1_000, fetch_offset)
    except CorruptRecordException:
        error = CorruptRecordException
    state = (error, builder.position, builder.records_read, builder.next_offset, len(builder))
    taken = builder.finish().to_pyarrow()
    taken.validate(full=True)
    return state, rows_of(taken)


@given(data=st.data())
def test_both_twins_make_the_same_of_mutated_bytes(data, raw_record):
    native = native_twin("aiokafka_lite.arrow._record_columns")
    rows = data.draw(records)
    encoded = bytearray(
        b"".join(
            raw_record(delta, key, value, [(name.encode(), h) for name, h in heads])
            for delta, (_, key, value, heads) in enumerate(rows)
        )
    )
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(encoded) - 1))
        encoded[at] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(encoded)))
    mutated = bytes(encoded[:cut] if data.draw(st.booleans()) else encoded)
    fetch_offset = data.draw(st.integers(95, 110))
    args = (mutated, len(rows), fetch_offset)
    assert _decoded(native, *args) == _decoded(_record_columns_py, *args)


@given(noise=st.binary(max_size=200), count=st.integers(1, 30))
def test_both_twins_make_the_same_of_noise(noise, count):
    native = native_twin("aiokafka_lite.arrow._record_columns")
    assert _decoded(native, noise, count, 100) == _decoded(_record_columns_py, noise, count, 100)


def test_position_outside_of_the_data_is_refused(twin):
    builder = twin.RecordColumnsBuilder(1)
    for position, end in ((-1, -1), (8, -1), (0, 8), (3, 2), (0, -2)):
        with pytest.raises(IndexError):
            builder.decode(b"1234567", position, 1, 0, 0, 0, 0, 0, 0, end)


def test_what_lies_around_the_records_is_not_read(twin, raw_record):
    first, second = raw_record(0, b"k", b"one"), raw_record(1, None, b"two")
    around = b"\x7e" * 50
    data = around + first + second + around
    for whole in (data, bytearray(data), memoryview(data)):
        builder = twin.RecordColumnsBuilder(ALL)
        builder.begin("t", 0)
        end = len(data) - len(around)
        assert builder.decode(whole, len(around), 2, 0, 1, 0, 0, 0, 0, end) == 2
        assert builder.position == end
        assert [row[6] for row in rows_of(builder.finish().to_pyarrow())] == [b"one", b"two"]
    builder = twin.RecordColumnsBuilder(ALL)
    with pytest.raises(CorruptRecordException):
        builder.decode(data, len(around), 2, 0, 1, 0, 0, 0, 0, end - 1)
    assert (len(builder), builder.position) == (1, len(around) + len(first))


# The Arrow PyCapsule interface…


def _capsule_only(columns, *methods):
    """Return an object with just these methods."""
    return type("Foreign", (), {name: staticmethod(getattr(columns, name)) for name in methods})()


@pytest.fixture
def columns(twin):
    builder = twin.RecordColumnsBuilder(ALL)
    rows = [(1_000 + i, None if i % 3 else b"key %d" % i, None if i % 5 == 0 else b"v" * i,
             (("ü", b"%d" % i), ("n", None)) if i % 2 else ()) for i in range(1000)]  # fmt: skip
    cursor(batch(0, rows)).take_columns(builder)
    return builder.finish()


def test_any_library_takes_the_columns_by_capsule(columns):
    wanted = columns.to_pyarrow()
    for taken in (
        pa.record_batch(columns),
        pa.record_batch(_capsule_only(columns, "__arrow_c_array__")),
        pa.table(_capsule_only(columns, "__arrow_c_stream__")).to_batches()[0],
        pa.RecordBatchReader.from_stream(columns).read_all().to_batches()[0],
    ):
        taken.validate(full=True)
        assert taken == wanted
        assert taken.schema == record_schema()
    assert pa.schema(columns) == record_schema()


def test_nanoarrow_reads_the_capsules(columns):
    nanoarrow = pytest.importorskip("nanoarrow")  # absent where it has no wheel
    stream = nanoarrow.ArrayStream(columns)
    assert len(stream.read_all()) == 1000


def test_a_part_that_was_taken_outlives_all_the_rest(twin):
    builder = twin.RecordColumnsBuilder(ALL)
    cursor(batch(0, [(1, b"key", b"value", (("a", b"b"),))] * 300)).take_columns(builder)
    columns = builder.finish()
    by_capsule = pa.record_batch(columns)
    values = columns.to_pyarrow().column("value").slice(100, 5)
    names = by_capsule.column("headers").values.field("key")
    del columns, builder, by_capsule
    gc.collect()
    assert values.to_pylist() == [b"value"] * 5
    assert names.to_pylist() == ["a"] * 300


def test_columns_may_be_taken_again_and_again(columns):
    assert pa.record_batch(columns) == pa.record_batch(columns)
    assert pa.table(columns).num_rows == len(columns) == 1000


def test_columns_tell_their_size(columns):
    batch = columns.to_pyarrow()
    data = sum(len(field or b"") for name in ("key", "value") for field in batch[name].to_pylist())
    heads = [h for hs in batch["headers"].to_pylist() for h in hs]
    data += sum(len(h["key"].encode()) + len(h["value"] or b"") for h in heads)
    assert columns.nbytes == data + len(columns) * len("t")
    assert repr(columns) == f"<RecordColumns 1,000 records, {columns.nbytes:,} bytes>"


# Native only…


def test_no_object_is_made_for_a_record():
    twin = use_twins(native=True)
    data = b"".join(batch(i * 1000, [(1, b"key", b"value" * 10, ())] * 1000) for i in range(10))
    payload = len(data)
    walker = cursor(data, check_crcs=False)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        builder = twin.RecordColumnsBuilder(ALL)
        walker.take_columns(builder)
        batch_of_all = builder.finish().to_pyarrow()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert batch_of_all.num_rows == 10_000
    # One batch's payload as bytes is a tenth of all; ten thousand objects would be 600 KB and more.
    assert peak - before < payload / 10 + 50_000


@pytest.mark.skipif(not STATM.exists(), reason="asks Linux how much memory is in use")
def test_memory_goes_back_with_the_last_that_holds_it():
    twin = native_twin("aiokafka_lite.arrow._record_columns")
    data = batch(0, [(1, None, b"x" * 500_000, (("name", b"content"),))])

    def once():
        builder = twin.RecordColumnsBuilder(ALL)
        for _ in range(10):
            cursor(data, check_crcs=False).take_columns(builder)
        columns = builder.finish()
        columns.__arrow_c_stream__(), columns.__arrow_c_array__(), columns.__arrow_c_schema__()
        half = pa.RecordBatchReader.from_stream(columns)
        return pa.record_batch(columns), columns.to_pyarrow(), half

    def resident_bytes():
        gc.collect()
        return int(STATM.read_text().split()[1]) * 4096

    for _ in range(5):
        once()
    before = resident_bytes()
    for _ in range(50):
        once()
    assert resident_bytes() - before < 50_000_000  # a leak would be 250 MB


@pytest.mark.skipif(not STATM.exists(), reason="as above")
def test_capsules_nobody_takes_release_what_they_are():
    twin = native_twin("aiokafka_lite.arrow._record_columns")
    columns = twin.RecordColumnsBuilder(1).finish()

    def resident_bytes(rounds):
        for _ in range(rounds):
            columns.__arrow_c_stream__(), columns.__arrow_c_array__(), columns.to_pyarrow()
        return int(STATM.read_text().split()[1]) * 4096

    before = resident_bytes(1_000)
    assert resident_bytes(20_000) - before < 10_000_000  # a leak would be 40 MB at the least


def test_columns_are_made_by_a_builder_only():
    twin = native_twin("aiokafka_lite.arrow._record_columns")
    with pytest.raises(TypeError, match="finish"):
        twin.RecordColumns()
    empty = twin.RecordColumns.__new__(twin.RecordColumns)
    for call in (lambda: len(empty), empty.__arrow_c_array__, empty.to_pyarrow):
        with pytest.raises(TypeError, match="finish"):
            call()


def test_schemas_of_both_ways_out_are_the_same():
    twin = native_twin("aiokafka_lite.arrow._record_columns")
    for mask in range(1, 256):
        columns = twin.RecordColumnsBuilder(1, fields=mask).finish()
        assert pa.schema(columns) == record_schema(mask) == columns.to_pyarrow().schema


def test_encoded_lengths_of_every_size_are_read(twin, raw_record):
    for size in (0, 1, 63, 64, 8_191, 8_192, 1 << 20):
        builder = twin.RecordColumnsBuilder(ALL)
        builder.begin("t", 0)
        record = raw_record(0, b"k" * size, b"v" * size)
        assert builder.decode(record, 0, 1, 0, 0, 0, 0, 0, 0) == 1
        [row] = rows_of(builder.finish().to_pyarrow())
        assert (len(row[5]), len(row[6])) == (size, size)
