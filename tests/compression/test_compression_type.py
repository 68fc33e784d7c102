"""Tests of `compression/compression_type.py`."""

import pytest

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import KafkaConfigurationError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (None, CompressionType.NONE),
        ("none", CompressionType.NONE),
        ("gzip", CompressionType.GZIP),
        ("snappy", CompressionType.SNAPPY),
        ("lz4", CompressionType.LZ4),
        ("zstd", CompressionType.ZSTD),
        ("ZSTD", CompressionType.ZSTD),
        (CompressionType.LZ4, CompressionType.LZ4),
    ],
)
def test_parse_knows_the_names_of_the_configuration(name, expected):
    assert CompressionType.parse(name) is expected


@pytest.mark.parametrize("name", ["brotli", "", 3, b"gzip"])
def test_parse_names_the_choices_for_anything_else(name):
    with pytest.raises(
        KafkaConfigurationError, match="one of none, gzip, snappy, lz4, zstd or None"
    ):
        CompressionType.parse(name)


@pytest.mark.parametrize(
    ("compression", "level"),
    [
        (CompressionType.GZIP, 1),
        (CompressionType.GZIP, 9),
        (CompressionType.GZIP, -1),
        (CompressionType.LZ4, 1),
        (CompressionType.LZ4, 17),
        (CompressionType.ZSTD, -131072),
        (CompressionType.ZSTD, 22),
        (CompressionType.SNAPPY, None),
        (CompressionType.NONE, None),
    ],
)
def test_levels_of_javas_ranges_are_taken(compression, level):
    compression.check_level(level)


@pytest.mark.parametrize(
    ("compression", "level", "words"),
    [
        (CompressionType.GZIP, 0, "gzip level 0 is outside 1 to 9, or -1"),
        (CompressionType.GZIP, 10, "outside 1 to 9"),
        (CompressionType.LZ4, 18, "lz4 level 18 is outside 1 to 17"),
        (CompressionType.ZSTD, 23, "zstd level 23 is outside -131072 to 22"),
        (CompressionType.SNAPPY, 1, "snappy has no compression level, got 1"),
        (CompressionType.NONE, 1, "none has no compression level"),
    ],
)
def test_levels_outside_are_refused_naming_the_range(compression, level, words):
    with pytest.raises(KafkaConfigurationError, match=words):
        compression.check_level(level)
