"""Tests of `compression/compressor.py`."""

import pytest

from aiokafka_lite.compression import compressor
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import CorruptRecordException

TEXT = b"to be or not to be, " * 500


@pytest.mark.parametrize("compression", CompressionType)
def test_each_type_finds_its_codec(compression):
    compressed = compressor.compress(compression, TEXT)
    assert compressor.decompress(compression, compressed, len(TEXT)) == TEXT
    assert (len(compressed) < len(TEXT)) == (compression is not CompressionType.NONE)


def test_uncompressed_data_is_not_copied():
    assert compressor.compress(CompressionType.NONE, TEXT) is TEXT
    assert compressor.decompress(0, TEXT) is TEXT


def test_bound_holds_for_uncompressed_data_too():
    with pytest.raises(CorruptRecordException, match="bound is 10 bytes"):
        compressor.decompress(0, TEXT, 10)


def test_level_reaches_the_codec():
    fast = compressor.compress(CompressionType.GZIP, TEXT, 1)
    assert len(compressor.compress(CompressionType.GZIP, TEXT, 9)) < len(fast)


@pytest.mark.parametrize("codec", [5, 6, 7, -1])
def test_unknown_codec_of_a_batch_is_corrupt(codec):
    with pytest.raises(CorruptRecordException, match=f"codec {codec} is not one of"):
        compressor.decompress(codec, TEXT)


def test_libraries_names_one_per_codec():
    assert compressor.libraries() == {
        "gzip": "isal",
        "snappy": "cramjam",
        "lz4": "lz4",
        "zstd": compressor.libraries()["zstd"],
    }
    assert "zstd" in compressor.libraries()["zstd"]
