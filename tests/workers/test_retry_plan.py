"""What follows a failure, and when the next attempt is due."""

import random
from typing import Any

import pytest

from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.workers.retry_plan import AfterFailure, RetryPlan
from tests.workers.records import TP, filled, settings, taken


def plan(**changed: Any) -> RetryPlan:
    backoff = ExponentialBackoff(0.1, 1.0, jitter=0, rng=random.Random(1))
    return RetryPlan(settings(**changed), backoff)


@pytest.mark.parametrize(
    ("failures", "changed", "expected"),
    [
        (1000, {}, AfterFailure.RETRY),
        (2, {"retries": 2}, AfterFailure.RETRY),
        (3, {"retries": 2}, AfterFailure.STOP),
        (3, {"retries": 2, "has_dead_letters": True}, AfterFailure.DEAD_LETTER),
        (1, {"retries": 0}, AfterFailure.STOP),
        (1, {"not_retried": (LookupError,)}, AfterFailure.STOP),
        (1, {"not_retried": (ValueError,)}, AfterFailure.RETRY),
    ],
)
def test_what_follows(failures: int, changed: dict[str, Any], expected: AfterFailure) -> None:
    item = taken(filled(1))
    item.failures = failures
    assert plan(**changed).after(item, KeyError("k")) is expected


def test_delays_double_and_records_come_when_they_are_due() -> None:
    made = filled(3)
    items = [taken(made) for _ in range(3)]
    retries = plan()
    for number, item in enumerate(items, start=1):
        item.failures = 4 - number
        assert retries.add(item, 10.0) == pytest.approx(0.1 * 2 ** (3 - number))
    assert len(retries) == 3
    assert retries.next_due_s == pytest.approx(10.1)
    assert retries.take_due(10.09) == []
    assert retries.take_due(10.25) == [items[2], items[1]]
    assert retries.take_due(20) == [items[0]]
    assert retries.next_due_s is None


def test_records_of_partitions_that_go_are_dropped() -> None:
    made = filled(2)
    retries = plan()
    item = taken(made)
    item.failures = 1
    retries.add(item, 0.0)
    made.give_back([TP])
    retries.forget_gone()
    assert retries.next_due_s is None
