"""Groups in trouble: coordinators that move or are silent, ends within bounds, cancelled calls."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    GroupLoadInProgressError,
    KafkaError,
    KafkaTimeoutError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill, offsets
from tests.scenarios.grouping import Listener, assigned, committed, member_of, poll, stable

P0, P1 = tps(0, 1)
BY_HAND: dict[str, Any] = {"enable_auto_commit": False}


# Coordinators…


async def test_2e_4_a_coordinator_that_moves_is_found_again_and_nothing_is_lost() -> None:
    async with embedded({"t": 1}, nodes=2) as broker:
        listener = Listener()
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 2)
            await poll(consumer)
            generation_id = broker.group("g").generation_id
            other = 2 if broker.group("g").coordinator == 1 else 1
            broker.move_coordinator("g", other)
            await broker.wait_until(
                lambda: any(
                    r.node_id == other and isinstance(r.request, HeartbeatRequest)
                    for r in broker.requests
                )
            )
            await consumer.commit()
            assert committed(broker) == {P0: 2}
            assert broker.group("g").generation_id == generation_id
            assert listener.diary[2:] == []


async def test_2e_4_a_coordinator_that_dies_is_replaced() -> None:
    async with embedded({"t": 2}, nodes=3) as broker, member_of(broker, "t") as consumer:
        coordinator = broker.group("g").coordinator
        assert coordinator is not None
        broker.stop_node(coordinator)
        fill(broker, P0, 2)
        await poll(consumer)
        await asyncio.wait_for(consumer.commit(), 30)
        assert committed(broker)[P0] == 2
        assert broker.group("g").coordinator != coordinator


async def test_2e_4_without_an_answer_for_the_session_timeout_the_coordinator_is_looked_for(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Its own clock tells the member that the coordinator has given it up by now."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = member_of(
            broker,
            "t",
            clock=clock,
            heartbeat_interval_ms=3000,
            session_timeout_ms=10_000,
            request_timeout_ms=60_000,
        )
        async with consumer:
            finds = len(broker.requests_of(FindCoordinatorRequest))
            broker.faults.drop(HeartbeatRequest, times=None)
            with caplog.at_level(logging.INFO):
                for _ in range(30):
                    await clock.advance(1)
                    if len(broker.requests_of(FindCoordinatorRequest)) > finds:
                        break
            assert 9 <= clock.monotonic() <= 25
            assert len(broker.requests_of(FindCoordinatorRequest)) > finds
            broker.faults.clear()
            broker.drop_connections()
            await clock.advance(3)
            await broker.wait_until(lambda: bool(broker.group("g").members))


async def test_a_member_that_the_coordinator_gave_up_comes_back_by_itself() -> None:
    """Its session ended while nobody could reach the coordinator."""
    clock = FakeClock()
    async with embedded({"t": 1}, clock=clock) as broker:
        listener = Listener()
        consumer = member_of(
            broker, clock=clock, heartbeat_interval_ms=3000, session_timeout_ms=10_000
        )
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            broker.faults.stall(HeartbeatRequest, times=None)
            await clock.advance(11)
            await broker.wait_until(lambda: not broker.group("g").members)
            broker.faults.release()
            await clock.advance(4)
            await stable(broker, 1)
            await assigned(consumer, {P0})
            assert listener.diary[2:] == [("lost", [0]), ("assigned", [0])]


# Ends…


async def test_d3_stop_ends_within_its_bound_when_the_brokers_are_gone() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(
            broker, "t", clock=clock, heartbeat_interval_ms=3000, retry_backoff_ms=500
        )
        await consumer.start()
        fill(broker, P0, 2)
        await poll(consumer)
        broker.stop_node(1)
        before_s = clock.monotonic()
        await asyncio.wait_for(consumer.stop(timeout_ms=4000), 30)
        assert clock.monotonic() - before_s <= 5.1
        with pytest.raises(ConsumerStoppedError):
            await consumer.getone()


NODES = (1, 2, 3)


async def dead(broker: EmbeddedBroker, clock: FakeClock) -> None:
    for node_id in NODES:
        broker.stop_node(node_id)


async def silent(broker: EmbeddedBroker, clock: FakeClock) -> None:
    """Connections stand, and nothing is answered on them."""
    for api in ApiKey:
        broker.faults.stall(api, times=None)


unreachable = pytest.mark.parametrize("brokers", [dead, silent])


@unreachable
@pytest.mark.parametrize("way", ["stop", "async with", "exception"])
async def test_without_a_broker_a_member_gives_up_after_five_seconds_and_says_what_is_lost(
    brokers: Callable[[EmbeddedBroker, FakeClock], Awaitable[None]],
    way: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Whatever stop_timeout_ms is; offsets that were not committed are logged with the reason."""
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}, nodes=3) as broker:
        consumer = member_of(
            broker, "t", clock=clock, heartbeat_interval_ms=3000, stop_timeout_ms=600_000
        )
        await consumer.start()
        fill(broker, P0, 2)
        await poll(consumer)
        await poll_in_vain(consumer)
        await brokers(broker, clock)
        before_s = clock.monotonic()
        if way == "stop":
            await asyncio.wait_for(consumer.stop(), 30)
        else:
            error = None if way == "async with" else ZeroDivisionError()
            closing = consumer.__aexit__(None if error is None else type(error), error, None)
            await asyncio.wait_for(closing, 30)
        assert clock.monotonic() - before_s <= 5.1
        (said,) = [line for line in caplog.messages if "auto-commit" in line]
        assert "offsets of t-0 were not committed within 4.5 s; last failure: " in said
        reason = "refused" if brokers is dead else "the coordinator has not answered"
        assert reason in said
        broker.faults.clear()


