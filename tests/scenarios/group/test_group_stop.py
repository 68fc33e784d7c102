"""What a consumer that stops tells its group, by each protocol, also when it is cancelled."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import StaleMemberEpochError
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill
from tests.scenarios.grouping import AsyncListener, Listener, poll

P0, P1 = tps(0, 1)

protocols = pytest.mark.parametrize("protocol", ["classic", "consumer", "auto"])

Member = AIOKafkaConsumer[Any, Any]


def member_by(broker: EmbeddedBroker, protocol: str, **options: Any) -> Member:
    """A member of group g by this protocol, not started."""
    options = {"group_id": "g", "retry_backoff_ms": 1, **options}
    return consumer_of(broker, "t", group_protocol=protocol, **options)


@asynccontextmanager
async def stage(protocol: str, **options: Any) -> AsyncIterator[tuple[EmbeddedBroker, Member]]:
    """A broker, and a member that has polled one record, which is not committed yet."""
    async with embedded({"t": 1}) as broker:
        member = member_by(broker, protocol, **options)
        await member.start()
        fill(broker, P0, 1)
        await poll(member)
        yield broker, member


def goodbyes(broker: EmbeddedBroker) -> int:
    """How often a member told the coordinator that it leaves."""
    beats = broker.requests_of(ConsumerGroupHeartbeatRequest)
    left = [beat for beat in beats if beat.member_epoch < 0]
    return len(left) + len(broker.requests_of(LeaveGroupRequest))


@protocols
@pytest.mark.parametrize(
    ("operation", "instance_id", "said", "stays"),
    [
        ("default", None, 1, False),
        ("leave_group", None, 1, False),
        ("remain_in_group", None, 0, True),
        ("default", "i", 1, True),
        ("leave_group", "i", 1, False),
        ("remain_in_group", "i", 1, True),
    ],
)
async def test_kip_1092_the_operation_says_whether_the_member_leaves(
    protocol: str, operation: Any, instance_id: str | None, said: int, stays: bool
) -> None:
    """Static members of the newer protocol leave for a while; classic ones say nothing."""
    async with stage(protocol, group_instance_id=instance_id) as (broker, member):
        await member.stop(group_membership_operation=operation)
        if protocol == "classic" and stays:
            said = 0
        assert goodbyes(broker) == said
        assert bool(broker.group("g").members) is stays
        assert broker.group("g").offsets[P0].offset == 1


async def test_the_last_commit_gets_the_newest_epoch() -> None:
    """Heartbeats go on until the member leaves: a commit in a stale epoch needs the next answer."""
    async with stage("consumer") as (broker, member):
        broker.forget_requests()
        broker.faults.fail(OffsetCommitRequest, StaleMemberEpochError, times=1)
        await member.stop()
        kinds = (ConsumerGroupHeartbeatRequest, OffsetCommitRequest)
        sent = [each.request for each in broker.requests if isinstance(each.request, kinds)]
        assert [type(each) for each in sent] == [
            OffsetCommitRequest,
            ConsumerGroupHeartbeatRequest,
            OffsetCommitRequest,
            ConsumerGroupHeartbeatRequest,
        ]
        assert [each.member_epoch < 0 for each in sent if isinstance(each, kinds[0])] == [
            False,
            True,
        ]
        assert broker.group("g").offsets[P0].offset == 1


async def test_an_unknown_operation_is_refused_and_the_member_goes_on() -> None:
    async with stage("consumer") as (broker, member):
        with pytest.raises(ValueError, match=r"'default', .*'remain_in_group', not 'x'"):
            await member.stop(group_membership_operation="x")  # type: ignore[arg-type]
        fill(broker, P0, 1)
        await poll(member)
        await member.stop()


@protocols
async def test_a_stop_that_is_cancelled_during_the_last_commit_leaves_the_group(
    protocol: str,
) -> None:
    async with stage(protocol) as (broker, member):
        broker.faults.stall(OffsetCommitRequest)
        stopping = asyncio.create_task(member.stop())
        await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
        stopping.cancel()
        broker.faults.release()
        await asyncio.wait([stopping], timeout=30)
        assert stopping.cancelled()
        assert goodbyes(broker) == 1
        assert not broker.group("g").members


@protocols
async def test_a_stop_that_is_cancelled_in_the_listener_leaves_the_group(protocol: str) -> None:
    class Hanging(AsyncListener):
        async def on_partitions_revoked(self, revoked: object) -> None:
            if revoked:
                is_called.set()
                await asyncio.Event().wait()

    is_called = asyncio.Event()
    async with embedded({"t": 1}) as broker:
        member = member_by(broker, protocol)
        member.subscribe(["t"], listener=Hanging())
        await member.start()
        stopping = asyncio.create_task(member.stop())
        await is_called.wait()
        stopping.cancel()
        await asyncio.wait([stopping], timeout=30)
        assert stopping.cancelled()
        assert not broker.group("g").members


@protocols
async def test_a_stop_in_a_cancelled_scope_leaves_the_group(protocol: str) -> None:
    async with stage(protocol) as (broker, member):
        with anyio.CancelScope() as scope:
            scope.cancel()
            await member.stop()
        assert scope.cancelled_caught
        assert not broker.group("g").members


@protocols
async def test_after_an_exception_the_member_leaves_and_commits_nothing_new(protocol: str) -> None:
    listener = Listener()
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        member = member_by(broker, protocol)
        member.subscribe(["t"], listener=listener)
        with pytest.raises(ZeroDivisionError):
            async with member:
                assert 1 / len((await poll(member)).get(P1, ()))
        assert listener.diary[-1] == ("revoked", [0])
        assert not broker.group("g").members
        assert not broker.group("g").offsets


@protocols
async def test_a_stop_while_the_listener_hears_of_unsubscribe_leaves_the_group(
    protocol: str,
) -> None:
    """The background task ends in the listener; the coordinator is told all the same."""

    class Hanging(AsyncListener):
        async def on_partitions_revoked(self, revoked: object) -> None:
            if revoked:
                is_called.set()
                await asyncio.Event().wait()

    is_called = asyncio.Event()
    async with embedded({"t": 1}) as broker:
        member = member_by(broker, protocol)
        member.subscribe(["t"], listener=Hanging())
        await member.start()
        member.unsubscribe()
        await is_called.wait()
        await member.stop()
        assert goodbyes(broker) == 1
        assert not broker.group("g").members
