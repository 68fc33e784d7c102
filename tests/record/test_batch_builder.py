"""Tests of `record/batch_builder.py`: every twin of the builder keeps these promises."""

import gc
import os
import platform
import re
import resource
import struct
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.record import _batch_builder_py, batch_builder
from aiokafka_lite.record.batch_header import HEADER_BYTES
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.support.record_batches import validate_batch
from tests.support.reentry import ALL_WAYS

TWINS = list(
    dict.fromkeys((_batch_builder_py.RecordBatchBuilder, batch_builder.RecordBatchBuilder))
)
UPPER_BOUNDS = list(
    dict.fromkeys((_batch_builder_py.record_upper_bound, batch_builder.record_upper_bound))
)
NEW_BUFFERS = list(dict.fromkeys((_batch_builder_py.new_buffer, batch_builder.new_buffer)))
CODECS = list(CompressionType)[1:]
T = 1_700_000_000_000
POPULATES = sys.platform == "linux" and tuple(
    map(int, re.findall(r"\d+", platform.release())[:2])
) >= (5, 14)
POPULATES = POPULATES and "asan" not in os.environ.get("LD_PRELOAD", "")  # it faults for itself


@pytest.fixture(params=TWINS, ids=lambda twin: twin.__module__.rpartition(".")[2])
def builder_of(request):
    """`builder_of(size, compression=..., ...)` -> a RecordBatchBuilder on a buffer of that size."""

    def make(size=16_384, *, buffer=None, **options):
        return request.param(bytearray(size) if buffer is None else buffer, **options)

    return make


def read(batch):
    records = RecordCursor(batch, topic="t", partition=0, fetch_offset=0).take(1_000_000)
    return [(r.offset, r.timestamp, r.key, r.value, tuple(r.headers)) for r in records]


# Buffers…


@pytest.mark.parametrize("new_buffer", NEW_BUFFERS)
@pytest.mark.parametrize("size", [0, 1, 100, 32_767, 32_768, 131_072, 131_073, 1_000_003])
def test_a_new_buffer_has_the_size_asked_for_and_can_be_filled(new_buffer, size):
    buffer = new_buffer(size)
    assert len(buffer) == size
    buffer[:] = content = bytes(number % 251 for number in range(size))
    assert buffer == content


@pytest.mark.skipif(not POPULATES, reason="needs Linux 5.14, for MADV_POPULATE_WRITE")
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("index", range(len(NEW_BUFFERS)))
def test_filling_a_large_new_buffer_meets_no_page_faults(index, moves):
    size = 1024 * resource.getpagesize()
    value = b"x" * 400
    buffer = NEW_BUFFERS[index](size)
    builder = TWINS[index](bytearray(1000) if moves else buffer)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    builder.append(T, None, value)
    if moves:
        builder.move_to(buffer)
    while builder.append(T, None, value) is not None:
        pass
    assert builder.size_in_bytes > size - 500
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 64  # of 1,024 pages


@pytest.mark.skipif(not POPULATES or len(TWINS) < 2, reason="needs the native twin, and Linux 5.14")
def test_a_batch_that_refers_to_its_values_takes_nearly_no_pages():
    size = 1024 * resource.getpagesize()
    value = b"x" * 60_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    builder = TWINS[1](NEW_BUFFERS[1](size))
    while builder.append(T, None, value) is not None:
        pass
    builder.seal()
    assert builder.size_in_bytes > size - 61_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before < 64  # of 1,024 pages


# Appending…


@pytest.mark.parametrize("compression", CompressionType)
def test_what_was_appended_is_read_back(builder_of, compression):
    builder = builder_of(compression=compression)
    rows = [(T + index, b"k%d" % index, b"v" * index, ()) for index in range(100)]
    assert [builder.append(*row) for row in rows] == list(range(100))
    assert read(builder.wire()) == [(index, *row) for index, row in enumerate(rows)]


def test_a_limited_batch_takes_no_more_than_it_may(builder_of):
    builder = builder_of(1000)
    assert builder.append(T, None, b"v" * 200) == 0
    builder.limit_to(500)
    builder.limit_to(900)  # it never grows again
    assert builder.append(T, None, b"v" * 300) is None
    assert builder.append(T, None, b"v" * 200) == 1
    builder.limit_to(100)
    assert builder.append(T, None, None) is None
    assert len(read(builder.wire())) == 2
    builder.limit_to(1000)
    assert builder.append(T, None, b"v") is None


def test_a_batch_without_room_is_in_its_buffer_and_not_in_memory_twice(builder_of):
    builder = builder_of(2000)
    while builder.append(T, b"key", b"v" * 300) is not None:
        pass
    builder.limit_to(0)
    assert builder.referred_bytes == 0
    assert builder.append(T, None, b"") is None


