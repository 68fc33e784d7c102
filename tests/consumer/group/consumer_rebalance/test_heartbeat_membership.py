"""Members of a group whose coordinator assigns, on a real Apache Kafka (KIP-848)."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    CooperativeStickyAssignor,
    SubscriptionPattern,
)
from aiokafka_lite.admin import GroupDescription, MemberDescription
from aiokafka_lite.cluster.coordinator_cache import CoordinatorType
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import (
    InvalidRegularExpressionError,
    UnreleasedInstanceIdError,
    UnsupportedAssignorError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
)
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka
from tests.support.patience import eventually, eventually_equals
from tests.support.topics import create_topic

PATIENCE_S = 40.0

QUICK = {
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
}
"""Properties of a broker that asks for heartbeats more often than every five seconds."""

pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]

Consumer = AIOKafkaConsumer[Any, Any]


class Diary(ConsumerRebalanceListener):
    """Notes the partitions of each call that has some."""

    def __init__(self, on_revoked: Callable[[], Awaitable[object]] | None = None) -> None:
        self.lines: list[tuple[str, set[int]]] = []
        self._on_revoked = on_revoked

    def _note(self, what: str, partitions: set[TopicPartition]) -> None:
        if partitions:
            self.lines.append((what, {tp.partition for tp in partitions}))

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self._note("revoked", revoked)
        if self._on_revoked is not None:
            await self._on_revoked()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._note("assigned", assigned)

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._note("lost", lost)


class Stage:
    """A topic with four partitions, a group, and its members."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self.bootstrap_servers, self.topic = bootstrap_servers, topic

    async def make_topic(self, name: str = "") -> None:
        await create_topic(self.bootstrap_servers, name or self.topic, partitions=4)

    def member(self, listener: Diary | None = None, **options: Any) -> Consumer:
        """Return a member that is not started."""
        options = {
            "group_protocol": "consumer",
            "group_id": self.topic,
            "auto_offset_reset": "earliest",
            **options,
        }
        made: Consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap_servers, **options)
        made.subscribe([self.topic], listener=listener)
        return made

    async def write(self) -> None:
        """Write one record to each partition."""
        async with AIOKafkaProducer(bootstrap_servers=self.bootstrap_servers) as producer:
            for partition in range(4):
                await producer.send(self.topic, b"x", partition=partition)

    async def described(self) -> Sequence[MemberDescription]:
        """Return the group's members, as the coordinator sees them."""
        async with AIOKafkaAdminClient(bootstrap_servers=self.bootstrap_servers) as admin:
            described = (await admin.describe_groups([self.topic]))[self.topic]
            assert isinstance(described, GroupDescription)
            return described.members

    async def members(self) -> list[str]:
        """Return the ids of the group's members."""
        return [each.member_id for each in await self.described()]

    async def topics_of(self, client_id: str, *, by_now: bool = True) -> set[str]:
        """Return the topics whose partitions a member may have by now, or shall have at last."""
        (member,) = [each for each in await self.described() if each.client_id == client_id]
        partitions = member.assignment if by_now else member.target_assignment
        assert partitions is not None
        return {tp.topic for tp in partitions}


async def until(condition: Callable[[], bool], *members: Consumer) -> list[Any]:
    """Poll until the condition holds; return the records."""
    found: list[Any] = []
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            for polled in await asyncio.gather(*(each.getmany(timeout_ms=50) for each in members)):
                found += [record for records in polled.values() for record in records]
    return found


def numbers(member: Consumer) -> set[int]:
    return {tp.partition for tp in member.assignment()}


@pytest.fixture(scope="module", name="quick_kafka")
def _quick_kafka() -> Iterator[ApacheKafka]:
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION, properties=QUICK) as kafka:
        yield kafka


@pytest.fixture
def stage(quick_kafka: ApacheKafka, topic_name: str) -> Stage:
    return Stage(quick_kafka.bootstrap_servers, topic_name)


