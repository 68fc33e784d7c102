"""Tests of `compression/zstd_codec.py`.

Its own shapes; what all codecs promise is in `test_codecs.py`.
"""

import struct

import pytest

from aiokafka_lite.compression import zstd_codec
from aiokafka_lite.errors import CorruptRecordException
from tests.compression.standard_zstd import zstd as std_zstd

MIB = 1024 * 1024
TEXT = b"".join(b'{"id": %d, "name": "customer %d"}' % (i, i * 7919) for i in range(12_000))


@pytest.fixture(params=[zstd_codec.decompress_std, zstd_codec.decompress_cramjam], name="zstd")
def _zstd(request):
    """The zstd decompressor, by each library."""
    return request.param


def test_zstd_frames_without_content_size_are_read(zstd):
    """Java's client writes them; several in a row are one stream."""
    compressor = std_zstd.ZstdCompressor()
    frame = compressor.compress(TEXT) + compressor.flush()
    assert std_zstd.get_frame_info(frame).decompressed_size is None
    assert zstd(frame, len(TEXT)) == TEXT
    assert zstd(frame + frame, 2 * len(TEXT)) == TEXT * 2
    with pytest.raises(CorruptRecordException, match="bound"):
        zstd(frame + frame, 2 * len(TEXT) - 1)


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 300, b"x" * 70_000, TEXT])
def test_zstd_frames_of_every_header_are_read(zstd, content):
    parameter = std_zstd.CompressionParameter
    for checksum in (0, 1):
        for content_size in (0, 1):
            options: dict[int, int] = {
                parameter.checksum_flag: checksum,
                parameter.content_size_flag: content_size,
            }
            frame = std_zstd.compress(content, options=options)
            assert zstd(frame, len(content)) == content


def test_zstd_skippable_frames_are_skipped(zstd):
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"hello"
    one, two = std_zstd.compress(b"one "), std_zstd.compress(b"two")
    assert zstd(skippable + one + skippable + two, 7) == b"one two"


def test_zstd_checksum_is_checked(zstd):
    options: dict[int, int] = {std_zstd.CompressionParameter.checksum_flag: 1}
    frame = bytearray(std_zstd.compress(TEXT, options=options))
    frame[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="zstd"):
        zstd(frame, MIB)


def test_zstd_content_size_beyond_its_blocks_is_refused_before_it_is_allocated(zstd):
    # Single segment with an 8-byte content size of 2^50, one empty raw block.
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 50) + b"\x01\0\0"
    with pytest.raises(CorruptRecordException, match="claim to hold 1,125,899,906,842,624"):
        zstd(frame, 1 << 60)


@pytest.mark.parametrize("level", [None, -131072, -1, 0, 1, 3, 19, 22])
@pytest.mark.parametrize("compress", [zstd_codec.compress_std, zstd_codec.compress_cramjam])
def test_zstd_levels(compress, level):
    content = TEXT[:20_000]
    assert std_zstd.decompress(compress(content, level)) == content
