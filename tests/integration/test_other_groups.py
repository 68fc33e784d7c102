"""Our members in a group with those of other clients, on real Apache Kafkas.

Either may lead; they share, commit, and take over what the other one leaves.
"""

import asyncio
import threading
from collections import Counter
from functools import partial

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    TopicPartition,
)
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import ON_NEWEST_FIRST
from tests.support.other_groups import MEMBERS, OURS, Life, share_evenly
from tests.support.other_groups import member as any_member
from tests.support.topics import create_topic

pytestmark = [
    ON_NEWEST_FIRST,
    pytest.mark.real_kafka,
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning"),
    pytest.mark.usefixtures("others_may_leak"),
]

PARTITIONS = {0, 1, 2, 3}
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"


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


@pytest.mark.parametrize("by_default", [False, True])
@pytest.mark.parametrize(
    ("leader", "joiner"),
    [(OURS, client) for client in MEMBERS]
    + [(client, OURS) for client in MEMBERS if client != OURS],
)
def test_two_members_share_a_group(
    apache_kafka: ApacheKafka, topic_name: str, leader: str, joiner: str, by_default: bool
) -> None:
    """`by_default`: neither has chosen an assignor. Otherwise they share by range."""
    address, topic, group_id = apache_kafka.bootstrap_servers, topic_name, f"{topic_name}-group"
    member = partial(any_member, by_default=by_default)
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


def test_java_and_ours_share_a_group_without_any_option(
    apache_kafka: ApacheKafka, topic_name: str
) -> None:
    """Java's member comes first, then ours; Java's leaves, comes back, and leaves again."""
    address, topic, group_id = apache_kafka.bootstrap_servers, topic_name, f"{topic_name}-group"
    asyncio.run(create_topic(address, topic, partitions=len(PARTITIONS)))
    printed: list[str] = []

    def live() -> None:
        """Read until nothing has come for so long."""
        printed.append(
            apache_kafka.run_tool(
                CONSOLE_CONSUMER,
                *("--topic", topic, "--group", group_id, "--timeout-ms", "15000"),
                *("--from-beginning",),
            )
        )

    written: Counter[bytes] = Counter()
    java = threading.Thread(target=live)
    java.start()
    wait_for_members(address, group_id, 1)
    with any_member(OURS, address, topic, group_id, by_default=True) as ours:
        for times, name in enumerate(("first", "second"), start=1):
            ours.wait_until(lambda: len(ours.partitions) == 2)
            written += write(address, topic, name)
            ours.wait_until(partial(has_read, ours, 2 * times))
            java.join()
            ours.wait_until(lambda: ours.partitions == PARTITIONS)
            read_by_java = Counter(
                line.encode() for text in printed for line in text.splitlines() if " " in line
            )
            assert ours.values + read_by_java == written
            if name == "first":
                java = threading.Thread(target=live)
                java.start()
    assert committed(address, topic, group_id) == {2}


def has_read(member: Life, count: int) -> bool:
    return sum(member.values.values()) == count


def wait_for_members(bootstrap: str, group_id: str, count: int) -> None:
    async def wait() -> None:
        async with AIOKafkaAdminClient(bootstrap_servers=bootstrap) as admin:
            while True:
                (answer,) = await admin.describe_consumer_groups([group_id])
                (group,) = answer.groups
                if len(group.members) == count and group.state == "Stable":
                    return
                await asyncio.sleep(0.1)

    asyncio.run(asyncio.wait_for(wait(), 60))
