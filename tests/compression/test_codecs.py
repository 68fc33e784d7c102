"""Tests of every codec library the package may choose: gzip, snappy, lz4 and zstd keep the same
promises.

The choice itself depends on what is installed, so each path is called by its own name here.
"""

import contextlib
import gzip
import random
import struct
import tracemalloc

import cramjam
import pytest
from backports import zstd as backports_zstd
from hypothesis import given
from hypothesis import strategies as st
from lz4 import frame as lz4_frame

from aiokafka_lite.compression import gzip_codec, lz4_codec, snappy_codec, zstd_codec
from aiokafka_lite.errors import CorruptRecordException, KafkaError

MIB = 1024 * 1024
CODECS = {
    "gzip-zlib": (gzip_codec.compress_zlib, gzip_codec.decompress_zlib),
    "gzip-isal": (gzip_codec.compress_isal, gzip_codec.decompress_isal),
    "snappy-cramjam": (snappy_codec.compress, snappy_codec.decompress),
    "lz4-lz4": (lz4_codec.compress_lz4, lz4_codec.decompress_lz4),
    "lz4-cramjam": (lz4_codec.compress_cramjam, lz4_codec.decompress_cramjam),
    "zstd-std": (zstd_codec.compress_std, zstd_codec.decompress_std),
    "zstd-cramjam": (zstd_codec.compress_cramjam, zstd_codec.decompress_cramjam),
}
TEXT = b"".join(b'{"id": %d, "name": "customer %d"}' % (i, i * 7919) for i in range(12_000))
NOISE = random.Random(5).randbytes(300_000)


@pytest.fixture(params=CODECS, name="codec")
def _codec(request):
    return CODECS[request.param]


@pytest.fixture(params=[name for name in CODECS if name.startswith("lz4")], name="lz4")
def _lz4(request):
    return CODECS[request.param][1]


@pytest.fixture(params=[name for name in CODECS if name.startswith("zstd")], name="zstd")
def _zstd(request):
    return CODECS[request.param][1]


@pytest.fixture(params=[name for name in CODECS if name.startswith("gzip")], name="gunzip")
def _gunzip(request):
    return CODECS[request.param][1]


def read_by_another(name, compressed):
    """Return the content as a library the codec does not use itself sees it."""
    family = name.split("-")[0]
    if family == "gzip":
        return gzip.decompress(compressed)
    if family == "lz4":
        other = cramjam.lz4.decompress if name == "lz4-lz4" else lz4_frame.decompress
        return bytes(other(compressed))
    if family == "zstd":
        other = cramjam.zstd.decompress if name == "zstd-std" else backports_zstd.decompress
        return bytes(other(compressed))
    return snappy_codec.decompress(compressed, 10 * MIB)  # its frames: test_snappy_is_written_…


# What holds for each of them…


@pytest.mark.parametrize("content", [b"", b"x", b"abc" * 10, bytes(70_000), TEXT, NOISE])
@pytest.mark.parametrize("name", CODECS)
def test_what_was_compressed_comes_back_here_and_in_another_library(name, content):
    compress, decompress = CODECS[name]
    compressed = compress(content)
    assert decompress(compressed, len(content)) == content
    assert read_by_another(name, compressed) == content


@given(content=st.binary(max_size=2_000), repeat=st.integers(1, 50))
def test_any_content_comes_back(content, repeat):
    for compress, decompress in CODECS.values():
        assert decompress(compress(content * repeat), 200_000) == content * repeat


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_are_taken(codec, kind):
    compress, decompress = codec
    compressed = compress(kind(TEXT))
    assert decompress(kind(compressed), MIB) == TEXT


def test_output_is_bytes_so_that_slices_of_it_are(codec):
    compress, decompress = codec
    assert type(decompress(compress(TEXT), MIB)) is bytes


def test_one_byte_more_than_the_bound_is_refused_naming_both_sizes(codec):
    compress, decompress = codec
    with pytest.raises(
        CorruptRecordException, match=r"data of [\d,]+ bytes .* the bound is [\d,]+ bytes"
    ):
        decompress(compress(TEXT), len(TEXT) - 1)


def test_bomb_is_refused_without_its_size_being_allocated(codec):
    compress, decompress = codec
    bomb = compress(bytes(64 * MIB))
    tracemalloc.start()
    try:
        with pytest.raises(CorruptRecordException):
            decompress(bomb, MIB)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * MIB + len(bomb)


