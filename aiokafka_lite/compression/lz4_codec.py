"""lz4 frames, through lz4 (extra `fast`) or cramjam.

Reading walks the frames itself, so every output has a limit. It accepts any frame without a
dictionary, several in a row, and skippable frames between them. It steps over what is no frame
behind the first one. Java's reader looks at nothing behind the first frame. Writing makes
independent blocks of at most 64 KiB without content size, like Java's client. Java's reader refuses
linked blocks.
"""

import struct
from collections.abc import Iterator
from typing import Final

import cramjam

from aiokafka_lite.compression.cramjam_frames import decompress_frames
from aiokafka_lite.compression.frames import Frame, walk_frames
from aiokafka_lite.compression.output_bound import raise_malformed, raise_too_large

try:
    import lz4.frame as lz4_frame
except ImportError:
    lz4_frame = None

_MAGIC: Final = 0x184D2204
_BLOCK_MAX_BYTES: Final = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
_STORED: Final = 1 << 31
_MAX_RATIO: Final = 255  # one more byte of a length adds at most 255
_UINT32 = struct.Struct("<I")
_UINT64 = struct.Struct("<Q")


def _frames(view: memoryview) -> Iterator[Frame]:
    return walk_frames("lz4", _MAGIC, view, _measure, ends_at_tail=True)


def _measure(view: memoryview, start: int) -> Frame:
    """Measure the frame at `start` by the sizes of its blocks.

    Raises: struct.error or IndexError if the frame is cut off.
    """
    flags, descriptor = view[start + 4], view[start + 5]
    block_max = _BLOCK_MAX_BYTES.get(descriptor >> 4 & 7)
    if flags >> 6 != 1 or flags & 1 or block_max is None:
        raise_malformed("lz4", f"unsupported frame flags {flags:#04x} {descriptor:#04x}")
    has_content_size = bool(flags & 0x08)
    block_overhead = 8 if flags & 0x10 else 4  # size, and a checksum per block
    position = start + (15 if has_content_size else 7)
    bound = 0
    while True:
        (size,) = _UINT32.unpack_from(view, position)
        if size == 0:
            break
        if size & _STORED:
            size ^= _STORED
            bound += min(size, block_max)
        else:
            bound += min(size * _MAX_RATIO, block_max)
        position += block_overhead + size
    end = position + (8 if flags & 0x04 else 4)
    if end > len(view):
        raise IndexError
    if has_content_size:
        (claimed,) = _UINT64.unpack_from(view, start + 6)
        if claimed > bound:
            raise_malformed("lz4", f"blocks of at most {bound:,} bytes claim to hold {claimed:,}")
        bound = claimed
    return Frame(start, end, bound)


def first_frame(view: memoryview) -> memoryview:
    """Return the bytes of the first frame, which is all that Java's reader looks at.

    Raises: CorruptRecordException for malformed or truncated data.
    """
    frame = next(iter(_frames(view)), None)
    if frame is None:
        raise_malformed("lz4", "there is no frame")
    return view[frame.start : frame.end]


def compress_lz4(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Return one frame.

    Levels 1 and 2 use the fast compressor, levels 3 to 17 the high one. None means fast.
    """
    compressed: bytes = lz4_frame.compress(
        data,
        compression_level=level or 0,
        block_size=lz4_frame.BLOCKSIZE_MAX64KB,
        block_linked=False,
        store_size=False,
    )
    return compressed


def compress_cramjam(data: bytes | bytearray | memoryview, level: int | None = None) -> bytes:
    """Do the same as `compress_lz4`, by cramjam."""
    compressor = cramjam.lz4.Compressor(
        level=level or 1, content_checksum=False, block_linked=False
    )
    compressor.compress(bytes(data))  # it accepts only bytes
    return bytes(compressor.finish())


def decompress_lz4(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Return the content of all frames.

    Raises: CorruptRecordException for malformed or truncated data, or more than `max_size` bytes.
    """
    view = memoryview(data)
    parts: list[bytes] = []
    room = max_size
    for start, end, bound in _frames(view):
        context = lz4_frame.create_decompression_context()
        try:
            part, _, is_whole = lz4_frame.decompress_chunk(
                context, view[start:end], max_length=min(bound, room) + 1
            )
        except RuntimeError as error:
            raise_malformed("lz4", error)
        if len(part) > room:
            raise_too_large("lz4", len(view), max_size)
        if not is_whole:
            raise_malformed("lz4", "a block holds more than its frame allows")
        parts.append(part)
        room -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)


def decompress_cramjam(data: bytes | bytearray | memoryview, max_size: int) -> bytes:
    """Do the same as `decompress_lz4`, by cramjam."""
    view = memoryview(data)
    into = cramjam.lz4.decompress_into
    return decompress_frames("lz4", view, _frames(view), into, max_size)


def with_right_header_checksum(data: bytes | bytearray | memoryview) -> bytes:
    """Return a copy of the data whose first frame has the header checksum of the specification.

    Kafka before 0.10 (magic 0) took the checksum over the frame's magic number, too; every library
    refuses such data. Data without a frame is returned unchanged. Source: KIP-57.
    """
    repaired = bytearray(data)
    if len(repaired) < 7 or _UINT32.unpack_from(repaired)[0] != _MAGIC:
        return bytes(repaired)
    end = 14 if repaired[4] & 0x08 else 6
    if end < len(repaired):
        repaired[end] = _xxh32_short(repaired[4:end]) >> 8 & 0xFF
    return bytes(repaired)


def _xxh32_short(data: bytes | bytearray) -> int:
    """Return the XXH32 (seed 0) of fewer than 16 bytes. Source: xxhash_spec.md, steps 4 to 7."""
    prime1, prime2, prime3, prime4, prime5 = (
        0x9E3779B1,
        0x85EBCA77,
        0xC2B2AE3D,
        0x27D4EB2F,
        0x165667B1,
    )
    mask = 0xFFFFFFFF
    digest = prime5 + len(data)
    whole = len(data) & ~3
    for (lane,) in _UINT32.iter_unpack(data[:whole]):
        digest = digest + lane * prime3 & mask
        digest = (digest << 17 | digest >> 15) * prime4 & mask
    for byte in data[whole:]:
        digest = digest + byte * prime5 & mask
        digest = (digest << 11 | digest >> 21) * prime1 & mask
    digest = (digest ^ digest >> 15) * prime2 & mask
    digest = (digest ^ digest >> 13) * prime3 & mask
    return digest ^ digest >> 16


LIBRARY: Final = "cramjam" if lz4_frame is None else "lz4"
"""The library chosen at import."""
compress = compress_cramjam if lz4_frame is None else compress_lz4
decompress = decompress_cramjam if lz4_frame is None else decompress_lz4

__all__ = [
    "LIBRARY",
    "compress",
    "compress_cramjam",
    "compress_lz4",
    "decompress",
    "decompress_cramjam",
    "decompress_lz4",
    "with_right_header_checksum",
]
