"""Decompresses the frames of a codec with cramjam, each into memory of the size in its header."""

from collections.abc import Callable, Iterable
from typing import Any

import cramjam

from aiokafka_lite.compression.frames import Frame
from aiokafka_lite.compression.output_bound import raise_malformed, raise_too_large


def decompress_frames(
    codec: str,
    view: memoryview,
    frames: Iterable[Frame],
    decompress_into: Callable[[Any, Any], int],
    max_size: int,
) -> bytes:
    """Return the content of all frames, joined.

    Raises: CorruptRecordException for malformed or truncated data, or more than `max_size` bytes.
    """
    parts: list[bytes] = []
    room = max_size
    for frame in frames:
        output = bytearray(min(frame.bound, room))
        try:
            size = decompress_into(view[frame.start : frame.end], output)
        except cramjam.DecompressionError as error:
            if frame.bound > room and "whole buffer" in str(error):
                raise_too_large(codec, len(view), max_size)
            raise_malformed(codec, error)
        parts.append(bytes(memoryview(output)[:size]))
        room -= size
    return parts[0] if len(parts) == 1 else b"".join(parts)


__all__ = ["decompress_frames"]
