"""The entrance to the codecs: `compress` and `decompress` by type.

Each codec file chooses its library at import, which happens at the first use of the codec.

Compression runs on the event loop, not in a thread. A thread and back costs 50 to 65 us of CPU. On
two cores the batch is not ready any sooner. Measured on the loop and in a thread, at default
levels:

| batch        | on the loop | in a thread |
|--------------|-------------|-------------|
| 16 KB snappy | 19 us       | 74 to 86 us |
| 16 KB lz4    | 20 us       | 74 to 86 us |
| 16 KB gzip   | 27 us, isal | 143 us      |
| 16 KB zstd   | 37 us       | 74 to 86 us |
| 512 KB zstd  | 289 us      | 435 us      |

A thread could pay for batches of megabytes at high levels, with more cores.
"""

from functools import cache
from importlib import import_module
from types import ModuleType
from typing import Final

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.output_bound import (
    DEFAULT_MAX_DECOMPRESSED_BYTES,
    raise_malformed,
    raise_too_large,
)

Buffer = bytes | bytearray | memoryview

_NAMES: Final[dict[int, str]] = {
    CompressionType.GZIP: "gzip",
    CompressionType.SNAPPY: "snappy",
    CompressionType.LZ4: "lz4",
    CompressionType.ZSTD: "zstd",
}


@cache
def _codec(name: str) -> ModuleType:
    return import_module(f"aiokafka_lite.compression.{name}_codec")


def compress(compression: CompressionType, data: Buffer, level: int | None = None) -> Buffer:
    """Return the compressed data; with NONE the data itself. `level` None means the default."""
    if compression == CompressionType.NONE:
        return data
    compressed: bytes = _codec(_NAMES[compression]).compress(data, level)
    return compressed


def decompress(
    compression: int, data: Buffer, max_size: int = DEFAULT_MAX_DECOMPRESSED_BYTES
) -> Buffer:
    """Return the decompressed data, of at most `max_size` bytes; with NONE the data itself.

    `compression` is the number off the wire. Raises: CorruptRecordException for an unknown codec,
    malformed or truncated data, or more than `max_size` bytes. The error for size names both sizes.
    Memory near the size of a decompression bomb is never allocated.
    """
    if compression == CompressionType.NONE:
        if len(data) > max_size:
            raise_too_large("uncompressed", len(data), max_size, len(data))
        return data
    name = _NAMES.get(compression)
    if name is None:
        raise_malformed("batch", f"codec {compression} is not one of gzip, snappy, lz4, zstd (1-4)")
    decompressed: bytes = _codec(name).decompress(data, max_size)
    return decompressed


def libraries() -> dict[str, str]:
    """Return codec -> library chosen at import, for logs and bug reports."""
    return {name: _codec(name).LIBRARY for name in _NAMES.values()}


__all__ = ["DEFAULT_MAX_DECOMPRESSED_BYTES", "Buffer", "compress", "decompress", "libraries"]
