"""Applies Spark's filters to ranges: it excludes records that a filter can never accept.

Spark applies every filter again. So a filter that is not understood costs only time. Does not wait.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from aiokafka_lite.spark.offsets import OffsetRange

Filter = Any
"""A filter of pyspark.sql.datasource: a class, its `attribute` (a path) and its `value`."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATER: Final = {"EqualTo", "EqualNullSafe", "GreaterThan", "GreaterThanOrEqual"}


def narrow(ranges: Iterable[OffsetRange], filters: Iterable[Filter]) -> list[OffsetRange]:
    """Return the parts of the ranges that the filters on topic, partition and offset accept."""
    kept = list(ranges)
    for each in filters:
        kept = [left for one in kept if (left := _narrowed(one, each)) is not None]
    return kept


def earliest_timestamp_ms(filters: Iterable[Filter]) -> int | None:
    """Return the earliest timestamp (ms) that the filters accept; None without one.

    Timestamps in a log need not rise. So a filter for older records excludes nothing: an older
    record may follow every younger one.
    """
    found = [
        (each.value - _EPOCH) // timedelta(milliseconds=1)
        for each in filters
        if _column(each) == "timestamp"
        and type(each).__name__ in _LATER
        and getattr(each.value, "tzinfo", None) is not None
    ]
    return max(found, default=None)


def begin_at(ranges: Iterable[OffsetRange], first: dict[Any, int]) -> list[OffsetRange]:
    """Return the ranges without the records before the given offset of each partition."""
    return [left for one in ranges if (left := _from(one, first[one.topic_partition]))]


def _column(each: Filter) -> str:
    attribute: tuple[str, ...] = getattr(each, "attribute", ())
    return attribute[0] if len(attribute) == 1 else ""


def _narrowed(one: OffsetRange, each: Filter) -> OffsetRange | None:
    column, kind = _column(each), type(each).__name__
    value = getattr(each, "value", None)
    if column == "offset" and isinstance(value, int) and kind in _OFFSETS:
        return _OFFSETS[kind](one, value)
    own = {"topic": one.topic, "partition": one.partition}.get(column)
    if own is None or value is None:
        return one
    if kind in ("EqualTo", "EqualNullSafe"):
        return one if own == value else None
    if kind == "In":
        return one if own in value else None
    if isinstance(own, int) and kind in _COMPARED:
        return one if _COMPARED[kind](own, value) else None
    return one


def _from(one: OffsetRange, first: int) -> OffsetRange | None:
    start = max(one.start, first)
    return None if start >= one.end else replace(one, start=start)


def _to(one: OffsetRange, end: int) -> OffsetRange | None:
    end = min(one.end, end)
    return None if one.start >= end else replace(one, end=end)


def _at(one: OffsetRange, offset: int) -> OffsetRange | None:
    left = _from(one, offset)
    return None if left is None else _to(left, offset + 1)


_OFFSETS: Final[dict[str, Callable[[OffsetRange, int], OffsetRange | None]]] = {
    "EqualTo": _at,
    "EqualNullSafe": _at,
    "GreaterThan": lambda one, value: _from(one, value + 1),
    "GreaterThanOrEqual": _from,
    "LessThan": _to,
    "LessThanOrEqual": lambda one, value: _to(one, value + 1),
}
_COMPARED: Final[dict[str, Callable[[int, int], bool]]] = {
    "GreaterThan": lambda own, value: own > value,
    "GreaterThanOrEqual": lambda own, value: own >= value,
    "LessThan": lambda own, value: own < value,
    "LessThanOrEqual": lambda own, value: own <= value,
}

__all__ = ["begin_at", "earliest_timestamp_ms", "narrow"]
