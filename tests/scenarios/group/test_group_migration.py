"""A group whose members change their protocol one by one, under load (KIP-848)."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import PATIENCE_S, consumer_of, embedded, fill
from tests.scenarios.grouping import Diary, Listener, committed, nobody_is_left

PARTITIONS = 4

Member = AIOKafkaConsumer[Any, Any]


class Readers:
    """The members of a group that read one topic, and the offsets that they have read."""

    def __init__(self, broker: EmbeddedBroker, stack: AsyncExitStack) -> None:
        self.broker = broker
        self.seen: list[tuple[int, int]] = []
        self.running: list[Member] = []
        self._stack = stack

    async def add(self, protocol: str, *strategies: Any, diary: Diary | None = None) -> Member:
        """Start a member, and read with all of them until it has partitions."""
        options: dict[str, Any] = {"group_id": "g", "group_protocol": protocol}
        if protocol == "classic":
            options |= {
                "partition_assignment_strategy": list(strategies),
                "heartbeat_interval_ms": 20,
            }
        member = consumer_of(self.broker, **options, retry_backoff_ms=1)
        member.subscribe(["t"], listener=Listener(diary))
        starting = asyncio.create_task(self._stack.enter_async_context(member))
        while not starting.done():
            await self._read()
        await starting
        self.running.append(member)
        await self.read_until(self.is_balanced)
        return member

    async def stop(self, member: Member) -> None:
        """Stop a member, and read on until the others have its partitions."""
        self.running.remove(member)
        await member.stop()
        await self.read_until(self.is_balanced)

    def is_balanced(self) -> bool:
        """Whether each partition has one owner, and each member has some."""
        owned = [tp.partition for member in self.running for tp in member.assignment()]
        return sorted(owned) == list(range(PARTITIONS)) and all(
            member.assignment() for member in self.running
        )

    async def read_until(self, condition: Any) -> None:
        """Write and read until the condition holds, and everything is read."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                await self._read()
            for tp in tps(*range(PARTITIONS)):
                fill(self.broker, tp, 1)
            while self.running and len(set(self.seen)) < self.written():
                await self._read()

    async def _read(self) -> None:
        if not self.running:
            await asyncio.sleep(0)
        for member in self.running:
            polled = await member.getmany(timeout_ms=5)
            with member.processing():
                for tp, records in polled.items():
                    self.seen += [(tp.partition, record.offset) for record in records]

    def written(self) -> int:
        return sum(self.broker.log(tp).high_watermark for tp in tps(*range(PARTITIONS)))


@pytest.mark.parametrize("strategy", [CooperativeStickyAssignor, RangePartitionAssignor])
async def test_members_move_to_the_newer_protocol_and_back_under_load(strategy: Any) -> None:
    """Nothing is lost, and nothing comes twice: each member commits what it gives up."""
    quick = {"group_consumer_heartbeat_interval_ms": 20}
    async with (
        embedded({"t": PARTITIONS}, **quick) as broker,
        AsyncExitStack() as stack,
    ):
        readers = Readers(broker, stack)
        old = [await readers.add("classic", strategy) for _ in range(2)]
        new = [await readers.add("auto")]
        assert broker.group("g").generation_id == new[0].group_metadata().generation_id
        await readers.stop(old[0])
        new.append(await readers.add("consumer"))
        await readers.stop(old[1])
        assert {view.epoch for view in broker.group("g").members.values()} != {-1}
        back = [await readers.add("classic", strategy)]
        await readers.stop(new[0])
        back.append(await readers.add("classic", strategy))
        await readers.stop(new[1])
        assert {view.epoch for view in broker.group("g").members.values()} == {-1}
        assert sorted(readers.seen) == sorted(set(readers.seen)), "twice"
        for member in back:
            await member.stop()
        await nobody_is_left(broker)
        assert sum(committed(broker).values()) == readers.written()


async def test_what_a_cooperative_member_keeps_is_not_revoked_by_the_migration() -> None:
    quick = {"group_consumer_heartbeat_interval_ms": 20}
    async with embedded({"t": PARTITIONS}, **quick) as broker, AsyncExitStack() as stack:
        readers, diary = Readers(broker, stack), Diary()
        old = await readers.add("classic", CooperativeStickyAssignor, diary=diary)
        await readers.add("consumer")
        kept = {tp.partition for tp in old.assignment()}
        revoked = [number for what, some in diary if what == "revoked" for number in some]
        assert (len(kept), sorted(revoked)) == (2, sorted({0, 1, 2, 3} - kept))
