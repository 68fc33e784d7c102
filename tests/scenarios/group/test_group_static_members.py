"""Static members on a broker: restarts without a rebalance, fencing, no leaving (KIP-345, H7)."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.errors import FencedInstanceIdError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill, offsets
from tests.scenarios.grouping import Listener, assigned, committed, grow, member_of, poll

P0, P1, P2 = tps(0, 1, 2)

strategies = pytest.mark.parametrize(
    "strategy",
    [[RangePartitionAssignor], [CooperativeStickyAssignor], None],
    ids=["range", "cooperative-sticky", "default"],
)


async def test_h7_the_instance_id_stands_in_every_request_that_has_room_for_it() -> None:
    async with embedded({"t": 1}) as broker:
        async with member_of(broker, "t", group_instance_id="i") as consumer:
            fill(broker, P0, 1)
            await poll(consumer)
            await consumer.commit()
            await broker.wait_until(lambda: bool(broker.requests_of(HeartbeatRequest)))
        for kind in (JoinGroupRequest, SyncGroupRequest, HeartbeatRequest, OffsetCommitRequest):
            requests: list[Any] = broker.requests_of(kind)
            assert requests
            assert {request.group_instance_id for request in requests} == {"i"}, kind
        (member,) = broker.group("g").members.values()
        assert member.group_instance_id == "i"


@strategies
async def test_2e_5_a_restart_within_the_session_keeps_the_assignment_without_a_rebalance(
    strategy: object,
) -> None:
    async with embedded({"t": 2}) as broker:
        listener = Listener()
        leader = member_of(broker, group_instance_id="a", partition_assignment_strategy=strategy)
        leader.subscribe(["t"], listener=listener)
        async with leader:
            fill(broker, P0, 4)
            fill(broker, P1, 4)
            first = member_of(
                broker, "t", group_instance_id="b", partition_assignment_strategy=strategy
            )
            await first.start()
            await assigned(leader, {P0})
            await assigned(first, {P1})
            generation_id = broker.group("g").generation_id
            calls = len(listener.diary)
            assert offsets(await poll(first)) == {1: [0, 1, 2, 3]}
            await first.stop()
            assert broker.requests_of(LeaveGroupRequest) == []
            assert len(broker.group("g").members) == 2, "it keeps its place"
            async with member_of(
                broker, "t", group_instance_id="b", partition_assignment_strategy=strategy
            ) as again:
                assert again.assignment() == {P1}
                fill(broker, P1, 1)
                assert offsets(await poll(again)) == {1: [4]}, "from where it stopped"
            assert broker.group("g").generation_id == generation_id
            assert leader.assignment() == {P0}
            assert len(listener.diary) == calls, "nobody else noticed"


@strategies
async def test_kip_814_a_static_leader_that_restarts_does_not_assign_anew(strategy: object) -> None:
    """But it goes on watching the topics of the group."""
    async with embedded({"t": 2}) as broker:
        options = {"partition_assignment_strategy": strategy, "metadata_max_age_ms": 100}
        leader = member_of(broker, "t", group_instance_id="a", **options)
        await leader.start()
        async with member_of(broker, "t", group_instance_id="b", **options) as other:
            await assigned(leader, {P0})
            await assigned(other, {P1})
            generation_id = broker.group("g").generation_id
            await leader.stop()
            broker.forget_requests()
            async with member_of(broker, "t", group_instance_id="a", **options) as again:
                assert again.assignment() == {P0}
                assert broker.group("g").generation_id == generation_id
                (sync,) = broker.requests_of(SyncGroupRequest)
                assert sync.assignments == [], "the group's assignment is as it was"
                grow(broker, "t", 3)
                await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
                await broker.wait_until(
                    lambda: (
                        sum(len(m.partitions()) for m in broker.group("g").members.values()) == 3
                    )
                )


async def test_2e_5_unsubscribe_does_not_leave_either() -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, group_instance_id="i")
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            generation_id = broker.group("g").generation_id
            consumer.unsubscribe()
            consumer.subscribe(["t"], listener=listener)
            await assigned(consumer, {P0})
            assert broker.requests_of(LeaveGroupRequest) == []
            assert broker.group("g").generation_id == generation_id
            assert ("revoked", [0]) in listener.diary[2:]


async def test_2e_3_a_second_consumer_of_that_name_fences_the_first_for_good() -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        first = member_of(broker, group_instance_id="i")
        first.subscribe(["t"], listener=listener)
        await first.start()
        fill(broker, P0, 2)
        await poll(first)
        async with member_of(broker, "t", group_instance_id="i") as second:
            assert second.assignment() == {P0}
            for _ in range(2):
                with pytest.raises(FencedInstanceIdError, match="group_instance_id="):
                    await poll(first)
            with pytest.raises(FencedInstanceIdError):
                await asyncio.wait_for(first.getone(), 30)
            while not listener.diary[2:]:  # it hears from the member's task, maybe a turn later
                await asyncio.sleep(0)
            assert listener.diary[2:] == [("lost", [0])]
            assert first.assignment() == set()
            joins = len(broker.requests_of(JoinGroupRequest))
            assert offsets(await poll(second)) == {0: [0, 1]}
            await first.stop()
            assert committed(broker) == {}, "the first may commit nothing any more"
            assert len(broker.requests_of(JoinGroupRequest)) == joins
            assert broker.requests_of(LeaveGroupRequest) == []
        assert committed(broker) == {P0: 2}


@pytest.mark.parametrize("request_type", [JoinGroupRequest, SyncGroupRequest])
async def test_2e_3_fenced_while_joining_is_raised_by_start(request_type: type) -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.fail(request_type, FencedInstanceIdError)
        consumer = member_of(broker, "t", group_instance_id="i")
        with pytest.raises(FencedInstanceIdError):
            await asyncio.wait_for(consumer.start(), 30)
        await asyncio.wait_for(consumer.start(), 30)
        assert consumer.assignment() == {P0}
        await consumer.stop()


async def test_a_static_member_that_does_not_come_back_is_missed_when_its_session_ends() -> None:
    clock = FakeClock()
    async with embedded({"t": 2}, clock=clock) as broker:
        options = {"session_timeout_ms": 10_000, "heartbeat_interval_ms": 3000, "clock": clock}
        async with member_of(broker, "t", client_id="a", **options) as stays:
            gone = member_of(broker, "t", client_id="b", group_instance_id="i", **options)
            starting = asyncio.create_task(gone.start())
            await broker.wait_until(lambda: len(broker.group("g").members) == 2)
            await clock.advance(3.1)
            await asyncio.wait_for(starting, 30)
            await assigned(stays, stays.assignment())
            assert len(stays.assignment()) == 1
            await gone.stop()
            await clock.advance(6)
            assert len(broker.group("g").members) == 2
            await clock.advance(5)
            await broker.wait_until(lambda: len(broker.group("g").members) == 1)
            await clock.advance(3.1)
            await assigned(stays, {P0, P1})


async def test_2e_6_what_a_static_member_gave_up_before_it_lost_its_membership_gets_an_owner() -> (
    None
):
    """It comes back without a rebalance; but the next owner waits for one (KIP-429, KIP-345)"""
    is_leaving = asyncio.Event()

    class Slow(Listener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            await is_leaving.wait()
            self.note("revoked", revoked)

    clock, listener = FakeClock(), Slow()
    options: dict[str, Any] = {"partition_assignment_strategy": [CooperativeStickyAssignor]}
    options |= {"session_timeout_ms": 45_000, "heartbeat_interval_ms": 3000, "clock": clock}
    async with embedded({"t": 2}, clock=clock) as broker:
        keeps = member_of(broker, group_instance_id="i", max_poll_interval_ms=10_000, **options)
        keeps.subscribe(["t"], listener=listener)
        async with keeps, member_of(broker, **options) as takes:
            takes.subscribe(["t"])
            await broker.wait_until(lambda: len(broker.group("g").members) == 2)
            await clock.advance(3.1)
            await assigned(takes, ())
            await clock.advance(10)
            is_leaving.set()
            generation_id = broker.group("g").generation_id
            broker.forget_requests()
            assert await keeps.getmany() == {}
            await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 2)
            await clock.advance(3.1)
            await assigned(takes, {P1})
            await assigned(keeps, {P0})
            assert broker.group("g").generation_id == generation_id + 1
            told = [(what, partitions) for what, partitions in listener.diary[1:] if partitions]
            assert told == [("revoked", [1]), ("lost", [0]), ("assigned", [0])]
