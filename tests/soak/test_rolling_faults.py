"""Minutes of work while a real three-node Kafka loses one node after the other.

Every acknowledged record must be in the log exactly once and in order. A consumer that reads during
all this time must return exactly these records.
"""

import asyncio
import itertools
from collections import defaultdict

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.producer.batch.record_ack import RecordAck
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import KAFKA_VERSIONS, require_kafka
from tests.support.topics import create_topic

PARTITIONS = 6
PAUSE_S = 0.002

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(600)]

Sent = dict[bytes, list[tuple[int, RecordAck]]]


async def produce(address: str, topic: str, stop: asyncio.Event) -> Sent:
    sent: Sent = defaultdict(list)
    async with AIOKafkaProducer(bootstrap_servers=address, request_timeout_ms=5000) as producer:
        for number in itertools.count():
            if stop.is_set():
                break
            key = b"key %d" % (number % 20)
            sent[key].append((number, await producer.send(topic, b"%d" % number, key)))
            await asyncio.sleep(PAUSE_S)
    return sent


async def consume(
    address: str, topic: str, seen: dict[bytes, list[int]], enough: asyncio.Event
) -> None:
    async with AIOKafkaConsumer(
        topic, bootstrap_servers=address, auto_offset_reset="earliest", request_timeout_ms=5000
    ) as consumer:
        while not enough.is_set():
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    assert record.key is not None
                    seen[record.key].append(int(record.value or b""))


async def trouble(kafka: ApacheKafka) -> None:
    """Kill or stop one node after the other for three seconds, and wait until it has caught up."""
    for turn, node in enumerate(kafka.nodes * 2):
        await asyncio.sleep(4)
        await asyncio.to_thread(node.kill if turn % 2 else node.stop)
        await asyncio.sleep(3)
        node.spawn()
        await asyncio.to_thread(node.wait_ready, 3)


@pytest.mark.parametrize("version", KAFKA_VERSIONS)
async def test_each_acked_record_is_read_once_and_in_order(version: str, topic_name: str) -> None:
    require_kafka(version)
    kafka = await asyncio.to_thread(ApacheKafka(version, nodes=3).start)
    try:
        address = kafka.bootstrap_servers
        await create_topic(address, topic_name, partitions=PARTITIONS)
        seen: dict[bytes, list[int]] = defaultdict(list)
        stop, enough = asyncio.Event(), asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            producing = tasks.create_task(produce(address, topic_name, stop))
            tasks.create_task(consume(address, topic_name, seen, enough))
            await trouble(kafka)
            stop.set()
            sent = await producing
            acked = {
                key: [n for n, ack in acks if ack.exception() is None] for key, acks in sent.items()
            }
            async with asyncio.timeout(60):
                while any(len(seen[key]) < len(numbers) for key, numbers in acked.items()):
                    await asyncio.sleep(0.1)
            enough.set()
    finally:
        await asyncio.to_thread(kafka.stop)
    failed = [error for acks in sent.values() for _, ack in acks if (error := ack.exception())]
    assert all(isinstance(error, KafkaError) for error in failed)
    for key, numbers in acked.items():
        read = [number for number in seen[key] if number in set(numbers)]
        assert read == numbers, key
