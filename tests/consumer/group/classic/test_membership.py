"""The task that keeps a member in its group: when it joins, rests, gives up and says so (2e-1 to
2e-10). A consumer on the embedded broker brings it to life; here it is looked at from the inside.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.classic.member import MemberState
from aiokafka_lite.consumer.group.classic.membership import ClassicMembership
from aiokafka_lite.consumer.group.group_errors import Action
from aiokafka_lite.errors import (
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    IllegalGenerationError,
    KafkaError,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, eventually
from tests.scenarios.grouping import AsyncListener, Listener, assigned, grow, member_of

P0, P1 = tps(0, 1)


class Scene:
    """A started consumer and its membership."""

    def __init__(self, broker: EmbeddedBroker, consumer: AIOKafkaConsumer[Any, Any]) -> None:
        assert consumer._engine is not None
        assert consumer._engine.group is not None
        self.broker, self.consumer = broker, consumer
        self.client = consumer._engine.client
        self.group = consumer._engine.group
        assert isinstance(self.group.membership, ClassicMembership)
        self.membership = self.group.membership
        self.member = self.membership._member

    def joins(self) -> int:
        return len(self.broker.requests_of(JoinGroupRequest))

    async def until(self, condition: Any) -> None:
        await eventually(self.consumer, condition)

    async def stable(self, *partitions: TopicPartition) -> None:
        await assigned(self.consumer, partitions)


@asynccontextmanager
async def scene_of(*topics: str, **options: Any) -> AsyncIterator[Scene]:
    """With a long heartbeat interval: nothing happens by itself."""
    async with embedded({"t": 1, "u": 1}) as broker:
        listener = options.pop("listener", None)
        consumer = member_of(broker, **{"heartbeat_interval_ms": 40_000, **options})
        if topics:
            consumer.subscribe(topics, listener=listener)
        async with consumer:
            yield Scene(broker, consumer)


# Joining…


async def test_without_a_subscription_nothing_is_joined() -> None:
    async with scene_of() as scene:
        scene.membership.request_rejoin("in vain")
        await scene.consumer.topics()
        assert scene.joins() == 0
        assert scene.membership.completed_joins == 0
        assert scene.member.state is MemberState.UNJOINED


async def test_each_join_that_is_taken_over_counts() -> None:
    async with scene_of("t") as scene:
        assert scene.membership.completed_joins == 1
        assert scene.member.state is MemberState.STABLE
        scene.membership.request_rejoin("once more")
        scene.membership.request_rejoin("and another reason")
        await scene.until(lambda: scene.membership.completed_joins == 2)
        assert scene.joins() == 3, "two requests for one join"
        assert scene.broker.requests_of(JoinGroupRequest)[-1].reason == "once more"


async def test_2e_9_only_the_leader_looks_for_changes_and_only_of_the_groups_topics() -> None:
    async with scene_of("t") as scene:
        assert scene.membership.leader.topics == {"t"}
        scene.membership.metadata_changed(scene.client.metadata.snapshot)
        grow(scene.broker, "u", 2)
        await scene.client.metadata.refresh(5.0)
        assert scene.member.rejoin_reason is None
        grow(scene.broker, "t", 2)
        await scene.client.metadata.refresh(5.0)
        await scene.stable(P0, P1)
        assert scene.broker.requests_of(JoinGroupRequest)[-1].reason == (
            "topics of the group have changed"
        )
        scene.membership.leader.step_down()
        grow(scene.broker, "t", 3)
        joins = scene.joins()
        await scene.client.metadata.refresh(5.0)
        assert scene.joins() == joins


async def test_2e_10_an_assignment_of_what_nobody_here_subscribes_to_is_another_join() -> None:
    async with scene_of("t") as scene:
        scene.broker.faults.stall(SyncGroupRequest)
        scene.membership.request_rejoin("once more")
        await scene.until(lambda: scene.member.state is MemberState.COMPLETING_REBALANCE)
        scene.consumer.subscribe(["u"])
        scene.broker.faults.release()
        await scene.stable(TopicPartition("u", 0))
        assert scene.membership.completed_joins == 2, "the one in between was not taken over"


async def test_2e_4_what_a_heartbeat_learns_during_sync_ends_that_join() -> None:
    async with scene_of("t", heartbeat_interval_ms=20) as scene:
        scene.broker.faults.stall(SyncGroupRequest)
        scene.membership.request_rejoin("once more")
        await scene.until(lambda: scene.member.state is MemberState.COMPLETING_REBALANCE)
        before = scene.member.generation
        scene.membership._heartbeat_said(
            Action.LOSE_GENERATION, IllegalGenerationError("too late"), before
        )
        scene.broker.faults.release()
        await scene.stable(P0)
        assert scene.member.generation.generation_id != before.generation_id
        assert scene.member.generation.member_id == before.member_id


# What ends a membership…


@pytest.mark.parametrize(
    ("action", "error", "same_id"),
    [
        (Action.REJOIN, RebalanceInProgressError, True),
        (Action.LOSE_GENERATION, IllegalGenerationError, True),
    ],
)
async def test_2e_12_a_refused_commit_is_heard_like_a_heartbeat(
    action: Action, error: type[Any], same_id: bool
) -> None:
    listener = Listener()
    async with scene_of("t", listener=listener) as scene:
        before = scene.member.generation
        listener.diary.clear()
        scene.membership.commit_refused(action, error("refused"))
        await scene.until(lambda: scene.membership.completed_joins == 2)
        assert (scene.member.generation.member_id == before.member_id) is same_id
        first_call = "revoked" if action is Action.REJOIN else "lost"
        assert listener.diary == [(first_call, [0]), ("assigned", [0])]


async def test_2e_4_a_rebalance_that_is_under_way_is_not_asked_for_again() -> None:
    async with scene_of("t") as scene:
        scene.broker.faults.stall(JoinGroupRequest)
        scene.membership.request_rejoin("once more")
        await scene.until(lambda: scene.member.is_rebalancing)
        scene.membership.commit_refused(Action.REJOIN, RebalanceInProgressError("again"))
        assert scene.member.rejoin_reason is None
        scene.broker.faults.release()
        await scene.stable(P0)
        assert scene.membership.completed_joins == 2


async def test_2e_4_what_is_lost_is_held_back_at_once_and_told_in_the_task() -> None:
    listener = AsyncListener()
    async with scene_of("t", listener=listener) as scene:
        scene.broker.faults.stall(JoinGroupRequest)
        member_id = scene.membership.leave_for_silence("of the test")
        assert member_id in scene.broker.group("g").members
        state = scene.consumer._subscription.get(P0)
        assert state is not None
        assert state.is_held
        assert listener.diary[2:] == []
        assert scene.member.state is MemberState.UNJOINED
        joins = scene.joins()
        scene.membership.request_rejoin("not while it is silent")
        await scene.consumer.topics()
        assert scene.joins() == joins
        scene.membership.poll_began()
        await scene.until(lambda: len(listener.diary) == 3)
        assert listener.diary[2:] == [("lost", [0])]
        scene.broker.faults.release()


async def test_2e_3_an_error_is_raised_once_and_the_next_poll_joins() -> None:
    async with scene_of("t") as scene:
        scene.broker.faults.fail(JoinGroupRequest, GroupAuthorizationFailedError)
        scene.membership.request_rejoin("once more")
        await scene.until(lambda: scene.membership._error is not None)
        scene.membership.poll_began()
        joins = scene.joins()
        await scene.consumer.topics()
        assert scene.joins() == joins, "nobody has heard of it yet"
        with pytest.raises(GroupAuthorizationFailedError):
            scene.membership.raise_error()
        scene.membership.raise_error()
        scene.membership.poll_began()
        await scene.until(lambda: scene.membership.completed_joins == 2)


async def test_2e_3_fenced_is_raised_each_time_until_the_group_is_left() -> None:
    listener = Listener()
    async with scene_of("t", listener=listener, group_instance_id="i") as scene:
        scene.membership.commit_refused(Action.RAISE, FencedInstanceIdError("another one"))
        for _ in range(3):
            with pytest.raises(FencedInstanceIdError):
                scene.membership.raise_error()
            scene.membership.poll_began()
        await scene.until(lambda: listener.diary[2:] == [("lost", [0])])
        assert scene.member.generation.member_id == ""
        joins = scene.joins()
        scene.consumer.unsubscribe()
        scene.membership.raise_error()
        scene.consumer.subscribe(["t"], listener=listener)
        await scene.stable(P0)
        assert scene.joins() > joins


async def test_what_a_listener_raised_comes_before_what_the_group_says() -> None:
    async with scene_of("t") as scene:
        scene.group.listeners._error = KafkaError("of the listener")
        scene.membership._fail(GroupAuthorizationFailedError("of the group"))
        with pytest.raises(KafkaError, match="of the listener"):
            scene.group.tick()
        with pytest.raises(GroupAuthorizationFailedError):
            scene.group.tick()
        scene.group.tick()


# Listeners, and the end…


async def test_who_calls_from_inside_a_listener_is_known() -> None:
    class Asker(AsyncListener):
        async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
            await asyncio.sleep(0)
            answers.append(consumer._engine.group.listeners.is_caller)  # type: ignore[union-attr]

    answers: list[bool] = []
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=Asker())
        async with consumer:
            assert answers == [True]
            assert not Scene(broker, consumer).group.listeners.is_caller


async def test_close_ends_a_listener_that_runs() -> None:
    class Hanging(AsyncListener):
        async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
            if revoked and not is_called.is_set():
                is_called.set()
                await asyncio.Event().wait()

    is_called = asyncio.Event()
    async with scene_of("t", listener=Hanging()) as scene:
        scene.membership.request_rejoin("once more")
        await asyncio.wait_for(is_called.wait(), 30)
        await asyncio.wait_for(scene.membership.close(), 30)
        beats = len(scene.broker.requests_of(HeartbeatRequest))
        await scene.consumer.topics()
        assert len(scene.broker.requests_of(HeartbeatRequest)) == beats


@pytest.mark.parametrize("is_static", [False, True])
async def test_2e_5_only_members_without_a_name_of_their_own_say_goodbye(is_static: bool) -> None:
    listener = Listener()
    options = {"group_instance_id": "i"} if is_static else {}
    async with scene_of("t", listener=listener, **options) as scene:
        await scene.membership.close()
        await scene.membership.tell_listener({P0})
        await scene.membership.leave("the test is over", 5.0)
        assert bool(scene.broker.group("g").members) is is_static
        assert listener.diary[2:] == [("revoked", [0])]
        assert scene.member.state is MemberState.UNJOINED
        assert scene.membership.leader.topics == frozenset()
        scene.consumer._subscription.unsubscribe()


async def test_2e_6_without_a_generation_what_is_owned_counts_as_lost() -> None:
    listener = Listener()
    async with scene_of("t", listener=listener) as scene:
        await scene.membership.close()
        scene.membership.commit_refused(Action.LOSE_MEMBERSHIP, UnknownMemberIdError("gone"))
        await scene.membership.tell_listener({P0})
        await scene.membership.leave("the test is over", 5.0)
        assert listener.diary[2:] == [("lost", [0])]
        scene.consumer._subscription.unsubscribe()
