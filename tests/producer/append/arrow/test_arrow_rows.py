"""Tests of `append/arrow/arrow_rows.py`: both twins read the same records out of Arrow data."""

import ctypes
import datetime as dt
from array import array
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import SerializationError
from aiokafka_lite.producer.append.arrow import _arrow_rows_py
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.record import _batch_builder_py, batch_builder
from aiokafka_lite.record._batch_reader_py import RecordCursor
from tests.support.twins import native_twin

LEAF = "aiokafka_lite.producer.append.arrow._arrow_rows"
ALL = 1_000_000
HEADERS = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
BUILDERS = list(
    dict.fromkeys((_batch_builder_py.RecordBatchBuilder, batch_builder.RecordBatchBuilder))
)


@pytest.fixture(params=["pure", "native"])
def twin(request):
    if request.param == "pure":
        return _arrow_rows_py
    return native_twin(LEAF)


@pytest.fixture(params=BUILDERS, ids=lambda builder: builder.__module__.rpartition(".")[2])
def builder_class(request):
    return request.param


def one(twin, data):
    """Return the rows of the only batch."""
    [rows] = twin.arrow_batches(data)
    return rows


def numbers(*rows):
    return array("I", rows)


def fields(rows, row):
    return (rows.timestamp_ms(row), rows.key(row), rows.value(row), tuple(rows.headers(row)))


def appended(rows, builder_class, order, timestamp_ms=5, size=1 << 20, use_timestamps=True):
    """Return how many rows a batch has taken, and what its records have."""
    builder = builder_class(bytearray(size))
    taken = rows.append_to(builder, order, 0, timestamp_ms, use_timestamps=use_timestamps)
    data = bytes(builder.wire())
    cursor = RecordCursor(data, topic="t", partition=0, fetch_offset=0)
    records = cursor.take(ALL) if taken else []
    return taken, [(r.timestamp, r.key, r.value, r.headers) for r in records]


# Types…


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string(),
                                  pa.binary_view(), pa.string_view()], ids=str)  # fmt: skip
def test_values_and_keys_of_every_binary_and_text_type(twin, builder_class, kind):
    texts = ["a", None, "", "a text of more than twelve bytes", "grüße"] * 3
    is_text = "string" in str(kind)
    values = [t if is_text or t is None else t.encode() for t in texts]
    wanted = [None if t is None else t.encode() for t in texts]
    keys = [f"key {row}" if is_text else b"key %d" % row for row in range(15)]
    batch = pa.record_batch({"value": pa.array(values, kind), "key": pa.array(keys, kind)})
    for data, first in ((batch, 0), (batch.slice(4, 9), 4)):
        rows = one(twin, data)
        count = len(rows)
        assert [rows.value(row) for row in range(count)] == wanted[first : first + count]
        taken, records = appended(rows, builder_class, numbers(*range(count)))
        assert taken == count
        assert records == [
            (5, b"key %d" % row, wanted[row], ()) for row in range(first, first + count)
        ]


@pytest.mark.parametrize("kind", [pa.timestamp("s"), pa.timestamp("ms", "UTC"), pa.timestamp("us"),
                                  pa.timestamp("ns", "Europe/Berlin"), pa.int64()],
                         ids=str)  # fmt: skip
