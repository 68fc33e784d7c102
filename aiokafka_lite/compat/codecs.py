"""The functions of `aiokafka.codec`, over the codecs of `compression/`. Does not wait.

All four are there after a plain install. What is decoded may be as large as in a batch of records.
"""

from collections.abc import Callable

import cramjam

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import Buffer as _Buffer
from aiokafka_lite.compression.compressor import compress, decompress


def has_gzip() -> bool:
    """Say that the codec is there, as the three below do."""
    return True


has_snappy = has_lz4 = has_zstd = has_gzip


def gzip_encode(payload: _Buffer, compresslevel: int | None = None) -> bytes:
    """Return a gzip member. `compresslevel` None: 9."""
    return bytes(compress(CompressionType.GZIP, payload, compresslevel or 9))


def snappy_encode(
    payload: _Buffer,
    xerial_compatible: bool = True,
    xerial_blocksize: int = 32 * 1024,  # noqa: ARG001 - the framing of Java's client has one size
) -> bytes:
    """Return a frame in the form of Java's client, or a raw block."""
    if not xerial_compatible:
        return bytes(cramjam.snappy.compress_raw(payload))
    return bytes(compress(CompressionType.SNAPPY, payload))


def lz4_encode(payload: _Buffer, level: int = 9) -> bytes:
    """Return an LZ4 frame."""
    return bytes(compress(CompressionType.LZ4, payload, level))


def zstd_encode(payload: _Buffer, level: int | None = None) -> bytes:
    """Return a zstd frame. `level` None: 3."""
    return bytes(compress(CompressionType.ZSTD, payload, 3 if level is None else level))


def _decoder(codec: CompressionType) -> Callable[[_Buffer], bytes]:
    def decode(payload: _Buffer) -> bytes:
        return bytes(decompress(codec, payload))

    return decode


gzip_decode = _decoder(CompressionType.GZIP)
snappy_decode = _decoder(CompressionType.SNAPPY)
lz4_decode = _decoder(CompressionType.LZ4)
zstd_decode = _decoder(CompressionType.ZSTD)

__all__ = [
    "gzip_decode",
    "gzip_encode",
    "has_gzip",
    "has_lz4",
    "has_snappy",
    "has_zstd",
    "lz4_decode",
    "lz4_encode",
    "snappy_decode",
    "snappy_encode",
    "zstd_decode",
    "zstd_encode",
]
