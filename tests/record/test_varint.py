"""Tests of `record/varint.py`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.varint import encode_varint, read_varint, varint_size


@pytest.mark.parametrize(
    ("value", "encoded"),  # Apache's ByteUtilsTest
    [
        (0, "00"),
        (-1, "01"),
        (1, "02"),
        (63, "7e"),
        (-64, "7f"),
        (64, "8001"),
        (8191, "fe7f"),
        (-8192, "ff7f"),
        (8192, "808001"),
        (2**31 - 1, "feffffff0f"),
        (-(2**31), "ffffffff0f"),
        (2**63 - 1, "feffffffffffffffff01"),
        (-(2**63), "ffffffffffffffffff01"),
    ],
)
def test_known_encodings(value, encoded):
    assert encode_varint(value).hex() == encoded
    assert read_varint(bytes.fromhex(encoded), 0, 10) == (value, len(encoded) // 2)
    assert varint_size(value) == len(encoded) // 2


@given(value=st.integers(-(2**63), 2**63 - 1), before=st.binary(max_size=3))
def test_any_64_bit_number_comes_back(value, before):
    encoded = encode_varint(value)
    assert varint_size(value) == len(encoded)
    assert read_varint(before + encoded, len(before), 10) == (value, len(before) + len(encoded))


@pytest.mark.parametrize("max_bytes", [5, 10])
def test_varint_longer_than_its_type_is_corrupt(max_bytes):
    with pytest.raises(CorruptRecordException, match=f"longer than {max_bytes} bytes"):
        read_varint(b"\x80" * max_bytes + b"\x00", 0, max_bytes)


def test_truncated_varint_is_an_index_error_for_the_caller_to_name():
    with pytest.raises(IndexError):
        read_varint(b"\x80\x80", 0)
