"""Tests of `compression/compressor.py`."""

import logging

import pytest

from aiokafka_lite.compression import compressor, output_bound
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import CorruptRecordException

TEXT = b"to be or not to be, " * 500


@pytest.mark.parametrize("compression", CompressionType)
def test_each_type_finds_its_codec(compression):
    compressed = bytes(compressor.compress(compression, TEXT))
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


JUNK = ("ff", "000001", "deadbeefdeadbeef", "1f8b0800000000000003", "504d184a00000000")
TAILS = {
    CompressionType.GZIP: JUNK,
    CompressionType.LZ4: (*JUNK, "502a4d1802000000"),
    CompressionType.SNAPPY: ("00", "ffff", "ffffff"),
    CompressionType.ZSTD: ("502a4d1802000000",),
}
"""What the reader of kafka-clients 4.4.0 steps over behind the data of a batch."""
REFUSED_TAILS = {
    CompressionType.GZIP: ("1f8b0800000000000003" + "00" * 20,),
    CompressionType.SNAPPY: ("00000000", "ffffffff", "deadbeefdeadbeef"),
    CompressionType.ZSTD: JUNK,
}
"""What it refuses."""


@pytest.mark.parametrize(
    ("compression", "tail"), [(codec, tail) for codec, tails in TAILS.items() for tail in tails]
)
def test_bytes_behind_the_data_are_stepped_over_where_java_does_so(compression, tail):
    compressed = bytes(compressor.compress(compression, TEXT))
    assert compressor.decompress(compression, compressed + bytes.fromhex(tail)) == TEXT


@pytest.mark.parametrize(
    ("compression", "tail"),
    [(codec, tail) for codec, tails in REFUSED_TAILS.items() for tail in tails],
)
def test_bytes_behind_the_data_are_refused_where_java_does_so(compression, tail):
    compressed = bytes(compressor.compress(compression, TEXT))
    with pytest.raises(CorruptRecordException):
        compressor.decompress(compression, compressed + bytes.fromhex(tail))


def test_each_codec_tells_once_of_bytes_behind_its_data(caplog, monkeypatch):
    monkeypatch.setattr(output_bound, "_told_tails", set())
    compressed = {each: bytes(compressor.compress(each, TEXT)) for each in TAILS}
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            for codec, tails in TAILS.items():
                compressor.decompress(codec, compressed[codec] + bytes.fromhex(tails[-1]))
    told = [message.split(" data ")[0] for message in caplog.messages]
    assert sorted(told) == [
        "3 bytes behind snappy",
        "8 bytes behind gzip",
        "8 bytes behind lz4",
        "8 bytes behind zstd",
    ]


def test_libraries_names_one_per_codec():
    assert compressor.libraries() == {
        "gzip": "isal",
        "snappy": "cramjam",
        "lz4": "lz4",
        "zstd": compressor.libraries()["zstd"],
    }
    assert "zstd" in compressor.libraries()["zstd"]
