"""Topics that are deleted, or deleted and created again, under a group: whom it concerns, and which
offsets are still stored (B7, 2e-11, 2e-12, KIP-848).
"""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import GroupLoadInProgressError, UnknownTopicIdError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios.consuming import embedded, fill, read
from tests.scenarios.grouping import assigned, commits_are_over, committed, member_of

A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)
T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)

ONLY_AT_THE_END: dict[str, Any] = {"auto_commit_interval_ms": 3_600_000}
creations = pytest.mark.parametrize("allow_auto_create_topics", [False, True])


# Deleted…


@pytest.mark.parametrize(
    "strategy",
    [[RangePartitionAssignor], [CooperativeStickyAssignor]],
    ids=["eager", "cooperative"],
)
async def test_a_deleted_topic_does_not_keep_its_group_from_reading_the_others(
    strategy: Any,
) -> None:
    """Before a join the offsets of what was processed are stored, where that is possible (2e-11);
    nobody waits for the rebalance timeout, which is five minutes here.
    """
    async with embedded({"a": 1, "b": 1}) as broker:
        consumer = member_of(broker, partition_assignment_strategy=strategy, **ONLY_AT_THE_END)
        consumer.subscribe(pattern="a|b")
        async with consumer:
            for tp in (A0, B0):
                fill(broker, tp, 5)
            await read(consumer, 10)
            await consumer.getmany()
            broker.delete_topic("a")
            await consumer._engine.client.metadata.refresh(5.0)  # type: ignore[union-attr]
            await assigned(consumer, {B0})
            assert committed(broker) == {B0: 5}
            fill(broker, B0, 1)
            assert await read(consumer, 1) == {B0: [5]}


@creations
@pytest.mark.parametrize("topics", [["a"], ["a", "b"]])
async def test_a_deleted_topic_does_not_hold_up_stop(
    topics: list[str], allow_auto_create_topics: bool
) -> None:
    """What can be stored is stored."""
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"a": 1, "b": 1}) as broker:
        options = {"allow_auto_create_topics": allow_auto_create_topics, **ONLY_AT_THE_END}
        consumer = member_of(broker, *topics, clock=clock, heartbeat_interval_ms=3000, **options)
        await consumer.start()
        for topic in topics:
            fill(broker, TopicPartition(topic, 0), 5)
        await read(consumer, 5 * len(topics))
        broker.delete_topic("a")
        before_s = clock.monotonic()
        await asyncio.wait_for(consumer.stop(), 30)
        assert clock.monotonic() - before_s < 5
        assert committed(broker) == {TopicPartition(topic, 0): 5 for topic in topics if topic > "a"}


async def test_automatic_commits_go_on_without_a_deleted_topic() -> None:
    """It is asked for once, not again and again with what the others have."""
    clock = FakeClock()
    async with embedded({"a": 1, "b": 1}) as broker:
        options = {"heartbeat_interval_ms": 3000, "allow_auto_create_topics": False}
        async with member_of(broker, clock=clock, **options) as consumer:
            consumer.assign([A0, B0])
            for tp in (A0, B0):
                fill(broker, tp, 5)
            await read(consumer, 10)
            broker.delete_topic("a")
            for _ in range(3):
                await clock.advance(5.1)
                await consumer.getmany()
                await commits_are_over(consumer)
            assert committed(broker) == {B0: 5}
            assert len(broker.requests_of(OffsetCommitRequest)) == 1


