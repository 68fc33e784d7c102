"""Tests of `compression/gzip_codec.py`.

Its own shapes; what all codecs promise is in `test_codecs.py`.
"""

import gzip

import pytest

from aiokafka_lite.compression import gzip_codec
from aiokafka_lite.errors import CorruptRecordException, KafkaError

MIB = 1024 * 1024
TEXT = b"".join(b'{"id": %d, "name": "customer %d"}' % (i, i * 7919) for i in range(12_000))


@pytest.fixture(params=[gzip_codec.decompress_zlib, gzip_codec.decompress_isal], name="gunzip")
def _gunzip(request):
    """The gzip decompressor, by each library."""
    return request.param


def test_gzip_members_in_a_row_are_one_stream(gunzip):
    assert (
        gunzip(gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(b"two"), 7) == b"one two"
    )
    with pytest.raises(CorruptRecordException, match="bound"):
        gunzip(gzip.compress(b"one ") + gzip.compress(b"two"), 6)


def test_gzip_ignores_what_is_no_member_behind_one(gunzip):
    assert gunzip(gzip.compress(TEXT) + bytes(100), MIB) == TEXT
    assert gunzip(gzip.compress(TEXT) + b"junk" * 10, MIB) == TEXT
    with pytest.raises(CorruptRecordException):
        gunzip(b"junk" + gzip.compress(TEXT), MIB)


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


def test_library_errors_are_kept_as_the_cause(gunzip):
    with pytest.raises(KafkaError) as caught:
        gunzip(b"no gzip at all", MIB)
    assert caught.value.__cause__ is not None
