"""Topics are created, deleted and described, on the embedded broker and on real Kafka."""

import pytest

from aiokafka_lite.admin.topics import create_topic, delete_topic, describe_topics
from aiokafka_lite.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError


async def test_a_topic_is_made_described_and_deleted(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name, partitions=3, configs={"retention.ms": "60000"})
    (topic,) = await describe_topics(any_kafka, [topic_name])
    assert (topic.name, topic.is_internal) == (topic_name, False)
    assert [each.partition for each in topic.partitions] == [0, 1, 2]
    assert all(each.leader in each.in_sync for each in topic.partitions)
    assert topic_name in {each.name for each in await describe_topics(any_kafka)}
    await delete_topic(any_kafka, topic_name)
    with pytest.raises(UnknownTopicOrPartitionError, match=topic_name):
        await delete_topic(any_kafka, topic_name)


async def test_a_topic_that_exists_is_named(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name)
    with pytest.raises(TopicAlreadyExistsError, match=topic_name):
        await create_topic(any_kafka, topic_name)
    await delete_topic(any_kafka, topic_name)


async def test_describing_makes_no_topic(any_kafka: str, topic_name: str) -> None:
    with pytest.raises(UnknownTopicOrPartitionError, match=topic_name):
        await describe_topics(any_kafka, [topic_name])
    assert topic_name not in {each.name for each in await describe_topics(any_kafka)}
