"""zstd, through compression.zstd (Python 3.14), backports.zstd (extra `fast`) or cramjam.

Reading walks the frames itself: their headers often carry no content size (Java's do not), but
their blocks tell how much they can hold at most, so the output is bounded and made in one go. The
default level is 3, as Java's.
"""

import struct
from collections.abc import Iterator
from functools import cache
from typing import Any, Final, NamedTuple

import cramjam

from aiokafka_lite.compression.cramjam_frames import decompress_frames
from aiokafka_lite.compression.output_bound import raise_malformed, raise_too_large

try:
    from compression import zstd as std_zstd
except ImportError:
    try:
        from backports import zstd as std_zstd
    except ImportError:
        std_zstd = None

_MAGIC: Final = 0xFD2FB528
_SKIPPABLE: Final = 0x184D2A50  # to ...5F
_DEFAULT_LEVEL: Final = 3
_MAX_KEPT_LEVEL: Final = 5
"""Up to this level a compressor is kept for the next batch.

Setting one up takes a quarter of the time of a 16 KiB batch. The tables of the highest levels take
hundreds of megabytes.
"""
_BLOCK_MAX_BYTES: Final = 128 * 1024
_RAW_BLOCK: Final = 0
_RLE_BLOCK: Final = 1
_RESERVED_BLOCK: Final = 3
_UINT32 = struct.Struct("<I")


class ZstdFrame(NamedTuple):
    """Where one frame lies, and the most its content can be."""

    start: int
    end: int
    bound: int


def zstd_frames(view: memoryview) -> Iterator[ZstdFrame]:
    """Yield the data frames in order.

    Raises CorruptRecordException for what is no sequence of whole frames.

    Source: RFC 8878 section 3.1.
    """
    position = 0
    try:
        while position < len(view):
            (magic,) = _UINT32.unpack_from(view, position)
            if magic & 0xFFFFFFF0 == _SKIPPABLE:
                position += 8 + _UINT32.unpack_from(view, position + 4)[0]
            elif magic == _MAGIC:
                frame = _walk(view, position)
                yield frame
                position = frame.end
            else:
                raise_malformed("zstd", f"no frame starts with {magic:#010x}")
    except (struct.error, IndexError):
        position = len(view) + 1
    if position > len(view):
        raise_malformed("zstd", "the stream is truncated")


def _walk(view: memoryview, start: int) -> ZstdFrame:
    """Measure the frame at start by its blocks' headers. Raises IndexError if it is cut off."""
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
    return ZstdFrame(start, end, bound)


@cache
def _kept_compressor(level: int) -> Any:
    return std_zstd.ZstdCompressor(level)


def compress_std(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one frame. Levels -131072 to 22, None for 3."""
    level = _DEFAULT_LEVEL if level is None else level
    if not 0 <= level <= _MAX_KEPT_LEVEL:
        one_off: bytes = std_zstd.compress(data, level)
        return one_off
    compressor = _kept_compressor(level)
    compressed: bytes = compressor.compress(data, compressor.FLUSH_FRAME)
    return compressed


def compress_cramjam(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one frame, as `compress_std`."""
    return bytes(cramjam.zstd.compress(data, level=_DEFAULT_LEVEL if level is None else level))


def decompress_std(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Return the content of all frames.

    Raises CorruptRecordException: malformed, truncated, beyond max_size bytes.
    """
    view = memoryview(data)
    parts: list[bytes] = []
    room = max_size
    for start, end, bound in zstd_frames(view):
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
    """As `decompress_std`."""
    view = memoryview(data)
    into = cramjam.zstd.decompress_into
    return decompress_frames("zstd", view, zstd_frames(view), into, max_size)


LIBRARY: Final = "cramjam" if std_zstd is None else std_zstd.__name__
"""The library chosen at import."""
compress = compress_cramjam if std_zstd is None else compress_std
decompress = decompress_cramjam if std_zstd is None else decompress_std

__all__ = [
    "LIBRARY",
    "ZstdFrame",
    "compress",
    "compress_cramjam",
    "compress_std",
    "decompress",
    "decompress_cramjam",
    "decompress_std",
    "zstd_frames",
]
