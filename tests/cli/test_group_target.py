"""The target of a reset on the command line."""

from datetime import UTC, datetime, timedelta

import pytest
import typer

from aiokafka_lite.admin import OffsetSpec, ShiftBy
from aiokafka_lite.cli.group_target import target_of

NOW_MS = 1_700_000_000_000


def test_targets() -> None:
    assert target_of("earliest", None, None, NOW_MS) is OffsetSpec.EARLIEST
    assert target_of("latest", None, None, NOW_MS) is OffsetSpec.LATEST
    assert target_of("start", None, None, NOW_MS) is OffsetSpec.EARLIEST
    assert target_of("17", None, None, NOW_MS) == 17
    assert target_of(None, None, -3, NOW_MS) == ShiftBy(-3)
    assert target_of(None, "90s", None, NOW_MS) == timedelta(seconds=90)
    assert target_of(None, "2h", None, NOW_MS) == timedelta(hours=2)


def test_a_time_without_a_zone_is_utc() -> None:
    expected = datetime(2026, 11, 23, 7, 10, tzinfo=UTC)
    assert target_of("2026-11-23T07:10:00", None, None, NOW_MS) == expected
    assert target_of("2026-11-23T08:10:00+01:00", None, None, NOW_MS) == expected
    assert target_of(f"@{NOW_MS + 1}", None, None, NOW_MS) == at(NOW_MS + 1)
    assert target_of("-2h", None, None, NOW_MS) == at(NOW_MS - 7_200_000)


def at(time_ms: int) -> datetime:
    return datetime.fromtimestamp(time_ms // 1_000, UTC) + timedelta(milliseconds=time_ms % 1_000)


@pytest.mark.parametrize(
    ("to", "by_duration", "shift_by", "fault"),
    [
        (None, None, None, "name one target"),
        ("latest", None, 3, "name one target"),
        ("soon", None, None, "'soon' is unknown"),
        ("+3", None, None, "use --shift-by"),
        (f"@{1 << 60}", None, None, "year 9999"),
        (None, "2 weeks", None, "'2 weeks' is no duration"),
        (None, f"{1 << 60}d", None, "too long ago"),
    ],
)
def test_wrong_usage(
    to: str | None, by_duration: str | None, shift_by: int | None, fault: str
) -> None:
    with pytest.raises(typer.BadParameter, match=fault):
        target_of(to, by_duration, shift_by, NOW_MS)