def test_timestamps_of_every_unit_are_milliseconds(twin, builder_class, kind):
    ticks = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[getattr(kind, "unit", "ms")]
    times = pa.array([7 * ticks + ticks // 2 + 1 if ticks > 1 else 7, None, 0], pa.int64())
    times = times.cast(kind)
    rows = one(twin, pa.record_batch({"value": [b"a", b"b", b"c"], "timestamp": times}))
    wanted = [7_000 if ticks == 1 else 7_501 if ticks == 1_000 else 7_500, None, 0]
    assert [rows.timestamp_ms(row) for row in range(3)] == wanted
    assert rows.has_timestamps
    assert list(rows.timestamps_ms(numbers(2, 1, 0), 99)) == [0, 99, wanted[0]]
    _, records = appended(rows, builder_class, numbers(0, 1, 2))
    assert [record[0] for record in records] == [wanted[0], 5, 0]
    _, records = appended(rows, builder_class, numbers(0, 1, 2), use_timestamps=False)
    assert [record[0] for record in records] == [5, 5, 5]


@pytest.mark.parametrize("kind", [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(),
                                  pa.uint16(), pa.uint32(), pa.uint64()], ids=str)  # fmt: skip
def test_partitions_of_every_integer_type(twin, kind):
    batch = pa.record_batch(
        {"value": [b"v"] * 5, "partition": pa.array([3, None, 0, 100, 3], kind)}
    ).slice(1)
    rows = one(twin, batch)
    assert rows.has_partitions
    assert [rows.partition(row) for row in range(4)] == [None, 0, 100, 3]
    parts = rows.by_partition(numbers(3, 0, 1, 2), 9, by_key=True, by_column=True)
    assert {key: list(part) for key, part in parts} == {3: [3], None: [0], 0: [1], 100: [2]}


@pytest.mark.parametrize(
    ("kind", "numbers_given"),
    [(pa.uint64(), [2**64 - 1, 2**63]), (pa.int64(), [-1, -(2**63)]), (pa.int8(), [-1, -128])],
    ids=str,
)
def test_numbers_that_are_no_partitions_stay_as_they_were_given(twin, kind, numbers_given):
    batch = pa.record_batch({"value": [b"v"] * 2, "partition": pa.array(numbers_given, kind)})
    rows = one(twin, batch)
    assert [rows.partition(row) for row in range(2)] == numbers_given
    parts = rows.by_partition(numbers(0, 1), 9, by_key=True, by_column=True)
    assert [number for number, _ in parts] == numbers_given


HEADER_ROWS = [
    [("a", b"1"), ("ü", None), ("a", b"")],
    [],
    None,
    [("name of some length, more than fits inline", b"x" * 200)],
]


@pytest.mark.parametrize(
    "kind",
    [
        HEADERS,
        pa.large_list(pa.struct([("name", pa.large_string()), ("content", pa.large_binary())])),
        pa.list_(pa.struct([("key", pa.string_view()), ("value", pa.binary_view())])),
        pa.map_(pa.string(), pa.binary()),
    ],
    ids=["list", "large list", "views", "map"],
)
def test_headers_of_every_nested_type(twin, builder_class, kind):
    listed: list[Any] = HEADER_ROWS
    if not pa.types.is_map(kind):
        names = [kind.value_type.field(i).name for i in range(2)]
        listed = [
            None if row is None else [dict(zip(names, pair, strict=True)) for pair in row]
            for row in HEADER_ROWS
        ]
    batch = pa.record_batch({"value": [b"v"] * 4, "headers": pa.array(listed, kind)})
    for data, first in ((batch, 0), (batch.slice(1), 1), (batch.slice(3), 3)):
        rows = one(twin, data)
        wanted = [tuple(row or ()) for row in HEADER_ROWS[first:]]
        assert [tuple(rows.headers(row)) for row in range(len(rows))] == wanted
        _, records = appended(rows, builder_class, numbers(*range(len(rows))))
        assert [record[3] for record in records] == wanted


def test_columns_of_nothing_but_nulls_may_be_of_the_null_type(twin, builder_class):
    nothing = pa.nulls(2)
    batch = pa.record_batch(
        {"key": [b"k", b"l"], "value": nothing, "headers": nothing, "partition": nothing,
         "timestamp": nothing}
    )  # fmt: skip
    rows = one(twin, batch)
    assert [fields(rows, row) for row in (0, 1)] == [
        (None, b"k", None, ()),
        (None, b"l", None, ()),
    ]
    assert rows.partition(1) is None
    assert appended(rows, builder_class, numbers(0, 1))[0] == 2


# What cannot be sent…

REFUSED = {
    "value": [pa.array([1]), pa.array([[b"x"]]), pa.array([{"a": 1}]), pa.array([True]),
              pa.array([b"x"]).dictionary_encode()],
    "key": [pa.array([1.5])],
    "topic": [pa.array([b"t"]), pa.array([1]), pa.nulls(1), pa.array(["t"]).dictionary_encode()],
    "partition": [pa.array(["0"]), pa.array([1.0])],
    "timestamp": [pa.array([1], pa.int32()), pa.array(["now"]), pa.array([1], pa.date64())],
    "headers": [pa.array([[b"x"]]), pa.array([b"x"]),
                pa.array([[{"key": b"x", "value": b"y"}]]),
                pa.array([[{"key": "x", "value": 1}]]),
                pa.array([[{"key": "x"}]]),
                pa.array([[{"key": "x", "value": b"", "more": b""}]])],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "column"), [(name, column) for name, columns in REFUSED.items() for column in columns]
)
def test_wrong_type_is_refused_by_column_and_type_with_the_remedy(twin, name, column):
    batch = pa.record_batch({name: column, **({"value": [b"v"]} if name != "value" else {})})
    for data in (batch, pa.table(batch)):
        with pytest.raises(SerializationError, match=rf"column '{name}' .* cast it to ") as caught:
            list(twin.arrow_batches(data))
        assert isinstance(caught.value, TypeError)


def test_unknown_missing_and_double_columns_are_named(twin):
    for columns, words in (
        ({"valu": [b""]}, "column 'valu' is no part of a record; rename or drop it"),
        ({"topic": ["t"]}, "no column 'value' or 'key', only topic; rename"),
        ({}, "no column 'value' or 'key', only none at all"),
    ):
        with pytest.raises(SerializationError, match=words):
            list(twin.arrow_batches(pa.record_batch(columns)))
    double = pa.RecordBatch.from_arrays([pa.array([b"a"]), pa.array([b"b"])], ["value", "value"])
    with pytest.raises(SerializationError, match="more than one column 'value'"):
        list(twin.arrow_batches(double))


def test_what_is_no_arrow_data_is_refused_by_its_type(twin):
    for data in ([b"value"], b"value", None, {"value": [b"v"]}):
        with pytest.raises(SerializationError, match=rf"{type(data).__name__} has no Arrow data"):
            list(twin.arrow_batches(data))
    with pytest.raises(SerializationError, match="int64"):
        list(twin.arrow_batches(pa.table({"value": [1]})))


def test_nulls_where_there_can_be_none_are_named_with_their_row(twin, builder_class):
    headers: list[list[tuple[Any, bytes]]] = [[("a", b"")], [(None, b"")]]
    listed = [[{"key": name, "value": value} for name, value in row] for row in headers]
    rows = one(twin, pa.record_batch({"value": [b"v"] * 2, "topic": ["t", None],
                                      "headers": pa.array(listed, HEADERS)}))  # fmt: skip
    with pytest.raises(SerializationError, match="column 'topic' has a null in row 1"):
        rows.topic(1)
    with pytest.raises(SerializationError, match="column 'topic' has a null in row 1"):
        rows.by_topic(0, 2)
    with pytest.raises(SerializationError, match="column 'headers' has a null in row 1"):
        rows.headers(1)
    assert appended(rows, builder_class, numbers(0, 1))[0] == 1


# In batches…


def test_a_batch_takes_rows_until_it_is_full(twin, builder_class):
    rows = one(twin, pa.record_batch({"value": [b"x" * 100] * 50}))
    taken, records = appended(rows, builder_class, numbers(*range(50)), size=1_000)
    assert taken == len(records) == 8
    builder = builder_class(bytearray(10_000))
    assert rows.append_to(builder, numbers(*range(50)), 47, 5, use_timestamps=True) == 3
    builder.seal()
    assert rows.append_to(builder, numbers(0), 0, 5, use_timestamps=True) == 0


def test_rows_that_send_refuses_stop_the_loop(twin, builder_class):
    batch = pa.record_batch(
        {"key": [b"k", None, b"k"], "value": pa.array([b"v", None, b"v"], pa.binary()),
         "timestamp": pa.array([1, 2, 2**62], pa.timestamp("s"))}
    )  # fmt: skip
    rows = one(twin, batch)
    assert appended(rows, builder_class, numbers(0, 1))[0] == 1
    assert appended(rows, builder_class, numbers(0, 2))[0] == 1
    assert appended(rows, builder_class, numbers(0, 2), use_timestamps=False)[0] == 2


def test_rows_are_sorted_by_topic_and_by_the_keys_partition(twin):
    keys = [b"key %d" % row if row % 5 else None for row in range(100)]
    topics = ["one", "two", "one"] * 33 + ["three"]
    rows = one(twin, pa.record_batch({"key": keys, "value": [b"v"] * 100, "topic": topics}))
    assert rows.has_topics
    by_topic = {topic: list(part) for topic, part in rows.by_topic(10, 100)}
    assert by_topic == {
        topic: [row for row in range(10, 100) if topics[row] == topic] for topic in set(topics)
    }
    partitions = [None if key is None else (murmur2(key) & 0x7FFFFFFF) % 7 for key in keys]
    parts = rows.by_partition(numbers(*range(99, -1, -1)), 7, by_key=True, by_column=False)
    assert {partition: list(part) for partition, part in parts} == {
        partition: [row for row in range(99, -1, -1) if partition == partitions[row]]
        for partition in (None, *range(7))
    }
    assert rows.numbers(10, 13) == numbers(10, 11, 12)
    assert rows.numbers(13, 10) == numbers()
    parts = rows.by_partition(numbers(1, 2), 7, by_key=False, by_column=False)
    assert [(partition, list(part)) for partition, part in parts] == [(None, [1, 2])]


def test_every_batch_of_a_stream_is_read_when_it_is_asked_for(twin):
    read = []

    def batches():
        for number in range(3):
            read.append(number)
            yield pa.record_batch({"value": [b"%d" % number] * (number + 1)})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("value", pa.binary())]), batches())
    taken = twin.arrow_batches(reader)
    assert next(taken).value(0) == b"0"
    assert read == [0]
    assert [rows.value(0) for rows in taken] == [b"1", b"2"]


