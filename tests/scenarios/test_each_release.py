"""Producer, consumer and share consumer on each release of Kafka: they work, or say at `start()`
which release they need.

The embedded broker has the API versions of the release, and no others.
"""

import asyncio
import inspect
import re
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    ExactlyOnceSession,
    OffsetSpec,
    TopicPartition,
)
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.errors import UnsupportedVersionError
from aiokafka_lite.model import AcknowledgeType, ConsumerGroupMetadata
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.releases import Release, releases

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
NEEDS: Final = r"needs? Kafka {}\b.*\(KIP-{}\)"
Scene = Callable[[EmbeddedBroker], Coroutine[Any, Any, None]]


@pytest.fixture(params=releases(), ids=lambda release: release.name)
def release(request: pytest.FixtureRequest) -> Release:
    found: Release = request.param
    return found


@pytest.fixture
async def broker(release: Release) -> AsyncIterator[EmbeddedBroker]:
    async with EmbeddedBroker(**release.options()) as broker:
        broker.create_topic("t", partitions=2)
        for _ in range(5):
            broker.produce("t", b"old", partition=0)
        yield broker
        assert release.strangers(broker) == []


def consumer_of(broker: EmbeddedBroker, *topics: str, **more: Any) -> AIOKafkaConsumer[Any, Any]:
    options: dict[str, Any] = {"auto_offset_reset": "earliest", "fetch_max_wait_ms": 20}
    return AIOKafkaConsumer(*topics, bootstrap_servers=broker.bootstrap_servers, **options | more)


def producer_of(broker: EmbeddedBroker, **more: Any) -> AIOKafkaProducer[Any, Any]:
    return AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, **more)


# What works on each…


async def produce(broker: EmbeddedBroker) -> None:
    for codec in (None, "gzip", "snappy", "lz4", "zstd"):
        async with producer_of(broker, compression_type=codec) as producer:
            await producer.send_and_wait("t", b"v", b"k", headers=[("h", b"v")], timestamp_ms=1)
            await (await producer.send("t", None, b"k"))
            producer.send_nowait("t", b"v")
            await producer.send_many("t", [b"1", b"2"], partition=1)
            await (await producer.send_arrow(pa.record_batch({"value": [b"a"]}), "t"))
            batch = producer.create_batch()
            batch.append(key=None, value=b"v", timestamp=None)
            batch.close()
            await (await producer.send_batch(batch, "t", partition=0))
            await producer.flush()
            assert await producer.partitions_for("t") == {0, 1}
    for acks in (0, 1):
        async with producer_of(broker, acks=acks, enable_idempotence=False) as producer:
            await producer.send_and_wait("t", b"v")


async def transact(broker: EmbeddedBroker) -> None:
    async with producer_of(broker, transactional_id="x") as producer:
        async with producer.transaction():
            await producer.send("t", b"v")
        await producer.begin_transaction()
        await producer.send("t", b"v")
        await producer.abort_transaction()
        await producer.begin_transaction()
        await producer.send_offsets_to_transaction({P0: 3}, "of-a-transaction")
        await producer.commit_transaction()
    async with consumer_of(broker, group_id="of-a-transaction") as consumer:
        assert await consumer.committed(P0) == 3


async def consume(broker: EmbeddedBroker) -> None:
    for isolation in ("read_uncommitted", "read_committed"):
        async with consumer_of(broker, isolation_level=isolation, client_rack="r") as consumer:
            consumer.assign([P0, P1])
            assert (await consumer.getone()).value == b"old"
            await consumer.seek_to_beginning(P0)
            assert await consumer.getmany(timeout_ms=1_000, max_records=1)
            await consumer.getmany_arrow(timeout_ms=100, max_records=1)
            await consumer.getmany_columns(timeout_ms=100, max_records=1)
            assert await consumer.beginning_offsets([P0]) == {P0: 0}
            assert await consumer.end_offsets([P0]) == {P0: 5}
            assert await consumer.offsets_for_times({P0: 0})
            assert await consumer.list_offsets({P0: OffsetSpec.LATEST})
            assert await consumer.list_partitions("t") == {"t": {0, 1}}
            assert "t" in await consumer.topics()
            await consumer.seek_to_end(P0)
            assert await consumer.position(P0) == 5
            await consumer.seek_to_timestamp(0, P0)


async def join(broker: EmbeddedBroker) -> None:
    for protocol in ("classic", "auto"):
        async with consumer_of(broker, "t", group_id=protocol, group_protocol=protocol) as consumer:
            await consumer.getone()
            await consumer.commit()
            assert await consumer.committed(P0) == 1
            await consumer.seek_to_committed(P0)
            assert consumer.assignment() == {P0, P1}


ON_EACH: Final[tuple[Scene, ...]] = (produce, transact, consume, join)


@pytest.mark.parametrize("scene", ON_EACH)
async def test_what_works_on_each_release(broker: EmbeddedBroker, scene: Scene) -> None:
    await asyncio.wait_for(scene(broker), 60)


# What needs a newer one…


