"""Writes which records behind a committed offset are finished, and reads that note. Does not wait.

The note travels as the metadata of the committed offset, as in Confluent's parallel consumer. A
later owner of the partition then repeats only what was not finished. The note is the lengths of the
runs of unfinished and finished offsets behind the committed one, in turn. They are unsigned
varints, in base64. Brokers accept 4,096 bytes of metadata by default (`offset.metadata.max.bytes`).
A note ends before that, and what it leaves out counts as unfinished.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Final

from aiokafka_lite.codec.writer import base128_bytes

PREFIX: Final = "keyed-workers/1:"
"""Tells a note from the metadata of other programs."""
MOST_BYTES: Final = 3000
"""Of a note before base64, which makes 4,000 characters of them."""
_MOST_SHIFT: Final = 63


class FinishedOffsets:
    """The finished offsets that a note names, as ranges."""

    def __init__(self, base: int, starts: list[int], ends: list[int]) -> None:
        """`starts[i]` to `ends[i]` - 1 are finished, in ascending order, none before `base`."""
        self.base = base
        """The committed offset. The note says nothing of records before it."""
        self._starts = starts
        self._ends = ends

    def __contains__(self, offset: object) -> bool:
        assert isinstance(offset, int)
        place = bisect_right(self._starts, offset) - 1
        return place >= 0 and offset < self._ends[place]

    def ranges_from(self, offset: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges (first, end) that lie at `offset` or behind it, in ascending order."""
        for first, end in zip(self._starts, self._ends, strict=True):
            if end > offset:
                yield max(first, offset), end

    def before(self, offset: int) -> "FinishedOffsets":
        """Return what is left of it if nothing counts from `offset` on."""
        if self.last < offset:
            return self
        count = bisect_left(self._starts, offset)
        if not count:
            return NOTHING_FINISHED
        ends = [min(end, offset) for end in self._ends[:count]]
        return FinishedOffsets(self.base, self._starts[:count], ends)

    @property
    def last(self) -> int:
        """The highest finished offset; -1 without any."""
        return self._ends[-1] - 1 if self._ends else -1


NOTHING_FINISHED: Final = FinishedOffsets(0, [], [])


def written_note(offset: int, finished: Iterable[tuple[int, int]]) -> str:
    """Return the note for the committed `offset`; "" without finished offsets.

    `finished` has ranges (first, end) in ascending order, all at `offset` or behind it.
    """
    encoded = bytearray()
    place = offset
    for first, end in finished:
        run = base128_bytes(first - place) + base128_bytes(end - first)
        if len(encoded) + len(run) > MOST_BYTES:
            break
        encoded += run
        place = end
    return PREFIX + urlsafe_b64encode(encoded).decode() if encoded else ""


def read_note(offset: int, text: str) -> FinishedOffsets:
    """Return what the metadata of the committed `offset` names.

    Metadata that is no note, or that is damaged, names nothing: its records are handled again.
    """
    if not text.startswith(PREFIX):
        return NOTHING_FINISHED
    try:
        lengths = _lengths(urlsafe_b64decode(text.removeprefix(PREFIX)))
    except ValueError:
        return NOTHING_FINISHED
    starts, ends = [], []
    place = offset
    for unfinished, finished in zip(lengths[::2], lengths[1::2], strict=False):
        starts.append(place + unfinished)
        place += unfinished + finished
        ends.append(place)
    return FinishedOffsets(offset, starts, ends)


def _lengths(encoded: bytes) -> list[int]:
    """Raises: ValueError for a varint that does not end."""
    found = []
    number = shift = 0
    for byte in encoded:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            found.append(number)
            number = shift = 0
        elif shift > _MOST_SHIFT:
            raise ValueError("a varint of more than 63 bits")
    if shift:
        raise ValueError("the last varint has no end")
    return found


__all__ = ["NOTHING_FINISHED", "PREFIX", "FinishedOffsets", "read_note", "written_note"]