def test_an_error_of_a_stream_is_raised_as_it_is_said(twin):
    def batches():
        yield pa.record_batch({"value": [b"v"]})
        raise ValueError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema([("value", pa.binary())]), batches())
    taken = twin.arrow_batches(reader)
    next(taken)
    with pytest.raises(Exception, match="the disk is gone"):
        next(taken)


def test_rows_hold_the_memory_they_read(twin):
    rows = one(twin, pa.record_batch({"value": [b"%d" % n * 100 for n in range(1000)]}))
    assert [rows.value(row) for row in range(1000)] == [b"%d" % n * 100 for n in range(1000)]


some_bytes = st.none() | st.binary(max_size=30) | st.just(b"long" * 3000)


@given(
    table=st.lists(
        st.tuples(
            st.none() | st.integers(0, 2**50),
            some_bytes,
            some_bytes,
            st.none()
            | st.lists(st.tuples(st.text(max_size=20), some_bytes), max_size=3).map(tuple),
        ).filter(lambda row: row[1] is not None or row[2] is not None),
        min_size=1,
        max_size=8,
    )
)
@pytest.mark.parametrize("native", [False, True], ids=["pure", "native"])
@pytest.mark.parametrize("builder_class", BUILDERS)
def test_any_rows_become_the_records_they_are(native, builder_class, table):
    twin = native_twin(LEAF) if native else _arrow_rows_py
    times, keys, values, headers = map(list, zip(*table, strict=True))
    listed = [
        None if row is None else [{"key": name, "value": value} for name, value in row]
        for row in headers
    ]
    batch = pa.record_batch(
        {
            "timestamp": pa.array(times, pa.int64()),
            "key": pa.array(keys, pa.binary()),
            "value": pa.array(values, pa.binary()),
            "headers": pa.array(listed, HEADERS),
        }
    )
    rows = one(twin, batch)
    wanted = [
        (5 if time is None else time, key, value, head or ()) for time, key, value, head in table
    ]
    assert appended(rows, builder_class, numbers(*range(len(table))))[1] == wanted


