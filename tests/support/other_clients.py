"""Writes and reads the same records with any Python client of Kafka, in partition 0 of a topic.

Each client has two blocking functions with the same parameters. Tests combine a writer with each
reader, on every broker.
"""

import asyncio
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import aiokafka
import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    import kafka  # reads its schemas by a way that Python 3.11 deprecates
    import kafka.codec

COUNT = 20
TIMEOUT_S = 60
CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
HEADERS: list[tuple[str, bytes | None]] = [("trace", b"1")]


class Sent(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


EXPECTED = [Sent(b"k%d" % i, b"value " * 20 + b"%d" % i, HEADERS) for i in range(COUNT)]


# confluent-kafka (librdkafka)…


def confluent_produce(bootstrap: str, topic: str, codec: str | None) -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": codec or "none",
            "enable.idempotence": True,
            "log_level": 0,
        }
    )
    for key, value, headers in EXPECTED:
        producer.produce(topic, value, key, partition=0, headers=[*headers])
    assert producer.flush(TIMEOUT_S) == 0


def confluent_consume(bootstrap: str, topic: str) -> list[Sent]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "none",
            "enable.auto.commit": False,
            "check.crcs": True,
            "log_level": 0,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition(topic, 0, 0)])
    found = []
    for _ in range(COUNT):
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        assert message.error() is None, message.error()
        headers: Any = message.headers() or []
        found.append(Sent(message.key(), message.value(), headers))
    consumer.close()
    return found


# aiokafka, and ours, which has the same classes and methods…


async def _produce(producer: Any, topic: str) -> None:
    async with producer:
        acks = [
            await producer.send(topic, value, key, partition=0, headers=headers)
            for key, value, headers in EXPECTED
        ]
        await asyncio.wait_for(asyncio.gather(*acks), TIMEOUT_S)


async def _consume(consumer: Any, partition: tuple[str, int]) -> list[Sent]:
    found: list[Sent] = []
    consumer.assign([partition])
    async with consumer, asyncio.timeout(TIMEOUT_S):
        while len(found) < COUNT:
            record = await consumer.getone()
            found.append(Sent(record.key, record.value, list(record.headers)))
    return found


def aiokafka_produce(bootstrap: str, topic: str, codec: str | None) -> None:
    async def produce() -> None:
        producer = aiokafka.AIOKafkaProducer(
            bootstrap_servers=bootstrap, compression_type=codec, enable_idempotence=True
        )
        await _produce(producer, topic)

    asyncio.run(produce())


def aiokafka_consume(bootstrap: str, topic: str) -> list[Sent]:
    async def consume() -> list[Sent]:
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=bootstrap, auto_offset_reset="earliest"
        )
        return await _consume(consumer, aiokafka.TopicPartition(topic, 0))

    return asyncio.run(consume())


def our_produce(bootstrap: str, topic: str, codec: Any) -> None:
    async def produce() -> None:
        producer = AIOKafkaProducer(bootstrap_servers=bootstrap, compression_type=codec)
        await _produce(producer, topic)

    asyncio.run(produce())


def our_consume(bootstrap: str, topic: str) -> list[Sent]:
    async def consume() -> list[Sent]:
        consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
        return await _consume(consumer, TopicPartition(topic, 0))

    return asyncio.run(consume())


# kafka-python…


def kafka_python_produce(bootstrap: str, topic: str, codec: Any) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap, compression_type=codec, enable_idempotence=True
    )
    acks = [
        producer.send(topic, value, key, headers=headers, partition=0)
        for key, value, headers in EXPECTED
    ]
    for ack in acks:
        ack.get(TIMEOUT_S)
    producer.close()


def kafka_python_consume(bootstrap: str, topic: str) -> list[Sent]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=TIMEOUT_S * 1000,
    )
    consumer.assign([kafka.TopicPartition(topic, 0)])
    found: list[Sent] = []
    while len(found) < COUNT:
        message = next(consumer)
        found.append(Sent(message.key, message.value, list(message.headers)))
    consumer.close()
    return found


Produce = Callable[[str, str, str | None], None]
Consume = Callable[[str, str], list[Sent]]
OURS = "aiokafka-lite"
PRODUCERS: dict[str, Produce] = {
    OURS: our_produce,
    "confluent-kafka": confluent_produce,
    "aiokafka": aiokafka_produce,
    "kafka-python": kafka_python_produce,
}
CONSUMERS: dict[str, Consume] = {
    OURS: our_consume,
    "confluent-kafka": confluent_consume,
    "aiokafka": aiokafka_consume,
    "kafka-python": kafka_python_consume,
}


def require_codec(client: str, codec: str | None) -> None:
    """Skip the test if kafka-python lacks a library for the codec. Other clients have their own."""
    if client == "kafka-python" and codec is not None:
        has_codec: Any = getattr(kafka.codec, f"has_{codec}")
        if not has_codec():
            pytest.skip(f"kafka-python has no library for {codec} here")
