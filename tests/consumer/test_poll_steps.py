"""What a poll does between its waits: its turns, its idle time, and when it looks again."""

from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite.consumer import poll_steps
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector import FetchCollector
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.poll_steps import PollSteps, RunningPoll
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.testing.fake_clock import FakeClock


class Bench:
    """The steps of a consumer that reads nothing."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        client: Any = SimpleNamespace(
            clock=self.clock, config=SimpleNamespace(client_id="c"), metadata=None
        )
        subscription = SubscriptionState(None)
        buffer = FetchBuffer(subscription.revision)
        collector = FetchCollector(subscription, buffer)
        nothing: Any = None
        self.steps = PollSteps(
            client,
            subscription,
            PollSignal(self.clock),
            buffer,
            collector,
            nothing,
            None,
            nothing,
            leader_timeout_s=1.0,
        )

    def turns(self, polls: int, *, may_wait: bool = True) -> list[bool]:
        return [self.steps._is_turn_over(may_wait) for _ in range(polls)]


def test_after_eight_polls_the_others_run() -> None:
    bench = Bench()
    assert bench.turns(10) == [True, *[False] * 8, True]


async def test_after_two_milliseconds_the_others_run_and_another_turn_begins() -> None:
    bench = Bench()
    assert bench.turns(2) == [True, False]
    await bench.clock.advance(poll_steps._TURN_S)
    assert bench.turns(3) == [True, False, False]


def test_a_poll_that_may_not_wait_and_finds_nothing_buffered_lets_them_run_each_time() -> None:
    assert Bench().turns(3, may_wait=False) == [True] * 3


async def test_time_in_which_several_polls_wait_counts_once() -> None:
    bench = Bench()
    bench.steps._begin_idle()
    await bench.clock.advance(1.0)
    bench.steps._begin_idle()
    await bench.clock.advance(2.0)
    bench.steps._end_idle()
    assert bench.steps.idle_s == pytest.approx(3.0)
    await bench.clock.advance(4.0)
    bench.steps._end_idle()
    await bench.clock.advance(8.0)
    assert bench.steps.idle_s == pytest.approx(7.0)


def test_a_poll_looks_again_at_the_earliest_moment() -> None:
    earliest = Bench().steps._earliest
    assert earliest(None, None) is None
    assert earliest(3.0, None, 2.0) == 2.0
    assert earliest(1.0, 4.0) == 1.0
    assert earliest(None, 4.0) == 4.0


def test_a_poll_awaits_the_fetches_of_its_first_look_and_no_later_ones() -> None:
    poll = RunningPoll((), lambda _: None, None)
    first, second, later = (SimpleNamespace() for _ in range(3))
    told: list[Any] = [{id(first), id(second)}, {id(second), id(later)}, {id(later)}]
    assert [poll.are_over(frozenset(pending)) for pending in told] == [False, False, True]
