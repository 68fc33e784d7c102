"""snappy, through cramjam.

It writes xerial's framing, like Java's client, and reads framed and raw.

| offset | size | xerial frame                                          |
|--------|------|-------------------------------------------------------|
| 0      | 8    | magic 82 "SNAPPY" 00                                  |
| 8      | 4+4  | version 1, lowest compatible version 1, big-endian    |
| 16     | 4    | size of the block that follows; then blocks repeat    |

A stream may hold several frames in a row: a header stands where a size is expected. Fewer bytes
than a size has, behind the last block, are stepped over, as by Java's reader.
"""

import struct
from typing import Final

import cramjam

from aiokafka_lite.compression.output_bound import note_tail, raise_malformed, raise_too_large

_MAGIC: Final = b"\x82SNAPPY\x00"
_HEADER: Final = _MAGIC + struct.pack(">ii", 1, 1)
_MAGIC_AS_SIZE: Final = struct.unpack(">i", _MAGIC[:4])[0]
_BLOCK_BYTES: Final = 32 * 1024  # Java's block size; its reader keeps one block at a time in memory
_MAX_RATIO: Final = 32  # a copy element of three bytes makes at most 64
LIBRARY: Final = "cramjam"

_SIZE = struct.Struct(">i")


def compress(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one xerial frame of 32 KiB blocks. snappy has no levels; `level` is None."""
    del level
    view = memoryview(data)
    parts: list[bytes] = [_HEADER]
    for start in range(0, len(view), _BLOCK_BYTES):
        block = bytes(cramjam.snappy.compress_raw(view[start : start + _BLOCK_BYTES]))
        parts.append(_SIZE.pack(len(block)))
        parts.append(block)
    return b"".join(parts)


def decompress(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Return the content, framed or raw.

    Raises: CorruptRecordException for malformed or truncated data, or more than `max_size` bytes.
    """
    view = memoryview(data)
    if bytes(view[:8]) != _MAGIC:
        return _block(view, max_size, len(view), max_size)
    parts: list[bytes] = []
    room = max_size
    position = 0
    end = len(view)
    while position < end:
        if end - position < _SIZE.size:
            note_tail("snappy", end - position)
            break
        (size,) = _SIZE.unpack_from(view, position)
        if size == _MAGIC_AS_SIZE and bytes(view[position : position + 8]) == _MAGIC:
            position += len(_HEADER)
            continue
        position += 4
        if not 0 <= size <= end - position:
            raise_malformed("snappy", f"a block of {size:,} bytes, {end - position:,} are left")
        parts.append(_block(view[position : position + size], room, end, max_size))
        room -= len(parts[-1])
        position += size
    if position > end:
        raise_malformed("snappy", "the stream is truncated")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _block(block: memoryview, room: int, compressed_size: int, max_size: int) -> bytes:
    """Return one raw block's content; refuse an impossible size before allocating memory for it."""
    try:
        claimed = cramjam.snappy.decompress_raw_len(block)
        if claimed > len(block) * _MAX_RATIO:
            raise_malformed("snappy", f"{len(block):,} bytes claim to hold {claimed:,}")
        if claimed > room:
            raise_too_large("snappy", compressed_size, max_size, max_size - room + claimed)
        return bytes(cramjam.snappy.decompress_raw(block))
    except cramjam.DecompressionError as error:
        raise_malformed("snappy", error)


__all__ = ["LIBRARY", "compress", "decompress"]