@pytest.mark.parametrize("way", ALL_WAYS)
def test_a_batch_that_is_sealed_in_the_middle_of_an_append_is_whole(builder_of, way):
    """So a handler of signals does, or a finalizer: it sends, and the batch leaves (C1)."""
    for place in range(1, 60):
        builder = builder_of()
        for number in range(128):  # the next one writes these into the buffer
            builder.append(T, None, b"%d" % number)

        def seal(builder=builder):
            builder.append(T, None, b"inner")
            builder.seal()

        with ALL_WAYS[way](seal, after=place) as interruption:
            last = builder.append(T, None, b"outer")
        sealed = bytes(builder.wire())
        validate_batch(sealed)
        values = [value for _, _, _, value, _ in read(sealed)]
        assert values[:128] == [b"%d" % number for number in range(128)]
        assert (b"outer" in values) is (last is not None)
        assert (b"inner" in values) is interruption.came


def test_a_batch_goes_on_in_a_larger_buffer(builder_of):
    small, large = bytearray(500), bytearray(1000)
    builder, whole = builder_of(buffer=small), builder_of(1000)
    for value in (b"a" * 200, b"b" * 150):
        assert builder.append(T, b"k", value) == whole.append(T, b"k", value)
    assert builder.append(T, b"k", b"c" * 300) is None
    builder.move_to(large)
    small[:] = bytes(500)  # nobody reads it any more
    small += b"more"  # and nobody keeps it from being resized
    assert builder.append(T, b"k", b"c" * 300) == whole.append(T, b"k", b"c" * 300) == 2
    assert builder.append(T, b"k", b"d" * 300) is None
    builder.stamp(7, 1, 5)
    whole.stamp(7, 1, 5)
    assert bytes(builder.wire()) == bytes(whole.wire())
    assert bytes(large[: builder.size_in_bytes]) == bytes(whole.wire())
    assert not builder.move_to(bytearray(5000)), "a sealed batch keeps its buffer"


def test_a_limit_is_lifted_in_the_same_buffer(builder_of):
    buffer = bytearray(1000)
    builder = builder_of(buffer=buffer)
    assert builder.append(T, None, b"v" * 200) == 0
    builder.limit_to(300)
    assert builder.append(T, None, b"v" * 200) is None
    builder.move_to(buffer)
    assert builder.append(T, None, b"v" * 200) == 1
    assert len(read(builder.wire())) == 2


def test_a_batch_does_not_move_to_a_buffer_that_is_too_small(builder_of):
    builder = builder_of(1000)
    assert builder.append(T, None, b"v" * 400) == 0
    with pytest.raises(ValueError, match="do not fit a buffer of 300"):
        builder.move_to(bytearray(300))
    assert builder.append(T, None, b"v" * 400) == 1
    assert [row[3] for row in read(builder.wire())] == [b"v" * 400] * 2


contents = st.one_of(
    st.none(),
    st.binary(max_size=80),
    st.sampled_from([63, 64, 400, 401, 8_190, 8_191, 8_192]).map(bytes),
)
rows = st.tuples(
    st.integers(-(2**40), 2**40),
    contents,
    contents,
    st.lists(st.tuples(st.text(max_size=70), contents), max_size=3),
)


@given(rows=st.lists(rows, min_size=1, max_size=9), compression=st.sampled_from(CompressionType))
def test_any_records_come_back(rows, compression):
    for twin in TWINS:
        builder = twin(bytearray(1 << 20), compression=compression)
        assert [builder.append(*row) for row in rows] == list(range(len(rows)))
        header = validate_batch(builder.wire())
        assert header.base_timestamp == rows[0][0]
        assert header.max_timestamp == builder.max_timestamp == max(row[0] for row in rows)
        assert read(builder.wire()) == [
            (index, *row[:3], tuple(row[3])) for index, row in enumerate(rows)
        ]


@given(rows=st.lists(rows, max_size=9), grows=st.integers(0, 9))
def test_twins_make_the_same_batch_also_if_it_moves(rows, grows):
    """Large values are copied by one twin, and referred to by the other."""
    made = set()
    for twin in TWINS:
        builder = twin(bytearray(200_000))
        for number, row in enumerate(rows):
            if number == grows:
                builder.move_to(bytearray(1 << 20))
            assert builder.append(*row) == number
        assert builder.size_in_bytes == builder.uncompressed_size
        builder.stamp(1, 2, 3)
        builder.stamp(7, 1, 2**31 - 1)
        assert len(builder.wire()) == builder.size_in_bytes == len(builder.part())
        assert bytes(builder.part()) == builder.wire()
        made.add(bytes(builder.wire()))
    assert len(made) == 1


