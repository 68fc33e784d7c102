"""gzip, through isal (extra `fast`) or the standard library's zlib.

Several members in a row are one stream. What stands behind the last one and is no member is stepped
over, as by Java's GZIPInputStream. The default level is 1; Java's default -1 means zlib's 6.
With isal, level 1 is 14 times faster than level 6, at 5 % more bytes (JSON-like records). With zlib
it takes a third of the time and makes a tenth more bytes. isal has only levels 0 to 3. Our levels 1
to 3 use isal; higher ones use zlib, which compresses more.
"""

import zlib
from collections.abc import Callable
from typing import Any, Final

from aiokafka_lite.compression.output_bound import note_tail, raise_malformed, raise_too_large

try:
    from isal import isal_zlib

    _isal_error: Any = isal_zlib.error  # its stub says it is an instance
    LIBRARY = "isal"
except ImportError:
    LIBRARY = "zlib"

_GZIP_WINDOW: Final = 31  # 15 bits of window, +16: gzip header and trailer
_DEFAULT_LEVEL: Final = 1
_ISAL_MAX_LEVEL: Final = 3
_MAGIC: Final = b"\x1f\x8b\x08"
_LEAST_MEMBER: Final = 18
"""Bytes of a header and a trailer."""
_LATER_MEMBER_STEP: Final = 16 * 1024
"""Bytes that the decompressor of a later member gets in one step.

A decompressor returns the unused rest as a copy. Small steps keep the cost of many members linear.
"""


def compress_zlib(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one gzip member. Levels 1-9, -1 for zlib's default, None for 1."""
    return zlib.compress(data, _DEFAULT_LEVEL if level is None else level, wbits=_GZIP_WINDOW)


def compress_isal(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one gzip member, from isal if it has the level."""
    level = _DEFAULT_LEVEL if level is None else level
    if not 1 <= level <= _ISAL_MAX_LEVEL:
        return compress_zlib(data, level)
    return isal_zlib.compress(data, level, _GZIP_WINDOW)


def _decompress(
    decompressobj: Callable[[int], Any],
    error: type[Exception],
    data: bytes | bytearray | memoryview,
    max_size: int,
) -> bytes:
    """Return the content of all members.

    Raises: CorruptRecordException for malformed or truncated data, or more than `max_size` bytes.
    """
    view = memoryview(data)
    parts: list[bytes] = []
    room = max_size
    position = 0
    while position < len(view):
        rest = view[position:]
        if position and (len(rest) < _LEAST_MEMBER or bytes(rest[: len(_MAGIC)]) != _MAGIC):
            if any(rest):  # gzip itself pads with zeros
                note_tail("gzip", len(rest))
            break
        step = _LATER_MEMBER_STEP if position else len(view)
        try:
            part, used = _member(decompressobj(_GZIP_WINDOW), rest, room, step)
        except error as cause:
            raise_malformed("gzip", cause)
        if part is None:
            raise_too_large("gzip", len(view), max_size)
        parts.append(part)
        room -= len(part)
        position += used
    if not parts:
        raise_malformed("gzip", "no bytes")
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _member(decompressor: Any, view: memoryview, room: int, step: int) -> tuple[bytes | None, int]:
    """Return a member's content (None if larger than `room`) and how many bytes of `view` it
    took.
    """
    parts: list[bytes] = []
    position = 0
    while not decompressor.eof:
        if position >= len(view):
            raise_malformed("gzip", "the stream is truncated")
        piece = view[position : position + step]
        position += len(piece)
        part = decompressor.decompress(piece, room + 1)
        if len(part) > room:
            return None, 0
        parts.append(part)
        room -= len(part)
    content = parts[0] if len(parts) == 1 else b"".join(parts)
    return content, position - len(decompressor.unused_data)


def decompress_zlib(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Return the content of all members, decompressed by zlib.

    Raises: CorruptRecordException for malformed or truncated data, or more than `max_size` bytes.
    """
    return _decompress(zlib.decompressobj, zlib.error, data, max_size)


def decompress_isal(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Do the same as `decompress_zlib`, by isal."""
    return _decompress(isal_zlib.decompressobj, _isal_error, data, max_size)


compress = compress_isal if LIBRARY == "isal" else compress_zlib
decompress = decompress_isal if LIBRARY == "isal" else decompress_zlib

__all__ = [
    "LIBRARY",
    "compress",
    "compress_isal",
    "compress_zlib",
    "decompress",
    "decompress_isal",
    "decompress_zlib",
]
