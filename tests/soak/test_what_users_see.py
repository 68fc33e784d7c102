"""Checks what a user sees of four rare accidents on a real Kafka with three nodes.

The first is an unclean election under load. The second is a topic that is deleted and created again
while a group reads it. The third is a blocked event loop, the last a stop while no node runs.
"""

import asyncio
import itertools
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Collection, Iterator
from contextlib import asynccontextmanager, suppress

import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRebalanceListener,
    ConsumerRecord,
    TopicPartition,
)
from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka, archive_classes
from tests.conftest import require_kafka
from tests.faults.group_faults import READY_S, Cluster, eventually
from tests.support.topics import create_topic, delete_topic, describe_topics

PAUSE_S = 0.01
POLL_MS = 200
BLOCKED_S = 20.0
STOPS_WITHIN_S = 5.0
SLACK_S = 5.0  # for a machine that is busy with the start of three nodes
SETTLED_S = 120.0

# The two event loops differ in sockets and timers. Only the stop without nodes depends on these.
pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(900)]
ONE_LOOP = pytest.mark.asyncio(loop_factories=["asyncio"])

Place = tuple[int, int]
"""Partition and offset."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[ApacheKafka]:
    """One cluster for all tests. The fixture `cluster` repairs it before each test."""
    require_kafka(DEFAULT_VERSION)
    archive_classes(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION, nodes=3) as started:
        yield started
        for node in started.nodes:
            node.kill()


@pytest.fixture
def cluster(kafka: ApacheKafka) -> Cluster:
    """The cluster, with all nodes running and all replicas in sync."""
    whole = Cluster(kafka)
    asyncio.run(whole.heal())
    return whole


class Load:
    """Sends numbered records to each partition in turn, and notes where each was acknowledged."""

    def __init__(self, address: str, topic: str, partitions: int) -> None:
        self.topic = topic
        self._address = address
        self._partitions = partitions
        self._sent: list[tuple[bytes, RecordAck]] = []

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Send records until the block ends, then wait for the outcome of each."""
        task = asyncio.create_task(self._send())
        try:
            yield
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task

    async def _send(self) -> None:
        async with AIOKafkaProducer(
            bootstrap_servers=self._address, request_timeout_ms=5000
        ) as producer:
            for number in itertools.count():
                value = b"%d" % number
                with suppress(KafkaError):  # the topic may be deleted at this moment
                    partition = number % self._partitions
                    ack = await producer.send(self.topic, value, partition=partition)
                    self._sent.append((value, ack))
                await asyncio.sleep(PAUSE_S)

    def acked(self) -> dict[bytes, Place]:
        """Return each acknowledged record with its place."""
        return {
            value: (told.partition, told.offset)
            for value, ack in self._sent
            if ack.done() and not ack.cancelled() and ack.exception() is None
            for told in [ack.result()]
        }


async def log_of(address: str, topic: str) -> dict[Place, bytes]:
    """Return the present contents of the topic's log."""
    found: dict[Place, bytes] = {}
    async with AIOKafkaConsumer(bootstrap_servers=address, auto_offset_reset="earliest") as reader:
        ids = await reader.list_partitions(topic)
        tps = [TopicPartition(topic, partition) for partition in ids[topic]]
        reader.assign(tps)
        ends = await reader.end_offsets(tps)
        while any([await reader.position(tp) < ends[tp] for tp in tps]):
            for records in (await reader.getmany(timeout_ms=POLL_MS)).values():
                found |= {(each.partition, each.offset): each.value or b"" for each in records}
    return found


# An unclean election…


async def _is_led_by(cluster: Cluster, topic: str, node_id: int) -> bool:
    try:
        return (await cluster.leaders(topic))[0] == node_id
    except KafkaError:  # some of the addresses belong to nodes that are down
        return False


