"""When heartbeats are due and when the session is over, at explicit moments (2e-4)."""

import random

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.consumer.group.classic.heartbeat_timer import HeartbeatTimer

INTERVAL_S = 3.0
SESSION_S = 45.0

moments = st.floats(0, 1e6)


def a_timer(initial_s: float = 0.1, max_s: float = 1.0) -> HeartbeatTimer:
    backoff = ExponentialBackoff(initial_s, max_s, jitter=0, rng=random.Random(1))
    timer = HeartbeatTimer(INTERVAL_S, SESSION_S, backoff)
    timer.restart(100.0)
    return timer


def test_2e_4_the_first_heartbeat_is_due_an_interval_after_joining() -> None:
    timer = a_timer()
    assert timer.due_at_s == 103.0
    assert timer.expires_at_s == 145.0


def test_the_interval_counts_from_the_sending_not_from_the_answer() -> None:
    timer = a_timer()
    timer.sent(103.0)
    timer.answered(105.0)
    assert timer.due_at_s == 106.0
    assert timer.expires_at_s == 150.0


def test_sending_alone_does_not_lengthen_the_session() -> None:
    """Without success the coordinator is unknown after the session timeout (2e-4)."""
    timer = a_timer()
    for now_s in range(103, 145, 3):
        timer.sent(now_s)
        timer.failed(now_s)
    assert timer.expires_at_s == 145.0


def test_2e_4_failures_are_tried_again_after_a_backoff_that_doubles() -> None:
    timer = a_timer()
    delays_s = []
    for _ in range(6):
        timer.sent(110.0)
        timer.failed(110.0)
        delays_s.append(round(timer.due_at_s - 110.0, 6))
    assert delays_s == [0.1, 0.2, 0.4, 0.8, 1.0, 1.0]


def test_a_backoff_longer_than_the_interval_waits_the_interval() -> None:
    timer = a_timer(initial_s=60.0, max_s=60.0)
    timer.failed(110.0)
    assert timer.due_at_s == 113.0


def test_an_answer_ends_the_row_of_failures() -> None:
    timer = a_timer()
    timer.failed(110.0)
    timer.failed(110.0)
    timer.answered(111.0)
    timer.failed(112.0)
    assert timer.due_at_s == 112.1


def test_a_restart_ends_the_row_of_failures() -> None:
    timer = a_timer()
    timer.failed(110.0)
    timer.failed(110.0)
    timer.restart(111.0)
    timer.failed(112.0)
    assert timer.due_at_s == 112.1


def test_the_session_is_over_exactly_at_its_end() -> None:
    timer = a_timer()
    assert not timer.is_expired(144.999)
    assert timer.is_expired(145.0)


def test_a_timer_that_never_began_is_expired() -> None:
    backoff = ExponentialBackoff(0.1, 1.0, rng=random.Random(1))
    assert HeartbeatTimer(INTERVAL_S, SESSION_S, backoff).is_expired(0.0)


@given(st.lists(st.tuples(st.sampled_from(["sent", "answered", "failed"]), st.floats(0, 60))))
def test_the_next_heartbeat_is_never_further_away_than_an_interval(
    events: list[tuple[str, float]],
) -> None:
    timer, now_s = a_timer(), 100.0
    heard_at_s = 100.0
    for event, passed_s in events:
        now_s += passed_s
        getattr(timer, event)(now_s)
        if event == "answered":
            heard_at_s = now_s
        assert timer.due_at_s <= now_s + INTERVAL_S
        assert timer.expires_at_s == heard_at_s + SESSION_S
