"""A record goes to the partition that was named, or that its key's hash says, whatever the brokers
know of the topic at the moment.
"""

import asyncio

import pytest

from aiokafka_lite.errors import UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.producer.world import jumping_clock, kafka, producing, written

KEYS = [b"key-%d" % number for number in range(30)]


async def forget_then_ask_one_that_is_behind(
    broker: EmbeddedBroker, producer: AIOKafkaProducer
) -> None:
    """Have the metadata lack the leader of partition 1: first a broker does not know the topic,
    then another one knows an older leader epoch of that partition.
    """
    broker.faults.fail(MetadataRequest, UnknownTopicOrPartitionError)
    await producer.kafka_client.metadata.refresh()
    behind = broker.cluster.partition(TopicPartition("orders", 1))
    behind.leader_epoch -= 1
    await producer.kafka_client.metadata.refresh()
    behind.leader_epoch += 1


def elect(broker: EmbeddedBroker, partition: int) -> None:
    for _ in range(2):
        leader = broker.leader(("orders", partition))
        broker.move_leader(("orders", partition), 3 - leader)


async def test_a_record_for_a_partition_is_never_written_to_another_one() -> None:
    """While the leader of a partition is not known its records wait, and the brokers are asked for
    it at once; explicit partitions, keys and records without key all go where they belong (2d-4).
    """
    async with kafka(nodes=2) as broker:
        broker.create_topic("orders", partitions=4, replication_factor=2)
        elect(broker, 1)
        async with producing(broker) as producer:
            await producer.send_and_wait("orders", b"before", partition=1)
            await forget_then_ask_one_that_is_behind(broker, producer)
            assert await producer.partitions_for("orders") == {0, 1, 2, 3}
            named = [await producer.send("orders", b"n%d" % at, partition=at) for at in range(4)]
            keyed = [await producer.send("orders", b"k", key=key) for key in KEYS]
            without_key = [await producer.send("orders", b"x" * 9000) for _ in range(20)]
            assert [(await ack).partition for ack in named] == [0, 1, 2, 3]
            assert [(await ack).partition for ack in keyed] == [
                (murmur2(key) & 0x7FFFFFFF) % 4 for key in KEYS
            ]
            await asyncio.gather(*without_key)
        for number in range(4):
            assert b"n%d" % number in written(broker, partition=number)


@pytest.mark.parametrize("newest_metadata", [None, 9])
async def test_a_topic_that_was_deleted_and_created_again_is_whole(
    newest_metadata: int | None,
) -> None:
    """Also where brokers have no topic ids (before 2.8), and a partition had elections before
    (2f-10).
    """
    versions = None if newest_metadata is None else {MetadataRequest.api_key: newest_metadata}
    clock = jumping_clock()
    async with kafka(
        nodes=2, clock=clock, max_versions=versions, auto_create_topics=False
    ) as broker:
        broker.create_topic("orders", partitions=3, replication_factor=2)
        elect(broker, 1)
        async with producing(broker, clock=clock) as producer:
            await producer.send_and_wait("orders", b"before", partition=1)
            broker.delete_topic("orders")
            await producer.kafka_client.metadata.refresh()
            broker.create_topic("orders", partitions=3, replication_factor=2)
            for number in range(3):
                sent = await producer.send_and_wait("orders", b"after", partition=number)
                assert sent.partition == number
            assert [written(broker, partition=number) for number in range(3)] == [[b"after"]] * 3
