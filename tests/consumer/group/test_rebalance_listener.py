"""Listeners may be plain or async, and may fail: the rebalance goes on and the next poll hears."""

import asyncio
import functools
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener, ListenerCalls
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.fake_clock import settle

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


class Plain(ConsumerRebalanceListener):
    def __init__(self) -> None:
        self.heard: list[tuple[str, Any]] = []

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.heard.append(("revoked", revoked))

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.heard.append(("assigned", assigned))


class Async(Plain):
    """Each method waits before it writes down what it heard."""

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().on_partitions_revoked(revoked)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        super().on_partitions_assigned(assigned)


class WithLost(Plain):
    def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self.heard.append(("lost", lost))


class Failing(Plain):
    """Raises what `error` makes."""

    error: Callable[[], BaseException] = ValueError

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        raise self.error()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        raise self.error()


def calls_of(listener: ConsumerRebalanceListener | None) -> ListenerCalls:
    calls = ListenerCalls()
    calls.listener = listener
    return calls


@pytest.mark.parametrize("kind", [Plain, Async])
async def test_plain_and_async_methods_are_called_and_waited_for(kind: type[Plain]) -> None:
    calls = calls_of(listener := kind())
    await calls.revoked({T0})
    await calls.assigned([T0, T1])
    await calls.assigned(())
    assert listener.heard == [("revoked", {T0}), ("assigned", {T0, T1}), ("assigned", set())]
    assert calls.take_error() is None


@pytest.mark.parametrize("kind", [Plain, Async])
async def test_lost_means_revoked_unless_it_is_overridden(kind: type[Plain]) -> None:
    """`on_partitions_lost` calls `on_partitions_revoked` unless it is overridden (KIP-429)."""
    calls = calls_of(listener := kind())
    await calls.lost({T0})
    assert listener.heard == [("revoked", {T0})]


async def test_an_overridden_lost_is_called_in_place_of_revoked() -> None:
    calls = calls_of(listener := WithLost())
    await calls.lost({T0})
    assert listener.heard == [("lost", {T0})]


async def test_without_a_listener_nothing_happens() -> None:
    calls = calls_of(None)
    await calls.revoked({T0})
    await calls.assigned({T0})
    await calls.lost({T0})
    assert calls.take_error() is None


@pytest.mark.parametrize(("is_lost", "told"), [(False, "revoked"), (True, "lost")])
async def test_who_leaves_tells_the_listener_it_had_not_the_present_one(
    is_lost: bool, told: str
) -> None:
    calls, former = calls_of(WithLost()), WithLost()
    await calls.left({T0}, former, is_lost=is_lost)
    await calls.left({T0}, None, is_lost=is_lost)
    assert former.heard == [(told, {T0})]
    assert isinstance(calls.listener, WithLost)
    assert calls.listener.heard == []


async def test_a_listener_gets_a_set_of_its_own() -> None:
    class Greedy(Plain):
        def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            revoked.clear()

    mine = {T0}
    await calls_of(Greedy()).revoked(mine)
    assert mine == {T0}


async def test_an_error_is_kept_for_the_next_poll_with_its_cause(
    caplog: pytest.LogCaptureFixture,
) -> None:
    calls = calls_of(Failing())
    await calls.revoked({T0})
    error = calls.take_error()
    assert isinstance(error, KafkaError)
    assert "on_partitions_revoked of the rebalance listener raised ValueError()" in str(error)
    assert isinstance(error.__cause__, ValueError)
    assert "the rebalance goes on although on_partitions_revoked raised" in caplog.text
    assert calls.take_error() is None


async def test_of_several_errors_the_first_is_kept() -> None:
    calls = calls_of(Failing())
    await calls.assigned({T0})
    await calls.revoked({T0})
    assert "on_partitions_assigned" in str(calls.take_error())
    assert calls.take_error() is None


async def test_a_listener_that_awaits_something_cancelled_has_failed_like_any_other() -> None:
    """Nobody has cancelled the rebalance, so it goes on."""
    listener = Failing()
    listener.error = asyncio.CancelledError
    calls = calls_of(listener)
    await calls.revoked({T0})
    await calls.assigned({T0})
    assert "on_partitions_revoked of the rebalance listener raised CancelledError" in str(
        calls.take_error()
    )


async def test_cancelling_the_rebalance_ends_the_listener() -> None:
    class Waiting(Plain):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:  # type: ignore[override]
            try:
                await asyncio.get_running_loop().create_future()
            finally:
                self.heard.append(("cancelled", assigned))

    calls = calls_of(listener := Waiting())
    task = asyncio.create_task(calls.assigned({T0}))
    await settle()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert listener.heard == [("cancelled", {T0})]
    assert calls.take_error() is None


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_what_ends_the_program_is_not_kept(error: type[BaseException]) -> None:
    listener = Failing()
    listener.error = error
    coroutine = calls_of(listener).revoked({T0})
    with pytest.raises(error):
        coroutine.send(None)


async def test_a_method_may_be_any_callable() -> None:
    """A partial has no name of its own."""

    class Partial(Plain):
        on_partitions_assigned = functools.partialmethod(Failing.on_partitions_assigned)  # type: ignore[assignment]
        error = ValueError

    calls = calls_of(Partial())
    await calls.assigned({T0})
    assert "ValueError()" in str(calls.take_error())


async def test_the_listener_and_the_tasks_it_makes_are_known_until_it_returns() -> None:
    """A task that it leaves behind is one of the application's from then on."""
    returned, left_behind = asyncio.Event(), []

    class Worker(Plain):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:  # type: ignore[override]
            async def work() -> list[bool]:
                inside = calls.is_caller
                await returned.wait()
                return [inside, calls.is_caller]

            left_behind.append(asyncio.create_task(work()))
            self.heard.append(("inside", [calls.is_caller, other.is_caller]))
            await other.assigned(assigned)
            await asyncio.gather(asyncio.sleep(0))

    class Nested(Plain):
        def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            self.heard.append(("nested", [calls.is_caller, other.is_caller]))

    outer, inner = Worker(), Nested()
    calls, other = calls_of(outer), calls_of(inner)
    await calls.assigned([T0])
    assert not calls.is_caller
    returned.set()
    assert await left_behind[0] == [True, False]
    assert outer.heard == [("inside", [True, False])]
    assert inner.heard == [("nested", [True, True])]
