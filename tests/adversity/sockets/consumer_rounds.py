"""Rounds of consumers on a rough network, and what has to be true of what they return.

Members come, read in every way, seek, pause, commit, are cancelled and go. Meanwhile logs grow, are
cut by unclean elections, and topics are made anew. A ledger knows what was ever at each offset.
"""

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from aiokafka_lite import AIOKafkaConsumer, ConsumerRebalanceListener, CooperativeStickyAssignor
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.adversity.sockets.checked_values import checked, name_of, some_size
from tests.adversity.sockets.storm import PATIENT, Storm, storm

TOPICS: Final = ("orders", "audit")
PARTITIONS: Final = 2
MEMBERS: Final = 3
ALL: Final = tuple(TopicPartition(topic, n) for topic in TOPICS for n in range(PARTITIONS))
_END_S: Final = 40.0
"""Everything is read within this time once the network is calm."""


class Ledger:
    """What is in the logs, what ever was, and what was returned."""

    def __init__(self, broker: EmbeddedBroker, rng: random.Random) -> None:
        self.broker = broker
        self.life_of: dict[str, int] = {}
        """How often a record's partition had been cut or made anew when it was written."""
        self.returned: set[str] = set()
        self._lives: dict[TopicPartition, int] = dict.fromkeys(ALL, 0)
        self._ever: dict[tuple[TopicPartition, int], set[str]] = defaultdict(set)
        self._rng = rng
        self._next = 0

    def write(self, partition: TopicPartition, count: int) -> None:
        """Append records."""
        for _ in range(count):
            self._next += 1
            name = f"{partition.topic}-{partition.partition}-{self._next}"
            value = checked(name, min(some_size(self._rng), 30_000))
            written = self.broker.produce(
                partition.topic,
                value,
                partition=partition.partition,
                key=b"k%d" % self._rng.randrange(4),
            )
            self._ever[partition, written.offset].add(name)
            self.life_of[name] = self._lives[partition]

    def cut(self, partition: TopicPartition, count: int) -> None:
        """Lose the last records, by an unclean election."""
        state = self.broker.cluster.partition(partition)
        end = state.log.log_end_offset
        state.truncate(max(state.log.log_start_offset, end - count))
        self._lives[partition] += 1
        state.lead(state.leader)

    def make_anew(self, topic: str) -> None:
        """Delete a topic, and create it again."""
        self.broker.delete_topic(topic)
        self.broker.create_topic(topic, PARTITIONS)
        for partition in ALL:
            self._lives[partition] += partition.topic == topic

    def is_right(self, partition: TopicPartition, offset: int, value: Any) -> str:
        """Note a returned record, and return its name. Raises AssertionError for a wrong one."""
        name = name_of(value)
        assert name in self._ever[partition, offset], f"{name} was never at {partition} {offset}"
        self.returned.add(name)
        return name

    def missing(self) -> set[str]:
        """Return what is in the logs and was not returned."""
        return {
            name_of(record.value) for each in ALL for record in self.broker.log(each).records()
        } - self.returned


