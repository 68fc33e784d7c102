"""zstd, through compression.zstd (Python 3.14), backports.zstd (extra `fast`) or cramjam.

Reading walks the frames itself. Their headers often state no content size (Java's do not), but the
block headers limit it. So the output has a limit and is made in one step. The default level is 3,
like Java's.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import cramjam

from aiokafka_lite.compression.cramjam_frames import decompress_frames
from aiokafka_lite.compression.frames import Frame, walk_frames
from aiokafka_lite.compression.output_bound import raise_malformed, raise_too_large

try:
    from compression import zstd as std_zstd
except ImportError:
    try:
        from backports import zstd as std_zstd
    except ImportError:
        std_zstd = None

_MAGIC: Final = 0xFD2FB528
_DEFAULT_LEVEL: Final = 3
_MAX_KEPT_LEVEL: Final = 5
"""Up to this level a compressor is kept for the next batch.

Making one takes a quarter of the time of a 16 KiB batch. The tables of the highest levels take
hundreds of megabytes.
"""
_BLOCK_MAX_BYTES: Final = 128 * 1024
_RAW_BLOCK: Final = 0
_RLE_BLOCK: Final = 1
_RESERVED_BLOCK: Final = 3


def _frames(view: memoryview) -> Iterator[Frame]:
    return walk_frames("zstd", _MAGIC, view, _measure)


def _measure(view: memoryview, start: int) -> Frame:
    """Measure the frame at `start` by its blocks' headers. Raises: IndexError if it is cut off."""
    descriptor = view[start + 4]
    is_single_segment = descriptor >> 5 & 1
    size_bytes = (is_single_segment, 2, 4, 8)[descriptor >> 6]
    position = start + 5 + (1 - is_single_segment) + (0, 1, 2, 4)[descriptor & 3]
    claimed = int.from_bytes(view[position : position + size_bytes], "little")
    claimed += 256 if size_bytes == 2 else 0
    position += size_bytes
    bound = 0
    is_last = 0
    while not is_last:
        header = view[position] | view[position + 1] << 8 | view[position + 2] << 16
        is_last, kind, size = header & 1, header >> 1 & 3, header >> 3
        position += 3
        if size > _BLOCK_MAX_BYTES or kind == _RESERVED_BLOCK:
            raise_malformed("zstd", f"a block of kind {kind} and {size:,} bytes")
        bound += size if kind in (_RAW_BLOCK, _RLE_BLOCK) else _BLOCK_MAX_BYTES
        position += 1 if kind == _RLE_BLOCK else size
    end = position + (4 if descriptor & 0x04 else 0)
    if end > len(view):
        raise IndexError
    if size_bytes:
        if claimed > bound:
            raise_malformed("zstd", f"blocks of at most {bound:,} bytes claim to hold {claimed:,}")
        bound = claimed
    return Frame(start, end, bound)


@cache
def _kept_compressor(level: int) -> Any:
    return std_zstd.ZstdCompressor(level)


def compress_std(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one frame. Levels -131072 to 22; None means 3."""
    level = _DEFAULT_LEVEL if level is None else level
    if not 0 <= level <= _MAX_KEPT_LEVEL:
        one_off: bytes = std_zstd.compress(data, level)
        return one_off
    compressor = _kept_compressor(level)
    compressed: bytes = compressor.compress(data, compressor.FLUSH_FRAME)
    return compressed


def compress_cramjam(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Do the same as `compress_std`, by cramjam."""
    return bytes(cramjam.zstd.compress(data, level=_DEFAULT_LEVEL if level is None else level))


def decompress_std(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Return the content of all frames.

    Raises: CorruptRecordException for malformed or truncated data, or more than `max_size` bytes.
    """
    view = memoryview(data)
    parts: list[bytes] = []
    room = max_size
    for start, end, bound in _frames(view):
        decompressor = std_zstd.ZstdDecompressor()
        try:
            part = decompressor.decompress(view[start:end], max_length=min(bound, room) + 1)
        except std_zstd.ZstdError as error:
            raise_malformed("zstd", error)
        if len(part) > room:
            raise_too_large("zstd", len(view), max_size)
        if not decompressor.eof:
            raise_malformed("zstd", "a block holds more than its frame allows")
        parts.append(part)
        room -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def decompress_cramjam(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Do the same as `decompress_std`, by cramjam."""
    view = memoryview(data)
    into = cramjam.zstd.decompress_into
    return decompress_frames("zstd", view, _frames(view), into, max_size)


LIBRARY: Final = "cramjam" if std_zstd is None else std_zstd.__name__
"""The library chosen at import."""
compress = compress_cramjam if std_zstd is None else compress_std
decompress = decompress_cramjam if std_zstd is None else decompress_std

__all__ = [
    "LIBRARY",
    "compress",
    "compress_cramjam",
    "compress_std",
    "decompress",
    "decompress_cramjam",
    "decompress_std",
]
