"""Primitive types out of bytes: values, positions, and refusal of what cannot be."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.codec.reader import Reader, unsigned_varint_at
from aiokafka_lite.codec.writer import Writer, unsigned_varint_bytes
from aiokafka_lite.errors import ProtocolDecodeError


@pytest.mark.parametrize(
    ("kind", "raw", "value"),
    [
        ("int16", "fffe", -2),
        ("int32", "7fffffff", 2**31 - 1),
        ("unsigned_varint", "00", 0),
        ("unsigned_varint", "ac02", 300),
        ("unsigned_varint", "ffffffff0f", 2**32 - 1),
        ("string", "000568656c6c6f", "hello"),
        ("nullable_string", "ffff", None),
        ("nullable_string", "0000", ""),
        ("nullable_bytes", "ffffffff", None),
        ("nullable_bytes", "0000000101", b"\x01"),
        ("array_count", "ffffffff", -1),
        ("array_count", "00000000", 0),
    ],
)
def test_value_is_read_and_the_position_stands_behind_it(kind: str, raw: str, value: Any) -> None:
    reader = Reader(bytes.fromhex(raw))
    assert getattr(reader, kind)() == value
    assert reader.remaining == 0


@pytest.mark.parametrize(
    ("kind", "raw", "reported"),
    [
        ("int32", "000000", "4 bytes are needed at byte 0, but 3 are left"),
        ("string", "ffff", "null stands at byte 2 where a string is required"),
        ("string", "fffe", "-2 bytes are announced at byte 2, but 0 are left"),
        ("string", "7fff61", "32767 bytes are announced at byte 2, but 1 are left"),
        ("string", "0001ff", "string at byte 2 is not UTF-8"),
        ("nullable_string", "8000", "-32768 bytes are announced"),
        ("nullable_bytes", "fffffffe", "-2 bytes are announced"),
        ("unsigned_varint", "", "varint at byte 0 is cut off"),
        ("unsigned_varint", "80", "varint at byte 0 is cut off"),
        ("unsigned_varint", "8080", "cut off"),
        ("unsigned_varint", "808080", "cut off"),
        ("unsigned_varint", "ffffffff10", "does not fit 32 bits"),
        ("unsigned_varint", "ffffffffff01", "more than 5 bytes"),
        ("array_count", "fffffffe", "an array of -2 elements"),
        ("array_count", "7fffffff", "an array of 2147483647 elements is announced"),
    ],
)
def test_impossible_bytes_are_refused(kind: str, raw: str, reported: str) -> None:
    with pytest.raises(ProtocolDecodeError, match=reported):
        getattr(Reader(bytes.fromhex(raw)), kind)()


def test_array_count_is_checked_against_the_least_size_of_its_elements() -> None:
    assert Reader(bytes.fromhex("00000002") + bytes(8)).array_count(4) == 2
    with pytest.raises(ProtocolDecodeError, match="array of 2 elements"):
        Reader(bytes.fromhex("00000002") + bytes(7)).array_count(4)


def test_raw_is_a_view_and_no_copy() -> None:
    data = bytearray(b"abcd")
    view = Reader(data, pos=1).raw(2)
    data[1] = ord("X")
    assert bytes(view) == b"Xc"


def test_tagged_fields_are_skipped_whatever_they_hold() -> None:
    reader = Reader(bytes.fromhex("02 00 01 ff 8001 02 aabb 05"))
    reader.skip_tagged_fields()
    assert reader.raw(1) == b"\5"


ROUND_TRIPS: list[tuple[str, st.SearchStrategy[Any]]] = [
    ("int16", st.integers(-(2**15), 2**15 - 1)),
    ("int32", st.integers(-(2**31), 2**31 - 1)),
    ("string", st.text()),
    ("nullable_string", st.none() | st.text()),
    ("nullable_bytes", st.none() | st.binary()),
]


@pytest.mark.parametrize(("kind", "values"), ROUND_TRIPS, ids=lambda value: str(value)[:24])
def test_what_the_writer_writes_the_reader_reads(kind: str, values: st.SearchStrategy[Any]) -> None:
    @given(values)
    def round_trip(value: Any) -> None:
        writer = Writer()
        getattr(writer, kind)(value)
        reader = Reader(writer.buffer)
        assert getattr(reader, kind)() == value
        assert reader.remaining == 0

    round_trip()


@given(st.integers(0, 2**32 - 1))
def test_a_varint_is_read_as_it_was_written(value: int) -> None:
    raw = unsigned_varint_bytes(value)
    assert unsigned_varint_at(raw, 0) == (value, len(raw))


READS: list[Callable[[Reader], Any]] = [
    getattr(Reader, name)
    for name in vars(Reader)
    if not name.startswith("_") and name not in {"pos", "view", "remaining", "raw"}
]


@given(st.binary(max_size=24), st.sampled_from(READS))
def test_garbage_is_a_value_or_a_protocol_error(raw: bytes, read: Callable[[Reader], Any]) -> None:
    with contextlib.suppress(ProtocolDecodeError):
        read(Reader(raw))


@given(st.binary(max_size=8))
def test_varint_reads_bytes_and_views_alike(raw: bytes) -> None:
    outcomes: list[object] = []
    for buffer in (raw, memoryview(raw)):
        try:
            outcomes.append(unsigned_varint_at(buffer, 0))
        except ProtocolDecodeError as error:
            outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]
