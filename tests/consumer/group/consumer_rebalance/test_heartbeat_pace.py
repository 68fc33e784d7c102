"""A member asks in the broker's interval; without partitions it asks sooner, for some time."""

import pytest

from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_pace import HeartbeatPace


def times(pace: HeartbeatPace, until_s: float, *, epoch: int = 3, interval_s: float = 5.0) -> int:
    """Count the heartbeats of a member without partitions until then; the first is sent at 0."""
    at_s, count = 0.0, 0
    while at_s < until_s:
        at_s = pace.next_at_s(at_s, interval_s, epoch, has_partitions=False)
        count += 1
    return count


def test_a_member_with_partitions_asks_in_the_interval() -> None:
    pace = HeartbeatPace()
    assert pace.next_at_s(7.0, 5.0, 1, has_partitions=True) == 12.0


def test_a_member_without_partitions_asks_soon_then_ten_times_as_often() -> None:
    pace = HeartbeatPace()
    gaps = [pace.next_at_s(7.0, 5.0, 1, has_partitions=False) - 7.0 for _ in range(5)]
    assert gaps == pytest.approx([0.1, 0.2, 0.4, 0.5, 0.5])
    assert pace.next_at_s(7.5, 5.0, 1, has_partitions=True) == 12.5


def test_a_short_interval_stays_as_it_is() -> None:
    pace = HeartbeatPace()
    assert pace.next_at_s(1.0, 0.2, 1, has_partitions=False) == 1.1
    assert pace.next_at_s(1.1, 0.2, 1, has_partitions=False) == pytest.approx(1.2)
    assert pace.next_at_s(2.0, 0.05, 1, has_partitions=False) == 2.05


def test_a_member_that_stays_without_partitions_asks_as_all_others_after_two_intervals() -> None:
    pace = HeartbeatPace()
    assert times(pace, 10.0) == 22
    assert pace.next_at_s(10.0, 5.0, 3, has_partitions=False) == 15.0


def test_it_asks_sooner_again_when_its_epoch_moves() -> None:
    pace = HeartbeatPace()
    times(pace, 10.0, epoch=3)
    assert pace.next_at_s(60.0, 5.0, 4, has_partitions=False) == 60.1
