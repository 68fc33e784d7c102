"""Records that pass between our client, confluent-kafka and Java's console tools, by every listener
of a real Kafka.
"""

import asyncio
from pathlib import Path

import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from tests.security.conftest import require_way
from tests.support.secured_kafka import ONE_FOR_EACH_LISTENER, WAYS, SecuredKafka, Way
from tests.support.topics import create_topic

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
VALUES = [b"value %d" % n for n in range(20)]
TIMEOUT_S = 60

# The others have event loops of their own: one of ours is enough here.
pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]


def confluent_write(lab: SecuredKafka, way: Way, topic: str) -> None:
    producer = confluent_kafka.Producer(lab.confluent(way))
    for value in VALUES:
        producer.produce(topic, value, partition=0)
    assert producer.flush(TIMEOUT_S) == 0


def confluent_read(lab: SecuredKafka, way: Way, topic: str) -> list[bytes | None]:
    consumer = confluent_kafka.Consumer({**lab.confluent(way), "group.id": "none"})
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    found = []
    for _ in VALUES:
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        assert message.error() is None, message.error()
        found.append(message.value())
    consumer.close()
    return found


def java_write(lab: SecuredKafka, way: Way, topic: str, folder: Path) -> None:
    lab.kafka.run_tool(
        CONSOLE_PRODUCER,
        *("--topic", topic, "--command-config", str(lab.java(way, folder))),
        stdin=b"\n".join(VALUES),
        listener=way.listener,
        java_options=lab.java_options,
    )


def java_read(lab: SecuredKafka, way: Way, topic: str, folder: Path) -> list[bytes]:
    printed = lab.kafka.run_tool(
        CONSOLE_CONSUMER,
        *("--topic", topic, "--command-config", str(lab.java(way, folder))),
        *("--from-beginning", "--max-messages", str(len(VALUES))),
        *("--timeout-ms", str(TIMEOUT_S * 1000)),
        listener=way.listener,
        java_options=lab.java_options,
    )
    return [line.encode() for line in printed.splitlines()[-len(VALUES) :]]


async def we_write(lab: SecuredKafka, way: Way, topic: str) -> None:
    async with AIOKafkaProducer(**lab.ours(way)) as producer:
        for value in VALUES:
            await producer.send(topic, value, partition=0)


async def we_read(lab: SecuredKafka, way: Way, topic: str) -> list[bytes | None]:
    async with AIOKafkaConsumer(auto_offset_reset="earliest", **lab.ours(way)) as consumer:
        consumer.assign([TopicPartition(topic, 0)])
        async with asyncio.timeout(TIMEOUT_S):
            return [(await consumer.getone()).value for _ in VALUES]


@pytest.mark.parametrize("way", [way for way in WAYS if way.mechanism != "GSSAPI"], ids=str)
async def test_confluent_and_we_read_each_other(
    lab: SecuredKafka, way: Way, topic_name: str
) -> None:
    ours, theirs = topic_name, f"{topic_name}-theirs"
    for topic in (ours, theirs):
        await create_topic(lab.kafka.servers("PLAINTEXT"), topic, partitions=1)
    await we_write(lab, way, ours)
    await asyncio.to_thread(confluent_write, lab, way, theirs)
    assert await we_read(lab, way, theirs) == VALUES
    assert await asyncio.to_thread(confluent_read, lab, way, ours) == VALUES


@pytest.mark.parametrize("way", ONE_FOR_EACH_LISTENER, ids=str)
async def test_javas_tools_and_we_read_each_other(
    lab: SecuredKafka, way: Way, topic_name: str, tmp_path: Path
) -> None:
    require_way(way)
    ours, theirs = topic_name, f"{topic_name}-theirs"
    for topic in (ours, theirs):
        await create_topic(lab.kafka.servers("PLAINTEXT"), topic, partitions=1)
    await we_write(lab, way, ours)
    await asyncio.to_thread(java_write, lab, way, theirs, tmp_path)
    assert await we_read(lab, way, theirs) == VALUES
    assert await asyncio.to_thread(java_read, lab, way, ours, tmp_path) == VALUES