@ONE_LOOP
async def test_after_an_unclean_election_the_consumer_follows_the_log_that_is_left(
    cluster: Cluster, topic_name: str
) -> None:
    """The consumer reads each record of the new leader's log once and in order.

    Of the records that the log has lost, it may have read some before the election.
    """
    address = cluster.address
    await create_topic(
        address,
        topic_name,
        partitions=1,
        replication_factor=2,
        configs={"min.insync.replicas": "1", "unclean.leader.election.enable": "true"},
    )
    load, seen = Load(address, topic_name, 1), list[ConsumerRecord[bytes, bytes]]()
    async with AIOKafkaConsumer(
        topic_name,
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        request_timeout_ms=5000,
    ) as consumer:
        async with load.running():
            await eventually("records are written", lambda: len(load.acked()) > 300)
            [described] = await describe_topics(address, [topic_name])
            [partition] = described.partitions
            assert partition.leader is not None
            leader = cluster.node(partition.leader)
            [follower] = [cluster.node(i) for i in partition.replicas if i != partition.leader]
            await cluster.kill([follower])
            behind = len(load.acked())
            await eventually("the leader is alone", lambda: len(load.acked()) > behind + 600)
            while len(seen) < behind + 200:  # its buffer has more records that the log will lose
                seen.append(await consumer.getone())
            await cluster.kill([leader])
            await asyncio.to_thread(follower.spawn)
            await asyncio.to_thread(follower.wait_ready, 1, READY_S)
            async with asyncio.timeout(SETTLED_S):
                while not await _is_led_by(cluster, topic_name, follower.node_id):
                    await asyncio.sleep(0.5)
            after = len(load.acked())
            for _ in range(100):  # from the buffer, or from the new leader's log
                seen.append(await consumer.getone())
            await eventually(
                "the new leader takes records", lambda: len(load.acked()) > after + 300
            )
        left = await log_of(address, topic_name)
        async with asyncio.timeout(SETTLED_S):
            while not left.items() <= {((0, each.offset), each.value) for each in seen}:
                for records in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                    seen.extend(records)
    await cluster.heal()
    is_left = [left.get((0, each.offset)) == each.value for each in seen]
    of_left = [each.offset for each, stays in zip(seen, is_left, strict=True) if stays]
    assert of_left == sorted(offset for _, offset in left)
    lost = [each.offset for each, stays in zip(seen, is_left, strict=True) if not stays]
    assert lost, "nothing was read that the new leader lacks"
    last_lost = max(index for index, stays in enumerate(is_left) if not stays)
    assert max(of_left[: sum(is_left[:last_lost])]) < min(lost)
    in_vain = [value for value, place in load.acked().items() if left.get(place) != value]
    assert in_vain, "the election was clean"
    print(f"{len(seen)} read, {len(lost)} of them cut off; {len(in_vain)} acknowledged in vain")


# A topic that is deleted and created again…


async def _is_made(address: str, topic: str) -> bool:
    try:
        await create_topic(address, topic, partitions=3)
    except KafkaError:  # the old topic still exists
        return False
    return True


async def _member(
    address: str, topic: str, seen: dict[Place, list[bytes]], leaving: asyncio.Event
) -> None:
    async with AIOKafkaConsumer(
        topic,
        bootstrap_servers=address,
        group_id=topic,
        auto_offset_reset="earliest",
        auto_commit_interval_ms=200,
        metadata_max_age_ms=2000,
        request_timeout_ms=5000,
        allow_auto_create_topics=False,
    ) as consumer:
        while not leaving.is_set():
            for records in (await consumer.getmany(timeout_ms=POLL_MS)).values():
                for each in records:
                    seen[each.partition, each.offset].append(each.value or b"")


@ONE_LOOP
async def test_a_group_reads_all_of_a_topic_that_was_made_anew(
    cluster: Cluster, topic_name: str
) -> None:
    """Offsets of the old topic neither skip records of the new one nor are committed for it."""
    address = cluster.address
    await create_topic(address, topic_name, partitions=3)
    seen: dict[Place, list[bytes]] = defaultdict(list)
    leaving = asyncio.Event()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(2):
            tasks.create_task(_member(address, topic_name, seen, leaving))
        old = Load(address, topic_name, 3)
        async with old.running():
            await eventually("the old topic is read", lambda: len(seen) > 500)
        await delete_topic(address, topic_name)
        async with asyncio.timeout(SETTLED_S):
            while not await _is_made(address, topic_name):
                await asyncio.sleep(0.2)
        new = Load(address, topic_name, 3)
        async with new.running():
            await eventually("the new topic is written", lambda: len(new.acked()) > 300)
        left = await log_of(address, topic_name)
        assert set(left.values()) >= set(new.acked())

        def is_read() -> bool:
            return all(value in seen[place] for place, value in left.items())

        await eventually("all of the new topic is read", is_read)
        leaving.set()
    async with AIOKafkaConsumer(bootstrap_servers=address, group_id=topic_name) as asking:
        for partition in range(3):
            committed = await asking.committed(TopicPartition(topic_name, partition))
            ends = [offset + 1 for index, offset in left if index == partition]
            assert committed == max(ends, default=committed)


# A blocked event loop…


