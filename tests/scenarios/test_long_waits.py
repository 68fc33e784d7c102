"""Whatever a call waits for is told: a warning after ten seconds, then one a minute, and the same
in `explain()`.

Each row is a loop of the client that asks again until something succeeds. The faults are a node
that says nothing, one that cuts the connection, and one that refuses each time.
"""

import asyncio
import logging
import random
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
)
from aiokafka_lite.abc import AbstractTokenProvider, ConsumerRebalanceListener
from aiokafka_lite.admin import NewTopic
from aiokafka_lite.errors import CoordinatorLoadInProgressError, NotLeaderForPartitionError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.net.sasl.tokens.token_cache import TokenCache
from aiokafka_lite.schema_registry.registry_exchange import RegistryExchange
from aiokafka_lite.serialization import NotPreparedError
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
    await reader.position(TP)  # which the start has asked for; else that is told as well
    return lambda: reader.end_offsets([TP])


async def committed(world: World) -> Call:
    member = await world.member()
    await member.position(TP)
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


async def send_to_another_topic(world: World) -> Call:
    world.kafka.broker.create_topic("other")
    producer = await world.producer()
    await producer.partitions_for("t")
    return lambda: producer.send_and_wait("other", b"v")


async def partitions_of_another_topic(world: World) -> Call:
    world.kafka.broker.create_topic("other")
    producer = await world.producer()
    return lambda: producer.partitions_for("other")


async def record_of_another_topic(world: World) -> Call:
    reader = await world.reader()
    await reader.getone()
    reader.unsubscribe()
    world.kafka.broker.create_topic("other")
    world.kafka.broker.produce("other", b"v")
    reader.assign([TopicPartition("other", 0)])
    return reader.getone  # type: ignore[no-any-return]


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
    (first_record, "Fetch", "stall"),
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
    (send_to_another_topic, "Metadata", "stall"),
    (partitions_of_another_topic, "Metadata", "stall"),
    (record_of_another_topic, "Metadata", "stall"),
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
    (share_record, "ShareFetch", "stall"),
    (share_commit, "ShareAcknowledge", "stall"),
    (create_topics, "CreateTopics", "stall"),
    (describe_groups, "DescribeGroups", "cut"),
    (describe_groups, "DescribeGroups", "stall"),
]


