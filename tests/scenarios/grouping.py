"""What the scenarios of groups share: members, listeners with a diary, what the broker has."""

import asyncio
from collections.abc import Iterable
from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.classic.membership import ClassicMembership
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from tests.scenarios.consuming import PATIENCE_S, Records, consumer_of

GROUP = "g"


def member_of(broker: EmbeddedBroker, *topics: str, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    """A member of the group that is quick to notice things, not started."""
    options = {
        "group_id": GROUP,
        "heartbeat_interval_ms": 20,
        "retry_backoff_ms": 1,
        "reconnect_backoff_ms": 1,
        **options,
    }
    return consumer_of(broker, *topics, **options)


def committed(broker: EmbeddedBroker, group_id: str = GROUP) -> dict[TopicPartition, int]:
    """What the group has stored, as the broker sees it."""
    return {tp: stored.offset for tp, stored in broker.group(group_id).offsets.items()}


async def stable(broker: EmbeddedBroker, members: int, group_id: str = GROUP) -> None:
    """Wait until the group has so many members, and all of them their assignment."""

    def is_stable() -> bool:
        group = broker.group(group_id)
        return group.state is GroupState.STABLE and len(group.members) == members

    await broker.wait_until(is_stable)


async def nobody_is_left(broker: EmbeddedBroker, group_id: str = GROUP) -> None:
    """Wait until all members have left."""
    await broker.wait_until(lambda: not broker.group(group_id).members)


async def assigned(
    consumer: AIOKafkaConsumer[Any, Any], partitions: Iterable[TopicPartition]
) -> None:
    """Wait until the consumer has exactly these partitions, and its listener has returned."""
    assert consumer._engine is not None
    group, wanted = consumer._engine.group, set(partitions)
    assert group is not None
    membership = group.membership
    async with asyncio.timeout(PATIENCE_S):
        while not (
            consumer.assignment() == wanted
            and membership.is_stable
            and not membership.awaits_assignment
            and not any(state.is_held for state in consumer._subscription.states())
        ):
            await consumer._signal.wait()


async def poll(consumer: AIOKafkaConsumer[Any, Any], **options: Any) -> Records:
    """One poll that waits for records, of the length of the test's patience at most."""
    return await asyncio.wait_for(consumer.getmany(timeout_ms=60_000, **options), PATIENCE_S)


async def commits_are_over(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """Wait until no commit in the background is owed its answer."""
    assert consumer._engine is not None
    assert consumer._engine.group is not None
    async with asyncio.timeout(PATIENCE_S):
        await consumer._engine.group.offsets._pending_are_over()


def grow(broker: EmbeddedBroker, topic: str, partitions: int) -> None:
    """Let the topic have so many partitions."""
    state = broker.cluster.topic_by_name(topic)
    replicas = broker.cluster.place_new_partitions(state, partitions, None)
    broker.cluster.add_partitions(state, replicas)


async def expel(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """Let an administrator remove the member, which will hear UNKNOWN_MEMBER_ID from now on."""
    assert consumer._engine is not None
    group = consumer._engine.group
    assert group is not None
    membership = group.membership
    assert isinstance(membership, ClassicMembership)
    await membership._coordinator.leave(group.metadata.member_id, "expelled", PATIENCE_S)


Diary = list[tuple[str, list[int]]]


class Listener(ConsumerRebalanceListener):
    """Writes down what it is told: ("revoked", partition numbers) and so on."""

    def __init__(self, diary: Diary | None = None) -> None:
        self.diary: Diary = [] if diary is None else diary

    def on_partitions_revoked(self, revoked: set[TopicPartition]) -> object:
        return self.note("revoked", revoked)

    def on_partitions_assigned(self, assigned: set[TopicPartition]) -> object:
        return self.note("assigned", assigned)

    def on_partitions_lost(self, lost: set[TopicPartition]) -> object:
        return self.note("lost", lost)

    def note(self, what: str, partitions: set[TopicPartition]) -> object:
        assert isinstance(partitions, set)
        self.diary.append((what, sorted(tp.partition for tp in partitions)))
        return None


class AsyncListener(Listener):
    """The same with coroutines, which suspend in between."""

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        await asyncio.sleep(0)
        self.note("revoked", revoked)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        await asyncio.sleep(0)
        self.note("assigned", assigned)

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        await asyncio.sleep(0)
        self.note("lost", lost)
