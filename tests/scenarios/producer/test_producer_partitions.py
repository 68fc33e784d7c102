"""A record goes to the partition that was named, or that its key's hash says, whatever the brokers
know of the topic at the moment.
"""

import asyncio
from collections import Counter
from typing import Any

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


RACKS = ("r1", "r2", "r3")
NEAR = {"client_rack": "r2", "partitioner_rack_aware": True}


async def write_keyless(
    producer: AIOKafkaProducer[Any, Any], count: int = 60, topic: str = "orders"
) -> Counter[int]:
    """Write records without key, three to a batch, by each way that the API has; say where to."""
    acks = [await producer.send(topic, b"x" * 6000) for _ in range(count // 2)]
    acks += [producer.send_nowait(topic, b"x" * 6000) for _ in range(count // 4)]
    many = await producer.send_many(topic, [b"x" * 6000] * (count // 4))
    told = [await ack for ack in acks]
    return Counter(each.partition for each in (*told, *(await many).metadata()))


def with_leaders(broker: EmbeddedBroker, *leaders: int) -> None:
    """Make a topic whose partitions have these leaders."""
    broker.create_topic("orders", partitions=len(leaders), replication_factor=3)
    for partition, leader in enumerate(leaders):
        broker.move_leader(("orders", partition), leader)


@pytest.mark.parametrize("is_adaptive", [True, False])
async def test_keyless_records_prefer_leaders_in_the_rack(is_adaptive: bool) -> None:
    """Records without key go to partitions led in the producer's rack, on whichever way they are
    sent; those with a key or a partition go where they always go (2d-24).
    """
    near = {**NEAR, "partitioner_adaptive_partitioning_enable": is_adaptive}
    async with kafka(nodes=3, racks=RACKS) as broker:
        with_leaders(broker, 1, 2, 3, 1, 2, 3)
        async with producing(broker, **near) as producer:
            assert set(await write_keyless(producer)) == {1, 4}
            for key in KEYS[:6]:
                sent = await producer.send_and_wait("orders", b"k", key=key)
                assert sent.partition == (murmur2(key) & 0x7FFFFFFF) % 6
            assert (await producer.send_and_wait("orders", b"n", partition=3)).partition == 3
        async with producing(broker, **near, partitioner_ignore_keys=True) as producer:
            sent = await producer.send_and_wait("orders", b"k", key=b"k")
            assert sent.partition in {1, 4}
        async with producing(broker, **near, partitioner="consistent_random") as producer:
            assert set(await write_keyless(producer)) == {1, 4}


@pytest.mark.parametrize(
    "options",
    [{"client_rack": "r2"}, {"client_rack": "nowhere", "partitioner_rack_aware": True}, {}],
)
async def test_without_a_leader_in_the_rack_records_go_everywhere(options: dict[str, Any]) -> None:
    """A rack that no leader has, and one that nobody asked to prefer, change nothing (2d-24)."""
    async with kafka(nodes=3, racks=RACKS) as broker:
        with_leaders(broker, 1, 2, 3)
        async with producing(broker, **options) as producer:
            assert set(await write_keyless(producer, 240)) == {0, 1, 2}


async def test_the_rack_is_followed_when_leaders_move_and_when_nodes_change_it() -> None:
    """The next record after new metadata goes to what is near by then (2d-24)."""
    async with kafka(nodes=3, racks=RACKS) as broker:
        with_leaders(broker, 1, 2, 3)
        async with producing(broker, **NEAR) as producer:

            async def goes_to() -> set[int]:
                await producer.kafka_client.metadata.refresh()
                return set(await write_keyless(producer, 120))

            assert await goes_to() == {1}
            broker.move_leader(("orders", 1), 1)
            broker.move_leader(("orders", 0), 2)
            assert await goes_to() == {0}
            broker.move_leader(("orders", 0), 3)
            assert await goes_to() == {0, 1, 2}, "the rack leads nothing"
            broker.cluster.nodes[3].rack = "r2"
            assert await goes_to() == {0, 2}, "no leader has moved, but its node has"
