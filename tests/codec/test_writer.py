"""Primitive types into bytes: literals and refused values; round trips are in test_reader."""

from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.codec.writer import Writer, unsigned_varint_bytes


@pytest.mark.parametrize(
    ("kind", "value", "raw"),
    [
        ("int8", -1, "ff"),
        ("int16", 258, "0102"),
        ("int32", -2, "fffffffe"),
        ("int64", 1, "0000000000000001"),
        ("uint16", 65535, "ffff"),
        ("uint32", 2**32 - 1, "ffffffff"),
        ("float64", 0.5, "3fe0000000000000"),
        ("boolean", True, "01"),
        ("boolean", False, "00"),
        ("uuid", UUID(int=1), "00000000000000000000000000000001"),
        ("varint", -1, "01"),
        ("varint", 63, "7e"),
        ("varint", -(2**31), "ffffffff0f"),
        ("varlong", 2**63 - 1, "feffffffffffffffff01"),
        ("raw", b"ab", "6162"),
        ("string", "é", "0002c3a9"),
        ("nullable_string", None, "ffff"),
        ("compact_string", "é", "03c3a9"),
        ("compact_nullable_string", None, "00"),
        ("bytes_", b"\x01", "0000000101"),
        ("nullable_bytes", None, "ffffffff"),
        ("compact_bytes", b"\x01", "0201"),
        ("compact_nullable_bytes", None, "00"),
        ("array_count", -1, "ffffffff"),
        ("compact_array_count", -1, "00"),
        ("compact_array_count", 200, "c901"),
    ],
)
def test_value_is_written_at_the_end_of_the_buffer(kind: str, value: Any, raw: str) -> None:
    writer = Writer(bytearray(b"before"))
    getattr(writer, kind)(value)
    assert writer.buffer == b"before" + bytes.fromhex(raw)


@pytest.mark.parametrize(
    ("value", "raw"),
    [
        (0, "00"),
        (127, "7f"),
        (128, "8001"),
        (16383, "ff7f"),
        (16384, "808001"),
        (2**21 - 1, "ffff7f"),
        (2**21, "80808001"),
        (2**32 - 1, "ffffffff0f"),
    ],
)
def test_unsigned_varint_at_each_change_of_length(value: int, raw: str) -> None:
    assert unsigned_varint_bytes(value).hex() == raw


def test_no_tagged_fields_is_one_zero_byte() -> None:
    writer = Writer()
    writer.no_tagged_fields()
    assert writer.buffer == b"\x00"


@pytest.mark.parametrize(
    ("kind", "value", "reported"),
    [
        ("int8", 128, "128 does not fit 1 bytes"),
        ("uint32", -1, "-1 does not fit 4 bytes"),
        ("unsigned_varint", -1, "-1 does not fit an unsigned varint of 32 bits"),
        ("unsigned_varint", 2**32, "does not fit an unsigned varint of 32 bits"),
        ("varint", 2**31, "does not fit a varint of 32 bits"),
        ("varlong", -(2**63) - 1, "does not fit a varint of 64 bits"),
        ("string", "x" * 32768, "32768 bytes exceeds the protocol's limit of 32767"),
        ("compact_string", "é" * 16384, "32768 bytes exceeds the protocol's limit of 32767"),
    ],
)
def test_value_that_does_not_fit_is_refused(kind: str, value: Any, reported: str) -> None:
    writer = Writer()
    with pytest.raises(ValueError, match=reported):
        getattr(writer, kind)(value)
    assert writer.buffer == b""