def test_times_before_1970_keep_their_milliseconds(twin):
    early = dt.datetime(1969, 12, 31, 23, 59, 59, 999_400, tzinfo=dt.UTC)
    batch = pa.record_batch(
        {"value": [b"v"], "timestamp": pa.array([early], pa.timestamp("us", "UTC"))}
    )
    assert one(twin, batch).timestamp_ms(0) == -1


def test_a_null_row_has_nothing_but_nulls(twin, builder_class):
    """Whatever lies behind it; also in a part of a larger array."""
    whole = pa.StructArray.from_arrays(
        [pa.array([b"a", b"b", b"c", b"d"]), pa.array([1, 2, 3, 4])],
        ["value", "timestamp"],
        mask=pa.array([False, False, True, False]),
    )
    rows = one(twin, whole[1:])
    assert [rows.value(row) for row in range(3)] == [b"b", None, b"d"]
    assert [rows.timestamp_ms(row) for row in range(3)] == [2, None, 4]
    assert appended(rows, builder_class, numbers(0, 1, 2))[0] == 1


def test_one_column_is_no_batch(twin):
    with pytest.raises(SerializationError, match="one column, not a batch"):
        twin.arrow_batches(Exporting(pa.array([b"v"]))).__next__()


def test_times_that_no_record_has_are_what_they_are_and_stop_the_loop(twin, builder_class):
    seconds = pa.array([2**62, -(2**62), 5], pa.timestamp("s"))
    rows = one(twin, pa.record_batch({"value": [b"a", b"b", b"c"], "timestamp": seconds}))
    assert [rows.timestamp_ms(row) for row in range(3)] == [2**62 * 1000, -(2**62) * 1000, 5000]
    for row, taken in ((0, 0), (1, 0), (2, 1)):
        assert appended(rows, builder_class, numbers(row))[0] == taken