class Reader(ConsumerRebalanceListener):
    """Checks that what one consumer returns has neither a hole nor a repetition."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._last: dict[TopicPartition, tuple[int, int]] = {}
        """Partition -> the life of the log in which the last record was written, and its offset."""

    def sought(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            self._last.pop(partition, None)

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        self.sought(revoked)

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        self.sought(assigned)

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        self.sought(lost)

    def returned_record(self, record: ConsumerRecord[Any, Any]) -> None:
        partition = TopicPartition(record.topic, record.partition)
        self.returned(partition, record.offset, record.value)

    def returned(self, partition: TopicPartition, offset: int, value: Any) -> None:
        name = self._ledger.is_right(partition, offset, value)
        life = self._ledger.life_of[name]
        before = self._last.get(partition)
        if before is not None and before[0] == life:
            assert offset == before[1] + 1, f"{partition}: {offset} behind {before[1]}"
        self._last[partition] = life, offset


class Member:
    """A program that reads by one consumer, in every way."""

    def __init__(self, ledger: Ledger, options: dict[str, Any], rng: random.Random) -> None:
        self._rng = rng
        self._reader = Reader(ledger)
        self._is_grouped = options.get("group_id") is not None
        self.consumer: AIOKafkaConsumer[Any, Any] = AIOKafkaConsumer(**options)

    async def read(self, steps: int, until: Callable[[], bool]) -> None:
        """Start, make so many steps or until the condition holds, and stop."""
        try:
            try:
                await self.consumer.start()
            except KafkaError:
                return
            if self._is_grouped:
                self.consumer.subscribe(TOPICS, listener=self._reader)
            else:
                self.consumer.assign(ALL)
            for _ in range(steps):
                if until():
                    return
                await self._step()
        finally:
            with suppress(KafkaError):
                await self.consumer.stop()

    async def _step(self) -> None:
        rng, consumer = self._rng, self.consumer
        assigned = sorted(consumer.assignment())
        try:
            match rng.randrange(20):
                case 0 if assigned:
                    chosen = rng.choice(assigned)
                    consumer.pause(chosen)
                    await asyncio.sleep(0.002)
                    consumer.resume(*consumer.paused())
                case 1 if assigned and not self._is_grouped:
                    chosen = rng.choice(assigned)
                    self._reader.sought([chosen])
                    consumer.seek(chosen, 0)
                case 2 if self._is_grouped:
                    await consumer.commit()
                case 3:
                    await self._cancelled(self._poll)
                case _:
                    await self._poll()
        except KafkaError:
            await asyncio.sleep(0.01)

    async def _cancelled(self, call: Callable[[], Any]) -> None:
        task = asyncio.ensure_future(call())
        for _ in range(self._rng.randint(0, 6)):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.result()

    async def _poll(self) -> None:
        rng, consumer, reader = self._rng, self.consumer, self._reader
        limit = rng.choice([None, None, 1, 7])
        match rng.randrange(4):
            case 0:
                with suppress(TimeoutError):
                    async with asyncio.timeout(rng.choice([0.0, 0.01, 0.1])):
                        record = await consumer.getone()
                        reader.returned_record(record)
            case 1:
                with suppress(TimeoutError):
                    async with asyncio.timeout(0.1):
                        async for record in consumer:
                            reader.returned_record(record)
                            if rng.random() < 0.1:
                                break
            case 2:
                batch = await consumer.getmany_arrow(timeout_ms=50, max_records=limit)
                for row in batch.select(["topic", "partition", "offset", "value"]).to_pylist():
                    partition = TopicPartition(row["topic"], row["partition"])
                    reader.returned(partition, row["offset"], row["value"])
            case _:
                polled = await consumer.getmany(timeout_ms=50, max_records=limit)
                for records in polled.values():
                    for record in records:
                        reader.returned_record(record)


def consumer_options(rng: random.Random, protocol: str | None) -> dict[str, Any]:
    """Return how a consumer of a round is set up; without a protocol it has no group."""
    options: dict[str, Any] = {
        "auto_offset_reset": "earliest",
        "max_poll_records": rng.choice([1, 7, 500]),
        "fetch_max_wait_ms": rng.choice([10, 100]),
        "max_partition_fetch_bytes": rng.choice([1_000, 1_048_576]),
        "metadata_max_age_ms": 300,
    }
    if protocol is not None:
        options |= {"group_id": "g", "enable_auto_commit": rng.random() < 0.5}
        options |= {"auto_commit_interval_ms": 50}
        options["group_protocol"] = "consumer" if protocol == "consumer" else "classic"
        if protocol == "cooperative":
            options["partition_assignment_strategy"] = [CooperativeStickyAssignor]
        if protocol != "consumer":
            options |= {"session_timeout_ms": 3_000, "heartbeat_interval_ms": 200}
    return options


async def play_consumers(seed: int, *, tls: bool, protocol: str | None, lives: int) -> list[str]:
    """Play a round, and return what happened.

    Raises AssertionError where a promise is broken.
    """
    async with storm(seed, tls=tls) as (weather, options):
        rng = random.Random(seed + 1)
        for topic in TOPICS:
            weather.broker.create_topic(topic, PARTITIONS)
        ledger = Ledger(weather.broker, rng)
        weather.others += accidents(
            weather, ledger, rng, may_make_anew=protocol in (None, "consumer")
        )

        async def live() -> None:
            for _ in range(lives):
                member = Member(ledger, options | consumer_options(rng, protocol), rng)
                await member.read(rng.randint(5, 60), lambda: False)

        async with weather.raging(), asyncio.timeout(240), asyncio.TaskGroup() as tasks:
            for _ in range(MEMBERS if protocol else 1):
                tasks.create_task(live())
        for partition in ALL:
            ledger.write(partition, 5)
        last = Member(ledger, options | consumer_options(rng, protocol) | PATIENT, rng)
        with suppress(TimeoutError):
            async with asyncio.timeout(_END_S):
                await last.read(10**9, lambda: not ledger.missing())
        missing = ledger.missing()
        assert not missing, f"never returned: {len(missing)}, {sorted(missing)[:20]}"
        return weather.log


def accidents(
    weather: Storm, ledger: Ledger, rng: random.Random, *, may_make_anew: bool
) -> list[Callable[[], None]]:
    """Write the first records; return what may happen to the logs during a storm.

    A classic group commits by name: it may commit a former topic's offset to a new one.
    """

    def write() -> None:
        ledger.write(rng.choice(ALL), rng.choice([1, 3, 30]))

    def cut() -> None:
        partition, count = rng.choice(ALL), rng.randint(1, 20)
        weather.note(f"{partition} loses {count}")
        ledger.cut(partition, count)
        ledger.write(partition, rng.randint(0, 5))

    def make_anew() -> None:
        topic = rng.choice(TOPICS)
        weather.note(f"{topic} is made anew")
        ledger.make_anew(topic)
        for number in range(PARTITIONS):
            ledger.write(TopicPartition(topic, number), rng.randint(0, 3))

    for partition in ALL:
        ledger.write(partition, 20)
    return [*[write] * 8, cut, *([make_anew] if may_make_anew else [])]


__all__ = [
    "ALL",
    "PARTITIONS",
    "TOPICS",
    "Ledger",
    "accidents",
    "consumer_options",
    "play_consumers",
]
