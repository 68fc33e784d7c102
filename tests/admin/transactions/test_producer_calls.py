"""Producers are described and fenced, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import NewTopic, OffsetSpec, ProducerIdAndEpoch
from aiokafka_lite.errors import (
    IllegalArgumentError,
    InvalidTopicError,
    KafkaError,
    KafkaTimeoutError,
    NotLeaderForPartitionError,
    ProducerFenced,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.describe_producers import DescribeProducersRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.support.leftovers import nothing_left_behind


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


async def test_a_producer_inside_and_outside_of_a_transaction(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 2, 1)])
    where = [TopicPartition(topic_name, 0), TopicPartition(topic_name, 1)]
    assert await admin.describe_producers(where) == {where[0]: [], where[1]: []}
    async with AIOKafkaProducer(
        bootstrap_servers=any_kafka, transactional_id=topic_name
    ) as producer:
        async with producer.transaction():
            for number in range(3):
                await producer.send_and_wait(topic_name, b"%d" % number, partition=0)
            (state,) = (await admin.describe_producers(where)).succeeded[where[0]]
            assert (state.last_sequence, state.current_transaction_start_offset) == (2, 0)
            assert state.coordinator_epoch is None
            assert state.last_timestamp > 1_600_000_000_000
        await producer.begin_transaction()  # the marker of the one before has been written
        await producer.send_and_wait(topic_name, b"next", partition=1)
        (ended,) = (await admin.describe_producers(where)).succeeded[where[0]]
        assert ended.producer_id == state.producer_id
        assert (ended.coordinator_epoch, ended.current_transaction_start_offset) == (0, None)
        await producer.abort_transaction()


@pytest.mark.needs_kafka("2.8", "list of producers")
async def test_a_bad_partition_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    good, missing, nowhere = (
        TopicPartition(topic_name, 0),
        TopicPartition(topic_name, 7),
        TopicPartition(f"{topic_name}-2", 0),
    )
    found = await admin.describe_producers([missing, good, nowhere])
    assert list(found) == [missing, good, nowhere]
    assert found.succeeded == {good: []}
    assert all(isinstance(each, UnknownTopicOrPartitionError) for each in found.failed.values())
    with pytest.raises(IllegalArgumentError, match="-1"):
        await admin.describe_producers([TopicPartition(topic_name, -1)])
    with pytest.raises(InvalidTopicError, match="no/topic"):
        await admin.describe_producers([TopicPartition("no/topic", 0)])


async def test_producers_are_fenced(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    producer = AIOKafkaProducer(bootstrap_servers=any_kafka, transactional_id=topic_name)
    await producer.start()
    try:
        await producer.begin_transaction()
        await producer.send_and_wait(topic_name, b"v")
        unused = f"{topic_name}-2"
        fenced = await admin.fence_producers([topic_name, unused])
        assert list(fenced) == [topic_name, unused]
        assert fenced.succeeded[topic_name].producer_epoch > 0
        assert fenced.succeeded[unused].producer_epoch == 0
        with pytest.raises(ProducerFenced):
            await producer.commit_transaction()
    finally:
        await producer.stop()


@pytest.mark.usefixtures("others_may_leak")
@pytest.mark.parametrize("by", ["fence_producers", "force_terminate_transaction"])
async def test_another_clients_producer_is_fenced(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str, by: str
) -> None:
    """By either of Java's names for it (KIP-939)."""
    (await admin.create_topics([NewTopic(topic_name, 1, 1)])).topics.raise_first()
    options = {"bootstrap.servers": any_kafka, "transactional.id": topic_name, "log_level": 0}
    witness = confluent_kafka.Producer(options)
    await asyncio.to_thread(witness.init_transactions, 60)
    witness.begin_transaction()
    witness.produce(topic_name, b"v")
    assert await asyncio.to_thread(witness.flush, 60) == 0
    if by == "fence_producers":
        (await admin.fence_producers([topic_name])).raise_first()
    else:
        await admin.force_terminate_transaction(topic_name)
    with pytest.raises(confluent_kafka.KafkaException) as caught:
        await asyncio.to_thread(witness.commit_transaction, 60)
    assert caught.value.args[0].fatal()
    ended = await admin.list_offsets(
        {TopicPartition(topic_name, 0): OffsetSpec.LATEST}, isolation_level="read_committed"
    )
    assert ended.succeeded[TopicPartition(topic_name, 0)].offset == 2, "the record and its marker"


