"""Which records are replayed, in which pieces, and how fast."""

from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.job import StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.spark.jobs.replay import Pace, ReplayConfig, between, conditions
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.testing.fake_clock import FakeClock

GIVEN: dict[str, Any] = {"bootstrap_servers": "h:1", "path": "/a"}
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bootstrap_servers": ""}, "bootstrap_servers must be set"),
        ({"path": ""}, "path must be set"),
        ({"starting_offsets": "earliest"}, "starting_offsets: expected e.g."),
        ({"since": "yesterday"}, "since='yesterday' is not a time such as 2026-01-31T12:00:00Z"),
        ({"since": "2026-02-01", "until": "2026-01-01"}, "since='2026-02-01' must be before until"),
        ({"batch_rows": 0}, "batch_rows=0 must be at least 1"),
        ({"max_rows_per_second": 0}, "max_rows_per_second=0 must be at least 1"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        ReplayConfig(**{**GIVEN, **given})


def test_what_is_chosen_is_sql() -> None:
    config = ReplayConfig(
        **GIVEN,
        topics=("a", "b"),
        starting_offsets='{"t":{"0":5}}',
        ending_offsets='{"t":{"1":9}}',
        since="2026-01-31",
        until="2026-02-01T01:30:00+01:00",
    )
    assert list(conditions(config)) == [
        "topic IN ('a', 'b')",
        "timestamp >= TIMESTAMP '2026-01-31 00:00:00+00:00'",
        "timestamp < TIMESTAMP '2026-02-01 00:30:00+00:00'",
        "NOT (topic = 't' AND partition = 0 AND offset < 5)",
        "NOT (topic = 't' AND partition = 1 AND offset >= 9)",
    ]
    assert list(conditions(ReplayConfig(**GIVEN))) == []


def test_a_batch_is_a_range_of_each_partition_that_goes_on() -> None:
    start, end = Offsets({T0: 3, T1: 4}), Offsets({T0: 7, T1: 4})
    assert between(start, end) == ("(topic = 't' AND partition = 0 AND offset >= 3 AND offset < 7)")


def test_with_a_rate_a_batch_has_the_rows_of_some_seconds() -> None:
    assert ReplayConfig(**GIVEN).rows_of_a_batch() == 1_000_000
    assert ReplayConfig(**GIVEN, max_rows_per_second=10).rows_of_a_batch() == 50
    config = ReplayConfig(**GIVEN, max_rows_per_second=10, batch_rows=20)
    assert config.rows_of_a_batch() == 20


class Sleeper:
    """Time that passes by sleeping only."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.now_s = 0.0
        self.clock.monotonic = lambda: self.now_s  # type: ignore[method-assign]

    def sleep(self, delay_s: float) -> None:
        self.now_s += delay_s


def test_a_rate_is_kept_and_lost_time_is_not_caught_up_with() -> None:
    time = Sleeper()
    pace = Pace(10, StopSignal(), time.clock, time.sleep)
    pace.wait(50)
    assert time.now_s == pytest.approx(5)
    time.now_s += 3
    pace.wait(50)
    assert time.now_s == pytest.approx(10)
    time.now_s += 100  # a slow broker
    pace.wait(50)
    assert time.now_s == pytest.approx(110)
    pace.wait(50)
    assert time.now_s == pytest.approx(115)


def test_a_pause_ends_when_somebody_asks_to_stop() -> None:
    stop, time = StopSignal(), Sleeper()

    def sleep(delay_s: float) -> None:
        time.sleep(delay_s)
        stop.set()

    Pace(1, stop, time.clock, sleep).wait(1000)
    assert time.now_s < 1
    Pace(None, StopSignal(), time.clock, sleep).wait(1000)
    assert time.now_s < 1
