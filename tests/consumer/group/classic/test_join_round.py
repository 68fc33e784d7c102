"""One round of JoinGroup and SyncGroup, against the embedded broker (2e-1 to 2e-3)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.group.classic.heartbeat_timer import HeartbeatTimer
from aiokafka_lite.consumer.group.classic.heartbeats import Heartbeats
from aiokafka_lite.consumer.group.classic.join_round import JoinRefusedError, JoinRound
from aiokafka_lite.consumer.group.classic.member import MemberState
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import KafkaError, MemberIdRequired, RebalanceInProgressError
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from tests.consumer.batches import tps
from tests.consumer.group.classic.test_classic_coordinator import Scene, scene_of


class Listening(RangePartitionAssignor):
    """Writes down the assignments and generations that it is told."""

    def __init__(self) -> None:
        self.told: list[object] = []

    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        self.told.append(assignment.partitions())

    def on_generation(self, generation_id: int) -> None:
        self.told.append(generation_id)


class Rounds:
    """The rounds of one member that subscribes to topic t, which has two partitions."""

    def __init__(self, scene: Scene, assignor: RangePartitionAssignor) -> None:
        self.broker, self.member, self.coordinator = scene.broker, scene.member, scene.coordinator
        client = scene.client
        self.timer = HeartbeatTimer(3.0, 10.0, client.retry_backoff)
        watch = LoopWatch(client.clock, "rounds", 3.0, lambda: False)
        heartbeats = Heartbeats(
            scene.coordinator,
            scene.member,
            self.timer,
            watch,
            client.clock,
            _never,
            _never,
            client.waits,
        )
        self.subscription = subscription = SubscriptionState(None)
        subscription.subscribe(["t"], by_group=True)
        config = ConsumerConfig(
            bootstrap_servers=scene.broker.bootstrap_servers,
            group_id="g",
            partition_assignment_strategy=[assignor],
        )
        self.round = JoinRound(
            config, client, subscription, scene.member, scene.coordinator, heartbeats
        )

    async def run(self) -> ConsumerProtocolMemberAssignment | None:
        """One round, as the membership plays it."""
        return await self.round.run(self.member.begin_join())

    async def take_member_id(self) -> None:
        """Be refused once, for the sake of the member id (KIP-394)."""
        with pytest.raises(JoinRefusedError) as refused:
            await self.run()
        assert refused.value.error_code == MemberIdRequired.errno
        self.member.take_member_id(refused.value.member_id)


def _never(*_: object) -> None:
    raise AssertionError("no heartbeat is sent here")


@asynccontextmanager
async def rounds_of(
    assignor: RangePartitionAssignor | None = None, **options: Any
) -> AsyncIterator[Rounds]:
    async with scene_of(**options) as scene:
        scene.broker.create_topic("t", 2)
        yield Rounds(scene, assignor or RangePartitionAssignor())


async def test_a_round_ends_with_the_assignment_and_a_stable_member() -> None:
    async with rounds_of(assignor := Listening()) as rounds:
        await rounds.take_member_id()
        assigned = await rounds.run()
        assert assigned is not None
        assert assigned.partitions() == tps(0, 1)
        assert rounds.member.state is MemberState.STABLE
        assert rounds.round.leader.topics == {"t"}
        assert rounds.timer.due_at_s > 0, "heartbeats were not started"
        assert assigned.partitions() in assignor.told
        assert rounds.member.generation.generation_id in assignor.told


async def test_2e_3_a_refused_sync_names_its_code() -> None:
    async with rounds_of() as rounds:
        await rounds.take_member_id()
        rounds.broker.faults.fail(SyncGroupRequest, RebalanceInProgressError)
        with pytest.raises(JoinRefusedError) as refused:
            await rounds.run()
        assert refused.value.error_code == RebalanceInProgressError.errno
        assert rounds.member.state is MemberState.COMPLETING_REBALANCE


async def test_2e_4_a_generation_that_is_over_before_the_assignment_comes_has_none() -> None:
    async with rounds_of() as rounds:
        await rounds.take_member_id()
        rounds.broker.faults.stall(SyncGroupRequest)
        running = asyncio.ensure_future(rounds.run())
        await rounds.broker.wait_until(
            lambda: rounds.member.state is MemberState.COMPLETING_REBALANCE
        )
        rounds.member.lose_generation()
        rounds.broker.faults.release()
        assert await running is None
        assert rounds.member.state is MemberState.UNJOINED


async def test_an_error_of_the_assignor_names_it() -> None:
    class Broken(RangePartitionAssignor):
        def on_assignment(self, assignment: Any) -> None:
            raise ValueError("of the assignor")

    async with rounds_of(Broken()) as rounds:
        await rounds.take_member_id()
        with pytest.raises(KafkaError, match="'range' raised ValueError"):
            await rounds.run()


@pytest.mark.parametrize("group_instance_id", ["i", None], ids=["static", "dynamic"])
async def test_2e_6_what_a_member_gives_up_has_no_owner_if_it_comes_back_without_a_rebalance(
    group_instance_id: str | None,
) -> None:
    """Only a static member does (KIP-345); then it has to join once more"""
    async with rounds_of(group_instance_id=group_instance_id) as rounds:
        if group_instance_id is None:
            await rounds.take_member_id()
        await rounds.run()
        rounds.subscription.assign_from_group(tps(0, 1), await_callback=False)
        await rounds.run()  # the member reports both as its own
        assert rounds.round.withheld(tps(1)) == set(), "it is known that it has given 0 up"

        member_id = rounds.member.generation.member_id
        rounds.member.lose_membership()
        rounds.subscription.lose_everything()
        if group_instance_id is None:
            await rounds.coordinator.leave(member_id, "a test", 30)
            await rounds.take_member_id()
        await rounds.run()
        is_back = group_instance_id is not None
        assert rounds.round.withheld(tps(1)) == (set(tps(0)) if is_back else set())
        assert rounds.round.withheld(tps(0, 1)) == set()

        await rounds.run()
        assert rounds.round.withheld(tps(1)) == set(), "the group has heard of it"
