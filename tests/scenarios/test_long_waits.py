"""Whatever a call waits for is told: a warning after ten seconds, then one a minute, and the same
in `explain()`.

Each row is a loop of the client that asks again until something succeeds. The faults are a node
that says nothing, one that cuts the connection, and one that refuses each time.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
)
from aiokafka_lite.admin import NewTopic
from aiokafka_lite.errors import CoordinatorLoadInProgressError, NotLeaderForPartitionError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka

TP = TopicPartition("t", 0)
LONG_MS = 600_000
LOADING = CoordinatorLoadInProgressError
PATIENT = {"request_timeout_ms": LONG_MS, "metadata_max_age_ms": LONG_MS}


class World:
    """A cluster with a topic of one record, and one client that waits for something."""

    def __init__(self, kafka: VirtualKafka) -> None:
        self.kafka = kafka
        self.client: Any = None
        kafka.broker.create_topic("t")
        kafka.broker.produce("t", b"v")

    async def started(self, kind: Any, *topics: str, **options: Any) -> Any:
        client = self.made(kind, *topics, **options)
        await client.start()
        return client

    def made(self, kind: Any, *topics: str, **options: Any) -> Any:
        patient = dict(PATIENT)
        if kind in (AIOKafkaConsumer, AIOKafkaShareConsumer):
            patient["default_api_timeout_ms"] = LONG_MS
        self.client = kind(*topics, **self.kafka.client_options, **patient, **options)
        return self.client

    async def producer(self, **options: Any) -> Any:
        options = {"delivery_timeout_ms": 2 * LONG_MS, "max_block_ms": LONG_MS, **options}
        return await self.started(AIOKafkaProducer, **options)

    async def transactional(self) -> Any:
        producer = await self.producer(transactional_id="x", transaction_timeout_ms=LONG_MS)
        await producer.begin_transaction()
        await producer.send_and_wait("t", b"v")
        return producer

    async def member(self, **options: Any) -> Any:
        member = await self.started(
            AIOKafkaConsumer,
            "t",
            group_id="g",
            auto_offset_reset="earliest",
            enable_auto_commit=False,
            max_poll_interval_ms=LONG_MS,
            **options,
        )
        await member.getone()
        return member

    async def reader(self) -> Any:
        return await self.started(AIOKafkaConsumer, "t", auto_offset_reset="earliest")

    async def sharer(self) -> Any:
        return await self.started(
            AIOKafkaShareConsumer, "t", group_id="s", max_poll_interval_ms=LONG_MS
        )


Call = Callable[[], Awaitable[object]]


async def start_reader(world: World) -> Call:
    reader = world.made(AIOKafkaConsumer)
    return reader.start  # type: ignore[no-any-return]


async def start_transactional(world: World) -> Call:
    producer = world.made(AIOKafkaProducer, transactional_id="x", max_block_ms=LONG_MS)
    return producer.start  # type: ignore[no-any-return]


async def start_member(world: World) -> Call:
    member = world.made(AIOKafkaConsumer, "t", group_id="g", max_poll_interval_ms=LONG_MS)
    return member.start  # type: ignore[no-any-return]


async def start_member_of_the_newer_protocol(world: World) -> Call:
    member = world.made(AIOKafkaConsumer, "t", group_id="g", group_protocol="consumer")
    return member.start  # type: ignore[no-any-return]


async def first_record_of_a_member(world: World) -> Call:
    member = await world.started(AIOKafkaConsumer, "t", group_id="g", auto_offset_reset="earliest")
    return member.getone  # type: ignore[no-any-return]


async def next_record_of_a_member(world: World) -> Call:
    member = await world.member(heartbeat_interval_ms=1000)
    return lambda: member.getmany(timeout_ms=90_000)


async def first_record(world: World) -> Call:
    reader = await world.reader()
    return reader.getone  # type: ignore[no-any-return]


async def record_after_a_seek(world: World) -> Call:
    reader = await world.reader()
    await reader.position(TP)
    reader.seek(TP, OffsetAndMetadata(0, "", 0))
    return reader.getone  # type: ignore[no-any-return]


async def end_offsets(world: World) -> Call:
    reader = await world.reader()
    return lambda: reader.end_offsets([TP])


async def committed(world: World) -> Call:
    member = await world.member()
    return lambda: member.committed(TP)


async def commit(world: World) -> Call:
    member = await world.member()
    return member.commit  # type: ignore[no-any-return]


async def send(world: World) -> Call:
    producer = await world.producer()
    await producer.partitions_for("t")
    return lambda: producer.send_and_wait("t", b"v")


async def first_send(world: World) -> Call:
    producer = world.made(AIOKafkaProducer, delivery_timeout_ms=2 * LONG_MS)

    async def call() -> object:
        await producer.start()
        return await producer.send_and_wait("t", b"v")

    return call


async def flush(world: World) -> Call:
    producer = await world.producer()
    await producer.send_and_wait("t", b"v")
    await producer.send("t", b"w")
    return producer.flush  # type: ignore[no-any-return]


async def commit_transaction(world: World) -> Call:
    producer = await world.transactional()
    return producer.commit_transaction  # type: ignore[no-any-return]


async def abort_transaction(world: World) -> Call:
    producer = await world.transactional()
    return producer.abort_transaction  # type: ignore[no-any-return]


async def send_offsets(world: World) -> Call:
    producer = await world.transactional()
    return lambda: producer.send_offsets_to_transaction({TP: 1}, "g")


async def share_record(world: World) -> Call:
    sharer = await world.sharer()
    return lambda: sharer.getmany(timeout_ms=90_000)


async def share_commit(world: World) -> Call:
    sharer = await world.sharer()
    await sharer.getmany(timeout_ms=1000)
    async with AIOKafkaProducer(**world.kafka.client_options) as producer:
        await producer.send_and_wait("t", b"v")
    while not await sharer.getmany(timeout_ms=1000):
        pass
    return sharer.commit  # type: ignore[no-any-return]


async def create_topics(world: World) -> Call:
    admin = await world.started(AIOKafkaAdminClient)
    return lambda: admin.create_topics([NewTopic("new", 1, 1)], timeout_ms=LONG_MS)


async def describe_groups(world: World) -> Call:
    await (await world.member()).stop()
    admin = await world.started(AIOKafkaAdminClient)
    return lambda: admin.describe_consumer_groups(["g"], timeout_ms=LONG_MS)


ROWS: list[tuple[Any, str, Any]] = [
    (start_reader, "Metadata", "stall"),
    (start_transactional, "InitProducerId", "cut"),
    (start_transactional, "InitProducerId", "stall"),
    (start_transactional, "InitProducerId", LOADING),
    (start_transactional, "FindCoordinator", "stall"),
    (start_member, "FindCoordinator", "cut"),
    (start_member, "FindCoordinator", "stall"),
    (start_member, "JoinGroup", "cut"),
    (start_member, "JoinGroup", "stall"),
    (start_member, "JoinGroup", LOADING),
    (start_member, "JoinGroup", "REBALANCE_IN_PROGRESS"),
    (start_member, "JoinGroup", "UNKNOWN_MEMBER_ID"),
    (start_member, "SyncGroup", "cut"),
    (start_member, "SyncGroup", "stall"),
    (start_member_of_the_newer_protocol, "ConsumerGroupHeartbeat", "cut"),
    (start_member_of_the_newer_protocol, "ConsumerGroupHeartbeat", "stall"),
    (start_member_of_the_newer_protocol, "ConsumerGroupHeartbeat", LOADING),
    (start_member_of_the_newer_protocol, "ConsumerGroupHeartbeat", "UNKNOWN_MEMBER_ID"),
    (start_member_of_the_newer_protocol, "ConsumerGroupHeartbeat", "FENCED_MEMBER_EPOCH"),
    (next_record_of_a_member, "Heartbeat", "cut"),
    (next_record_of_a_member, "Heartbeat", "stall"),
    (next_record_of_a_member, "Heartbeat", LOADING),
    (first_record_of_a_member, "OffsetFetch", "stall"),
    (first_record, "ListOffsets", "cut"),
    (first_record, "ListOffsets", "stall"),
    (first_record, "ListOffsets", NotLeaderForPartitionError),
    (first_record, "Fetch", "cut"),
    (first_record, "Fetch", NotLeaderForPartitionError),
    (first_record, "Fetch", "KAFKA_STORAGE_ERROR"),
    (first_record, "Fetch", "UNKNOWN_TOPIC_ID"),
    (first_record, "Fetch", "FETCH_SESSION_ID_NOT_FOUND"),
    (record_after_a_seek, "OffsetForLeaderEpoch", "cut"),
    (record_after_a_seek, "OffsetForLeaderEpoch", "stall"),
    (end_offsets, "ListOffsets", "cut"),
    (end_offsets, "ListOffsets", "stall"),
    (committed, "OffsetFetch", "cut"),
    (committed, "OffsetFetch", "stall"),
    (committed, "OffsetFetch", LOADING),
    (commit, "OffsetCommit", "cut"),
    (commit, "OffsetCommit", "stall"),
    (commit, "OffsetCommit", LOADING),
    (first_send, "InitProducerId", "stall"),
    (first_send, "InitProducerId", "cut"),
    (send, "Produce", "stall"),
    (send, "Produce", "cut"),
    (send, "Produce", NotLeaderForPartitionError),
    (flush, "Produce", "cut"),
    (commit_transaction, "EndTxn", "cut"),
    (commit_transaction, "EndTxn", "stall"),
    (abort_transaction, "EndTxn", LOADING),
    (send_offsets, "TxnOffsetCommit", "stall"),
    (send_offsets, "TxnOffsetCommit", LOADING),
    (share_record, "ShareGroupHeartbeat", "cut"),
    (share_record, "ShareGroupHeartbeat", "stall"),
    (share_record, "ShareFetch", "cut"),
    (share_commit, "ShareAcknowledge", "stall"),
    (create_topics, "CreateTopics", "stall"),
    (describe_groups, "DescribeGroups", "cut"),
    (describe_groups, "DescribeGroups", "stall"),
]


def hurt(kafka: VirtualKafka, api: str, fault: Any) -> None:
    faults = kafka.broker.faults
    if fault == "stall":
        faults.stall(api, times=None)
    elif fault == "cut":
        faults.cut(api, times=None)
    else:
        faults.fail(api, fault, times=None)


@pytest.mark.parametrize(
    ("prepare", "api", "fault"),
    ROWS,
    ids=[f"{row[0].__name__}-{row[1]}-{getattr(row[2], '__name__', row[2])}" for row in ROWS],
)
def test_a_wait_is_told(
    prepare: Callable[[World], Awaitable[Call]],
    api: str,
    fault: Any,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """A loop that asks again is told after ten seconds, then once a minute (H8)."""

    def told() -> list[str]:
        return [
            record.getMessage()
            for record in caplog.records
            if record.levelno == logging.WARNING and " has waited " in record.getMessage()
        ]

    async def main(kafka: VirtualKafka) -> None:
        world = World(kafka)
        call = await prepare(world)
        caplog.clear()
        hurt(kafka, api, fault)
        waiting = asyncio.ensure_future(call())
        await asyncio.sleep(9.5)
        assert not waiting.done()
        assert told() == []
        await asyncio.sleep(3)
        assert len(told()) == 1, caplog.text
        assert any(word in told()[0] for word in (api, "heartbeat", "_topics()", "_groups()"))
        if not isinstance(world.client, AIOKafkaAdminClient):
            assert_explained(world.client, told()[0])
        await asyncio.sleep(55)
        assert len(told()) == 1, caplog.text
        await asyncio.sleep(8)
        assert len(told()) == 2, caplog.text
        kafka.broker.faults.clear()
        await asyncio.wait_for(waiting, 120)
        caplog.clear()
        await asyncio.sleep(70)
        assert told() == []
        is_admin = isinstance(world.client, AIOKafkaAdminClient)
        await (world.client.close() if is_admin else world.client.stop())

    run_virtual_kafka(main)


def assert_explained(client: Any, told: str) -> None:
    """`explain()` says the same as the warning: but for seconds and attempts, which go on."""
    sentences = [each.text for each in client.explain()]
    begins = told.split(" for ", 1)[1].split(":", maxsplit=1)[0].split(";", maxsplit=1)[0]
    if "(Produce)" in told:  # one value for each partition, in its own words
        assert any(text.startswith("t-0: ") for text in sentences), sentences
    else:
        assert any(begins in text for text in sentences), sentences
