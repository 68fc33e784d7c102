"""The functions of `aiokafka.codec` write what aiokafka reads, and read what it writes."""

import aiokafka.codec
import pytest

from aiokafka_lite.compat import codecs
from aiokafka_lite.errors import CorruptRecordException

DATA = b"some data " * 9000


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_each_side_reads_what_the_other_wrote(codec: str) -> None:
    for writer, reader in ((codecs, aiokafka.codec), (aiokafka.codec, codecs)):
        encoded = getattr(writer, f"{codec}_encode")(DATA)
        assert len(encoded) < len(DATA)
        assert getattr(reader, f"{codec}_decode")(encoded) == DATA
    assert getattr(codecs, f"has_{codec}")()


def test_levels_and_framings_may_be_chosen() -> None:
    raw = codecs.snappy_encode(DATA, xerial_compatible=False)
    assert raw[:4] != codecs.snappy_encode(DATA)[:4]
    assert codecs.snappy_decode(raw) == DATA
    for encoded, decode in (
        (codecs.gzip_encode(DATA, 1), codecs.gzip_decode),
        (codecs.lz4_encode(DATA, level=1), codecs.lz4_decode),
        (codecs.zstd_encode(DATA, 9), codecs.zstd_decode),
    ):
        assert decode(encoded) == DATA


def test_other_bytes_are_an_error() -> None:
    with pytest.raises(CorruptRecordException):
        codecs.zstd_decode(b"no zstd at all")
