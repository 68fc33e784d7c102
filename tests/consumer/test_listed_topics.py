"""What a node says of its topics, and what of it is for a client to use."""

import pytest

from aiokafka_lite.consumer.listed_topics import names_in, partitions_in
from aiokafka_lite.errors import TopicAuthorizationFailedError, UnknownTopicOrPartitionError
from aiokafka_lite.protocol.messages.metadata import (
    MetadataResponsePartition,
    MetadataResponseTopic,
)


def topic(name: str, *partitions: int, error: int = 0, internal: bool = False) -> object:
    return MetadataResponseTopic(
        error_code=error,
        name=name,
        is_internal=internal,
        partitions=[
            MetadataResponsePartition(error_code=0, partition_index=each, leader_id=0)
            for each in partitions
        ],
    )


def test_a_topic_with_an_error_or_of_the_brokers_is_not_named() -> None:
    listed: list[object] = [
        topic("t", 0),
        topic("gone", error=UnknownTopicOrPartitionError.errno),
        topic("__consumer_offsets", 0, internal=True),
    ]
    assert names_in(listed, exclude_internal=True) == {"t"}  # type: ignore[arg-type]
    assert names_in(listed, exclude_internal=False) == {"t", "__consumer_offsets"}  # type: ignore[arg-type]


def test_partitions_are_those_of_topics_that_exist_and_may_be_read() -> None:
    gone = topic("gone", error=UnknownTopicOrPartitionError.errno)
    assert partitions_in([topic("t", 1, 0), gone]) == {"t": {0, 1}}  # type: ignore[list-item]
    hidden = topic("u", error=TopicAuthorizationFailedError.errno)
    with pytest.raises(TopicAuthorizationFailedError, match="topic 'u'"):
        partitions_in([hidden])  # type: ignore[list-item]
