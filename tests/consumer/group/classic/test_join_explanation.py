"""A member says why it has no assignment: each reason is arranged on a broker."""

import asyncio

from aiokafka_lite.errors import (
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
)
from aiokafka_lite.metrics.explanation import WaitReason
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.consumer.test_fetch_explanation import told, until
from tests.scenarios.consuming import PATIENCE_S, embedded
from tests.scenarios.grouping import assigned, expel, member_of

(P0,) = tps(0)


async def test_the_coordinator_is_not_known_and_then_the_group_forms() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(FindCoordinatorRequest, GroupCoordinatorNotAvailableError, times=None)
        consumer = member_of(broker, "t")
        starting = asyncio.create_task(consumer.start())
        async with asyncio.timeout(PATIENCE_S):
            while "looking for the coordinator of group" not in str(consumer.explain()):
                await asyncio.sleep(0)
        found = told(consumer, None)
        assert found.reason is WaitReason.COORDINATOR_UNKNOWN
        assert found.error is not None
        broker.faults.clear()
        broker.faults.stall(JoinGroupRequest)
        await broker.wait_until(lambda: bool(broker.requests_of(JoinGroupRequest)))
        assert (
            "waits until all its members" in (await until(consumer, WaitReason.JOINING, None)).text
        )
        broker.faults.stall(SyncGroupRequest)
        broker.faults.release()
        await starting
        assert not [each for each in consumer.explain() if each.topic_partition is None]
        await consumer.stop()


async def test_an_assignment_that_is_being_made() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.stall(SyncGroupRequest)
        consumer = member_of(broker, "t")
        starting = asyncio.create_task(consumer.start())
        async with asyncio.timeout(PATIENCE_S):
            while "is assigning" not in str(consumer.explain()):
                await asyncio.sleep(0)
        assert told(consumer, None).reason is WaitReason.JOINING
        broker.faults.release()
        await starting
        await consumer.stop()


async def test_a_refused_member_is_explained_before_a_poll_raises() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        broker.faults.fail(HeartbeatRequest, GroupAuthorizationFailedError)
        found = await until(consumer, WaitReason.JOIN_REFUSED, None)
        assert "the next poll raises it" in found.text
        assert found.error is not None


async def test_a_lost_membership_says_what_the_coordinator_said() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        broker.faults.stall(JoinGroupRequest)
        await expel(consumer)
        found = await until(consumer, WaitReason.JOINING, None)
        assert "UNKNOWN_MEMBER_ID" in found.text
        assert told(consumer, P0).reason is WaitReason.BEING_REVOKED
        broker.faults.release()
        await assigned(consumer, [P0])


async def test_a_member_that_was_not_polled() -> None:
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        member_of(
            broker, "t", clock=clock, heartbeat_interval_ms=3000, max_poll_interval_ms=10_000
        ) as consumer,
    ):
        await consumer.getmany(timeout_ms=0)
        await clock.advance(10.5)
        found = await until(consumer, WaitReason.POLL_OVERDUE, None)
        assert "max_poll_interval_ms=10000" in found.text


async def test_a_static_member_whose_place_was_taken() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", group_instance_id="i")
        async with consumer, member_of(broker, "t", group_instance_id="i"):
            found = await until(consumer, WaitReason.FENCED, None)
            assert "unsubscribe()" in found.text
            consumer.unsubscribe()