def test_text_that_is_no_utf_8_is_named_with_its_row(twin, builder_class):
    text = pa.array([b"t", b"\xff"]).view(pa.string())
    heads = pa.StructArray.from_arrays([text, pa.array([b"x", b"y"])], ["key", "value"])
    columns = {"value": text, "topic": text, "headers": pa.ListArray.from_arrays([0, 1, 2], heads)}
    rows = one(twin, pa.record_batch(columns))
    assert (rows.topic(0), rows.value(1)) == ("t", b"\xff")
    with pytest.raises(SerializationError, match="'topic' has text that is no UTF-8 in row 1"):
        rows.topic(1)
    with pytest.raises(SerializationError, match="'headers' has text that is no UTF-8 in row 1"):
        rows.headers(1)
    assert appended(rows, builder_class, numbers(0, 1))[0] == 1


def test_a_column_without_a_name_is_refused():
    """The C data interface allows that; pyarrow makes none."""
    native = native_twin(LEAF)
    with pytest.raises(SerializationError, match="column '' is no part of a record"):
        native.arrow_batches(Exporting(pa.record_batch({"value": [b"v"]}), without_name=True))


class Exporting:
    """Brings Arrow data by the C data interface; `without_name`: its first column has none."""

    def __init__(self, data, *, without_name=False):
        self.data = data
        self.without_name = without_name

    def __arrow_c_array__(self, requested_schema=None):
        schema, array_ = self.data.__arrow_c_array__(requested_schema)
        if self.without_name:
            address = ctypes.pythonapi.PyCapsule_GetPointer
            address.restype = ctypes.c_void_p
            address.argtypes = [ctypes.py_object, ctypes.c_char_p]
            words = ctypes.POINTER(ctypes.c_void_p)
            fields = ctypes.cast(address(schema, b"arrow_schema"), words)
            children = ctypes.cast(fields[5], words)
            ctypes.cast(children[0], words)[1] = None
        return schema, array_
