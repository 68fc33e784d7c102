"""A live group of aiokafka's members becomes one of ours, member by member, as docs/moving.md says.

Each record is read, and the group is never without members.
"""

import asyncio
from contextlib import suppress
from typing import Any, Final

import aiokafka
import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    CooperativeStickyAssignor,
)
from aiokafka_lite.errors import (
    CommitFailedError,
    InconsistentGroupProtocolError,
    RebalanceInProgressError,
)
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.patience import eventually
from tests.support.topics import create_topic

pytestmark = [
    pytest.mark.asyncio(loop_factories=["asyncio"]),
    pytest.mark.usefixtures("others_may_leak"),
]

PARTITIONS: Final = 6
FAST: Final = {"heartbeat_interval_ms": 100, "session_timeout_ms": 6000}


class Member:
    """A member of the group that reads and commits until it is stopped."""

    def __init__(self, consumer: Any, read: list[bytes]) -> None:
        self.consumer = consumer
        self._read = read
        self._is_over = False
        self._task: asyncio.Task[None] | None = None

    @property
    def partitions(self) -> int:
        return len(self.consumer.assignment())

    async def start(self) -> None:
        await self.consumer.start()
        self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while not self._is_over:
            found = await self.consumer.getmany(timeout_ms=50)
            values = [record.value for records in found.values() for record in records]
            self._read += values
            if values:
                # After a rebalance others read these records again.
                with suppress(
                    CommitFailedError, RebalanceInProgressError, aiokafka.errors.CommitFailedError
                ):
                    await self.consumer.commit()

    async def stop(self) -> None:
        self._is_over = True
        if self._task is not None:
            await self._task
        await self.consumer.stop()


class Group:
    """The members of a group, and the records that were written and read."""

    def __init__(self, bootstrap: str, topic: str) -> None:
        self._bootstrap = bootstrap
        self._topic = topic
        self.members: list[Member] = []
        self.written: set[bytes] = set()
        self.read: list[bytes] = []

    def make(self, consumer_class: Any, **options: Any) -> Member:
        consumer = consumer_class(
            self._topic,
            bootstrap_servers=self._bootstrap,
            group_id=f"{self._topic}-group",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            **FAST,
            **options,
        )
        return Member(consumer, self.read)

    async def join(self, consumer_class: Any, **options: Any) -> None:
        member = self.make(consumer_class, **options)
        await member.start()
        self.members.append(member)
        await self.settle()

    async def replace_each(self, consumer_class: Any, **options: Any) -> None:
        """Start a new member and stop the oldest, until all are new; write in between."""
        for _ in range(len(self.members)):
            await self.join(consumer_class, **options)
            await self.write_and_read()
            await self.members.pop(0).stop()
            await self.settle()
        await self.write_and_read()

    async def settle(self) -> None:
        """Wait until every member has its even share."""
        share = PARTITIONS // len(self.members)
        await eventually(
            lambda: (
                all(member.partitions >= share for member in self.members)
                and sum(member.partitions for member in self.members) == PARTITIONS
            )
        )

    async def write_and_read(self) -> None:
        values = {b"%d" % (len(self.written) + number) for number in range(PARTITIONS)}
        async with AIOKafkaProducer(bootstrap_servers=self._bootstrap) as producer:
            for partition, value in enumerate(sorted(values)):
                await producer.send(self._topic, value, partition=partition)
        self.written |= values
        await eventually(lambda: set(self.read) == self.written)


async def upgrade(bootstrap: str, topic: str) -> None:
    group = Group(bootstrap, topic)
    try:
        for _ in range(2):
            await group.join(aiokafka.AIOKafkaConsumer)
        await group.write_and_read()

        # The mistake: no assignor in common. It ends the newcomer alone.
        mistaken = group.make(
            AIOKafkaConsumer, partition_assignment_strategy=[CooperativeStickyAssignor]
        )
        with pytest.raises(InconsistentGroupProtocolError):
            await mistaken.start()
        await mistaken.stop()
        await group.write_and_read()

        # The defaults have aiokafka's assignor, and the cooperative one.
        await group.replace_each(AIOKafkaConsumer)
        await group.replace_each(
            AIOKafkaConsumer, partition_assignment_strategy=[CooperativeStickyAssignor]
        )

        # The way back.
        await group.replace_each(AIOKafkaConsumer)
        await group.replace_each(aiokafka.AIOKafkaConsumer)
    finally:
        for member in group.members:
            await member.stop()
    assert len(group.written) == PARTITIONS * 14


async def test_a_group_moves_without_a_stop() -> None:
    async with EmbeddedBroker(num_partitions=PARTITIONS) as broker, asyncio.timeout(120):
        await upgrade(broker.bootstrap_servers, "orders")


@pytest.mark.real_kafka
@pytest.mark.soak
async def test_a_group_on_a_real_kafka_moves_without_a_stop(
    apache_kafka: ApacheKafka, topic_name: str
) -> None:
    address = apache_kafka.bootstrap_servers
    await create_topic(address, topic_name, partitions=PARTITIONS)
    async with asyncio.timeout(240):
        await upgrade(address, topic_name)
