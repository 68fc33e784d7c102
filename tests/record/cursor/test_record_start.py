"""Tests of `record/cursor/record_start.py`; whole records are in `test_batch_reader.py`."""

import pytest

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.cursor.record_start import read_headers, read_record_start
from aiokafka_lite.record.varint import encode_varint


def section(*headers):
    """Return a record's header section: names as bytes, values as bytes or None."""
    encoded = encode_varint(len(headers))
    for name, value in headers:
        encoded += encode_varint(len(name)) + name
        encoded += b"\x01" if value is None else encode_varint(len(value)) + value
    return encoded


@pytest.mark.parametrize(
    "headers",
    [
        [(b"a", b"1")],
        [(b"a", b"1"), (b"a", None), (b"", b"")],
        [(b"n" * 63, b"v" * 63), (b"n" * 64, b"v" * 64), (b"n" * 9_000, b"v" * 9_000)],
        [(b"%d" % index, b"x") for index in range(300)],
    ],
)
def test_headers_are_read_in_order_with_where_they_end(headers):
    data = section(*headers)
    expected = tuple((name.decode(), value) for name, value in headers)
    assert read_headers(b"before" + data + b"after", 6) == (expected, 6 + len(data))


def test_name_that_is_no_utf8_is_replaced_and_the_others_stay():
    data = section((b"ok", b"1"), (b"\xff\xfe", b"2"), ("ü".encode(), b"3"))
    headers, end = read_headers(data, 0)
    assert headers == (("ok", b"1"), ("\ufffd\ufffd", b"2"), ("ü", b"3"))
    assert end == len(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x01", "-1 headers"),
        (b"\xfe\xff\xff\xff\x0f\0\0", "2,147,483,647 headers in 2 bytes"),
        (b"\x02\x01\0", "a header name of -1 bytes"),
        (b"\x02\x02a\x03", "a header value of -2 bytes"),
        (b"\x02\x02a\x80\x80\x80\x80\x80\x01", "longer than 5 bytes"),
    ],
)
def test_impossible_lengths_are_corrupt(data, words):
    with pytest.raises(CorruptRecordException, match=words):
        read_headers(data, 0)


def test_headers_cut_anywhere_are_an_error():
    """IndexError is for the caller, who knows what else ends there."""
    data = section((b"name", b"value"), (b"n" * 70, b"v" * 70))
    for cut in range(len(data)):
        with pytest.raises((IndexError, CorruptRecordException)):
            read_headers(data[:cut], 0)


def test_record_start_of_any_size_is_read():
    fields = [9_000, -(2**40), 70_000, 8_192]
    size, timestamp, offset, key = map(encode_varint, fields)
    data = b"xyz" + size + b"\0" + timestamp + offset + key
    assert read_record_start(data, 3) == (
        3 + len(size) + 9_000,
        -(2**40),
        70_000,
        8_192,
        len(data),
    )
