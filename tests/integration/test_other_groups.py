"""Our members in a group with those of other clients, on real Apache Kafkas.

Either may lead; they share by the range assignor, commit, and take over what the other one leaves.
"""

import asyncio
from collections import Counter

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import ON_NEWEST_FIRST
from tests.support.other_groups import MEMBERS, OURS, Life, member
from tests.support.topics import create_topic

pytestmark = [
    ON_NEWEST_FIRST,
    pytest.mark.real_kafka,
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning"),
    pytest.mark.usefixtures("others_may_leak"),
]

PARTITIONS = {0, 1, 2, 3}


def write(bootstrap: str, topic: str, name: str) -> Counter[bytes]:
    """Write one record to each partition; return the values."""
    values = {partition: f"{name} {partition}".encode() for partition in PARTITIONS}

    async def produce() -> None:
        async with AIOKafkaProducer(bootstrap_servers=bootstrap) as producer:
            for partition, value in values.items():
                await producer.send_and_wait(topic, value, partition=partition)

    asyncio.run(produce())
    return Counter(values.values())


def committed(bootstrap: str, topic: str, group_id: str) -> set[int | None]:
    """The committed offsets of all partitions."""

    async def ask() -> set[int | None]:
        async with AIOKafkaConsumer(bootstrap_servers=bootstrap, group_id=group_id) as consumer:
            return {await consumer.committed(TopicPartition(topic, i)) for i in PARTITIONS}

    return asyncio.run(ask())


def share_evenly(first: Life, second: Life) -> bool:
    halves = ({0, 1}, {2, 3})
    return (
        first.partitions in halves
        and second.partitions in halves
        and not first.partitions & second.partitions
    )


@pytest.mark.parametrize(
    ("leader", "joiner"),
    [(OURS, client) for client in MEMBERS]
    + [(client, OURS) for client in MEMBERS if client != OURS],
)
def test_two_members_share_a_group(
    apache_kafka: ApacheKafka, topic_name: str, leader: str, joiner: str
) -> None:
    address, topic, group_id = apache_kafka.bootstrap_servers, topic_name, f"{topic_name}-group"
    asyncio.run(create_topic(address, topic, partitions=len(PARTITIONS)))
    with member(leader, address, topic, group_id) as first:
        first.wait_until(lambda: first.partitions == PARTITIONS)
        # As on the embedded broker: librdkafka may reset an offset after it got it back.
        written = write(address, topic, "first")
        first.wait_until(lambda: first.values == written)
        with member(joiner, address, topic, group_id) as second:
            first.wait_until(lambda: share_evenly(first, second))
            written += write(address, topic, "shared")
            first.wait_until(lambda: first.values + second.values == written)
        first.wait_until(lambda: first.partitions == PARTITIONS)
        written += write(address, topic, "alone")
        first.wait_until(lambda: first.values + second.values == written)
    assert committed(address, topic, group_id) == {3}
