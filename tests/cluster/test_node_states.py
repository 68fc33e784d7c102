"""Backoff, setup timeouts, throttling, and which node to ask when any will do."""

import random

import pytest

from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.node_states import Candidate, NodeStates, least_loaded
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.errors import AuthenticationFailedError

RNG = random.Random(1)
ERROR = ConnectionError("refused")


def states(jitter: float = 0.0) -> NodeStates:
    return NodeStates(
        reconnect_backoff=ExponentialBackoff(0.05, 1.0, jitter=jitter, rng=RNG),
        setup_timeout=ExponentialBackoff(10.0, 30.0, jitter=jitter, rng=RNG),
    )


def test_an_unknown_node_may_be_tried_at_once() -> None:
    assert states().backoff_left(1, 0.0) == 0.0
    assert states().last_error(1) is None


def test_backoff_doubles_from_50_ms_to_1_s_and_counts_from_the_attempt() -> None:
    """The reconnect backoff doubles from 50 ms to 1 s and counts from the attempt (2f-3)."""
    nodes = states()
    now = 100.0
    waits = []
    for _ in range(7):
        nodes.connecting(1, now)
        nodes.failed(1, now, now + 0.01, ERROR)
        waits.append(nodes.backoff_left(1, now))
        now += 10
    assert waits == pytest.approx([0.05, 0.1, 0.2, 0.4, 0.8, 1.0, 1.0])
    assert nodes.last_error(1) is ERROR


def test_backoff_is_drawn_once_per_failure_with_jitter() -> None:
    nodes = states(jitter=0.2)
    nodes.connecting(1, 0.0)
    nodes.failed(1, 0.0, 0.0, ERROR)
    wait = nodes.backoff_left(1, 0.0)
    assert 0.04 <= wait <= 0.06
    assert nodes.backoff_left(1, 0.0) == wait


def test_a_failed_authentication_is_followed_by_the_longest_backoff() -> None:
    nodes = states()
    nodes.connecting(1, 0.0)
    nodes.failed(1, 0.0, 0.1, AuthenticationFailedError("no"))
    assert nodes.backoff_left(1, 0.1) == pytest.approx(0.9)


def test_only_a_ready_connection_ends_the_backoff() -> None:
    """Only a connection that became ready ends the backoff (2f-3)."""
    nodes = states()
    nodes.connecting(1, 0.0)
    nodes.failed(1, 0.0, 0.0, ERROR)
    nodes.connecting(1, 5.0)
    assert nodes.backoff_left(1, 5.0) > 0
    nodes.ready(1)
    assert nodes.backoff_left(1, 5.0) == 0.0
    assert nodes.last_error(1) is None
    nodes.failed(1, 5.0, 5.0, ERROR)
    assert nodes.backoff_left(1, 5.0) == pytest.approx(0.05)


def test_setup_timeout_grows_with_failures_from_10_to_30_s() -> None:
    """The connection setup timeout grows with each failure, from 10 s to 30 s (2f-3, KIP-601)."""
    nodes = states()
    timeouts = []
    for attempt in range(4):
        began = attempt * 100.0
        timeouts.append(nodes.connecting(1, began))
        nodes.failed(1, began, began + 1, ERROR)
    assert timeouts == pytest.approx([10.0, 20.0, 30.0, 30.0])
    nodes.ready(1)
    assert nodes.connecting(1, 1000.0) == pytest.approx(10.0)


def test_lanes_that_fail_together_count_as_one_failure() -> None:
    nodes = states()
    nodes.connecting(1, 0.0)
    nodes.connecting(1, 0.1)
    nodes.failed(1, 0.0, 1.0, ERROR)
    nodes.failed(1, 0.1, 1.1, ERROR)
    assert nodes.backoff_left(1, 0.1) == pytest.approx(0.05)


def test_a_node_that_moved_starts_without_a_past() -> None:
    nodes = states()
    nodes.connecting(1, 0.0)
    nodes.failed(1, 0.0, 0.0, ERROR)
    nodes.mute(1, Lane.FETCH, 9.0)
    nodes.forget(1)
    assert nodes.backoff_left(1, 0.0) == 0.0
    assert nodes.mute_left(1, Lane.FETCH, 0.0) == 0.0


def test_a_throttled_lane_is_quiet_until_the_deadline_and_the_others_talk() -> None:
    """A throttled connection is silent until its deadline; others go on (2f-7, KIP-219)."""
    nodes = states()
    nodes.mute(1, Lane.GENERAL, 7.0)
    nodes.mute(1, Lane.GENERAL, 6.0)
    assert nodes.mute_left(1, Lane.GENERAL, 5.0) == pytest.approx(2.0)
    assert nodes.mute_left(1, Lane.FETCH, 5.0) == 0.0
    assert nodes.mute_left(2, Lane.GENERAL, 5.0) == 0.0
    assert nodes.mute_left(1, Lane.GENERAL, 7.0) == 0.0
    assert nodes.backoff_left(1, 5.0) == 0.0


# Least loaded (2f-8)…


def node(
    node_id: int,
    *,
    connected: bool = False,
    connecting: float | None = None,
    in_flight: int = 0,
    delay_s: float = 0.0,
    last: float = 0.0,
) -> Candidate:
    return Candidate(node_id, connected, connecting, in_flight, delay_s, last)


@pytest.mark.parametrize(
    ("candidates", "chosen"),
    [
        ([node(1, connected=True, in_flight=1), node(2, connected=True)], 2),
        ([node(1, connected=True, in_flight=3), node(2, connected=True, in_flight=2)], 2),
        ([node(1, connecting=0.9), node(2, connected=True, in_flight=4)], 2),
        ([node(1, last=1.0), node(2, connecting=0.9, last=9.0)], 2),
        ([node(1, last=5.0), node(2, last=1.0)], 2),
        ([node(1, connecting=1.0, last=1.0), node(2, last=9.0)], 2),
        ([node(1, connecting=9.0), node(2, delay_s=0.1)], 1),
        ([node(1, connected=True, delay_s=0.1), node(2, last=9.0)], 2),
        ([node(1, delay_s=0.1)], None),
        ([], None),
    ],
)
def test_the_least_loaded_node_is_chosen(candidates: list[Candidate], chosen: int | None) -> None:
    assert least_loaded(candidates, random.Random(0)) == chosen


def test_among_equals_chance_decides() -> None:
    rng = random.Random(0)
    candidates = [node(node_id, connected=True) for node_id in range(4)]
    assert {least_loaded(candidates, rng) for _ in range(100)} == {0, 1, 2, 3}
