"""Primitive types into bytes: literals and refused values; round trips are in test_reader."""

from typing import Any

import pytest

from aiokafka_lite.codec.writer import Writer, unsigned_varint_bytes


@pytest.mark.parametrize(
    ("kind", "value", "raw"),
    [
        ("int16", 258, "0102"),
        ("int32", -2, "fffffffe"),
        ("string", "é", "0002c3a9"),
        ("nullable_string", None, "ffff"),
        ("nullable_bytes", b"\x01", "0000000101"),
        ("nullable_bytes", None, "ffffffff"),
        ("array_count", -1, "ffffffff"),
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


@pytest.mark.parametrize("value", [-1, 2**32])
def test_unsigned_varint_has_32_bits(value: int) -> None:
    with pytest.raises(ValueError, match=f"{value} does not fit an unsigned varint of 32 bits"):
        unsigned_varint_bytes(value)


@pytest.mark.parametrize(
    ("kind", "value", "reported"),
    [
        ("int16", 2**15, "32768 does not fit 2 bytes"),
        ("int32", -(2**31) - 1, "-2147483649 does not fit 4 bytes"),
        ("string", "x" * 32768, "32768 bytes exceeds the protocol's limit of 32767"),
    ],
)
def test_value_that_does_not_fit_is_refused(kind: str, value: Any, reported: str) -> None:
    writer = Writer()
    with pytest.raises(ValueError, match=reported):
        getattr(writer, kind)(value)
    assert writer.buffer == b""