async def test_only_what_moves_is_revoked_and_the_rest_is_read_meanwhile(stage: Stage) -> None:
    await stage.make_topic()
    first_diary, second_diary = Diary(), Diary()
    async with stage.member(first_diary) as first:
        await until(lambda: len(numbers(first)) == 4, first)
        async with stage.member(second_diary) as second:
            await until(lambda: len(numbers(second)) == 2, first, second)
            kept, moved = numbers(first), numbers(second)
            assert first_diary.lines == [("assigned", {0, 1, 2, 3}), ("revoked", moved)]
            assert second_diary.lines == [("assigned", moved)]
            await stage.write()
            found: list[Any] = []
            async with asyncio.timeout(PATIENCE_S):
                while len(found) < 4:
                    for polled in await asyncio.gather(
                        first.getmany(timeout_ms=50), second.getmany(timeout_ms=50)
                    ):
                        found += [each for some in polled.values() for each in some]
            await first.commit()
            await second.commit()
        assert second_diary.lines[-1] == ("revoked", moved)
        await until(lambda: len(numbers(first)) == 4, first)
        assert first_diary.lines[-1] == ("assigned", moved)
        assert kept == {0, 1, 2, 3} - moved
        for partition in range(4):
            assert await first.committed(TopicPartition(stage.topic, partition)) == 1
    assert await stage.members() == []


class SlowDiary(Diary):
    """A call that has some partitions returns when it may."""

    def __init__(self) -> None:
        self._may_return = asyncio.Event()
        super().__init__(self._may_return.wait)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        await super().on_partitions_assigned(assigned)
        if assigned:
            await self._may_return.wait()

    async def goes_on(self) -> None:
        """Let the present call return, and wait for the next one."""
        calls = len(self.lines)
        self._may_return.set()
        self._may_return.clear()
        await eventually(lambda: len(self.lines) > calls)

    def is_quick(self) -> None:
        """Let all calls return at once from now on."""
        self._may_return.set()


async def test_what_a_member_takes_over_has_no_other_owner_while_its_listener_hears_of_it(
    stage: Stage,
) -> None:
    """It lets go of one topic for another; it shall have a part of that only, it learns later."""
    other = f"{stage.topic}-other"
    await stage.make_topic()
    diary = SlowDiary()
    first = stage.member(diary, client_id="first", allow_auto_create_topics=False)
    second, third = stage.member(), stage.member(client_id="third")
    first.subscribe([stage.topic, other], listener=diary)
    third.subscribe([other])
    starting = asyncio.create_task(first.start())
    await eventually(lambda: diary.lines)
    await stage.make_topic(other)
    await eventually_equals(lambda: stage.topics_of("first"), {stage.topic, other})
    async with second:
        await eventually_equals(lambda: stage.topics_of("first", by_now=False), {other})
        await diary.goes_on()
        async with third:
            await eventually_equals(lambda: stage.topics_of("third", by_now=False), {other})
            await diary.goes_on()
            await until(lambda: bool(second.assignment()), second)
            await third.getmany(timeout_ms=1000)
            assert third.assignment() == set()
            diary.is_quick()
            await until(lambda: bool(third.assignment()), third)
            assert not first.assignment() & third.assignment()
            await starting
            await first.stop()
    assert [what for what, _ in diary.lines[:4]] == ["assigned", "revoked", "assigned", "revoked"]


async def test_a_fenced_member_loses_its_partitions_and_joins_with_the_same_id(
    stage: Stage,
) -> None:
    await stage.make_topic()
    diary = Diary()
    async with stage.member(diary) as member:
        await until(lambda: bool(diary.lines), member)
        before = member.group_metadata()
        client = member.kafka_client
        assert client is not None
        assert member._engine is not None
        group = member._engine.group
        assert group is not None
        node_id = group.coordinators.known(CoordinatorType.GROUP, stage.topic)
        assert node_id is not None
        await client.network.request(
            node_id,
            ConsumerGroupHeartbeatRequest(
                group_id=stage.topic, member_id=before.member_id, member_epoch=-1
            ),
        )
        await until(lambda: len(diary.lines) == 3, member)
        everything = {0, 1, 2, 3}
        assert diary.lines == [
            ("assigned", everything),
            ("lost", everything),
            ("assigned", everything),
        ]
        after = member.group_metadata()
        assert after.member_id == before.member_id
        assert after.generation_id > 0
        await member.commit({TopicPartition(stage.topic, 0): 1})


async def test_a_static_member_finds_its_partitions_again(stage: Stage) -> None:
    await stage.make_topic()
    name: dict[str, Any] = {"group_instance_id": "billing-1"}
    async with stage.member(**name) as member:
        await until(lambda: len(numbers(member)) == 4, member)
        epoch = member.group_metadata().generation_id
        with pytest.raises(UnreleasedInstanceIdError, match="billing-1"):
            await stage.member(**name).start()
        await member.getmany(timeout_ms=10)
    async with stage.member(**name) as back:
        await until(lambda: len(numbers(back)) == 4, back)
        assert back.group_metadata().generation_id == epoch


