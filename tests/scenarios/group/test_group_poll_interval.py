"""max_poll_interval_ms: whom it strikes, whom never, and the way back (2e-4, KIP-62); and what is
said of a membership that was lost because the event loop was blocked.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import CommitFailedError, KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, eventually, fill, offsets
from tests.scenarios.grouping import (
    Listener,
    assigned,
    committed,
    expel,
    member_of,
    nobody_is_left,
    poll,
)

P0, P1 = tps(0, 1)
WARNING_TEXT = "no poll for most of max_poll_interval_ms=10000"


def watched(broker: EmbeddedBroker, clock: FakeClock, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    """A member that has to poll every ten seconds of the clock, not subscribed."""
    options = {"heartbeat_interval_ms": 3000, "max_poll_interval_ms": 10_000, **options}
    return member_of(broker, clock=clock, **options)


def members(broker: EmbeddedBroker) -> int:
    return len(broker.group("g").members)


async def test_who_holds_records_for_too_long_is_warned_leaves_and_comes_back_with_a_poll(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock, listener = FakeClock(), Listener()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock, client_id="app")
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 2)
            await poll(consumer)
            await clock.advance(7.9)
            assert "no poll" not in caplog.text
            await clock.advance(0.2)
            assert WARNING_TEXT in caplog.text, "before it strikes"
            assert "client 'app'" in caplog.text
            await clock.advance(1.8)
            assert members(broker) == 1
            await clock.advance(0.2)
            await nobody_is_left(broker)
            assert caplog.text.count(WARNING_TEXT) == 1
            (left,) = broker.requests_of(LeaveGroupRequest)
            assert "poll" in (left.members[0].reason or ""), "KIP-800"
            await clock.advance(60)
            assert members(broker) == 0, "it does not come back by itself"
            assert len(broker.requests_of(JoinGroupRequest)) == 2
            assert listener.diary[2:] == [], "nor is the listener called before the next poll"
            assert consumer.assignment() == {P0}
            assert await consumer.getmany() == {}
            await assigned(consumer, {P0})
            assert listener.diary[2:] == [("lost", [0]), ("assigned", [0])]
            assert offsets(await poll(consumer)) == {0: [0, 1]}, "nothing was committed"
            joins = broker.requests_of(JoinGroupRequest)
            assert joins[2].reason == "the application polls again", "KIP-800"


async def test_nothing_is_returned_or_committed_of_what_the_group_gave_away() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock, max_poll_records=1)
        consumer.subscribe(["t"])
        async with consumer:
            fill(broker, P0, 3)
            assert offsets(await poll(consumer)) == {0: [0]}
            await clock.advance(10.1)
            await nobody_is_left(broker)
            with pytest.raises(CommitFailedError):
                await consumer.commit()
            assert committed(broker) == {}
            async with member_of(broker, "t", max_poll_records=1) as other:
                assert offsets(await poll(other)) == {0: [0]}
                assert await consumer.getmany() == {}


async def test_who_never_polls_does_not_hold_its_partitions_for_ever() -> None:
    """Others could read them; nothing need lie unread here. Time counts from the assignment."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            await clock.advance(9.9)
            assert members(broker) == 1
            await clock.advance(0.2)
            await nobody_is_left(broker)
            fill(broker, P0, 1)
            assert await consumer.getmany() == {}
            await assigned(consumer, {P0})
            assert offsets(await poll(consumer)) == {0: [0]}


