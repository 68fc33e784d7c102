"""A newer assignment comes while a member takes over an older one: no partition has two owners.

The coordinator gives a partition away once its owner does not name it any more. So a member names
what it may take over, too, and takes nothing that its newest assignment lacks (KIP-848,
CurrentAssignmentBuilder).
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

A0, A1 = TopicPartition("a", 0), TopicPartition("a", 1)
B0, B1 = TopicPartition("b", 0), TopicPartition("b", 1)

LONG_S = 10.0
"""Each member has sent a heartbeat by then, and a member without partitions many."""


class Scene:
    """Members of a group of the topics "a" and "b", and who has what."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.broker, self.network = kafka.broker, kafka.network
        self.owner: dict[TopicPartition, str] = {}
        self.given_twice: list[str] = []
        self._options = kafka.client_options

    def member(self, name: str, *topics: str) -> "Member":
        consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(
            client_id=name,
            group_id="g",
            group_protocol="consumer",
            allow_auto_create_topics=False,
            metadata_max_age_ms=1000,
            **self._options,
        )
        member = Member(self, name, consumer)
        member.subscribe(*topics)
        return member


class Member(ConsumerRebalanceListener):
    """A consumer and its listener, whose calls return at once unless the member is slow."""

    def __init__(self, scene: Scene, name: str, consumer: AIOKafkaConsumer[Any, Any]) -> None:
        self.scene, self.name, self.consumer = scene, name, consumer
        self.is_slow = False
        self.calls: list[tuple[str, set[TopicPartition]]] = []
        self._may_return = asyncio.Event()
        self._starting: asyncio.Task[None] | None = None

    def subscribe(self, *topics: str) -> None:
        self.consumer.subscribe(topics, listener=self)

    async def start(self, *, is_slow: bool = False) -> None:
        """Start, and wait until it has heard from the coordinator a few times."""
        self.is_slow = is_slow
        self._starting = asyncio.create_task(self.consumer.start())
        await asyncio.sleep(LONG_S)

    def go_on(self, *, is_slow: bool = False) -> None:
        """Let the call that waits return; if the member stays slow, the next one waits again."""
        self.is_slow = is_slow
        self._may_return.set()
        self._may_return.clear()

    async def stop(self) -> None:
        assert self._starting is not None
        await self._starting
        await self.consumer.stop()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        owner = self.scene.owner
        for tp in assigned:
            if owner.setdefault(tp, self.name) != self.name:
                self.scene.given_twice.append(f"{tp} to {self.name}, {owner[tp]} has it")
        await self._wait("assigned", assigned)

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        await self._wait("revoked", revoked)
        for tp in revoked:
            del self.scene.owner[tp]

    async def _wait(self, what: str, partitions: set[TopicPartition]) -> None:
        self.calls.append((what, partitions))
        if self.is_slow:
            await self._may_return.wait()


def play(act: Callable[[Scene], Coroutine[Any, Any, None]]) -> None:
    run_virtual_kafka(lambda kafka: act(Scene(kafka)))


async def _ends(*members: Member) -> None:
    """Let the first member's listener be quick from now on, and stop all."""
    members[0].go_on()
    await asyncio.sleep(LONG_S)
    for each in members:
        await each.stop()


def test_a_member_names_what_its_listener_is_told_of_though_a_newer_assignment_lacks_it() -> None:
    """After a failed heartbeat the next one names everything, while the listener still works."""

    async def act(scene: Scene) -> None:
        scene.broker.create_topic("a", 2)
        first, second = scene.member("first", "a"), scene.member("second", "a")
        await first.start(is_slow=True)
        await second.start()
        scene.network.isolate("first")
        await asyncio.sleep(LONG_S)
        scene.network.reconnect("first")
        await asyncio.sleep(LONG_S)
        assert first.calls == [("assigned", {A0, A1})]
        assert scene.owner == {A0: "first", A1: "first"}
        first.go_on()
        await asyncio.sleep(LONG_S)
        assert scene.owner == {A0: "first", A1: "second"}
        assert scene.given_twice == []
        await _ends(first, second)

    play(act)


def test_a_member_names_what_it_may_take_over_while_its_heartbeat_is_on_its_way() -> None:
    """It does so when new metadata comes. The answer, which lacks a part of it, is late."""

    async def act(scene: Scene) -> None:
        scene.broker.create_topic("a", 2)
        first, second = scene.member("first", "a", "b"), scene.member("second", "b")
        await first.start(is_slow=True)
        scene.broker.create_topic("b", 2)
        await asyncio.sleep(LONG_S)
        scene.broker.faults.delay("ConsumerGroupHeartbeat", 3.0, times=None)
        asyncio.get_running_loop().call_later(1, first.go_on)
        await second.start()
        scene.broker.faults.clear()
        await asyncio.sleep(LONG_S)
        assert first.calls[:2] == [("assigned", {A0, A1}), ("assigned", {B0, B1})]
        assert scene.owner == {A0: "first", A1: "first", B0: "second", B1: "second"}
        assert scene.given_twice == []
        await _ends(first, second)

    play(act)


async def _lets_a_go_for_b(scene: Scene) -> tuple[Member, Member, Member]:
    """Return three members. The first shall have "b" in place of "a", and its listener is about to
    let "a" go, for which the second one waits. The third one waits for a partition of "b".
    """
    scene.broker.create_topic("a", 2)
    first, second = scene.member("first", "a", "b"), scene.member("second", "a")
    third = scene.member("third", "b")
    await first.start(is_slow=True)
    scene.broker.create_topic("b", 2)
    await asyncio.sleep(LONG_S)
    await second.start()
    first.go_on(is_slow=True)
    await asyncio.sleep(LONG_S)
    await third.start()
    assert first.calls == [("assigned", {A0, A1}), ("revoked", {A0, A1})]
    return first, second, third


def test_a_member_names_what_it_takes_over_when_it_has_let_go_of_something() -> None:
    """It says so before its listener has heard of what it takes: others need not wait for that."""

    async def act(scene: Scene) -> None:
        first, second, third = await _lets_a_go_for_b(scene)
        first.go_on(is_slow=True)
        await asyncio.sleep(LONG_S)
        assert first.calls[2:] == [("assigned", {B0, B1})]
        assert scene.owner == {A0: "second", A1: "second", B0: "first", B1: "first"}
        first.go_on()
        await asyncio.sleep(LONG_S)
        assert scene.owner == {A0: "second", A1: "second", B0: "third", B1: "first"}
        assert scene.given_twice == []
        await _ends(first, second, third)

    play(act)


def test_a_member_takes_nothing_over_that_has_gone_while_it_let_go_of_something() -> None:
    async def act(scene: Scene) -> None:
        first, second, third = await _lets_a_go_for_b(scene)
        first.subscribe("c")
        await asyncio.sleep(LONG_S)
        first.go_on()
        await asyncio.sleep(LONG_S)
        assert first.calls[2:] == [("assigned", set())]
        assert scene.owner == {A0: "second", A1: "second", B0: "third", B1: "third"}
        await _ends(first, second, third)

    play(act)
