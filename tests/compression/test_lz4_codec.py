"""Tests of `compression/lz4_codec.py`.

Its own shapes; what all codecs promise is in `test_codecs.py`.
"""

import struct

import pytest
from lz4 import frame as lz4_frame

from aiokafka_lite.compression import lz4_codec
from aiokafka_lite.errors import CorruptRecordException

MIB = 1024 * 1024
TEXT = b"".join(b'{"id": %d, "name": "customer %d"}' % (i, i * 7919) for i in range(12_000))


@pytest.fixture(params=[lz4_codec.decompress_lz4, lz4_codec.decompress_cramjam], name="lz4")
def _lz4(request):
    """The lz4 decompressor, by each library."""
    return request.param


@pytest.mark.parametrize("store_size", [True, False])
@pytest.mark.parametrize("block_linked", [True, False])
@pytest.mark.parametrize("block_checksum", [True, False])
@pytest.mark.parametrize("content_checksum", [True, False])
@pytest.mark.parametrize("block_size", [lz4_frame.BLOCKSIZE_MAX64KB, lz4_frame.BLOCKSIZE_MAX4MB])
def test_lz4_frames_of_every_shape_are_read(
    lz4, store_size, block_linked, block_checksum, content_checksum, block_size
):
    compressed = lz4_frame.compress(
        TEXT,
        store_size=store_size,
        block_linked=block_linked,
        block_checksum=block_checksum,
        content_checksum=content_checksum,
        block_size=block_size,
    )
    assert lz4(compressed, len(TEXT)) == TEXT
    assert lz4(compressed + compressed, 2 * len(TEXT)) == TEXT * 2


def test_lz4_skippable_frames_are_skipped(lz4):
    skippable = b"\x5a\x2a\x4d\x18" + struct.pack("<I", 5) + b"hello"
    one, two = lz4_frame.compress(b"one "), lz4_frame.compress(b"two")
    assert lz4(skippable + one + skippable + two + skippable, 7) == b"one two"
    assert lz4(one + skippable[:-1], 100) == b"one "
    with pytest.raises(CorruptRecordException, match="truncated"):
        lz4(skippable[:-1], 100)


def test_lz4_data_that_begins_with_no_frame_is_refused(lz4):
    with pytest.raises(CorruptRecordException, match="no frame starts with"):
        lz4(b"junk" + lz4_frame.compress(TEXT), MIB)


@pytest.mark.parametrize("compress", [lz4_codec.compress_lz4, lz4_codec.compress_cramjam])
def test_lz4_is_written_with_independent_blocks_which_javas_reader_asks_for(compress):
    info = lz4_frame.get_frame_info(compress(TEXT))
    assert not info["block_linked"]
    assert info["block_size"] == 64 * 1024


def test_lz4_content_size_beyond_its_blocks_is_refused_before_it_is_allocated(lz4):
    compressed = bytearray(lz4_frame.compress(TEXT, store_size=True))
    struct.pack_into("<Q", compressed, 6, 1 << 50)
    with pytest.raises(CorruptRecordException, match="claim to hold 1,125,899,906,842,624"):
        lz4(compressed, 1 << 60)


@pytest.mark.parametrize("level", [None, 1, 2, 3, 9, 12, 17])
@pytest.mark.parametrize("compress", [lz4_codec.compress_lz4, lz4_codec.compress_cramjam])
def test_lz4_levels(compress, level):
    assert lz4_frame.decompress(compress(TEXT, level)) == TEXT


@pytest.mark.parametrize("store_size", [True, False])
def test_lz4_header_checksum_of_magic_0_is_repaired(lz4, store_size):
    """Before Kafka 0.10 the LZ4 checksum covers the frame's magic number as well (2g-2)."""
    right = lz4_frame.compress(TEXT, store_size=store_size)
    wrong = bytearray(right)
    wrong[14 if store_size else 6] ^= 0xFF
    with pytest.raises(CorruptRecordException):
        lz4(wrong, MIB)
    assert lz4_codec.with_right_header_checksum(wrong) == right
    assert lz4(lz4_codec.with_right_header_checksum(wrong), MIB) == TEXT


@pytest.mark.parametrize(
    "data", [b"", b"\x04\x22\x4d\x18", b"\x04\x22\x4d\x18\x68\x40", b"no frame"]
)
def test_lz4_repair_leaves_what_is_no_frame_as_it_is(data):
    assert lz4_codec.with_right_header_checksum(data) == data
