"""Tests of `compression/snappy_codec.py`.

Its own shapes; what all codecs promise is in `test_codecs.py`.
"""

import random
import struct

import cramjam
import pytest

from aiokafka_lite.compression import snappy_codec
from aiokafka_lite.errors import CorruptRecordException

MIB = 1024 * 1024
TEXT = b"".join(b'{"id": %d, "name": "customer %d"}' % (i, i * 7919) for i in range(12_000))
NOISE = random.Random(5).randbytes(300_000)


def test_snappy_is_written_in_xerial_frames_of_32_kib_blocks():
    compressed = snappy_codec.compress(NOISE)
    assert compressed[:16] == b"\x82SNAPPY\0\0\0\0\1\0\0\0\1"
    blocks = []
    position = 16
    while position < len(compressed):
        (size,) = struct.unpack_from(">i", compressed, position)
        block = compressed[position + 4 : position + 4 + size]
        blocks.append(bytes(cramjam.snappy.decompress_raw(block)))
        position += 4 + size
    assert b"".join(blocks) == NOISE
    assert {len(block) for block in blocks[:-1]} == {32 * 1024}


def test_snappy_is_read_raw_as_librdkafka_writes_it():
    assert snappy_codec.decompress(bytes(cramjam.snappy.compress_raw(TEXT)), MIB) == TEXT


def test_snappy_frames_in_a_row_are_one_stream():
    assert snappy_codec.decompress(
        snappy_codec.compress(b"one ") + snappy_codec.compress(b"two"), 7
    ) == (b"one two")


@pytest.mark.parametrize("size", [-1, 5, 1 << 30, -(1 << 31)])
def test_snappy_block_sizes_that_do_not_fit_are_refused(size):
    compressed = snappy_codec.compress(b"")[:16] + struct.pack(">i", size) + b"\0\0\0\0"
    with pytest.raises(CorruptRecordException, match="snappy"):
        snappy_codec.decompress(compressed, MIB)


def test_snappy_claim_beyond_any_ratio_is_refused_before_it_is_allocated():
    claim = b"\xff\xff\xff\xff\x0f" + b"x" * 20  # 4 GiB
    with pytest.raises(CorruptRecordException, match="claim to hold 4,294,967,295"):
        snappy_codec.decompress(claim, 1 << 40)