@pytest.mark.parametrize("is_paused", [False, True])
async def test_who_stops_polling_leaves_although_there_was_nothing_to_read(is_paused: bool) -> None:
    """Time counts from the end of the last poll, whatever that has returned (KIP-62)."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            if is_paused:
                consumer.pause(P0)
            for _ in range(3):
                await clock.advance(9)
                assert await consumer.getmany() == {}
            assert members(broker) == 1
            await clock.advance(9.9)
            assert members(broker) == 1
            await clock.advance(0.2)
            await nobody_is_left(broker)


async def test_a_rebalance_in_between_is_no_poll() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            generation_id = broker.group("g").generation_id
            await clock.advance(6)
            consumer.enforce_rebalance()
            await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
            await assigned(consumer, {P0})
            await clock.advance(4.1)
            await nobody_is_left(broker)


async def test_a_member_that_had_no_partitions_has_the_whole_interval_from_its_first_ones() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        first = member_of(broker, "t", client_id="a", clock=clock, heartbeat_interval_ms=3000)
        await first.start()
        idle = watched(broker, clock, client_id="b")
        idle.subscribe(["t"])
        starting = asyncio.create_task(idle.start())
        while not starting.done():
            await clock.advance(3.1)
        assert idle.assignment() == frozenset()
        await clock.advance(60)
        stopping = asyncio.create_task(first.stop())
        while not idle.assignment():
            await clock.advance(0.5)
        await stopping
        await assigned(idle, {P0})
        await clock.advance(8)
        assert members(broker) == 1
        await clock.advance(2.1)
        await nobody_is_left(broker)
        await idle.stop()


async def test_unsubscribed_and_subscribed_again_a_member_has_the_whole_interval() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            await clock.advance(9)
            consumer.unsubscribe()
            await nobody_is_left(broker)
            await clock.advance(60)
            consumer.subscribe(["t"])
            await assigned(consumer, {P0})
            await clock.advance(9)
            assert members(broker) == 1
            await clock.advance(1.1)
            await nobody_is_left(broker)


async def test_a_member_without_partitions_never_leaves() -> None:
    """aiokafka #1187."""
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", client_id="a", heartbeat_interval_ms=3000),
    ):
        idle = watched(broker, clock, client_id="b")
        idle.subscribe(["t"])
        starting = asyncio.create_task(idle.start())
        await asyncio.wait_for(starting, 30)
        await assigned(idle, ())
        await clock.advance(60)
        assert members(broker) == 2
        assert broker.requests_of(LeaveGroupRequest) == []
        await idle.stop()


@pytest.mark.parametrize("reader", ["getmany", "getone"])
async def test_a_poll_that_waits_is_a_poll(reader: str) -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            call: Awaitable[Any] = consumer.getone()
            if reader == "getmany":
                await asyncio.wait_for(_cancelled(call), 30)
                call = consumer.getmany(timeout_ms=600_000)
            waiting = asyncio.ensure_future(call)
            await clock.advance(60)
            assert members(broker) == 1
            fill(broker, P0, 1)
            await asyncio.wait_for(waiting, 30)


