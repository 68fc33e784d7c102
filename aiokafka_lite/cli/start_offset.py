"""Reads from the command line where `consume`, `topics delete-records` and
`groups reset-offsets` begin or end.

The spellings are those of kcat and rpk. Does not wait.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import typer

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.clock import SystemClock

_NAMES: Final = {
    **dict.fromkeys(("start", "beginning", "earliest", "oldest"), "start"),
    **dict.fromkeys(("end", "latest", "newest"), "end"),
}
_UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_DURATION: Final = re.compile(r"(\d+)([smhd])")
MAX_NUMBER: Final = (1 << 63) - 1
"""Offsets and times are int64 in Kafka's protocol."""
FORMS: Final = (
    "start, end, N, -N (the last N), +N, @TIME or a time; TIME is ISO 8601, -2h (ago), "
    "ms since 1970, or s with 10 digits"
)


@dataclass(frozen=True, slots=True)
class StartOffset:
    """A place in a partition: so far from `start`, `end` or `zero`, or a `time` in ms."""

    anchor: str
    distance: int

    @property
    def time_ms(self) -> int | None:
        """Milliseconds since 1970; None for a place that is no time."""
        return self.distance if self.anchor == "time" else None

    def resolve(self, beginning: int, end: int, at_time: int | None = None) -> int:
        """Return the offset of this place, limited to the offsets in the partition.

        `at_time` is the first offset at or after the time, or None if there is none.
        """
        if self.anchor == "time":
            return end if at_time is None else min(max(at_time, beginning), end)
        wanted = {"start": beginning, "end": end, "zero": 0}[self.anchor] + self.distance
        return min(max(wanted, beginning), end)


def present_ms() -> int:
    """Return the present time, from which a time such as -2h counts."""
    return int(SystemClock.time() * 1_000)


def parse_offset(text: str, now_ms: int) -> StartOffset:
    """Parse one place. A time without a zone is UTC.

    Raises: typer.BadParameter naming the text and the forms.
    """
    place = _place(text, now_ms)
    if place is None:
        raise typer.BadParameter(f"offset {quoted(text)} is unknown; use {FORMS}")
    if abs(place.distance) > MAX_NUMBER:
        raise typer.BadParameter(
            f"offset {quoted(text)} is too large; Kafka's largest is {MAX_NUMBER}"
        )
    return place


def _place(text: str, now_ms: int) -> StartOffset | None:
    if text in _NAMES:
        return StartOffset(_NAMES[text], 0)
    if text.isdecimal():
        return StartOffset("zero", int(text))
    if text[1:].isdecimal() and text[0] in "+-":
        return StartOffset("start" if text[0] == "+" else "end", int(text))
    found = _time_ms(text.removeprefix("@"), now_ms)
    return None if found is None else StartOffset("time", found)


def parse_range(texts: list[str], now_ms: int) -> tuple[StartOffset, StartOffset | None]:
    """Parse kcat's `-o s@TIME -o e@TIME`, or one place to start from.

    Raises: typer.BadParameter for a second start or end, and as `parse_offset`.
    """
    places: dict[str, StartOffset] = {}
    for text in texts:
        named = text.startswith(("s@", "e@"))
        side = text[0] if named else "s"
        place = parse_offset(text[1:] if named else text, now_ms)
        if side in places:
            raise typer.BadParameter(f"-o {text}: give one start, and one end as e@TIME")
        places[side] = place
    return places.get("s", StartOffset("start", 0)), places.get("e")


def parse_time(text: str, now_ms: int) -> int:
    """Return a time in ms since 1970; its @ may be left out. Raises: as `parse_offset`."""
    return parse_offset(f"@{text.removeprefix('@')}", now_ms).distance


def duration_ms(text: str) -> int | None:
    """Return the milliseconds of a duration such as 90s, 15m, 2h or 7d; None for another text."""
    found = _DURATION.fullmatch(text)
    return None if found is None else int(found[1]) * _UNIT_MS[found[2]]


def _time_ms(text: str, now_ms: int) -> int | None:
    if text.isdecimal():
        return int(text) * 1_000 if len(text) == 10 else int(text)
    if text.startswith("-") and (ago_ms := duration_ms(text[1:])) is not None:
        return max(0, now_ms - ago_ms)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    when = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return max(0, int(when.timestamp() * 1_000))


__all__ = [
    "FORMS",
    "StartOffset",
    "duration_ms",
    "parse_offset",
    "parse_range",
    "parse_time",
    "present_ms",
]
