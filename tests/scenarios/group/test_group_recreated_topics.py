"""A topic is deleted and created again while a member of its group is cut off, and the group gives
the new topic to another member. The first one has the partition by name only (KIP-848).

The coordinator accepts commits of each member, whoever owns the partition. So a member finds no
position in a topic that the group has not assigned to it, and commits nothing for it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import UnknownTopicIdError
from aiokafka_lite.metrics.explanation import WaitReason
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios.consuming import fill
from tests.scenarios.grouping import committed

A0, B0 = TopicPartition("a", 0), TopicPartition("b", 0)

LONG_S = 10.0
"""Each member has sent a heartbeat and committed by then; the group waits longer for a member."""


class Member(ConsumerRebalanceListener):
    """A consumer that is polled all the time, and what it gets and hears."""

    def __init__(self, kafka: VirtualKafka, name: str, **options: Any) -> None:
        self.consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(
            client_id=name,
            group_id="g",
            group_protocol="consumer",
            auto_offset_reset="earliest",
            auto_commit_interval_ms=1000,
            allow_auto_create_topics=False,
            metadata_max_age_ms=1000,
            **options,
            **kafka.client_options,
        )
        self.consumer.subscribe(["a", "b"], listener=self)
        self.may_let_go = asyncio.Event()
        self.may_let_go.set()
        self.calls: list[tuple[str, set[TopicPartition]]] = []
        self.got: list[tuple[TopicPartition, int]] = []
        self._polling: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self.consumer.start()
        self._polling = asyncio.create_task(self._poll())
        await asyncio.sleep(LONG_S)

    async def stop(self) -> None:
        assert self._polling is not None
        self._polling.cancel()
        await asyncio.wait([self._polling])
        await self.consumer.stop()

    async def _poll(self) -> None:
        while True:
            found = await self.consumer.getmany(timeout_ms=200)
            self.got += [(tp, record.offset) for tp, part in found.items() for record in part]

    def take_got(self) -> list[tuple[TopicPartition, int]]:
        got, self.got = self.got, []
        return got

    def take_calls(self) -> list[tuple[str, set[TopicPartition]]]:
        calls, self.calls = self.calls, []
        return calls

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.calls.append(("assigned", assigned))

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.calls.append(("revoked", revoked))
        await self.may_let_go.wait()


def play(act: Callable[[VirtualKafka, Member, Member], Coroutine[Any, Any, None]]) -> None:
    """Call `act` when the second member has read the new topic; the first had the former one."""

    async def main(kafka: VirtualKafka) -> None:
        for name in "ab":
            kafka.broker.create_topic(name, 1)
        first, second = Member(kafka, "first"), Member(kafka, "second")
        fill(kafka.broker, A0, 7)
        await first.start()
        assert first.take_calls() == [("assigned", {A0, B0})]
        kafka.network.isolate("first")
        kafka.broker.delete_topic("a")
        kafka.broker.create_topic("a", 1)
        fill(kafka.broker, A0, 30)
        await second.start()
        assert second.calls == [("assigned", {A0})]
        assert second.take_got() == [(A0, offset) for offset in range(30)]
        assert committed(kafka.broker)[A0] == 30
        first.take_got()
        await act(kafka, first, second)
        await first.stop()

    run_virtual_kafka(main)


def test_a_member_that_comes_back_commits_nothing_for_the_topic_of_another() -> None:
    async def act(kafka: VirtualKafka, first: Member, second: Member) -> None:
        first.may_let_go.clear()
        kafka.network.reconnect("first")
        fill(kafka.broker, B0, 1)
        await asyncio.sleep(LONG_S)
        assert first.take_calls() == [("revoked", {A0})]
        assert first.consumer.assignment() == {A0, B0}
        assert first.take_got() == [(B0, 0)]
        assert committed(kafka.broker) == {A0: 30, B0: 1}
        first.may_let_go.set()
        await second.stop()
        fill(kafka.broker, A0, 2)
        await asyncio.sleep(LONG_S)
        assert first.take_calls() == [("assigned", set()), ("assigned", {A0})]
        assert first.take_got() == [(A0, 30), (A0, 31)]

    play(act)


def test_nor_does_it_for_a_position_that_its_application_sets() -> None:
    """Nothing is fetched from there either, before the member hears of its newest assignment."""

    async def act(kafka: VirtualKafka, first: Member, second: Member) -> None:
        kafka.broker.faults.stall(ConsumerGroupHeartbeatRequest, times=None)
        kafka.network.reconnect("first")
        await asyncio.sleep(LONG_S)
        assert (A0, WaitReason.BEING_REVOKED) in {
            (each.topic_partition, each.reason) for each in first.consumer.explain()
        }
        first.consumer.seek(A0, 3)
        await asyncio.sleep(LONG_S)
        for commit in (first.consumer.commit({A0: 3}), first.consumer.commit()):
            with pytest.raises(UnknownTopicIdError, match=r"a-0.*created again"):
                await commit
        assert first.take_got() == []
        assert committed(kafka.broker)[A0] == 30
        assert first.calls == []
        kafka.broker.faults.clear()
        kafka.broker.faults.release()
        await second.stop()

    play(act)


def test_a_member_that_gets_the_new_topic_reads_on_where_the_group_was() -> None:
    """By id it gives one partition up and takes another one over."""

    async def act(kafka: VirtualKafka, first: Member, second: Member) -> None:
        await second.stop()
        fill(kafka.broker, A0, 2)
        kafka.network.reconnect("first")
        await asyncio.sleep(LONG_S)
        assert first.take_calls() == [("revoked", {A0}), ("assigned", set()), ("assigned", {A0})]
        assert first.take_got() == [(A0, 30), (A0, 31)]
        assert committed(kafka.broker)[A0] == 32

    play(act)
