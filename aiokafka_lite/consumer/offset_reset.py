"""Owns where a partition without a position goes: an end of its log, or a time.

Values and their parsing. Does not wait.
Source: KIP-1106, AutoOffsetResetStrategy, java.time.Duration.parse.

It also decides where to go on in a topic that was deleted and created again. The positions of the
old topic mean nothing in the new one.
"""

import re
from enum import IntEnum

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.light_dataclass import dataclass

BY_DURATION_PREFIX = "by_duration:"
_MS_PER_UNIT = (86_400_000, 3_600_000, 60_000, 1000)
_DURATION = (
    r"([-+]?)P(?:([-+]?\d+)D)?"
    r"(T(?:([-+]?\d+)H)?(?:([-+]?\d+)M)?(?:([-+]?\d+)(?:[.,](\d{0,9}))?S)?)?"
)
"""Compiled when a duration is given: that costs as much as importing five small modules."""


class OffsetResetStrategy(IntEnum):
    """An end of the log; the value is the timestamp ListOffsets knows it by."""

    LATEST = -1
    EARLIEST = -2

    @classmethod
    def from_option(cls, auto_offset_reset: str) -> "OffsetReset | None":
        """Return what the option says, None for "none".

        Raises: ValueError, a sentence, for what is neither a name nor a duration.
        """
        if auto_offset_reset.startswith(BY_DURATION_PREFIX):
            return ByDuration(parse_duration_ms(auto_offset_reset[len(BY_DURATION_PREFIX) :]))
        if auto_offset_reset not in _RESET_BY_OPTION:
            names = ", ".join(map(repr, _RESET_BY_OPTION))
            raise ValueError(f"{quoted(auto_offset_reset)} is none of {names}")
        return _RESET_BY_OPTION[auto_offset_reset]

    @property
    def label(self) -> str:
        """The option's word for it."""
        return self.name.lower()

    def timestamp(self, now_ms: int) -> int:  # noqa: ARG002 - asked of every kind of reset
        """Return what to ask ListOffsets for; `now_ms` since the epoch."""
        return int(self)


@dataclass(frozen=True, slots=True)
class ByDuration:
    """The first record of the last `duration_ms`, or the end when there is none (KIP-1106)."""

    duration_ms: int

    @property
    def label(self) -> str:
        """The option's word for it, the duration in seconds."""
        return f"{BY_DURATION_PREFIX}PT{self.duration_ms / 1000:g}S"

    def timestamp(self, now_ms: int) -> int:
        """Return what to ask ListOffsets for; `now_ms` since the epoch."""
        # Below zero the numbers have other meanings: -1 is the end, -2 the beginning.
        return max(now_ms - self.duration_ms, 0)


@dataclass(frozen=True, slots=True)
class AtTimestamp:
    """The first record at or after a time, or the end when there is none."""

    timestamp_ms: int

    @property
    def label(self) -> str:
        """The time, for the log."""
        return f"timestamp {self.timestamp_ms}"

    def timestamp(self, now_ms: int) -> int:  # noqa: ARG002 - asked of every kind of reset
        """Return what to ask ListOffsets for."""
        return self.timestamp_ms


OffsetReset = OffsetResetStrategy | ByDuration | AtTimestamp

_RESET_BY_OPTION: dict[str, OffsetReset | None] = {
    "earliest": OffsetResetStrategy.EARLIEST,
    "latest": OffsetResetStrategy.LATEST,
    "none": None,
}


def parse_duration_ms(text: str) -> int:
    """Return the milliseconds of an ISO-8601 duration of days, hours, minutes and seconds.

    As java.time.Duration.parse: `PT1H`, `P1DT12H`, `PT0.5S`, a sign anywhere; years and months
    have no fixed length. Fractions of a millisecond are dropped. Raises: ValueError, a sentence,
    for anything else and for a negative duration.
    """
    match = re.fullmatch(_DURATION, text, re.ASCII | re.IGNORECASE)
    numbers = match.group(2, 4, 5, 6) if match else (None,) * 4
    if match is None or not any(numbers) or (match[3] or "").upper() == "T":
        raise ValueError(
            f"{quoted(text)} is not an ISO-8601 duration; write days, hours, minutes and seconds "
            f"as in 'PT1H' or 'P1DT12H'"
        )
    total_ms = sum(
        int(number or 0) * unit_ms for number, unit_ms in zip(numbers, _MS_PER_UNIT, strict=True)
    )
    fraction_ms = int((match[7] or "").ljust(3, "0")[:3])
    total_ms += -fraction_ms if (match[6] or "").startswith("-") else fraction_ms
    if match[1] == "-":
        total_ms = -total_ms
    if total_ms < 0:
        raise ValueError(
            f"{quoted(text)} is a negative duration; it counts back from now by itself"
        )
    return total_ms


__all__ = [
    "BY_DURATION_PREFIX",
    "AtTimestamp",
    "ByDuration",
    "OffsetReset",
    "OffsetResetStrategy",
    "parse_duration_ms",
]