@given(
    sizes=st.lists(st.sampled_from([0, 399, 400, 401, 900]), min_size=1, max_size=30),
    limit=st.integers(100, 9_000),
    at=st.integers(0, 9),
)
def test_twins_are_full_at_the_same_record(sizes, limit, at):
    found = []
    for twin in TWINS:
        builder = twin(bytearray(8_000))
        taken = []
        for number, size in enumerate(sizes):
            if number == at:
                builder.limit_to(limit)
            taken.append(builder.append(T, None, bytes(size)))
        found.append((taken, builder.size_in_bytes, bytes(builder.wire())))
    assert found[0] == found[-1]


def test_a_large_value_is_let_go_with_its_batch(builder_of):
    value = b"v" * 1_000
    before = sys.getrefcount(value)
    builder = builder_of()
    for _ in range(9):
        assert builder.append(T, None, value) is not None
    part = builder.part()
    joined = builder.wire()
    del builder
    assert len(read(part)) == 9
    del part
    assert len(read(joined)) == 9
    del joined
    assert sys.getrefcount(value) == before


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_a_large_value_that_may_change_is_copied(builder_of, kind):
    value = bytearray(b"v" * 1_000)
    builder = builder_of()
    builder.append(T, None, kind(value))
    value[:] = bytes(1_000)
    assert read(builder.wire())[0][3] == b"v" * 1_000


def test_a_large_value_of_a_class_of_its_own_is_copied(builder_of):
    class Own(bytes):
        pass

    value = Own(b"v" * 1_000)
    before = sys.getrefcount(value)
    builder = builder_of()
    builder.append(T, None, value)
    assert sys.getrefcount(value) == before
    assert read(builder.wire())[0][3] == value


@given(row=rows)
def test_first_record_fits_a_buffer_of_its_upper_bound(row):
    """The first record fits a buffer of its upper bound (2d-1)."""
    timestamp, key, value, headers = row
    for upper_bound in UPPER_BOUNDS:
        bound = upper_bound(key, value, headers)
        for twin in TWINS:
            builder = twin(bytearray(bound))
            assert builder.append(timestamp, key, value, headers) == 0
            assert bound - 21 <= builder.size_in_bytes <= bound


def test_full_batch_refuses_and_stays_as_it_is(builder_of):
    """A full batch refuses a record and stays as it is (C7)."""
    builder = builder_of(HEADER_BYTES + 30)
    assert builder.append(T, b"12345", b"6789") == 0
    size = builder.size_in_bytes
    assert builder.append(T + 9, None, b"x" * 20) is None
    assert (builder.size_in_bytes, builder.record_count, builder.max_timestamp) == (size, 1, T)
    assert builder.append(T, None, None) == 1
    assert read(builder.wire()) == [(0, T, b"12345", b"6789", ()), (1, T, None, None, ())]


def test_batch_fills_its_buffer_to_the_last_byte(builder_of):
    builder = builder_of(HEADER_BYTES + 3 * 10)
    while builder.append(T, b"k", b"v1") is not None:
        pass
    assert builder.record_count == 3
    assert len(builder.wire()) == HEADER_BYTES + 3 * 10


def test_buffer_too_small_for_its_first_record_is_told(builder_of):
    builder = builder_of(HEADER_BYTES + 5)
    assert builder.append(T, None, b"12345") is None
    assert builder.record_count == 0


def test_a_buffer_is_let_go_with_its_builder_also_by_the_garbage_collector(builder_of):
    buffer = bytearray(500)
    builder = builder_of(buffer=buffer)
    builder.append(T, b"k", b"v")
    builder.wire()
    circle = [builder, buffer]
    circle.append(circle)
    del builder, buffer, circle
    gc.collect()
    assert not gc.garbage


def test_a_buffer_too_small_for_a_header_is_refused_at_the_latest_when_it_is_written(builder_of):
    builder = builder_of(60)
    assert builder.append(T, None, b"") is None
    with pytest.raises((ValueError, struct.error)):
        builder.seal()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_taken_and_copied(builder_of, kind):
    key, value = bytearray(b"key"), bytearray(b"value")
    builder = builder_of()
    builder.append(T, kind(key), kind(value), [("h", kind(b"x"))])
    key[:] = b"yek"
    value[:] = b"eulav"
    assert read(builder.wire()) == [(0, T, b"key", b"value", (("h", b"x"),))]


@pytest.mark.parametrize(
    ("key", "value", "headers"),
    [
        ("text", b"v", ()),
        (b"k", "text", ()),
        (b"k", 5, ()),
        (b"k", b"v", [(b"name", b"x")]),
        (b"k", b"v", [("name", "text")]),
    ],
)
def test_what_is_no_bytes_is_a_type_error_and_adds_nothing(builder_of, key, value, headers):
    builder = builder_of()
    builder.append(T, b"1", b"1")
    with pytest.raises(TypeError):
        builder.append(T, key, value, headers)
    assert builder.append(T, b"2", b"2") == 1
    assert [record[2] for record in read(builder.wire())] == [b"1", b"2"]


