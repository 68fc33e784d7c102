"""Topics are described as aiokafka does, and in pages, on the embedded broker and real Kafka."""

import asyncio
from collections.abc import AsyncIterator

import aiokafka.admin
import pytest
from confluent_kafka import TopicCollection
from confluent_kafka.admin import AdminClient

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.admin import NewTopic
from aiokafka_lite.errors import (
    InvalidTopicError,
    KafkaConnectionError,
    KafkaTimeoutError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.describe_topic_partitions import (
    DescribeTopicPartitionsRequest,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.support.patience import eventually_listed

UNKNOWN, REFUSED, INVALID = 3, 29, 17


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


async def test_dicts_are_those_of_aiokafka_and_more(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    await admin.create_topics([NewTopic(topic_name, 3, 1)])
    await eventually_listed(admin, topic_name)
    (ours,) = await admin.describe_topics([topic_name])
    theirs_admin = aiokafka.admin.AIOKafkaAdminClient(bootstrap_servers=any_kafka)
    await theirs_admin.start()
    try:
        (theirs,) = await theirs_admin.describe_topics([topic_name])
    finally:
        await theirs_admin.close()
    assert theirs.keys() < ours.keys()
    assert {key: ours[key] for key in ("error_code", "topic", "is_internal")} == {
        key: theirs[key] for key in ("error_code", "topic", "is_internal")
    }
    by_number = {each["partition"]: each for each in ours["partitions"]}
    for partition in theirs["partitions"]:
        mine = by_number[partition["partition"]]
        assert {key: mine[key] for key in partition} == partition
    assert topic_name in {each["topic"] for each in await admin.describe_topics()}


async def test_pages_say_what_another_client_says(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    created = await admin.create_topics([NewTopic(topic_name, 5, 1)])
    await eventually_listed(admin, topic_name)
    found = await admin.describe_topic_partitions([topic_name], page_partitions=2)
    topic = found.succeeded[topic_name]
    assert topic.topic_id == created.topics.succeeded[topic_name].topic_id
    assert [each.partition for each in topic.partitions] == list(range(5))
    witness = AdminClient({"bootstrap.servers": any_kafka, "log_level": 0})
    (future,) = witness.describe_topics(TopicCollection([topic_name])).values()
    seen = await asyncio.to_thread(future.result, 60)
    assert [(each.id, each.leader.id) for each in seen.partitions] == [
        (each.partition, each.leader) for each in topic.partitions
    ]
    everything = await admin.describe_topic_partitions(page_partitions=2)
    assert everything.succeeded[topic_name] == topic


@pytest.mark.needs_kafka("2.8", "error for impossible names of topics")
async def test_bad_topics_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    await eventually_listed(admin, topic_name)
    names = [f"{topic_name}-absent", topic_name, "no topic!"]
    rows = await admin.describe_topics(names)
    assert [(each["topic"], each["error_code"]) for each in rows] == list(
        zip(names, [UNKNOWN, 0, INVALID], strict=True)
    )
    assert rows[0] == {
        "error_code": UNKNOWN,
        "topic": names[0],
        "topic_id": ZERO_UUID,
        "is_internal": False,
        "partitions": [],
    }
    found = await admin.describe_topic_partitions(names)
    assert list(found.succeeded) == [topic_name]
    assert isinstance(found[names[0]], UnknownTopicOrPartitionError)
    assert isinstance(found[names[2]], InvalidTopicError)
    assert names[0] not in await admin.list_topics()


async def test_pages_go_on_where_the_one_before_has_ended() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for name, count in (("a", 3), ("b", 4_001), ("c", 1)):
            broker.create_topic(name, count)
        found = await admin.describe_topic_partitions(["c", "b", "a"])
        assert list(found) == ["c", "b", "a"]
        assert [len(each.partitions) for each in found.succeeded.values()] == [1, 4_001, 3]
        asked = broker.requests_of(DescribeTopicPartitionsRequest)
        cursors = [
            each.cursor and (each.cursor.topic_name, each.cursor.partition_index) for each in asked
        ]
        assert cursors == [None, ("b", 1_997), ("b", 3_997)]
        assert [each.name for each in asked[-1].topics] == ["c", "b"]
        assert (await admin.describe_topic_partitions()).succeeded == found.succeeded


async def test_brokers_without_pages_are_asked_for_metadata() -> None:
    async with (
        EmbeddedBroker(max_versions={ApiKey.DESCRIBE_TOPIC_PARTITIONS: None}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 2)
        found = await admin.describe_topic_partitions(["t", "x"])
        topic = found.succeeded["t"]
        assert [(each.leader, each.eligible_leaders) for each in topic.partitions] == [
            (1, None),
            (1, None),
        ]
        assert isinstance(found["x"], UnknownTopicOrPartitionError)
        assert list(await admin.describe_topic_partitions()) == ["t"]


async def test_a_partition_without_a_leader_and_a_node_that_is_down() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.create_topic("t", 2, replication_factor=1)
        broker.stop_node(2)
        (row,) = await admin.describe_topics(["t"])
        assert [(each["error_code"], each["leader"]) for each in row["partitions"]] == [
            (0, 1),
            (5, -1),
        ]
        found = await admin.describe_topic_partitions(["t"])
        lost = found.succeeded["t"].partitions[1]
        assert (lost.leader, lost.replicas, lost.in_sync, lost.offline) == (None, (2,), (), (2,))


async def test_a_right_that_is_missing() -> None:
    rules = [Acl.allow("ANONYMOUS", "DESCRIBE", topic="mine")]
    async with (
        EmbeddedBroker(acls=rules) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for name in ("mine", "theirs"):
            broker.create_topic(name)
        rows = await admin.describe_topics(["theirs", "mine"])
        assert [each["error_code"] for each in rows] == [REFUSED, 0]
        assert [each["topic"] for each in await admin.describe_topics()] == ["mine"]
        found = await admin.describe_topic_partitions(["theirs", "mine"])
        assert list(found.succeeded) == ["mine"]
        with pytest.raises(TopicAuthorizationFailedError, match="theirs"):
            found.raise_first()
        assert list(await admin.describe_topic_partitions()) == ["mine"]


async def test_no_answer_ends_a_call_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for request_type in (MetadataRequest, DescribeTopicPartitionsRequest):
            broker.faults.cut(request_type)
        assert await admin.describe_topics() == []  # a lost response is asked for again
        assert await admin.describe_topic_partitions() == {}
        for request_type in (MetadataRequest, DescribeTopicPartitionsRequest):
            broker.faults.drop(request_type, times=None)
        for call in (admin.describe_topics, admin.describe_topic_partitions):
            with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
                await call(["t"], timeout_ms=200)