def warnings_with(words: str, caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        record.getMessage()
        for record in caplog.records
        if record.levelno == logging.WARNING and words in record.getMessage()
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

    told = partial(warnings_with, " has waited ", caplog)

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


UNKNOWN = [send_to_another_topic, partitions_of_another_topic, record_of_another_topic]


@pytest.mark.parametrize("prepare", UNKNOWN, ids=lambda prepare: prepare.__name__)
def test_metadata_that_is_cut_is_told_once_a_minute_and_explained(
    prepare: Callable[[World], Awaitable[Call]], caplog: pytest.LogCaptureFixture
) -> None:
    """`explain()` says the same as the log (H8)."""

    told = partial(warnings_with, "MetadataRequest", caplog)

    async def main(kafka: VirtualKafka) -> None:
        world = World(kafka)
        call = await prepare(world)
        caplog.clear()
        hurt(kafka, "Metadata", "cut")
        waiting = asyncio.ensure_future(call())
        for minute in (1, 2, 3):
            await asyncio.sleep(50)
            assert len(told()) == minute, caplog.text
            sentences = [each.text for each in world.client.explain()]
            (found,) = [text for text in sentences if "metadata refresh failed for" in text]
            assert found.endswith(told()[-1].partition("it goes on trying: ")[2].split("(")[0]) or (
                "closed the connection; MetadataRequest" in found
            ), (found, told())
            await asyncio.sleep(10)
        assert not waiting.done()
        kafka.broker.faults.clear()
        await asyncio.wait_for(waiting, 120)
        await world.client.stop()

    run_virtual_kafka(main)


# What a user gives to a client, and what does not come back…


async def hang(*_: object) -> Any:
    await asyncio.get_running_loop().create_future()


class Hangs(ConsumerRebalanceListener):
    """A listener one of whose methods does not return."""

    def __init__(self, method: str) -> None:
        self.method = method

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        if self.method == "on_partitions_assigned":
            await hang()

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        if self.method == "on_partitions_revoked" and revoked:
            await hang()

    async def on_partitions_lost(self, lost: set[TopicPartition]) -> None:
        if self.method == "on_partitions_lost":
            await hang()


async def listener_assigned(world: World, **options: Any) -> Call:
    member = world.made(AIOKafkaConsumer, group_id="g", max_poll_interval_ms=LONG_MS, **options)
    member.subscribe(["t"], listener=Hangs("on_partitions_assigned"))
    return member.start  # type: ignore[no-any-return]


async def newer_listener_assigned(world: World) -> Call:
    return await listener_assigned(world, group_protocol="consumer")


async def listener_revoked(world: World) -> Call:
    member = world.made(AIOKafkaConsumer, group_id="g", max_poll_interval_ms=LONG_MS)
    member.subscribe(["t"], listener=Hangs("on_partitions_revoked"))
    await member.start()
    await member.getmany(timeout_ms=10)
    member.enforce_rebalance()
    return lambda: member.getmany(timeout_ms=90_000)


async def listener_lost(world: World) -> Call:
    member = world.made(
        AIOKafkaConsumer,
        group_id="g",
        max_poll_interval_ms=LONG_MS,
        heartbeat_interval_ms=10,
    )
    member.subscribe(["t"], listener=Hangs("on_partitions_lost"))
    await member.start()
    world.kafka.broker.faults.fail("Heartbeat", "UNKNOWN_MEMBER_ID")
    return lambda: member.getmany(timeout_ms=90_000)


async def value_deserializer(world: World) -> Call:
    reader = await world.started(
        AIOKafkaConsumer, "t", auto_offset_reset="earliest", value_deserializer=hang
    )
    return reader.getone  # type: ignore[no-any-return]


async def unprepared_deserializer(world: World) -> Call:
    def deserialize(_: bytes) -> bytes:
        raise NotPreparedError("it asks a registry", hang)

    reader = await world.started(
        AIOKafkaConsumer, "t", auto_offset_reset="earliest", value_deserializer=deserialize
    )
    return reader.getone  # type: ignore[no-any-return]


async def share_deserializer(world: World) -> Call:
    sharer = await world.started(
        AIOKafkaShareConsumer,
        "t",
        group_id="s",
        max_poll_interval_ms=LONG_MS,
        value_deserializer=hang,
    )
    await sharer.getmany(timeout_ms=1000)
    world.kafka.broker.produce("t", b"v")
    return lambda: sharer.getmany(timeout_ms=90_000)


async def key_serializer(world: World) -> Call:
    producer = await world.producer(key_serializer=hang)
    await producer.partitions_for("t")
    return lambda: producer.send("t", b"v", b"k")


async def send_many_serializer(world: World) -> Call:
    producer = await world.producer(value_serializer=hang)
    await producer.partitions_for("t")
    return lambda: producer.send_many("t", [b"v", b"w"])


async def unprepared_serializer(world: World) -> Call:
    def serialize(_: bytes) -> bytes:
        raise NotPreparedError("it asks a registry", hang)

    producer = await world.producer(value_serializer=serialize)
    await producer.partitions_for("t")
    return lambda: producer.send("t", b"v")


async def token_provider(world: World) -> Call:
    class Provider(AbstractTokenProvider):
        token = hang

    reader = world.made(
        AIOKafkaConsumer,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_oauth_token_provider=Provider(),
        sasl_provider_timeout_ms=LONG_MS,
    )
    return reader.start  # type: ignore[no-any-return]


async def credentials_provider(world: World) -> Call:
    reader = world.made(
        AIOKafkaConsumer,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="PLAIN",
        credentials_provider=hang,
        sasl_provider_timeout_ms=LONG_MS,
    )
    return reader.start  # type: ignore[no-any-return]


async def token_cache(world: World) -> Call:
    return TokenCache("the vault", hang, timeout_s=LONG_MS / 1000, clock=world.kafka.clock).get


async def registry(world: World) -> Call:
    exchange = RegistryExchange(
        ["http://registry"],
        authorization=lambda: asyncio.sleep(0, None),
        verify=False,
        clock=world.kafka.clock,
        rng=random.Random(1),
        timeout_s=LONG_MS / 1000,
        max_retries=0,
        retry_wait_s=1,
        retry_max_wait_s=1,
    )
    exchange._send = hang  # type: ignore[assignment]
    return lambda: exchange.ask("GET", "schemas/ids/1", "schema id 1")


HANGING: dict[Any, str] = {
    listener_assigned: "on_partitions_assigned() of the rebalance listener",
    newer_listener_assigned: "on_partitions_assigned() of the rebalance listener",
    listener_revoked: "on_partitions_revoked() of the rebalance listener",
    listener_lost: "on_partitions_lost() of the rebalance listener",
    value_deserializer: "the deserializer of",
    unprepared_deserializer: "the deserializer of",
    share_deserializer: "the deserializer of t-0",
    key_serializer: "serializers to make bytes",
    send_many_serializer: "serializers to make bytes",
    unprepared_serializer: "serializers to make bytes",
    token_provider: "the token provider Provider",
    credentials_provider: "credentials_provider to give",
    token_cache: "a token from the vault",
    registry: "schema id 1 (GET schemas/ids/1) from http://registry",
}


@pytest.mark.parametrize("prepare", HANGING, ids=lambda prepare: prepare.__name__)
def test_what_a_user_gives_is_named_when_it_does_not_return(
    prepare: Callable[[World], Awaitable[Call]], caplog: pytest.LogCaptureFixture
) -> None:
    """After ten seconds, then once a minute; and `stop()` ends it (H8)."""

    told = partial(warnings_with, HANGING[prepare], caplog)

    async def main(kafka: VirtualKafka) -> None:
        world = World(kafka)
        call = await prepare(world)
        caplog.clear()
        waiting = asyncio.ensure_future(call())
        await asyncio.sleep(9.5)
        assert told() == []
        await asyncio.sleep(3)
        assert len(told()) == 1, caplog.text
        assert " has waited 1" in told()[0]
        await asyncio.sleep(55)
        assert len(told()) == 1, caplog.text
        await asyncio.sleep(8)
        assert len(told()) == 2 or waiting.done(), caplog.text
        waiting.cancel()
        await asyncio.wait([waiting])
        if world.client is not None:
            async with asyncio.timeout(60):
                await world.client.stop()

    run_virtual_kafka(main)


def kind_of(record: logging.LogRecord) -> str:
    """Return what a warning is about, without its numbers and reasons."""
    text = record.getMessage().split(" goes on trying")[0].split(" again after")[0]
    if " has waited " in text:
        text = text.split("; ")[0].split(": nothing")[0].split(": one")[0].split(": the last")[0]
    return "".join(each for each in text if not each.isdigit())


@pytest.mark.parametrize("up_s", [0.5, 5.0], ids=lambda up_s: f"{up_s:g} s")
def test_a_cluster_that_flaps_is_told_once_a_minute(
    up_s: float, caplog: pytest.LogCaptureFixture
) -> None:
    """For each kind of failure, however often it comes back in between (H8)."""
    minutes = 6

    async def main(kafka: VirtualKafka) -> None:
        options: dict[str, Any] = {**kafka.client_options, "metadata_max_age_ms": 1000}
        kafka.broker.create_topic("t")
        async with (
            AIOKafkaProducer(client_id="producer", **options) as producer,
            AIOKafkaConsumer("t", client_id="member", group_id="g", **options) as member,
            AIOKafkaShareConsumer("t", client_id="sharer", group_id="s", **options) as sharer,
        ):
            await producer.partitions_for("t")
            caplog.clear()

            async def use(call: Callable[[], Awaitable[object]]) -> None:
                while True:
                    await call()
                    await asyncio.sleep(0.2)

            users = [
                asyncio.ensure_future(use(call))
                for call in (
                    lambda: producer.send_and_wait("t", b"v"),
                    lambda: member.getmany(timeout_ms=1000),
                    lambda: sharer.getmany(timeout_ms=1000),
                )
            ]
            ends_s = kafka.clock.monotonic() + minutes * 60
            while kafka.clock.monotonic() < ends_s:
                kafka.broker.stop_node(1)
                await asyncio.sleep(5)
                kafka.broker.start_node(1)
                await asyncio.sleep(up_s)
            for user in users:
                user.cancel()
            await asyncio.wait(users)

    run_virtual_kafka(main)
    warnings = [record for record in caplog.records if record.levelno >= logging.WARNING]
    counted = Counter(map(kind_of, warnings))
    assert counted
    assert max(counted.values()) <= minutes + 1, counted


def assert_explained(client: Any, told: str) -> None:
    """`explain()` says the same as the warning: but for seconds and attempts, which go on."""
    sentences = [each.text for each in client.explain()]
    begins = told.split(" for ", 1)[1].split(":", maxsplit=1)[0].split(";", maxsplit=1)[0]
    if "(Produce)" in told:  # one value for each partition, in its own words
        assert any(text.startswith("t-0: ") for text in sentences), sentences
    else:
        assert any(begins in text for text in sentences), sentences
