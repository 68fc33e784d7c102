"""The one way to the codecs: `compress` and `decompress` by type.

The codec files choose their libraries at import.
"""

from collections.abc import Callable
from typing import Final

from aiokafka_lite.compression import gzip_codec, lz4_codec, snappy_codec, zstd_codec
from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.output_bound import (
    DEFAULT_MAX_DECOMPRESSED_BYTES,
    raise_malformed,
    raise_too_large,
)

Buffer = bytes | bytearray | memoryview

_COMPRESS: Final[dict[int, Callable[[Buffer, int | None], bytes]]] = {
    CompressionType.GZIP: gzip_codec.compress,
    CompressionType.SNAPPY: snappy_codec.compress,
    CompressionType.LZ4: lz4_codec.compress,
    CompressionType.ZSTD: zstd_codec.compress,
}
_DECOMPRESS: Final[dict[int, Callable[[Buffer, int], bytes]]] = {
    CompressionType.GZIP: gzip_codec.decompress,
    CompressionType.SNAPPY: snappy_codec.decompress,
    CompressionType.LZ4: lz4_codec.decompress,
    CompressionType.ZSTD: zstd_codec.decompress,
}


def compress(compression: CompressionType, data: Buffer, level: int | None = None) -> Buffer:
    """Return the compressed data; with NONE the data itself. `level` None is its default."""
    if compression == CompressionType.NONE:
        return data
    return _COMPRESS[compression](data, level)


def decompress(
    compression: int, data: Buffer, max_size: int = DEFAULT_MAX_DECOMPRESSED_BYTES
) -> Buffer:
    """Return the decompressed data, of at most `max_size` bytes; with NONE the data itself.

    `compression` is the number off the wire. Raises CorruptRecordException: an unknown codec,
    malformed or truncated data, or more than max_size bytes (naming both sizes); nothing near the
    size of a bomb is allocated for it.
    """
    if compression == CompressionType.NONE:
        if len(data) > max_size:
            raise_too_large("uncompressed", len(data), max_size, len(data))
        return data
    decompressor = _DECOMPRESS.get(compression)
    if decompressor is None:
        raise_malformed("batch", f"codec {compression} is not one of gzip, snappy, lz4, zstd (1-4)")
    return decompressor(data, max_size)


def libraries() -> dict[str, str]:
    """Return codec -> library chosen at import, for logs and bug reports."""
    return {
        "gzip": gzip_codec.LIBRARY,
        "snappy": snappy_codec.LIBRARY,
        "lz4": lz4_codec.LIBRARY,
        "zstd": zstd_codec.LIBRARY,
    }


__all__ = ["DEFAULT_MAX_DECOMPRESSED_BYTES", "compress", "decompress", "libraries"]