@pytest.mark.parametrize("kept", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_truncated_data_is_refused(codec, kept):
    compress, decompress = codec
    compressed = compress(NOISE)
    with pytest.raises(CorruptRecordException):
        decompress(compressed[: int(len(compressed) * kept)] or b"\xff", 10 * MIB)


@given(data=st.data())
def test_mutated_data_gives_content_or_the_one_error(data):
    for compress, decompress in CODECS.values():
        mutated = bytearray(compress(TEXT[:3_000]))
        for _ in range(data.draw(st.integers(1, 4))):
            position = data.draw(st.integers(0, len(mutated) - 1))
            mutated[position] = data.draw(st.integers(0, 255))
        with contextlib.suppress(CorruptRecordException):
            assert len(decompress(mutated, MIB)) <= MIB


@given(content=st.binary(max_size=200))
def test_noise_gives_content_or_the_one_error(content):
    for name, (_, decompress) in CODECS.items():
        for prefix in (
            b"",
            b"\x04\x22\x4d\x18",
            b"\x28\xb5\x2f\xfd",
            b"\x82SNAPPY\0",
            b"\x1f\x8b\x08",
        ):
            with contextlib.suppress(CorruptRecordException):
                assert len(decompress(prefix + content, MIB)) <= MIB, name


# gzip…


def test_gzip_members_in_a_row_are_one_stream(gunzip):
    assert (
        gunzip(gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two"), 7) == b"one two"
    )
    with pytest.raises(CorruptRecordException, match="bound"):
        gunzip(gzip.compress(b"one ") + gzip.compress(b"two"), 6)


def test_gzip_ignores_zero_padding_but_not_junk(gunzip):
    assert gunzip(gzip.compress(TEXT) + bytes(100), MIB) == TEXT
    with pytest.raises(CorruptRecordException):
        gunzip(gzip.compress(TEXT) + b"junk", MIB)


def test_gzip_checks_the_trailer(gunzip):
    compressed = bytearray(gzip.compress(TEXT))
    compressed[-6] ^= 1
    with pytest.raises(CorruptRecordException, match="gzip"):
        gunzip(compressed, MIB)


def test_gzip_of_many_small_members_is_read_in_linear_time(gunzip):
    member = gzip.compress(b"")
    assert gunzip(member * 20_000, MIB) == b""


@pytest.mark.parametrize("level", [-1, 1, 2, 3, 6, 9])
@pytest.mark.parametrize("compress", [gzip_codec.compress_zlib, gzip_codec.compress_isal])
def test_gzip_levels(compress, level):
    assert gzip.decompress(compress(TEXT, level)) == TEXT


# snappy…


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


# lz4…


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
    with pytest.raises(CorruptRecordException, match="truncated"):
        lz4(one + skippable[:-1], 100)


def test_lz4_data_behind_the_frame_is_refused(lz4):
    with pytest.raises(CorruptRecordException, match="no frame starts with"):
        lz4(lz4_frame.compress(TEXT) + b"junk", MIB)


@pytest.mark.parametrize("name", ["lz4-lz4", "lz4-cramjam"])
def test_lz4_is_written_with_independent_blocks_which_javas_reader_asks_for(name):
    info = lz4_frame.get_frame_info(CODECS[name][0](TEXT))
    assert not info["block_linked"]
    assert info["block_size"] == 64 * 1024


def test_lz4_content_size_beyond_its_blocks_is_refused_before_it_is_allocated(lz4):
    compressed = bytearray(lz4_frame.compress(TEXT, store_size=True))
    struct.pack_into("<Q", compressed, 6, 1 << 50)
    with pytest.raises(CorruptRecordException, match="claim to hold 1,125,899,906,842,624"):
        lz4(compressed, 1 << 60)


@pytest.mark.parametrize("level", [None, 1, 2, 3, 9, 12, 17])
@pytest.mark.parametrize("name", ["lz4-lz4", "lz4-cramjam"])
def test_lz4_levels(name, level):
    assert lz4_frame.decompress(CODECS[name][0](TEXT, level)) == TEXT


@pytest.mark.parametrize("store_size", [True, False])
def test_lz4_header_checksum_of_magic_0_is_repaired(lz4, store_size):
    """2g-2: Kafka before 0.10 took the checksum over the frame's magic number as well."""
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


# zstd…


def test_zstd_frames_without_content_size_are_read(zstd):
    """Java's client writes them; several in a row are one stream."""
    compressor = backports_zstd.ZstdCompressor()
    frame = compressor.compress(TEXT) + compressor.flush()
    assert backports_zstd.get_frame_info(frame).decompressed_size is None
    assert zstd(frame, len(TEXT)) == TEXT
    assert zstd(frame + frame, 2 * len(TEXT)) == TEXT * 2
    with pytest.raises(CorruptRecordException, match="bound"):
        zstd(frame + frame, 2 * len(TEXT) - 1)


@pytest.mark.parametrize("content", [b"", b"x", b"x" * 300, b"x" * 70_000, TEXT])
def test_zstd_frames_of_every_header_are_read(zstd, content):
    parameter = backports_zstd.CompressionParameter
    for checksum in (0, 1):
        for content_size in (0, 1):
            options = {parameter.checksum_flag: checksum, parameter.content_size_flag: content_size}
            frame = backports_zstd.compress(content, options=options)
            assert zstd(frame, len(content)) == content


def test_zstd_skippable_frames_are_skipped(zstd):
    skippable = b"\x50\x2a\x4d\x18" + struct.pack("<I", 5) + b"hello"
    one, two = backports_zstd.compress(b"one "), backports_zstd.compress(b"two")
    assert zstd(skippable + one + skippable + two, 7) == b"one two"


def test_zstd_checksum_is_checked(zstd):
    options = {backports_zstd.CompressionParameter.checksum_flag: 1}
    frame = bytearray(backports_zstd.compress(TEXT, options=options))
    frame[-1] ^= 1
    with pytest.raises(CorruptRecordException, match="zstd"):
        zstd(frame, MIB)


def test_zstd_content_size_beyond_its_blocks_is_refused_before_it_is_allocated(zstd):
    # Single segment with an 8-byte content size of 2^50, one empty raw block.
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 50) + b"\x01\0\0"
    with pytest.raises(CorruptRecordException, match="claim to hold 1,125,899,906,842,624"):
        zstd(frame, 1 << 60)


@pytest.mark.parametrize("level", [None, -131072, -1, 0, 1, 3, 19, 22])
@pytest.mark.parametrize("name", ["zstd-std", "zstd-cramjam"])
def test_zstd_levels(name, level):
    content = TEXT[:20_000]
    assert backports_zstd.decompress(CODECS[name][0](content, level)) == content


def test_library_errors_are_kept_as_the_cause(gunzip):
    with pytest.raises(KafkaError) as caught:
        gunzip(b"no gzip at all", MIB)
    assert caught.value.__cause__ is not None