class Reader(threading.Thread, ConsumerRebalanceListener):
    """A member with an event loop of its own, which a test can block."""

    def __init__(self, name: str, address: str, topic: str, seen: dict[Place, list[str]]) -> None:
        super().__init__(name=name)
        self.leaving = threading.Event()
        self.blocks = threading.Event()
        self.was_blocked = threading.Event()
        self.knows = False
        """True if, after the loop was blocked, the listener was called for lost partitions."""
        self.error: Exception | None = None
        self._address, self._topic, self._seen = address, topic, seen

    def run(self) -> None:
        try:
            asyncio.run(self._read())
        except Exception as error:  # noqa: BLE001 - the test raises it
            self.error = error

    def on_partitions_assigned(self, assigned: Collection[TopicPartition]) -> None:
        """Do nothing."""

    def on_partitions_revoked(self, revoked: Collection[TopicPartition]) -> None:
        """Note the call, which also comes for lost partitions."""
        self.knows = self.was_blocked.is_set()

    async def _read(self) -> None:
        async with AIOKafkaConsumer(
            bootstrap_servers=self._address,
            group_id=self._topic,
            client_id=self.name,
            auto_offset_reset="earliest",
            auto_commit_interval_ms=200,
            session_timeout_ms=6000,
            heartbeat_interval_ms=1000,
        ) as consumer:
            consumer.subscribe([self._topic], listener=self)
            while not self.leaving.is_set():
                polled = await consumer.getmany(timeout_ms=POLL_MS)
                who = self.name
                if self.was_blocked.is_set():
                    who += " again" if self.knows else " unaware"
                for each in itertools.chain.from_iterable(polled.values()):
                    self._seen[each.partition, each.offset].append(who)
                if polled and self.blocks.is_set() and not self.was_blocked.is_set():
                    time.sleep(BLOCKED_S)  # blocks the whole loop, on purpose
                    self.was_blocked.set()


@ONE_LOOP
async def test_a_member_whose_loop_stood_still_learns_of_it_and_reads_on(
    cluster: Cluster, topic_name: str
) -> None:
    """Every record is read, and only records from before the call of the listener are read twice.

    The member does not read again what the new owners have read meanwhile. No offset is committed
    beyond the records that were read.
    """
    address = cluster.address
    await create_topic(address, topic_name, partitions=4)
    seen: dict[Place, list[str]] = defaultdict(list)
    readers = [Reader(name, address, topic_name, seen) for name in ("slow", "other")]
    slow, other = readers
    load = Load(address, topic_name, 4)
    try:
        async with load.running():
            for reader in readers:
                reader.start()
            await eventually(
                "both read",
                lambda: {who for each in list(seen.values()) for who in each} >= {"slow", "other"},
            )
            slow.blocks.set()
            await eventually("the loop stood still", slow.was_blocked.is_set)
            await eventually(
                "it reads again", lambda: any("slow again" in each for each in list(seen.values()))
            )
        acked = load.acked()
        await eventually(
            "all is read", lambda: all(place in seen for place in list(acked.values()))
        )
    finally:
        for reader in readers:
            reader.leaving.set()
        for reader in readers:
            await asyncio.to_thread(reader.join, 60)
    assert [reader.error for reader in readers] == [None, None]
    twice = {place: who for place, who in seen.items() if len(who) > 1}
    taken_over = {place for place, who in twice.items() if who == ["slow", "other"]}
    late = {place for place, who in twice.items() if who == ["other", "slow unaware"]}
    assert twice.keys() == taken_over | late
    assert other.error is None
    async with AIOKafkaConsumer(bootstrap_servers=address, group_id=topic_name) as asking:
        for partition in range(4):
            committed = await asking.committed(TopicPartition(topic_name, partition))
            read = [offset + 1 for index, offset in seen if index == partition]
            assert committed == max(read, default=None)
    print(f"{len(seen)} records, {len(taken_over)} taken over, {len(late)} read late")


# A stop without any node…


async def test_stop_ends_although_no_node_is_left(cluster: Cluster, topic_name: str) -> None:
    """The member gives up within five seconds. Its earlier commits stay valid."""
    address = cluster.address
    await create_topic(address, topic_name, partitions=2)
    async with AIOKafkaProducer(bootstrap_servers=address) as producer:
        for number in range(100):
            await producer.send(topic_name, b"%d" % number, partition=number % 2)
    consumer = AIOKafkaConsumer(
        topic_name, bootstrap_servers=address, group_id=topic_name, auto_offset_reset="earliest"
    )
    await consumer.start()
    seen = 0
    while seen < 100:
        seen += sum(map(len, (await consumer.getmany(timeout_ms=POLL_MS)).values()))
    await consumer.commit()
    await cluster.kill(cluster.kafka.nodes)
    began = SYSTEM_CLOCK.monotonic()
    await consumer.stop()
    took_s = SYSTEM_CLOCK.monotonic() - began
    await cluster.heal()
    assert took_s < STOPS_WITHIN_S + SLACK_S
    async with AIOKafkaConsumer(bootstrap_servers=address, group_id=topic_name) as asking:
        for partition in range(2):
            assert await asking.committed(TopicPartition(topic_name, partition)) == 50
