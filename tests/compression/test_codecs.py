"""Tests of every codec library the package may choose.

Gzip, snappy, lz4 and zstd keep the same promises.

The choice itself depends on what is installed, so each path is called by its own name here.
"""

import contextlib
import gzip
import random
import tracemalloc

import cramjam
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lz4 import frame as lz4_frame

from aiokafka_lite.compression import gzip_codec, lz4_codec, snappy_codec, zstd_codec
from aiokafka_lite.errors import CorruptRecordException
from tests.compression.standard_zstd import zstd as std_zstd

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


def read_by_another(name, compressed):
    """Return the content as a library the codec does not use itself sees it."""
    family = name.split("-")[0]
    if family == "gzip":
        return gzip.decompress(compressed)
    if family == "lz4":
        other = cramjam.lz4.decompress if name == "lz4-lz4" else lz4_frame.decompress
        return bytes(other(compressed))
    if family == "zstd":
        other = cramjam.zstd.decompress if name == "zstd-std" else std_zstd.decompress
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