async def test_a_static_member(broker: EmbeddedBroker, release: Release) -> None:
    consumer = consumer_of(broker, group_id="g", group_instance_id="i", group_protocol="classic")
    if not release.has("2.3"):
        with pytest.raises(UnsupportedVersionError, match=NEEDS.format("2.3", 345)):
            await consumer.start()
        assert ApiKey.JOIN_GROUP not in {each.api_key for each in broker.requests}
        return
    async with consumer:
        consumer.subscribe(["t"])
        assert (await consumer.getone()).value == b"old"


async def test_an_exactly_once_session(broker: EmbeddedBroker, release: Release) -> None:
    consumer = consumer_of(
        broker, "t", group_id="g", enable_auto_commit=False, isolation_level="read_committed"
    )
    session = ExactlyOnceSession(consumer, producer_of(broker, transactional_id="x"))
    if not release.has("2.5"):
        with pytest.raises(UnsupportedVersionError, match=NEEDS.format("2.5", 447)):
            await session.__aenter__()
        return
    async with session:
        async with session.batch(timeout_ms=5_000) as records:
            assert len(records[P0]) == 5
            await session.producer.send("out", b"v")
        assert await consumer.committed(P0) == 5


async def test_offsets_of_a_member_in_a_transaction(
    broker: EmbeddedBroker, release: Release
) -> None:
    """The refusal leaves the transaction as it was."""
    async with producer_of(broker, transactional_id="x") as producer:
        await producer.begin_transaction()
        await producer.send("t", b"v")
        member = ConsumerGroupMetadata("g", 1, "m")
        if release.has("2.5"):
            return
        with pytest.raises(UnsupportedVersionError, match=NEEDS.format("2.5", 447)):
            await producer.send_offsets_to_transaction({P0: 1}, member)
        assert ApiKey.ADD_OFFSETS_TO_TXN not in {each.api_key for each in broker.requests}
        await producer.send_offsets_to_transaction({P0: 1}, "g")
        await producer.commit_transaction()


async def test_the_consumer_protocol(broker: EmbeddedBroker, release: Release) -> None:
    consumer = consumer_of(broker, "t", group_id="g", group_protocol="consumer")
    if not release.has("4.0"):
        with pytest.raises(UnsupportedVersionError, match=NEEDS.format("4.0", 848)):
            await consumer.start()
        return
    async with consumer:
        assert (await consumer.getone()).value == b"old"
        await consumer.commit()


async def read_share_groups_from_the_beginning(broker: EmbeddedBroker) -> None:
    setting = {"share.auto.offset.reset": "earliest"}
    async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        group = ConfigResource(ConfigResourceType.GROUP, "s", configs=setting)
        (await admin.incremental_alter_configs([group])).raise_first()


async def test_a_share_group(broker: EmbeddedBroker, release: Release) -> None:
    consumer: AIOKafkaShareConsumer[Any, Any] = AIOKafkaShareConsumer(
        "t", bootstrap_servers=broker.bootstrap_servers, group_id="s"
    )
    if not release.has("4.1"):
        with pytest.raises(UnsupportedVersionError, match=NEEDS.format("4.2", 932)):
            await consumer.start()
        return
    await read_share_groups_from_the_beginning(broker)
    async with consumer:
        assert (await consumer.getone()).value == b"old"
        await consumer.getmany(timeout_ms=0)
        await consumer.commit()


async def test_renewing_a_lock(broker: EmbeddedBroker, release: Release) -> None:
    if not release.has("4.1"):
        return
    await read_share_groups_from_the_beginning(broker)
    async with AIOKafkaShareConsumer(
        "t",
        bootstrap_servers=broker.bootstrap_servers,
        group_id="s",
        share_acknowledgement_mode="explicit",
    ) as consumer:
        record = await consumer.getone()
        consumer.acknowledge(record, AcknowledgeType.RENEW)
        outcome = next(iter((await consumer.commit()).values()))
        if release.has("4.2"):
            assert outcome is None
        else:
            assert isinstance(outcome, UnsupportedVersionError)
            assert re.search(NEEDS.format("4.2", 1222), str(outcome))


async def test_the_id_of_a_client(broker: EmbeddedBroker) -> None:
    """No release of the embedded broker takes metrics, which needs a reporter on the brokers."""
    async with consumer_of(broker) as consumer:
        with pytest.raises(UnsupportedVersionError):
            await consumer.client_instance_id(timeout_ms=1_000)
    async with producer_of(broker) as producer:
        with pytest.raises(UnsupportedVersionError):
            await producer.client_instance_id(timeout_ms=1_000)


def test_each_call_that_waits_is_made_above() -> None:
    text = Path(__file__).read_text(encoding="utf-8")
    for client in (AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaShareConsumer):
        for name, value in inspect.getmembers(client, inspect.iscoroutinefunction):
            is_made = re.search(rf"\.{name}\(", text) or name in {"start", "stop"}
            assert name.startswith("_") or is_made, f"{client.__name__}.{name}"
            assert value is not None
