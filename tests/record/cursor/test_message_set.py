"""Tests of `record/cursor/message_set.py`: magic 0 and 1, which brokers still hold on disk."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress
from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.record.cursor.message_set import Message, read_messages


def field(content):
    return b"\xff\xff\xff\xff" if content is None else struct.pack(">i", len(content)) + content


def message(magic, offset, key, value, *, timestamp=0, attributes=0):
    stamp = struct.pack(">q", timestamp) if magic == 1 else b""
    checked = struct.pack(">bb", magic, attributes) + stamp + field(key) + field(value)
    return struct.pack(">qiI", offset, len(checked) + 4, zlib.crc32(checked)) + checked


def crc(encoded):
    return struct.unpack_from(">I", encoded, 12)[0]


def read(data, *, check_crcs=True, bound=1 << 20):
    return read_messages(data, check_crcs=check_crcs, max_decompressed_bytes=bound)


@pytest.mark.parametrize(("key", "value"), [(b"k", b"v"), (None, b"v"), (b"k", None), (b"", b"")])
def test_plain_messages(key, value):
    old = message(0, 7, key, value)
    assert read(old) == [Message(7, -1, -1, crc(old), key, value)]
    new = message(1, 7, key, value, timestamp=99)
    assert read(new) == [Message(7, 99, 0, crc(new), key, value)]
    appended = message(1, 7, key, value, timestamp=99, attributes=8)
    assert read(appended) == [Message(7, 99, 1, crc(appended), key, value)]


CODECS = [CompressionType.GZIP, CompressionType.SNAPPY, CompressionType.LZ4]


@pytest.mark.parametrize("codec", CODECS)
def test_wrapper_of_magic_0_holds_absolute_offsets(codec):
    inner = b"".join(message(0, offset, b"k", b"v%d" % offset) for offset in (5, 6, 9))
    wrapper = message(0, 9, None, bytes(compress(codec, inner)), attributes=codec)
    assert [(m.offset, m.value) for m in read(wrapper)] == [(5, b"v5"), (6, b"v6"), (9, b"v9")]


@pytest.mark.parametrize("codec", CODECS)
def test_wrapper_of_magic_1_holds_relative_offsets(codec):
    """A wrapper has the offset of its last message; a compacted one has holes (KIP-31)."""
    inner = b"".join(
        message(1, relative, b"k", b"v", timestamp=100 + relative) for relative in (0, 1, 4)
    )
    wrapper = message(1, 104, None, bytes(compress(codec, inner)), timestamp=104, attributes=codec)
    found = [(m.offset, m.timestamp, m.timestamp_type) for m in read(wrapper)]
    assert found == [(100, 100, 0), (101, 101, 0), (104, 104, 0)]


def test_log_append_time_of_a_wrapper_is_everyones():
    """Log-append time of a wrapper is that of all messages in it (KIP-32)."""
    inner = message(1, 0, b"k", b"v", timestamp=1) + message(1, 1, b"k", b"v", timestamp=2)
    content = bytes(compress(CompressionType.GZIP, inner))
    wrapper = message(1, 1, None, content, timestamp=500, attributes=1 | 8)
    assert [(m.timestamp, m.timestamp_type) for m in read(wrapper)] == [(500, 1), (500, 1)]


def test_lz4_of_magic_0_has_a_wrong_header_checksum():
    """LZ4 frames of magic 0 have a header checksum that no later version has (2g-2)."""
    content = bytearray(compress(CompressionType.LZ4, message(0, 3, b"k", b"v")))
    content[6] ^= 0xFF
    wrapper = message(0, 3, None, bytes(content), attributes=CompressionType.LZ4)
    assert [m.offset for m in read(wrapper)] == [3]
    inner = bytearray(compress(CompressionType.LZ4, message(1, 0, b"k", b"v")))
    inner[6] ^= 0xFF
    wrapper = message(1, 3, None, bytes(inner), attributes=CompressionType.LZ4)
    with pytest.raises(CorruptRecordException):
        read(wrapper)


@pytest.mark.parametrize("magic", [0, 1])
def test_crc_is_checked_outside_and_inside_unless_told_otherwise(magic):
    inner = bytearray(message(magic, 0, b"k", b"v"))
    inner[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="CRC-32"):
        read(inner)
    assert read(inner, check_crcs=False)[0].value == b"w"
    wrapper = message(magic, 0, None, bytes(compress(CompressionType.GZIP, inner)), attributes=1)
    with pytest.raises(CorruptRecordException, match="CRC-32"):
        read(wrapper)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "without a value"),
        (b"", "gzip"),
        (zlib.compress(b"", wbits=31), "holds no message"),
        (zlib.compress(message(1, 0, b"", b"")[:-1], wbits=31), "ends within a message"),
        (zlib.compress(message(0, 0, b"", b""), wbits=31), "holds a message of magic 0"),
        (zlib.compress(message(1, 0, b"", b"x", attributes=1), wbits=31), "and codec 1"),
    ],
)
def test_wrappers_that_hold_no_messages_of_their_magic_are_corrupt(content, words):
    with pytest.raises(CorruptRecordException, match=words):
        read(message(1, 0, None, content, attributes=1))


@pytest.mark.parametrize("size", [-2, 2, 100, 2**31 - 1, -(2**31)])
def test_field_lengths_that_do_not_fit_are_corrupt(size):
    bad = bytearray(message(0, 0, b"k", b"v"))
    struct.pack_into(">i", bad, 18, size)
    with pytest.raises(CorruptRecordException):
        read(bad, check_crcs=False)


def test_bomb_in_a_wrapper_is_refused():
    inner = message(1, 0, None, bytes(1 << 20))
    content = bytes(compress(CompressionType.GZIP, inner))
    with pytest.raises(CorruptRecordException, match="bound"):
        read(message(1, 0, None, content, attributes=1), bound=1 << 16)


@given(data=st.data(), magic=st.integers(0, 1), codec=st.sampled_from([0, *CODECS]))
def test_mutated_messages_give_messages_or_the_one_error(data, magic, codec):
    content = message(magic, 0, b"key", b"value")
    if codec:
        content = message(magic, 0, None, bytes(compress(codec, content)), attributes=codec)
    mutated = bytearray(content)
    for _ in range(data.draw(st.integers(1, 4))):
        mutated[data.draw(st.integers(0, len(mutated) - 1))] = data.draw(st.integers(0, 255))
    try:
        read(mutated, check_crcs=data.draw(st.booleans()))
    except CorruptRecordException:
        return