async def test_a_lost_response_fences_once_more() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.cut(InitProducerIdRequest)
        assert await admin.fence_producers(["tx"]) == {"tx": ProducerIdAndEpoch(0, 1)}


async def test_a_replica_is_asked_when_it_is_named() -> None:
    async with (
        EmbeddedBroker(nodes=3) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        await admin.create_topics([NewTopic("t", -1, -1, {0: [1, 2]})])
        where = TopicPartition("t", 0)
        assert await admin.describe_producers([where], broker_id=2) == {where: []}
        assert [each.node_id for each in broker.requests if each.api_key == 61] == [2]
        found = await admin.describe_producers([where], broker_id=3)
        assert type(found[where]) is NotLeaderForPartitionError  # no other broker was asked for
        assert [each.node_id for each in broker.requests if each.api_key == 61] == [2, 3]


async def test_a_leader_that_moves_and_a_broker_that_is_down() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 2)
        where = [TopicPartition("t", 0), TopicPartition("t", 1)]
        broker.faults.fail(DescribeProducersRequest, NotLeaderForPartitionError)
        assert (await admin.describe_producers(where)).failed == {}
        broker.stop_node(broker.leader(where[0]))
        assert (await admin.describe_producers(where)).failed == {}


async def test_a_coordinator_that_moves_and_one_that_is_away() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for node in (1, 2):
            broker.move_transaction_coordinator("tx", node)
            assert (await admin.fence_producers(["tx"])).failed == {}
        broker.stop_node(2)
        assert await admin.fence_producers(["tx"]) == {"tx": ProducerIdAndEpoch(0, 2)}
        broker.move_transaction_coordinator("tx", None)
        with pytest.raises(KafkaTimeoutError, match=r"fence_producers\(\): no result within 0.3 s"):
            (await admin.fence_producers(["tx"], timeout_ms=300)).raise_first()


async def test_without_the_rights() -> None:
    options: dict[str, Any] = {"security": "SASL_PLAINTEXT", "users": {"alice": "secret"}}
    acls = [
        Acl.allow("alice", "DESCRIBE", topic="seen"),
        Acl.allow("alice", "READ", topic="read"),
        Acl.allow("alice", "WRITE", transactional_id="mine"),
        Acl.allow("alice", "DESCRIBE", transactional_id="seen"),
    ]
    async with nothing_left_behind(), EmbeddedBroker(acls=acls, **options) as broker:
        for name in ("seen", "read"):
            broker.create_topic(name, 1)
        async with AIOKafkaAdminClient(
            bootstrap_servers=broker.bootstrap_servers, **broker.client_options("alice")
        ) as admin:
            where = {name: TopicPartition(name, 0) for name in ("seen", "read", "other")}
            found = await admin.describe_producers(where.values())
            assert found[where["read"]] == []
            for name in ("seen", "other"):
                assert isinstance(found[where[name]], TopicAuthorizationFailedError)
            fenced: dict[str, Any] = await admin.fence_producers(["mine", "seen", "other"])
            assert isinstance(fenced["mine"], ProducerIdAndEpoch)
            for name in ("seen", "other"):
                assert isinstance(fenced[name], TransactionalIdAuthorizationFailed)


async def test_one_name_is_no_list_of_names() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        with pytest.raises(IllegalArgumentError, match="'tx' is no list"):
            await admin.fence_producers("tx")
        assert await admin.fence_producers([]) == {}
        with pytest.raises(KafkaError):
            (await admin.fence_producers([""])).raise_first()
