"""Reads the target of `aiokafka-lite groups reset-offsets`. Does not wait."""

from datetime import UTC, datetime, timedelta

import typer

from aiokafka_lite.admin.groups.offset_reset_plan import ResetTarget, ShiftBy
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cli.start_offset import duration_ms, parse_offset
from aiokafka_lite.model import OffsetSpec

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def target_of(
    to: str | None, by_duration: str | None, shift_by: int | None, now_ms: int
) -> ResetTarget:
    """Return the one target that was named; `to` is spelled as in `consume -o`.

    Raises: typer.BadParameter unless there is exactly one, and for a value that cannot be read.
    """
    if sum(each is not None for each in (to, by_duration, shift_by)) != 1:
        raise typer.BadParameter("name one target: --to, --by-duration or --shift-by")
    if shift_by is not None:
        return ShiftBy(shift_by)
    if by_duration is not None:
        return _ago(by_duration)
    assert to is not None
    return _place(to, now_ms)


def _ago(text: str) -> timedelta:
    found = duration_ms(text)
    if found is None:
        raise typer.BadParameter(
            f"--by-duration {quoted(text)} is no duration; write a number and s, m, h or d"
        )
    try:
        return timedelta(milliseconds=found)
    except OverflowError:
        raise typer.BadParameter(f"--by-duration {text}: that is too long ago") from None


def _place(to: str, now_ms: int) -> ResetTarget:
    place = parse_offset(to, now_ms)
    if place.anchor == "zero":
        return place.distance
    if place.anchor == "time":
        try:
            return _EPOCH + timedelta(milliseconds=place.distance)
        except OverflowError:
            raise typer.BadParameter(f"--to {to}: the last time is in the year 9999") from None
    if place.distance:
        raise typer.BadParameter(f"--to {to}: for a number of records, use --shift-by")
    return OffsetSpec.EARLIEST if place.anchor == "start" else OffsetSpec.LATEST


__all__ = ["target_of"]
