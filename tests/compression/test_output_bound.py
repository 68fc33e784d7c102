"""Tests of `compression/output_bound.py`."""

import pytest

from aiokafka_lite.compression.output_bound import (
    DEFAULT_MAX_DECOMPRESSED_BYTES,
    raise_malformed,
    raise_too_large,
)
from aiokafka_lite.errors import CorruptRecordException


def test_too_large_names_both_sizes_and_the_remedy():
    with pytest.raises(CorruptRecordException) as caught:
        raise_too_large("lz4", 1_204, 65_536, 1_048_576)
    assert str(caught.value).endswith(
        "lz4 data of 1,204 bytes decompresses to 1,048,576 bytes, the bound is 65,536 bytes;"
        " raise max_decompressed_bytes if the batch is genuine"
    )
    with pytest.raises(CorruptRecordException, match="decompresses to more, the bound is 10 bytes"):
        raise_too_large("gzip", 5, 10)


def test_malformed_keeps_a_librarys_error_as_the_cause():
    cause = ValueError("bad block")
    with pytest.raises(CorruptRecordException, match="malformed zstd data: bad block") as caught:
        raise_malformed("zstd", cause)
    assert caught.value.__cause__ is cause


def test_malformed_without_a_cause_says_the_reason():
    with pytest.raises(CorruptRecordException, match="malformed zstd data: truncated") as caught:
        raise_malformed("zstd", "truncated")
    assert caught.value.__cause__ is None


def test_default_bound_is_far_above_a_brokers_largest_batch():
    assert DEFAULT_MAX_DECOMPRESSED_BYTES == 128 * 1024 * 1024
