"""What the coordinator may answer to members that join or live, row by row (2e-3, 2e-4)."""

import asyncio
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    GroupMaxSizeReachedError,
    IllegalGenerationError,
    InconsistentGroupProtocolError,
    InvalidGroupIdError,
    InvalidSessionTimeoutError,
    KafkaTimeoutError,
    NotCoordinatorForGroupError,
    RebalanceInProgressError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, eventually, fill, offsets
from tests.scenarios.grouping import Listener, assigned, member_of, nobody_is_left, poll, stable

P0, P1 = tps(0, 1)

asked = pytest.mark.parametrize("request_type", [JoinGroupRequest, SyncGroupRequest])


async def poll_for_ever(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    async with asyncio.timeout(30):
        while True:
            await consumer.getmany(timeout_ms=100)


# While joining…


async def test_2e_3_member_id_required_is_answered_at_once_without_another_preparation() -> None:
    """The second JoinGroup has the id, and the listener hears of the join once (KIP-394)."""
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            first, second = broker.requests_of(JoinGroupRequest)
            assert first.member_id == ""
            assert second.member_id == next(iter(broker.group("g").members))
            assert first.reason == second.reason
            assert listener.diary == [("revoked", []), ("assigned", [0])]


@asked
@pytest.mark.parametrize(
    ("error", "finds_again"),
    [
        (GroupCoordinatorNotAvailableError, True),
        (NotCoordinatorForGroupError, True),
        (GroupLoadInProgressError, False),
        (RebalanceInProgressError, False),
    ],
)
async def test_2e_3_what_may_pass_is_tried_again(
    request_type: type, error: type[BrokerResponseError], finds_again: bool
) -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(request_type, error, times=2)
        async with member_of(broker, "t") as consumer:
            assert consumer.assignment() == {P0}
            await stable(broker, 1)
            finds = len(broker.requests_of(FindCoordinatorRequest))
            assert finds == (3 if finds_again else 1)


@asked
@pytest.mark.parametrize("error", [UnknownMemberIdError, IllegalGenerationError])
async def test_2e_3_a_membership_that_is_gone_begins_anew(
    request_type: type, error: type[BrokerResponseError]
) -> None:
    async with embedded({"t": 1}, group_max_size=5) as broker:
        broker.faults.fail(request_type, error)
        consumer = member_of(broker, "t", rebalance_timeout_ms=200)
        await asyncio.wait_for(consumer.start(), 30)
        assert consumer.assignment() == {P0}
        ids = [request.member_id for request in broker.requests_of(JoinGroupRequest)]
        if error is UnknownMemberIdError:
            assert ids.count("") == 2, "without the id that is not known"
        elif request_type is SyncGroupRequest:
            assert ids[-1] == ids[-2] != "", "the id is as good as before"
        await consumer.stop()


@asked
@pytest.mark.parametrize(
    "error",
    [
        InconsistentGroupProtocolError,
        InvalidSessionTimeoutError,
        InvalidGroupIdError,
        GroupAuthorizationFailedError,
        GroupMaxSizeReachedError,
    ],
)
async def test_2e_3_what_is_refused_for_good_is_raised_by_start_which_may_be_repeated(
    request_type: type, error: type[BrokerResponseError]
) -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(request_type, error)
        consumer = member_of(broker, "t")
        with pytest.raises(error, match="'g'"):
            await asyncio.wait_for(consumer.start(), 30)
        await asyncio.wait_for(consumer.start(), 30)
        assert consumer.assignment() == {P0}
        await consumer.stop()


async def test_2e_3_what_the_broker_itself_refuses() -> None:
    async with embedded({"t": 1}, group_max_size=1) as broker:
        with pytest.raises(InvalidSessionTimeoutError, match="'g'"):
            await member_of(broker, "t", session_timeout_ms=5000).start()
        async with member_of(broker, "t"):
            with pytest.raises(GroupMaxSizeReachedError, match="'g'"):
                await member_of(broker, "t").start()
            strange = [RoundRobinPartitionAssignor]
            with pytest.raises(
                (InconsistentGroupProtocolError, GroupMaxSizeReachedError), match="'g'"
            ):
                await member_of(broker, "t", partition_assignment_strategy=strange).start()


@asked
async def test_2e_3_after_start_what_is_refused_is_raised_by_a_poll_and_the_next_one_tries_anew(
    request_type: type,
) -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        broker.faults.fail(request_type, GroupAuthorizationFailedError)
        consumer.enforce_rebalance()
        with pytest.raises(GroupAuthorizationFailedError, match="'g'"):
            await poll_for_ever(consumer)
        joins = len(broker.requests_of(JoinGroupRequest))
        await consumer.topics()
        assert len(broker.requests_of(JoinGroupRequest)) == joins, "it rests until the next poll"
        assert sorted(offsets(await poll(consumer))) == [0]
        await assigned(consumer, {P0, P1})


async def test_2e_3_a_lost_connection_while_joining_is_no_reason_to_give_up() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.cut(JoinGroupRequest, times=1)
        broker.faults.cut(SyncGroupRequest, times=1)
        consumer = member_of(broker, "t", rebalance_timeout_ms=100)
        await asyncio.wait_for(consumer.start(), 30)
        assert consumer.assignment() == {P0}
        await consumer.stop()


async def test_2e_3_no_assignment_in_time_ends_start_and_leaves_nothing() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(JoinGroupRequest, GroupLoadInProgressError, times=None)
        consumer = member_of(
            broker,
            "t",
            clock=clock,
            default_api_timeout_ms=7000,
            rebalance_timeout_ms=1000,
            retry_backoff_ms=500,
            retry_backoff_max_ms=500,
        )
        with pytest.raises(KafkaTimeoutError, match=r"no assignment in group 'g' within 7 s"):
            await asyncio.wait_for(consumer.start(), 30)
        assert clock.monotonic() == pytest.approx(7, abs=0.2)


async def test_2e_3_joining_again_waits_for_a_backoff_that_grows() -> None:
    clock = FakeClock(autojump_threshold_s=0.1)
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(JoinGroupRequest, GroupLoadInProgressError, times=3)
        consumer = member_of(broker, "t", clock=clock, retry_backoff_ms=100)
        starting = asyncio.create_task(consumer.start())
        moments = []
        for count in range(1, 6):
            await broker.wait_until(partial(has_joined, broker, count))
            moments.append(clock.monotonic())
        delays = [later - earlier for earlier, later in pairwise(moments)]
        assert 0.08 <= delays[0] <= 0.12
        assert 0.16 <= delays[1] <= 0.24
        assert 0.32 <= delays[2] <= 0.48
        assert delays[3] == 0, "with the member id that came at last, at once"
        await asyncio.wait_for(starting, 30)
        await consumer.stop()


def has_joined(broker: EmbeddedBroker, count: int) -> bool:
    return len(broker.requests_of(JoinGroupRequest)) >= count


async def test_a_group_that_may_not_be_looked_for_is_told_by_start() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(FindCoordinatorRequest, GroupAuthorizationFailedError)
        with pytest.raises(GroupAuthorizationFailedError, match="'g'"):
            await asyncio.wait_for(member_of(broker, "t").start(), 30)


# Heartbeats…


@pytest.mark.parametrize(
    "error",
    [GroupCoordinatorNotAvailableError, NotCoordinatorForGroupError, GroupLoadInProgressError],
)
async def test_2e_4_a_heartbeat_that_fails_for_now_is_repeated_and_nothing_is_lost(
    error: type[BrokerResponseError],
) -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            broker.faults.fail(HeartbeatRequest, error, times=2)
            beats = len(broker.requests_of(HeartbeatRequest))
            await broker.wait_until(lambda: len(broker.requests_of(HeartbeatRequest)) > beats + 3)
            assert listener.diary[2:] == []
            assert len(broker.requests_of(JoinGroupRequest)) == 2


@pytest.mark.parametrize("error", [GroupAuthorizationFailedError, TopicAuthorizationFailedError])
async def test_2e_4_a_heartbeat_that_is_refused_is_raised_by_the_next_poll(
    error: type[BrokerResponseError],
) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        broker.faults.fail(HeartbeatRequest, error)
        with pytest.raises(error):
            await poll_for_ever(consumer)
        fill(broker, P0, 2)
        await poll(consumer)
        await assigned(consumer, {P0})


async def test_2e_4_fenced_by_a_heartbeat_is_for_good() -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, group_instance_id="i")
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            broker.faults.fail(HeartbeatRequest, FencedInstanceIdError)
            for _ in range(3):
                with pytest.raises(FencedInstanceIdError):
                    await poll(consumer)
            await eventually(consumer, lambda: bool(listener.diary[2:]))
            assert listener.diary[2:] == [("lost", [0])]
        assert broker.requests_of(OffsetCommitRequest) == []


# Old brokers…


@pytest.mark.parametrize("version", [0, 1, 2, 3, 4, 5, 6, 7, 8])
async def test_older_versions_of_the_group_apis_serve_as_well(version: int) -> None:
    older = {
        JoinGroupRequest.api_key: version,
        SyncGroupRequest.api_key: min(version, 5),
        HeartbeatRequest.api_key: min(version, 4),
        13: min(version, 5),
        OffsetCommitRequest.api_key: max(version, 2),
        9: max(version, 1),
        FindCoordinatorRequest.api_key: min(version, 6),
    }
    async with embedded({"t": 1}, max_versions=older) as broker:
        fill(broker, P0, 2)
        async with member_of(broker, "t") as consumer:
            await poll(consumer)
            await consumer.commit()
            assert await consumer.committed(P0) == 2
        await nobody_is_left(broker)
        async with member_of(broker, "t") as again:
            assert await again.position(P0) == 2