async def test_an_assignor_that_the_broker_lacks_is_refused(stage: Stage) -> None:
    await stage.make_topic()
    with pytest.raises(UnsupportedAssignorError, match="uniform, range"):
        await stage.member(group_remote_assignor="fair").start()
    async with stage.member(group_remote_assignor="range") as member:
        await until(lambda: len(numbers(member)) == 4, member)


async def test_the_broker_matches_a_subscription_pattern(stage: Stage) -> None:
    await stage.make_topic(f"{stage.topic}-a")
    await stage.make_topic(f"{stage.topic}-b")
    member = stage.member()
    member.unsubscribe()
    member.subscribe(pattern=SubscriptionPattern(f"{stage.topic}-."))
    async with member:
        await until(lambda: len(member.assignment()) == 8, member)
        assert member.subscription() == {f"{stage.topic}-a", f"{stage.topic}-b"}
    wrong = stage.member()
    wrong.unsubscribe()
    wrong.subscribe(pattern=SubscriptionPattern("(["))
    with pytest.raises(InvalidRegularExpressionError, match="missing closing"):
        await wrong.start()


async def test_another_subscription_is_told_and_taken_back(stage: Stage) -> None:
    """What was unsubscribed and subscribed again before the next heartbeat is read on."""
    await stage.make_topic()
    other = f"{stage.topic}-other"
    await stage.make_topic(other)
    async with stage.member() as member:
        await until(lambda: len(numbers(member)) == 4, member)
        member.subscribe([other])
        member.subscribe([stage.topic])
        await stage.write()
        async with asyncio.timeout(PATIENCE_S):
            for _ in range(4):
                await member.getone()
        member.subscribe([stage.topic, other])
        await until(lambda: len(member.assignment()) == 8, member)
        member.unsubscribe()
        member.subscribe([other])
        await until(lambda: {tp.topic for tp in member.assignment()} == {other}, member)


async def test_a_member_without_polls_leaves_and_joins_with_the_next_one(stage: Stage) -> None:
    await stage.make_topic()
    diary = Diary()
    async with stage.member(diary, max_poll_interval_ms=400) as member:
        await until(lambda: len(numbers(member)) == 4, member)
        async with asyncio.timeout(PATIENCE_S):
            while await stage.members():
                await asyncio.sleep(0.05)
        await until(lambda: len(diary.lines) == 3, member)
        assert [what for what, _ in diary.lines] == ["assigned", "lost", "assigned"]


async def test_the_listener_may_commit_while_the_member_leaves(stage: Stage) -> None:
    await stage.make_topic()
    tp = TopicPartition(stage.topic, 0)

    async def commit() -> None:
        await member.commit({tp: 7})

    member = stage.member(Diary(commit), enable_auto_commit=False)
    async with member:
        await until(lambda: len(numbers(member)) == 4, member)
    async with stage.member() as other:
        assert await other.committed(tp) == 7


async def test_a_cancelled_program_leaves_its_group(stage: Stage) -> None:
    await stage.make_topic()
    is_there = asyncio.Event()

    async def program() -> None:
        async with stage.member() as member:
            assert member.group_metadata().generation_id > 0
            is_there.set()
            await member.getone()

    task = asyncio.create_task(program())
    async with asyncio.timeout(PATIENCE_S):
        await is_there.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await stage.members() == []


async def test_auto_is_the_newer_protocol_beside_classic_members(stage: Stage) -> None:
    """A group moves from one protocol to the other member by member."""
    await stage.make_topic()
    classic: dict[str, Any] = {
        "group_protocol": "classic",
        "partition_assignment_strategy": [CooperativeStickyAssignor],
        "heartbeat_interval_ms": 500,
    }
    old = stage.member(**classic)
    await old.start()
    new = stage.member(group_protocol="auto")
    await new.start()
    assert len(new.group_metadata().member_id) == 36, "which the member has made"
    await until(lambda: len(numbers(old)) == len(numbers(new)) == 2, old, new)
    await old.stop()
    await until(lambda: len(numbers(new)) == 4, new)
    async with stage.member(**classic) as again:
        await until(lambda: len(numbers(again)) == len(numbers(new)) == 2, again, new)
        await new.stop()
        await until(lambda: len(numbers(again)) == 4, again)