async def _cancelled(call: Awaitable[object]) -> None:
    task = asyncio.ensure_future(call)
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def _cancel_getone(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    await _cancelled(consumer.getone())


async def _cancel_getmany(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    await _cancelled(consumer.getmany(timeout_ms=60_000))


@pytest.mark.parametrize("cancel", [_cancel_getone, _cancel_getmany])
async def test_d2_a_cancelled_poll_does_not_switch_the_watch_off(
    cancel: Callable[[AIOKafkaConsumer[Any, Any]], Awaitable[None]],
) -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            for _ in range(3):
                await cancel(consumer)
            fill(broker, P0, 1)
            await poll(consumer)
            await clock.advance(10.1)
            await nobody_is_left(broker)


async def test_the_fast_path_of_getone_counts_as_polls() -> None:
    """Records decoded ahead are handed out without a poll being reported."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            fill(broker, P0, 20)
            for offset in range(12):
                assert (await consumer.getone()).offset == offset
                await clock.advance(6)
            assert members(broker) == 1
            await clock.advance(10.1)
            await nobody_is_left(broker)
            # Not of what was decoded ahead: the group may have given it away.
            reading = asyncio.create_task(consumer.getone())
            record = await asyncio.wait_for(reading, 30)
            assert record.offset == committed(broker)[P0]


async def test_a_poll_in_time_ends_the_warning(caplog: pytest.LogCaptureFixture) -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock, max_poll_records=1)
        consumer.subscribe(["t"])
        async with consumer:
            fill(broker, P0, 3)
            for count in (1, 2, 3):
                await poll(consumer)
                await clock.advance(9)
                assert caplog.text.count(WARNING_TEXT) == count
            assert members(broker) == 1


async def test_a_static_member_is_struck_without_leaving() -> None:
    """A static member sends no LeaveGroup and may come back without a rebalance (2e-5)."""
    clock, listener = FakeClock(), Listener()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock, group_instance_id="i")
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 1)
            await poll(consumer)
            generation_id = broker.group("g").generation_id
            await clock.advance(10.1)
            heartbeats = len(broker.requests_of(HeartbeatRequest))
            await clock.advance(10)
            assert len(broker.requests_of(HeartbeatRequest)) == heartbeats, "it fell silent"
            assert broker.requests_of(LeaveGroupRequest) == []
            assert await consumer.getmany() == {}
            await assigned(consumer, {P0})
            assert listener.diary[2:] == [("lost", [0]), ("assigned", [0])]
            assert broker.group("g").generation_id == generation_id


async def test_an_error_of_the_group_does_not_switch_the_watch_off() -> None:
    class Raising(Listener):
        def on_partitions_assigned(self, assigned: set[TopicPartition]) -> object:
            raise ZeroDivisionError

    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"], listener=Raising())
        async with consumer:
            with pytest.raises(KafkaError):
                await consumer.getmany()
            fill(broker, P0, 1)
            await poll(consumer)
            await clock.advance(10.1)
            await nobody_is_left(broker)


async def test_leaving_for_silence_is_bounded_when_the_coordinator_is_silent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock)
        consumer.subscribe(["t"])
        async with consumer:
            fill(broker, P0, 1)
            await poll(consumer)
            broker.faults.drop(LeaveGroupRequest)
            with caplog.at_level(logging.INFO):
                await clock.advance(10.1)
                await broker.wait_until(lambda: bool(broker.requests_of(LeaveGroupRequest)))
                await clock.advance(2.1)
            await eventually(consumer, lambda: "may not hear of it" in caplog.text)


# A blocked event loop…


async def block(clock: FakeClock, seconds: float) -> None:
    """Let time go by without the loop having its turn, as a long computation does."""
    clock._now += seconds
    await clock.advance(0)


async def test_a_session_lost_to_a_blocked_loop_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """In the log, and in the error of a commit: nobody else is to blame."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        options = {"enable_auto_commit": False, "session_timeout_ms": 10_000}
        consumer = member_of(
            broker, "t", clock=clock, client_id="app", heartbeat_interval_ms=3000, **options
        )
        async with consumer:
            fill(broker, P0, 1)
            await poll(consumer)
            await expel(consumer)  # as the coordinator does when it hears no heartbeat
            broker.faults.stall(HeartbeatRequest, times=None)
            await block(clock, 15)
            assert "'app': the event loop was blocked for at least 14.0 s" in caplog.text
            with pytest.raises(CommitFailedError, match=r"blocked for at least 14\.0 s"):
                await consumer.commit()
            await eventually(consumer, lambda: "lost t-0: the coordinator heard no" in caplog.text)
            broker.faults.release()
            await assigned(consumer, {P0})
            await expel(consumer)
            await clock.advance(3.1)
            await eventually(consumer, lambda: caplog.text.count("lost t-0") == 2)
            assert "lost t-0: the group has moved on without this member" in caplog.text
            await assigned(consumer, {P0})


async def test_leaving_for_silence_says_for_how_much_of_it_the_loop_was_blocked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = watched(broker, clock, session_timeout_ms=45_000, enable_auto_commit=False)
        consumer.subscribe(["t"])
        async with consumer:
            fill(broker, P0, 1)
            await poll(consumer)
            await block(clock, 12)
            await nobody_is_left(broker)
            said = "no poll for max_poll_interval_ms=10000, with the event loop blocked for 11.0 s"
            assert said in caplog.text
            with pytest.raises(CommitFailedError, match=said):
                await consumer.commit()
