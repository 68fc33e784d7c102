"""What a reset of a group's offsets would do, as a value that is shown first. Does not wait."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypeAlias

from aiokafka_lite.admin.calls.outcomes import Outcomes
from aiokafka_lite.admin.partitions.list_offsets_calls import ListOffsetsResult
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import is_int, whole
from aiokafka_lite.errors import IllegalArgumentError, KafkaError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import OffsetSpec, TopicPartition


class ShiftBy(NamedTuple):
    """As many records forward from the committed offset; backward if negative."""

    records: int


ResetTarget: TypeAlias = (
    OffsetSpec | datetime | timedelta | int | ShiftBy | Mapping[TopicPartition, int]
)
"""Where a group is to read on: EARLIEST or LATEST, a time, a duration ago, an offset, a shift.

A mapping has an offset for each partition.
"""


class OffsetReset(NamedTuple):
    """What a reset does to one partition."""

    current: int | None
    """The committed offset; None without one."""
    new: int
    """The offset to commit, within the log."""
    end: int
    """The end of the log."""


COLUMNS: Final = ("topic", "partition", "current", "new", "end", "lag")
"""The columns of a plan's table; the lag is that after the reset."""


@dataclass(frozen=True)
class OffsetResetPlan:
    """What `reset_offsets` would do. `print(plan)` shows it as a table."""

    group_id: str
    resets: Mapping[TopicPartition, OffsetReset]
    failed: Mapping[TopicPartition, KafkaError] = field(default_factory=dict)
    """Partitions that cannot be reset, and why; `reset_offsets` leaves them as they are."""
    is_share: bool = False
    """Whether it is a share group, which has start offsets in place of committed ones."""
    obstacle: str | None = None
    """Why `reset_offsets` would be refused now: the group has members. None: it would not."""

    @property
    def offsets(self) -> dict[TopicPartition, int]:
        """The offsets to commit."""
        return {tp: reset.new for tp, reset in self.resets.items()}

    def rows(self) -> list[tuple[str, int, int | None, int, int, int]]:
        """Return the rows of the table, sorted, with the columns of `COLUMNS`."""
        return [
            (topic, index, reset.current, reset.new, reset.end, reset.end - reset.new)
            for (topic, index), reset in sorted(self.resets.items())
        ]

    def __str__(self) -> str:
        shown = [["-" if cell is None else str(cell) for cell in row] for row in self.rows()]
        table = [list(COLUMNS), *shown]
        widths = [max(len(row[column]) for row in table) for column in range(len(COLUMNS))]
        lines = [
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in table
        ]
        errors = [
            f"{topic}-{index}: {reason_of(error)}"
            for (topic, index), error in sorted(self.failed.items())
        ]
        obstacle = [] if self.obstacle is None else [self.obstacle]
        return "\n".join([f"group {self.group_id}", *lines, *errors, *obstacle])


def checked_target(to: Any) -> ResetTarget:
    """Return the target of a reset.

    Raises: IllegalArgumentError naming what a target may be.
    """
    if isinstance(to, ShiftBy):
        to = ShiftBy(whole(to.records))
    elif isinstance(to, Mapping):
        to = {tp: whole(offset) for tp, offset in to.items()}
    else:
        to = whole(to)
    is_good = (
        (isinstance(to, OffsetSpec) and to in (OffsetSpec.EARLIEST, OffsetSpec.LATEST))
        or (isinstance(to, datetime) and to.tzinfo is not None)
        or (isinstance(to, timedelta) and to >= timedelta(0))
        or (isinstance(to, ShiftBy) and is_int(to.records))
        or (isinstance(to, Mapping) and all(is_int(offset) for offset in to.values()))
        or (not isinstance(to, OffsetSpec) and is_int(to) and to >= 0)
    )
    if not is_good:
        raise IllegalArgumentError(
            f"to={quoted(to)} is no target of a reset; give OffsetSpec.EARLIEST or LATEST, a "
            "datetime with a time zone, a timedelta from 0 on (that long ago), an offset from 0 "
            "on, ShiftBy(records), or offsets by TopicPartition"
        )
    target: ResetTarget = to
    return target


def time_of(to: ResetTarget, now_ms: int) -> int | None:
    """Return the time in ms that a target stands for; None if it stands for none."""
    if isinstance(to, timedelta):
        return max(0, now_ms - round(to.total_seconds() * 1000))
    if isinstance(to, datetime):
        return max(0, round(to.timestamp() * 1000))
    return None


@dataclass(frozen=True)
class KnownOffsets:
    """What the cluster says of the partitions of a plan."""

    current: Mapping[TopicPartition, int]
    earliest: Outcomes[TopicPartition, ListOffsetsResult]
    latest: Outcomes[TopicPartition, ListOffsetsResult]
    at_time: Outcomes[TopicPartition, ListOffsetsResult] | None = None
    """The first record at the target's time; None if the target is no time."""
    is_share: bool = False


def plan_of(
    group_id: str, to: ResetTarget, known: KnownOffsets, obstacle: str | None = None
) -> OffsetResetPlan:
    """Return the plan. An offset outside the log becomes the nearest one of the log; a time after
    the last record becomes the end.
    """
    resets: dict[TopicPartition, OffsetReset] = {}
    failed: dict[TopicPartition, KafkaError] = {}
    for tp in known.latest:
        answers = [each[tp] for each in (known.earliest, known.latest, known.at_time) if each]
        error = next((each for each in answers if isinstance(each, KafkaError)), None)
        if error is None:
            target = _wished(tp, to, known)
            if isinstance(target, KafkaError):
                error = target
            else:
                start, end = known.earliest.succeeded[tp].offset, known.latest.succeeded[tp].offset
                new = min(max(target, start), end)
                resets[tp] = OffsetReset(known.current.get(tp), new, end)
        if error is not None:
            failed[tp] = error
    return OffsetResetPlan(group_id, resets, failed, known.is_share, obstacle)


def _wished(tp: TopicPartition, to: ResetTarget, known: KnownOffsets) -> int | KafkaError:
    end = known.latest.succeeded[tp].offset
    if known.at_time is not None:
        found = known.at_time.succeeded[tp].offset
        return found if found >= 0 else end
    if isinstance(to, OffsetSpec):
        return end if to is OffsetSpec.LATEST else known.earliest.succeeded[tp].offset
    if isinstance(to, Mapping):
        return to[tp]
    if isinstance(to, ShiftBy):
        current = known.current.get(tp)
        if current is None:
            return IllegalArgumentError(
                f"{tp.topic}-{tp.partition} has no committed offset to shift from; name another"
                " target for it"
            )
        return current + to.records
    assert isinstance(to, int)
    return to


__all__ = [
    "COLUMNS",
    "KnownOffsets",
    "OffsetReset",
    "OffsetResetPlan",
    "ResetTarget",
    "ShiftBy",
    "checked_target",
    "plan_of",
    "time_of",
]