async def poll_in_vain(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """What the poll before has returned counts as processed with this one."""
    assert await asyncio.wait_for(consumer.getmany(), 30) == {}


@unreachable
async def test_without_a_broker_a_commit_of_the_listener_ends_with_the_stop(
    brokers: Callable[[EmbeddedBroker, FakeClock], Awaitable[None]],
) -> None:
    """What else the listener does then is not cut short."""

    class Committer(Listener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            if revoked:
                with pytest.raises(KafkaTimeoutError, match="t-0 were not committed within"):
                    await consumer.commit()
                await clock.sleep(4)
                self.note("revoked", revoked)

    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}, nodes=3) as broker:
        listener = Committer()
        consumer = member_of(broker, clock=clock, heartbeat_interval_ms=3000, **BY_HAND)
        consumer.subscribe(["t"], listener=listener)
        await consumer.start()
        fill(broker, P0, 2)
        await poll(consumer)
        await brokers(broker, clock)
        before_s = clock.monotonic()
        await asyncio.wait_for(consumer.stop(), 30)
        assert clock.monotonic() - before_s <= 5.1 + 4
        assert listener.diary[-1] == ("revoked", [0])
        broker.faults.clear()


@pytest.mark.parametrize("stop_timeout_ms", [8000, 40_000])
async def test_while_brokers_answer_stop_has_its_whole_time_to_commit(
    stop_timeout_ms: int, caplog: pytest.LogCaptureFixture
) -> None:
    """A coordinator that loads for twelve seconds is reached; `stop_timeout_ms` decides."""
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(
            broker,
            "t",
            clock=clock,
            heartbeat_interval_ms=3000,
            retry_backoff_ms=1000,
            stop_timeout_ms=stop_timeout_ms,
        )
        async with consumer:
            fill(broker, P0, 2)
            await poll(consumer)
            broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError, times=12)
            before_s = clock.monotonic()
        took_s = clock.monotonic() - before_s
        assert not broker.group("g").members
        if stop_timeout_ms == 8000:
            assert 5 < took_s <= 8.1
            assert "last failure: [Error 14] GroupLoadInProgressError" in caplog.text
        else:
            assert 9 < took_s < 20
            assert committed(broker) == {P0: 2}


async def test_d3_a_time_given_to_stop_goes_before_the_option() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(
            broker, "t", clock=clock, heartbeat_interval_ms=3000, stop_timeout_ms=60_000
        )
        await consumer.start()
        fill(broker, P0, 2)
        await poll(consumer)
        broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError, times=None)
        before_s = clock.monotonic()
        await asyncio.wait_for(consumer.stop(timeout_ms=2000), 30)
        assert clock.monotonic() - before_s <= 2.1


@pytest.mark.parametrize(
    "request_type", [OffsetCommitRequest, LeaveGroupRequest, HeartbeatRequest, JoinGroupRequest]
)
async def test_d3_stop_ends_within_its_bound_when_the_coordinator_is_silent(
    request_type: type,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", clock=clock, heartbeat_interval_ms=3000)
        await consumer.start()
        fill(broker, P0, 2)
        await poll(consumer)
        broker.faults.drop(request_type, times=None)
        if request_type is JoinGroupRequest:
            consumer.enforce_rebalance()
            await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 3)
        before_s = clock.monotonic()
        await asyncio.wait_for(consumer.stop(timeout_ms=4000), 30)
        assert clock.monotonic() - before_s <= 4.1


async def test_stop_while_the_member_joins_leaves_the_group_all_the_same() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t")
        await consumer.start()
        broker.faults.stall(SyncGroupRequest)
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: len(broker.requests_of(SyncGroupRequest)) == 2)
        await asyncio.wait_for(consumer.stop(), 30)
        await broker.wait_until(lambda: not broker.group("g").members)


async def test_stop_twice_at_once_ends_both_and_leaves_once() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t")
        await consumer.start()
        await asyncio.wait_for(asyncio.gather(consumer.stop(), consumer.stop()), 30)
        await consumer.stop()
        assert len(broker.requests_of(LeaveGroupRequest)) == 1


async def test_stop_while_start_waits_for_the_assignment() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.stall(JoinGroupRequest)
        consumer = member_of(broker, "t")
        starting = asyncio.create_task(consumer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(JoinGroupRequest)))
        await asyncio.wait_for(consumer.stop(), 30)
        await asyncio.wait([starting], timeout=30)
        assert isinstance(starting.exception(), ConsumerStoppedError), "by itself, not cancelled"
        broker.faults.release()


