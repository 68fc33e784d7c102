"""What a plan says, for each target."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from aiokafka_lite import TopicPartition
from aiokafka_lite.admin import ListOffsetsResult, OffsetSpec, Outcomes, ShiftBy
from aiokafka_lite.admin.groups.offset_reset_plan import (
    KnownOffsets,
    OffsetResetPlan,
    checked_target,
    plan_of,
    time_of,
)
from aiokafka_lite.errors import IllegalArgumentError, TopicAuthorizationFailedError

A, B, C = (TopicPartition("t", index) for index in range(3))


def offsets(*values: int) -> Outcomes[TopicPartition, ListOffsetsResult]:
    return Outcomes(
        (tp, ListOffsetsResult(value, -1, None)) for tp, value in zip((A, B), values, strict=False)
    )


def planned(to: Any, at_time: tuple[int, int] | None = None) -> dict[TopicPartition, int]:
    """The new offsets: A has 2 to 10 and 5 committed, B has 0 to 4 and nothing."""
    known = KnownOffsets(
        {A: 5}, offsets(2, 0), offsets(10, 4), None if at_time is None else offsets(*at_time)
    )
    return plan_of("g", to, known).offsets


def test_targets() -> None:
    assert planned(OffsetSpec.EARLIEST) == {A: 2, B: 0}
    assert planned(OffsetSpec.LATEST) == {A: 10, B: 4}
    assert planned(3) == {A: 3, B: 3}
    assert planned({A: 4, B: 1}) == {A: 4, B: 1}


def test_an_offset_outside_the_log_becomes_the_nearest_one() -> None:
    assert planned(0) == {A: 2, B: 0}
    assert planned(99) == {A: 10, B: 4}
    assert planned(ShiftBy(-99)) == {A: 2}
    assert planned(ShiftBy(99)) == {A: 10}


def test_a_time_after_the_last_record_is_the_end() -> None:
    assert planned(timedelta(hours=1), (7, -1)) == {A: 7, B: 4}


def test_a_shift_needs_an_offset() -> None:
    plan = plan_of("g", ShiftBy(-2), KnownOffsets({A: 5}, offsets(2, 0), offsets(10, 4)))
    assert plan.offsets == {A: 3}
    assert "t-1 has no committed offset" in str(plan.failed[B])


def test_a_partition_that_failed_is_left_out() -> None:
    ends = offsets(10, 4)
    ends[B] = TopicAuthorizationFailedError("no")
    plan = plan_of("g", OffsetSpec.LATEST, KnownOffsets({A: 5}, offsets(2, 0), ends))
    assert plan.offsets == {A: 10}
    assert plan.failed == {B: ends[B]}


def test_a_plan_is_printed_as_a_table() -> None:
    plan = plan_of("g", 3, KnownOffsets({A: 5}, offsets(2, 0), offsets(10, 4)))
    assert plan.rows() == [("t", 0, 5, 3, 10, 7), ("t", 1, None, 3, 4, 1)]
    failed = OffsetResetPlan("g", plan.resets, {C: TopicAuthorizationFailedError("no right")})
    assert str(failed).splitlines() == [
        "group g",
        "topic  partition  current  new  end  lag",
        "t              0        5    3   10    7",
        "t              1        -    3    4    1",
        "t-2: no right",
    ]


def test_times() -> None:
    assert time_of(timedelta(seconds=2), 5_000) == 3_000
    assert time_of(timedelta(days=1), 5_000) == 0
    assert time_of(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC), 0) == 1_000
    assert time_of(OffsetSpec.LATEST, 0) is None


@pytest.mark.parametrize(
    "to",
    [
        -1,
        True,
        "earliest",
        OffsetSpec.MAX_TIMESTAMP,
        datetime(2026, 1, 1),  # noqa: DTZ001 - without a zone, that is the point
        timedelta(seconds=-1),
        ShiftBy("1"),  # type: ignore[arg-type]
        {A: "1"},
        None,
    ],
)
def test_a_target_that_is_none(to: Any) -> None:
    with pytest.raises(IllegalArgumentError, match="is no target"):
        checked_target(to)
