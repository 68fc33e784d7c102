"""Walks a sequence of frames of one codec, with skippable frames between them (lz4, zstd)."""

import struct
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from aiokafka_lite.compression.output_bound import note_tail, raise_malformed

_SKIPPABLE: Final = 0x184D2A50  # to ...5F
_UINT32 = struct.Struct("<I")


class Frame(NamedTuple):
    """Where a frame lies in the data, and the most bytes it can hold."""

    start: int
    end: int
    bound: int


def walk_frames(
    codec: str,
    magic: int,
    view: memoryview,
    measure: Callable[[memoryview, int], Frame],
    *,
    ends_at_tail: bool = False,
) -> Iterator[Frame]:
    """Yield the data frames in order. `measure` is called with the start of each.

    `measure` raises struct.error or IndexError for a frame that is cut off. `ends_at_tail`: what
    stands behind a data frame and begins no frame is stepped over. So is, always, a skippable frame
    there that is cut off.

    Raises: CorruptRecordException for anything but a sequence of whole frames. Source: RFC 8878
    section 3.1; lz4_Frame_format.md 1.6.
    """
    position = 0
    has_data = False
    try:
        while position < len(view):
            left = len(view) - position
            if has_data and ends_at_tail and left < _UINT32.size:
                note_tail(codec, left)
                return
            (found,) = _UINT32.unpack_from(view, position)
            is_frame = found == magic or found & 0xFFFFFFF0 == _SKIPPABLE
            if has_data and ends_at_tail and not is_frame:
                note_tail(codec, left)
                return
            if found & 0xFFFFFFF0 == _SKIPPABLE:
                position += 8 + _UINT32.unpack_from(view, position + 4)[0]
                if has_data and position > len(view):
                    note_tail(codec, left)
                    return
            elif found == magic:
                frame = measure(view, position)
                yield frame
                has_data = True
                position = frame.end
            else:
                raise_malformed(codec, f"no frame starts with {found:#010x}")
    except (struct.error, IndexError):
        position = len(view) + 1
    if position > len(view):
        raise_malformed(codec, "the stream is truncated")


__all__ = ["Frame", "walk_frames"]