def test_timestamps_may_go_back(builder_of):
    """A batch has its first timestamp as the base, and its largest as the maximum (2g-3)."""
    builder = builder_of()
    for timestamp in (T, T - 5_000, T + 3, T - 2**33):
        builder.append(timestamp, None, b"v")
    header = validate_batch(builder.wire())
    assert (header.base_timestamp, header.max_timestamp) == (T, T + 3)
    assert [record[1] for record in read(builder.wire())] == [T, T - 5_000, T + 3, T - 2**33]


# Sealing and stamping…


def test_header_of_a_batch_without_producer_id(builder_of):
    builder = builder_of()
    builder.append(T, b"k", b"v")
    builder.append(T, b"k", b"v")
    header = validate_batch(builder.wire())
    assert (header.base_offset, header.partition_leader_epoch, header.magic) == (0, -1, 2)
    assert (header.last_offset_delta, header.records_count) == (1, 2)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (-1, -1, -1)
    assert header.attributes == 0


@pytest.mark.parametrize("compression", CompressionType)
@pytest.mark.parametrize("is_transactional", [False, True])
def test_stamp_renumbers_a_retry(builder_of, compression, is_transactional):
    """Stamping a batch again changes its numbers and not its records (2d-18)."""
    builder = builder_of(compression=compression, is_transactional=is_transactional)
    builder.append(T, b"k", b"value" * 20)
    builder.stamp(7, 1, 40)
    records = bytes(builder.wire()[HEADER_BYTES:])
    for producer_id, epoch, sequence in ((7, 2, 0), (2**62, 32_767, 2**31 - 1)):
        builder.stamp(producer_id, epoch, sequence)
        header = validate_batch(builder.wire())
        assert header[9:12] == (producer_id, epoch, sequence)
        assert header.attributes == compression | (0x10 if is_transactional else 0)
        assert bytes(builder.wire()[HEADER_BYTES:]) == records


def test_sealed_batch_takes_no_more(builder_of):
    builder = builder_of()
    builder.append(T, b"k", b"v")
    assert not builder.is_sealed
    builder.seal()
    assert builder.is_sealed
    assert builder.append(T, b"k", b"v") is None
    assert len(read(builder.wire())) == 1


def test_wire_of_an_uncompressed_batch_is_the_lent_buffer_itself():
    for twin in TWINS:
        buffer = bytearray(1_000)
        builder = twin(buffer)
        builder.append(T, b"key", b"value")
        wire = builder.wire()
        assert wire.obj is buffer
        assert builder.wire() is wire
        assert len(wire) == builder.size_in_bytes
        assert len(buffer) == 1_000


@pytest.mark.parametrize("compression", CODECS)
def test_compressed_batch_leaves_the_lent_buffer_when_sealed(compression):
    for twin in TWINS:
        buffer = bytearray(16_384)
        builder = twin(buffer, compression=compression)
        builder.append(T, b"key", b"value" * 1_000)
        assert builder.holds_buffer
        builder.seal()
        assert not builder.holds_buffer
        buffer[:] = bytes(len(buffer))
        assert read(builder.wire()) == [(0, T, b"key", b"value" * 1_000, ())]


def test_sizes_before_and_after_compression_give_the_ratio(builder_of):
    """A batch tells its sizes before and after compression, for later estimates (2d-2)."""
    builder = builder_of(compression=CompressionType.GZIP)
    assert builder.uncompressed_size == builder.size_in_bytes == HEADER_BYTES
    builder.append(T, None, b"value" * 1_000)
    before = builder.size_in_bytes
    builder.seal()
    assert builder.uncompressed_size == before
    assert builder.size_in_bytes == len(builder.wire()) < before / 10


def test_level_reaches_the_codec(builder_of):
    sizes = []
    for level in (1, 19):
        builder = builder_of(1 << 20, compression=CompressionType.ZSTD, level=level)
        for index in range(2_000):
            builder.append(T + index * 37 % 101, None, b'{"id": %d}' % (index * 7919 % 10_007))
        sizes.append(len(builder.wire()))
    assert sizes[1] < sizes[0]


def test_repr_says_how_far_it_is(builder_of):
    builder = builder_of()
    builder.append(T, b"k", b"v")
    assert repr(builder) == "<RecordBatchBuilder open, 1 records, 70 bytes>"
    builder.seal()
    assert repr(builder) == "<RecordBatchBuilder sealed, 1 records, 70 bytes>"