def test_a_topic_that_is_deleted_before_a_member_takes_it_over_does_not_hold_it_up() -> None:
    """The coordinator waits until the member says that it has nothing of the topic (KIP-848); the
    member says so though it never had, and nobody waits for the rebalance timeout.
    """

    async def main(kafka: VirtualKafka) -> None:
        diary = SlowDiary()
        options = {"group_id": "g", "group_protocol": "consumer", **kafka.client_options}
        consumer = AIOKafkaConsumer(
            **options, allow_auto_create_topics=False, metadata_max_age_ms=1000
        )
        consumer.subscribe(["a", "b"], listener=diary)
        starting = asyncio.create_task(consumer.start())
        await asyncio.sleep(10)
        kafka.broker.create_topic("a")
        await asyncio.sleep(10)
        kafka.broker.delete_topic("a")
        await asyncio.sleep(10)
        assert diary.assigned == [set()]
        diary.may_return.set()
        await starting
        kafka.broker.create_topic("b")
        await asyncio.sleep(10)
        owned = consumer.assignment()
        await consumer.stop()
        assert diary.assigned == [set(), {B0}]
        assert owned == {B0}

    run_virtual_kafka(main)


class SlowDiary(ConsumerRebalanceListener):
    """Notes what is assigned, and returns when it may."""

    def __init__(self) -> None:
        self.assigned: list[set[TopicPartition]] = []
        self.may_return = asyncio.Event()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.assigned.append(set(assigned))
        await self.may_return.wait()

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        pass


# Created again…


async def test_a_member_whose_metadata_is_old_finds_its_position_in_the_new_topic() -> None:
    """The coordinator does not know the topic by its old id: that is a reason to ask for metadata,
    as nobody else would while nothing is fetched (2e-15).
    """
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        broker.delete_topic("t")
        broker.create_topic("t", 1)
        fill(broker, T0, 5)
        assert await read(consumer, 5) == {T0: [0, 1, 2, 3, 4]}


async def test_committed_is_answered_for_a_topic_that_was_created_again() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        broker.delete_topic("t")
        broker.create_topic("t", 1)
        assert await asyncio.wait_for(consumer.committed(T0), 30) is None


async def _automatically(consumer: AIOKafkaConsumer[Any, Any], clock: FakeClock) -> None:
    await clock.advance(5.1)
    await consumer.getmany()
    await commits_are_over(consumer)


async def _by_hand(consumer: AIOKafkaConsumer[Any, Any], _: FakeClock) -> None:
    await consumer.commit()


async def _by_stop(consumer: AIOKafkaConsumer[Any, Any], _: FakeClock) -> None:
    await consumer.stop()


@pytest.mark.parametrize("commit", [_automatically, _by_hand, _by_stop])
@pytest.mark.parametrize("knows_it", [True, False], ids=["after metadata", "before metadata"])
async def test_no_offset_of_a_deleted_topic_is_stored_for_the_one_created_under_its_name(
    commit: Any, knows_it: bool
) -> None:
    """Its first records would be skipped by whoever reads next (B7)."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", clock=clock, heartbeat_interval_ms=3000)
        await consumer.start()
        fill(broker, T0, 5)
        await read(consumer, 5)
        recreate(broker)
        if knows_it:
            await consumer._engine.client.metadata.refresh(5.0)  # type: ignore[union-attr]
        committing = asyncio.create_task(commit(consumer, clock))
        while not committing.done():
            await clock.advance(0.1)
        if not knows_it and commit is _by_hand:
            with pytest.raises(UnknownTopicIdError, match=r"t-0.*created again"):
                await committing
        else:
            await committing
        assert committed(broker).get(T0, 0) == 0, "where the new topic begins, or nothing"
        await consumer._life.stop(1000, processed_all=False)


def recreate(broker: EmbeddedBroker) -> None:
    broker.delete_topic("t")
    broker.create_topic("t", 1)
    fill(broker, T0, 9)


async def test_given_offsets_of_a_deleted_topic_are_refused_and_those_of_the_new_one_stored() -> (
    None
):
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", enable_auto_commit=False) as consumer,
    ):
        fill(broker, T0, 5)
        await read(consumer, 5)
        broker.delete_topic("t")
        broker.create_topic("t", 2)
        broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError)
        with pytest.raises(UnknownTopicIdError, match="t-0"):
            await asyncio.wait_for(consumer.commit({T0: 5}), 30)
        fill(broker, T0, 2)
        await read(consumer, 2)
        await asyncio.wait_for(consumer.commit({T0: 2}), 30)
        assert committed(broker) == {T0: 2}
