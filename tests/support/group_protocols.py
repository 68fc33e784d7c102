"""What members of a group may rely on, whichever protocol they use: acts for any broker.

Each act goes through the public API alone. It runs on the embedded broker in virtual time, and on a
real one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    CooperativeStickyAssignor,
    ExactlyOnceSession,
    KeyedWorkers,
)
from aiokafka_lite.admin import GroupDescription, NewTopic
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import CommitFailedError
from aiokafka_lite.model import ConsumerRecord, TopicPartition

PATIENCE_S = 60.0
PARTITIONS = 4

Member = AIOKafkaConsumer[Any, Any]


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
        if revoked and self._on_revoked is not None:
            await self._on_revoked()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self._note("assigned", assigned)

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self._note("lost", lost)


class Stage:
    """A topic of four partitions, and a group of the same name whose members use one protocol."""

    def __init__(self, client_options: dict[str, Any], topic: str, protocol: str) -> None:
        """`client_options`: what each client needs to reach the broker."""
        self.client_options, self.topic, self.protocol = client_options, topic, protocol
        self.written = 0

    async def make_topic(self, name: str = "") -> None:
        async with AIOKafkaAdminClient(**self.client_options) as admin:
            made = await admin.create_topics([NewTopic(name or self.topic, PARTITIONS, 1)])
            made.topics.raise_first()

    def member(self, listener: Diary | None = None, **options: Any) -> Member:
        """Return a member that is not started. It is cooperative where members assign."""
        options = {
            "group_protocol": self.protocol,
            "group_id": self.topic,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "metadata_max_age_ms": 500,
            **self.client_options,
            **options,
        }
        if options["group_protocol"] != "consumer":
            options |= {
                "partition_assignment_strategy": [CooperativeStickyAssignor],
                "heartbeat_interval_ms": 200,
            }
        made: Member = AIOKafkaConsumer(**options)
        made.subscribe([self.topic], listener=listener)
        return made

    async def write(self) -> None:
        """Write one more record to each partition."""
        async with AIOKafkaProducer(**self.client_options) as producer:
            for partition in range(PARTITIONS):
                await producer.send(self.topic, b"x", b"%d" % partition, partition=partition)
        self.written += PARTITIONS

    async def committed(self) -> set[int]:
        """Return the committed offsets of all partitions; 0 for none."""
        async with AIOKafkaAdminClient(**self.client_options) as admin:
            found = await admin.list_consumer_group_offsets(self.topic)
        return {
            known.offset if (known := found.get(TopicPartition(self.topic, i))) else 0
            for i in range(PARTITIONS)
        }

    async def count(self) -> int:
        """Return how many members the coordinator knows."""
        async with AIOKafkaAdminClient(**self.client_options) as admin:
            described = (await admin.describe_groups([self.topic]))[self.topic]
            assert isinstance(described, GroupDescription)
            return len(described.members)

    async def remove_members(self) -> None:
        """Remove all members, as an administrator does."""
        async with AIOKafkaAdminClient(**self.client_options) as admin:
            await admin.remove_members_from_consumer_group(self.topic)


def numbers(member: Member) -> set[int]:
    return {tp.partition for tp in member.assignment()}


async def until(condition: Callable[[], bool], *members: Member) -> list[ConsumerRecord[Any, Any]]:
    """Poll until the condition holds; return the records."""
    found: list[ConsumerRecord[Any, Any]] = []
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            for polled in await asyncio.gather(*(each.getmany(timeout_ms=50) for each in members)):
                found += [record for records in polled.values() for record in records]
    return found


async def balanced(*members: Member) -> list[ConsumerRecord[Any, Any]]:
    """Poll until each partition has one owner, and all members have as many."""

    def is_balanced() -> bool:
        owned = sorted(number for each in members for number in numbers(each))
        counts = {len(numbers(each)) for each in members}
        return owned == list(range(PARTITIONS)) and len(counts) == 1

    return await until(is_balanced, *members)


async def read(count: int, *members: Member) -> set[tuple[int, int]]:
    """Poll until so many records are read, each once; return their places."""
    found: list[tuple[int, int]] = []
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < count:
            for polled in await asyncio.gather(*(each.getmany(timeout_ms=50) for each in members)):
                for some in polled.values():
                    found += [(record.partition, record.offset) for record in some]
    assert len(found) == len(set(found)) == count
    return set(found)


# The acts…


async def members_share_and_take_over(stage: Stage) -> None:
    """Each record comes once: what a member commits is where the next one begins."""
    await stage.make_topic()
    async with stage.member() as first:
        async with stage.member() as second:
            await balanced(first, second)
            await stage.write()
            before = await read(PARTITIONS, first, second)
            await first.commit()
            await second.commit()
        await balanced(first)
        await stage.write()
        after = await read(PARTITIONS, first)
        assert before == {(number, 0) for number in range(PARTITIONS)}
        assert after == {(number, 1) for number in range(PARTITIONS)}
        await first.commit()
    assert await stage.committed() == {2}


async def only_what_moves_is_revoked(stage: Stage) -> None:
    """The listener may commit, and the next owner begins there."""
    await stage.make_topic()
    await stage.write()

    async def commit() -> None:
        await first.commit()

    diary, late = Diary(commit), Diary()
    async with stage.member(diary) as first:
        await balanced(first)
        await read(PARTITIONS, first)
        async with stage.member(late) as second:
            assert await balanced(first, second) == []
            kept, moved = numbers(first), numbers(second)
            assert diary.lines == [("assigned", {0, 1, 2, 3}), ("revoked", moved)]
            assert late.lines == [("assigned", moved)]
            assert kept == {0, 1, 2, 3} - moved
        assert late.lines[-1] == ("revoked", moved)
        assert await balanced(first) == []
        assert diary.lines[-1] == ("assigned", moved)


async def a_static_member_comes_back(stage: Stage) -> None:
    """It finds its partitions, and nobody else notices."""
    await stage.make_topic()
    diary = Diary()
    async with stage.member(diary, group_instance_id="a") as first:
        async with stage.member(group_instance_id="b") as second:
            await balanced(first, second)
            kept, lines = numbers(second), len(diary.lines)
        async with stage.member(group_instance_id="b") as second:
            await until(lambda: numbers(second) == kept, first, second)
            assert len(diary.lines) == lines
            await second.stop(group_membership_operation="leave_group")
        await balanced(first)


async def a_member_without_polls_leaves_and_joins_with_the_next_one(stage: Stage) -> None:
    await stage.make_topic()
    diary = Diary()
    async with stage.member(diary, max_poll_interval_ms=500) as member:
        await balanced(member)
        async with asyncio.timeout(PATIENCE_S):
            while await stage.count():
                await asyncio.sleep(0.05)
        with pytest.raises(CommitFailedError):
            await member.commit({TopicPartition(stage.topic, 0): 1})
        await until(lambda: len(diary.lines) == 3, member)
        everything = {0, 1, 2, 3}
        assert diary.lines == [
            ("assigned", everything),
            ("lost", everything),
            ("assigned", everything),
        ]


async def a_removed_member_loses_its_partitions_and_joins_again(stage: Stage) -> None:
    await stage.make_topic()
    diary = Diary()
    async with stage.member(diary) as member:
        await balanced(member)
        await stage.remove_members()
        await until(lambda: len(diary.lines) == 3, member)
        assert [what for what, _ in diary.lines] == ["assigned", "lost", "assigned"]
        await stage.write()
        await read(PARTITIONS, member)
        await member.commit()
    assert await stage.committed() == {1}


async def topics_of_a_pattern_are_read_when_they_come(stage: Stage) -> None:
    member = stage.member()
    member.unsubscribe()
    member.subscribe(pattern=f"{stage.topic}-.*")
    await stage.make_topic(f"{stage.topic}-a")
    async with member:
        await until(lambda: len(member.assignment()) == PARTITIONS, member)
        await stage.make_topic(f"{stage.topic}-b")
        await until(lambda: len(member.assignment()) == 2 * PARTITIONS, member)


async def a_session_writes_each_record_once(stage: Stage) -> None:
    """Though its group rebalances meanwhile: the offsets go with the member's newest epoch."""
    await stage.make_topic()
    out = f"{stage.topic}-out"
    await stage.make_topic(out)
    await stage.write()

    def session(name: str) -> ExactlyOnceSession[Any, Any]:
        return ExactlyOnceSession(
            stage.member(isolation_level="read_committed"),
            AIOKafkaProducer(transactional_id=f"{stage.topic}-{name}", **stage.client_options),
        )

    async def work(worker: ExactlyOnceSession[Any, Any]) -> None:
        async with worker.batch(timeout_ms=50) as records:
            for some in records.values():
                for record in some:
                    place = b"%d-%d" % (record.partition, record.offset)
                    await worker.producer.send(out, place)

    async with session("a") as first, asyncio.timeout(PATIENCE_S):
        while await stage.committed() != {1}:
            await work(first)
        async with session("b") as second:
            await stage.write()
            while await stage.committed() != {2} or not numbers(second.consumer):
                await asyncio.gather(work(first), work(second))
    reader: Member = AIOKafkaConsumer(
        out,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        **stage.client_options,
    )
    async with reader:
        ends = await reader.end_offsets([TopicPartition(out, i) for i in range(PARTITIONS)])
        written: list[bytes | None] = []
        async with asyncio.timeout(PATIENCE_S):
            while any([await reader.position(tp) < end for tp, end in ends.items()]):
                for some in (await reader.getmany(timeout_ms=50)).values():
                    written += [record.value for record in some]
    places = {b"%d-%d" % (i, j) for i in range(PARTITIONS) for j in range(2)}
    assert (set(written), len(written)) == (places, len(places))


