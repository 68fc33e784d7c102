"""When metadata is asked for next (2f-9)."""

import random

import pytest

from aiokafka_lite.cluster.metadata.refresh_schedule import RefreshSchedule
from aiokafka_lite.concurrency.backoff import ExponentialBackoff


def schedule(max_age_s: float = 300.0) -> RefreshSchedule:
    backoff = ExponentialBackoff(0.1, 1.0, jitter=0.0, rng=random.Random(0))
    return RefreshSchedule(max_age_s=max_age_s, backoff=backoff)


def refreshed(now: float = 0.0, max_age_s: float = 300.0) -> RefreshSchedule:
    fresh = schedule(max_age_s)
    fresh.begin(now)
    fresh.succeeded(now, partial=False, news=True)
    return fresh


def test_the_first_refresh_is_due_at_once_and_full() -> None:
    fresh = schedule()
    assert fresh.due_at() <= 0.0
    assert fresh.begin(0.0) is False


def test_metadata_is_refreshed_at_its_age() -> None:
    fresh = refreshed(10.0)
    assert fresh.due_at() == 310.0
    assert fresh.begin(310.0) is False


def test_an_age_of_zero_is_no_busy_loop() -> None:
    assert refreshed(10.0, max_age_s=0.0).due_at() == pytest.approx(10.1)


def test_many_requests_are_one_refresh_at_once() -> None:
    fresh = refreshed(10.0)
    for _ in range(3):
        fresh.request()
    assert fresh.due_at() <= 10.0
    assert fresh.begin(10.0) is False
    fresh.succeeded(10.1, partial=False, news=True)
    assert fresh.due_at() == pytest.approx(310.1)


def test_a_request_during_a_refresh_is_kept_for_the_next() -> None:
    fresh = refreshed(10.0)
    fresh.request()
    fresh.begin(10.0)
    fresh.request()
    fresh.succeeded(10.1, partial=False, news=True)
    assert fresh.due_at() <= 10.1


def test_failures_are_backed_off_exponentially_and_tried_again() -> None:
    fresh = refreshed(0.0)
    fresh.request()
    now, waits = 0.0, []
    for _ in range(6):
        fresh.begin(now)
        fresh.failed(now, partial=False)
        waits.append(fresh.due_at() - now)
        now = fresh.due_at()
    assert waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0, 1.0])
    fresh.begin(now)
    fresh.succeeded(now, partial=False, news=True)
    assert fresh.due_at() == pytest.approx(now + 300)


def test_requested_answers_without_news_are_backed_off_exponentially() -> None:
    """Answers without news, to a requested update, make the backoff grow (2f-9)."""
    fresh = refreshed(0.0)
    now, waits = 0.0, []
    for _ in range(5):
        fresh.request()
        fresh.begin(now)
        fresh.succeeded(now, partial=False, news=False)
        fresh.request()
        waits.append(fresh.due_at() - now)
        now = fresh.due_at()
    assert waits == pytest.approx([0.1, 0.2, 0.4, 0.8, 1.0])
    fresh.begin(now)
    fresh.succeeded(now, partial=False, news=True)
    fresh.request()
    assert fresh.due_at() <= now


def test_while_a_leader_is_awaited_the_pauses_stay_short_for_ten_seconds() -> None:
    fresh = refreshed(0.0)
    now, waits = 0.0, []
    for _ in range(110):
        fresh.request()
        fresh.begin(now)
        fresh.succeeded(now, partial=False, news=False, awaits_leader=True)
        fresh.request()
        waits.append(fresh.due_at() - now)
        now = fresh.due_at()
    assert waits[:99] == pytest.approx([0.1] * 99)
    assert waits[-1] == pytest.approx(1.0)


def test_an_awaited_leader_is_asked_for_without_further_requests() -> None:
    fresh = refreshed(0.0)
    fresh.succeeded(1.0, partial=False, news=True, awaits_leader=True)
    assert fresh.due_at() == pytest.approx(1.1)
    fresh.begin(1.1)
    fresh.succeeded(1.1, partial=False, news=True)
    assert fresh.due_at() == pytest.approx(301.1)
    fresh.succeeded(50.0, partial=False, news=True, awaits_leader=True)  # ten seconds begin again
    assert fresh.due_at() == pytest.approx(50.1)


def test_a_refresh_at_age_without_news_holds_nothing_back() -> None:
    fresh = refreshed(0.0)
    fresh.begin(300.0)
    fresh.succeeded(300.0, partial=False, news=False)
    fresh.request()
    assert fresh.due_at() <= 300.0


def test_urgent_requests_wait_for_failures_only() -> None:
    fresh = refreshed(0.0)
    fresh.request()
    fresh.begin(0.0)
    fresh.succeeded(0.0, partial=False, news=False)
    fresh.request(partial=True, urgent=True)
    assert fresh.due_at() <= 0.0
    assert fresh.begin(0.0) is True
    fresh.failed(0.0, partial=True)
    fresh.request(partial=True, urgent=True)
    assert fresh.due_at() == pytest.approx(0.1)


def test_a_partial_refresh_leaves_the_age_of_the_rest() -> None:
    fresh = refreshed(0.0)
    fresh.request(partial=True)
    assert fresh.begin(100.0) is True
    fresh.succeeded(100.0, partial=True, news=True)
    assert fresh.due_at() == 300.0


def test_a_partial_request_becomes_full_when_somebody_wants_all_or_the_age_is_there() -> None:
    fresh = refreshed(0.0)
    fresh.request(partial=True)
    fresh.request()
    assert fresh.begin(1.0) is False
    fresh = refreshed(0.0)
    fresh.request(partial=True)
    assert fresh.begin(300.0) is False


def test_the_trial_counts_from_the_first_attempt_after_the_last_success() -> None:
    """The time without metadata counts from the first attempt after the last success (KIP-1102)."""
    fresh = refreshed(0.0)
    assert fresh.trying_for(200.0) == 0.0
    fresh.begin(300.0)
    fresh.failed(301.0, partial=False)
    fresh.begin(350.0)
    assert fresh.trying_for(400.0) == 100.0
    fresh.restart_trial(400.0)
    assert fresh.trying_for(401.0) == 1.0
    fresh.succeeded(402.0, partial=False, news=True)
    assert fresh.trying_for(500.0) == 0.0


def test_a_failure_can_ask_for_a_longer_pause_than_the_backoff() -> None:
    asked = refreshed()
    asked.request()
    asked.begin(10.0)
    asked.failed(10.0, partial=False, at_least_s=5.0)
    assert asked.due_at() == 15.0