# Cancellation…


@pytest.mark.parametrize(
    "request_type", [FindCoordinatorRequest, JoinGroupRequest, SyncGroupRequest]
)
async def test_a_cancelled_start_leaves_nothing_and_may_be_repeated(request_type: type) -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.stall(request_type)
        consumer = member_of(broker, "t", rebalance_timeout_ms=100)
        starting = asyncio.create_task(consumer.start())
        await broker.wait_until(lambda: bool(broker.requests_of(request_type)))
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled()
        broker.faults.release()
        await asyncio.wait_for(consumer.start(), 30)
        assert consumer.assignment() == {P0}
        await consumer.stop()


@pytest.mark.parametrize("request_type", [JoinGroupRequest, SyncGroupRequest])
async def test_a_start_cancelled_twice_leaves_nothing(request_type: type) -> None:
    """The second blow strikes while it tidies up, at each of its moments."""
    for steps in range(1, 10):
        async with embedded({"t": 1}) as broker:
            broker.faults.stall(request_type)
            consumer = member_of(broker, "t", rebalance_timeout_ms=100)
            starting = asyncio.create_task(consumer.start())
            await broker.wait_until(lambda: bool(broker.requests_of(request_type)))
            starting.cancel()
            for _ in range(steps):
                await asyncio.sleep(0)
            starting.cancel()
            await asyncio.wait([starting])
            assert starting.cancelled()
            broker.faults.release()


async def test_a_cancelled_commit_leaves_nothing_and_the_next_one_is_stored() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.stall(OffsetCommitRequest)
        committing = asyncio.create_task(consumer.commit({P0: 3}))
        await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
        committing.cancel()
        await asyncio.wait([committing])
        assert committing.cancelled()
        broker.faults.release()
        await asyncio.wait_for(consumer.commit({P0: 4}), 30)
        assert committed(broker) == {P0: 4}


async def test_a_cancelled_commit_between_two_attempts_leaves_no_timer() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", clock=clock, heartbeat_interval_ms=3000, **BY_HAND)
        async with consumer:
            broker.faults.cut(OffsetCommitRequest, times=None)
            before = clock.pending_timers
            committing = asyncio.create_task(consumer.commit({P0: 3}))
            await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
            committing.cancel()
            await asyncio.wait([committing])
            broker.faults.clear()
            await asyncio.wait_for(_until(lambda: clock.pending_timers <= before + 2), 30)


async def _until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0)


async def test_a_cancelled_stop_ends_tasks_and_sockets_all_the_same() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t")
        await consumer.start()
        fill(broker, P0, 1)
        await poll(consumer)
        broker.faults.stall(OffsetCommitRequest)
        stopping = asyncio.create_task(consumer.stop())
        await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
        stopping.cancel()
        await asyncio.wait([stopping], timeout=30)
        assert stopping.cancelled()
        broker.faults.release()
        assert "stopped" in repr(consumer)


async def test_a_cancelled_poll_during_a_rebalance_takes_nothing_along() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        broker.faults.stall(JoinGroupRequest)
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 3)
        fill(broker, P0, 3)
        polling = asyncio.create_task(consumer.getone())
        await asyncio.sleep(0)
        polling.cancel()
        await asyncio.wait([polling])
        broker.faults.release()
        assert offsets(await poll(consumer)) == {0: [0, 1, 2]}


# A background that fails…


async def test_an_assignor_that_raises_is_named_by_start_and_by_polls() -> None:
    class Faulty:
        name = "faulty"

        @classmethod
        def metadata(cls, topics: object) -> object:
            if not topics:  # the constructor looks whether it works
                return ConsumerProtocolMemberMetadata(0, [], b"")
            raise ZeroDivisionError

        @classmethod
        def assign(cls, cluster: object, members: object) -> object:
            return {}

        @classmethod
        def on_assignment(cls, assignment: object) -> None:
            pass

    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", partition_assignment_strategy=[Faulty])
        with pytest.raises(KafkaError, match="'faulty' raised ZeroDivisionError"):
            await asyncio.wait_for(consumer.start(), 30)
        await consumer.stop()
        late = member_of(broker, partition_assignment_strategy=[Faulty])
        async with late:
            late.subscribe(["t"])
            with pytest.raises(KafkaError, match="'faulty' raised ZeroDivisionError"):
                await poll(late)


async def test_an_unclosed_member_is_noticed() -> None:
    """Its tasks hold no reference to it."""
    async with embedded({"t": 1}) as broker:
        loop = asyncio.get_running_loop()
        told: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: told.append(context))
        with pytest.warns(ResourceWarning, match="Unclosed AIOKafkaConsumer"):
            await member_of(broker, "t").start()
        loop.set_exception_handler(None)
        assert [context["message"] for context in told] == ["Unclosed AIOKafkaConsumer"]
        told.clear()  # it holds the consumer