async def workers_commit_what_they_have_handled(stage: Stage) -> None:
    """Also while another instance of them comes."""
    await stage.make_topic()
    handled: list[tuple[int, int]] = []

    async def handle(record: ConsumerRecord[Any, Any]) -> None:
        handled.append((record.partition, record.offset))

    async def are_handled(count: int) -> None:
        while len(handled) < count or await stage.committed() != {count // PARTITIONS}:
            await asyncio.sleep(0.05)

    def workers() -> KeyedWorkers[Any, Any]:
        options = {
            name: stage.client_options[name]
            for name in ("clock", "rng")
            if name in stage.client_options
        }
        return KeyedWorkers(stage.member(), handle, commit_interval_ms=50, **options)

    async with asyncio.timeout(PATIENCE_S), workers() as first, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(first.run())
        await stage.write()
        await are_handled(PARTITIONS)
        async with workers() as second:
            also = tasks.create_task(second.run())
            await stage.write()
            await are_handled(2 * PARTITIONS)
            second.stop()
            await also
        first.stop()
        await running
    assert sorted(handled) == [(i, j) for i in range(PARTITIONS) for j in range(2)]


Act = Callable[[Stage], Coroutine[Any, Any, None]]

ACTS: tuple[Act, ...] = (
    members_share_and_take_over,
    only_what_moves_is_revoked,
    a_static_member_comes_back,
    a_member_without_polls_leaves_and_joins_with_the_next_one,
    a_removed_member_loses_its_partitions_and_joins_again,
    topics_of_a_pattern_are_read_when_they_come,
    a_session_writes_each_record_once,
    workers_commit_what_they_have_handled,
)

__all__ = ["ACTS", "Act", "Diary", "Stage", "balanced", "until"]
