"""Topics are created, deleted and listed, on the embedded broker and on real Kafka."""

import asyncio
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from confluent_kafka.admin import AdminClient

from aiokafka_lite import AIOKafkaAdminClient, TopicPartition
from aiokafka_lite.admin import NewPartitions, NewTopic, RecordsToDelete
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaConnectionError,
    KafkaTimeoutError,
    NotControllerError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.create_topics import CreateTopicsRequest
from aiokafka_lite.testing.broker import Acl, EmbeddedBroker
from tests.support.patience import eventually_listed


@pytest.fixture
async def admin(any_kafka: str) -> AsyncIterator[AIOKafkaAdminClient]:
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        yield admin


@pytest.mark.needs_kafka("2.4", "number of partitions in its answer")
async def test_topics_are_created_listed_and_deleted(
    admin: AIOKafkaAdminClient, topic_name: str
) -> None:
    answer = await admin.create_topics([NewTopic(topic_name, 3, 1)])
    assert answer.topic_errors == [(topic_name, 0, None)]
    assert answer.topics.succeeded[topic_name].num_partitions == 3
    await eventually_listed(admin, topic_name)
    gone = await admin.delete_topics([topic_name])
    assert gone.topic_error_codes == [(topic_name, 0)]
    assert gone.to_object()["topic_error_codes"] == [{"topic": topic_name, "error_code": 0}]


async def test_another_client_sees_what_was_created(
    admin: AIOKafkaAdminClient, any_kafka: str, topic_name: str
) -> None:
    configs = {"retention.ms": "60000"}
    (await admin.create_topics([NewTopic(topic_name, 2, 1, None, configs)])).topics.raise_first()
    witness = AdminClient({"bootstrap.servers": any_kafka, "log_level": 0})
    async with asyncio.timeout(30):
        while True:
            seen = await asyncio.to_thread(witness.list_topics, topic_name, 60)
            if len(seen.topics[topic_name].partitions) == 2:
                break
    await eventually_listed(admin, topic_name)
    assert topic_name in await admin.list_topics()
    (await admin.delete_topics([topic_name])).topics.raise_first()
    async with asyncio.timeout(30):
        while topic_name in (await asyncio.to_thread(witness.list_topics, timeout=60)).topics:
            await asyncio.sleep(0)


async def test_a_bad_topic_among_good_ones(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    await admin.create_topics([NewTopic(topic_name, 1, 1)])
    other = f"{topic_name}-2"
    answer = await admin.create_topics([NewTopic(topic_name, 1, 1), NewTopic(other, 1, 1)])
    assert [row.error_code for row in answer.topic_errors] == [36, 0]
    with pytest.raises(TopicAlreadyExistsError, match=topic_name):
        answer.topics.raise_first()
    gone = await admin.delete_topics([topic_name, other, f"{topic_name}-3"])
    assert [row.error_code for row in gone.topic_error_codes] == [0, 0, 3]
    assert isinstance(gone.topics[f"{topic_name}-3"], UnknownTopicOrPartitionError)


async def test_validate_only_creates_nothing(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    answer = await admin.create_topics([NewTopic(topic_name, 1, 1)], validate_only=True)
    assert not answer.topics.failed
    assert topic_name not in await admin.list_topics()


async def test_a_topic_is_deleted_by_its_id(admin: AIOKafkaAdminClient, topic_name: str) -> None:
    created = await admin.create_topics([NewTopic(topic_name, 1, 1)])
    topic_id = created.topics.succeeded[topic_name].topic_id
    unknown = UUID(int=7)
    gone = await admin.delete_topics([unknown, topic_id])
    assert list(gone.topics.succeeded) == [topic_id]
    assert list(gone.topics.failed) == [unknown]


async def test_the_order_is_that_of_the_question_and_thousands_are_split() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        names = [f"t{number}" for number in range(2_500)]
        answer = await admin.create_topics([NewTopic(name, 1, 1) for name in names])
        assert [row.topic for row in answer.topic_errors] == names
        assert not answer.topics.failed
        asked = [each.request for each in broker.requests]
        assert sum(isinstance(request, CreateTopicsRequest) for request in asked) == 3


async def test_a_right_that_is_missing() -> None:
    rules = [
        Acl.allow("ANONYMOUS", "CREATE", "DELETE", "DESCRIBE", topic="mine"),
        Acl.allow("ANONYMOUS", "DESCRIBE", topic="seen"),
    ]
    async with (
        EmbeddedBroker(acls=rules) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        for name in ("seen", "hidden"):
            broker.create_topic(name)
        answer = await admin.create_topics([NewTopic("theirs"), NewTopic("mine")])
        assert [row.error_code for row in answer.topic_errors] == [29, 0]
        with pytest.raises(TopicAuthorizationFailedError, match="theirs"):
            answer.topics.raise_first()
        assert sorted(await admin.list_topics()) == ["mine", "seen"]
        gone = await admin.delete_topics(["seen", "mine", "hidden"])
        assert [row.error_code for row in gone.topic_error_codes] == [29, 0, 29]
        assert await admin.list_topics() == ["seen"]


async def test_the_longest_throttle_is_told() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.throttle(ApiKey.CREATE_TOPICS, 3)
        assert (await admin.create_topics([NewTopic("t", 1, 1)])).throttle_time_ms == 3
        broker.faults.throttle(ApiKey.DELETE_TOPICS, 4)
        assert (await admin.delete_topics(["t"])).throttle_time_ms == 4


async def test_a_controller_that_moves_is_followed() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.fail(ApiKey.CREATE_TOPICS, NotControllerError)
        answer = await admin.create_topics([NewTopic("t", 1, 1)])
        assert not answer.topics.failed


async def test_a_lost_response_is_asked_for_again_and_may_find_the_topic_made() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.cut(ApiKey.CREATE_TOPICS)
        answer = await admin.create_topics([NewTopic("t", 1, 1)])
        error = answer.topics["t"]
        assert isinstance(error, TopicAlreadyExistsError)
        assert "may have been carried out nevertheless: " in error.__notes__[0]
        again = (await admin.create_topics([NewTopic("t", 1, 1)])).topics["t"]
        assert isinstance(again, TopicAlreadyExistsError)
        assert not hasattr(again, "__notes__")
        assert await admin.list_topics() == ["t"]


async def test_a_node_that_never_answers_ends_the_call_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.fail(ApiKey.CREATE_TOPICS, NotControllerError, times=1_000)
        with pytest.raises(KafkaTimeoutError, match=r"create_topics\(\): no result within 0.3 s"):
            (await admin.create_topics([NewTopic("t", 1, 1)], timeout_ms=300)).topics.raise_first()
        await broker.stop()
        with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
            await admin.create_topics([NewTopic("t", 1, 1)], timeout_ms=300)


async def test_no_time_stands_for_the_default_in_aiokafkas_calls() -> None:
    """There `timeout_ms or request_timeout_ms` counts. The calls beyond aiokafka's refuse 0."""
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        (await admin.create_topics([NewTopic("t", 1, 1)], timeout_ms=0)).topics.raise_first()
        await admin.create_partitions({"t": NewPartitions(2)}, timeout_ms=0)
        first = TopicPartition("t", 0)
        assert await admin.delete_records({first: RecordsToDelete(0)}, timeout_ms=0) == {first: 0}
        (await admin.delete_topics(["t"], timeout_ms=0)).topics.raise_first()
        with pytest.raises(IllegalArgumentError, match="timeout_ms=0"):
            await admin.list_offsets({first: 0}, timeout_ms=0)
