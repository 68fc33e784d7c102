"""Programs as users write them: checked by `make check` under strict mypy, never run."""

from typing import assert_type

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRecord,
    RecordMetadata,
    TopicPartition,
)
from aiokafka_lite.serialization import json_deserializer
from aiokafka_lite.testing.broker import EmbeddedBroker


async def produce(bootstrap_servers: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers, acks="all") as producer:
        ack = await producer.send("orders", b"value", key=b"key", headers=[("trace", b"1")])
        metadata = await ack
        assert_type(metadata, RecordMetadata)
        assert_type(await producer.partitions_for("orders"), set[int])


async def consume_bytes(bootstrap_servers: str) -> None:
    async with AIOKafkaConsumer("orders", bootstrap_servers=bootstrap_servers) as consumer:
        assert_type(consumer, AIOKafkaConsumer[bytes, bytes])
        polled = await consumer.getmany(timeout_ms=1000, max_records=100)
        assert_type(polled, dict[TopicPartition, list[ConsumerRecord[bytes, bytes]]])
        async for record in consumer:
            assert_type(record.value, bytes | None)
            assert_type(record.offset, int)


async def consume_text(bootstrap_servers: str) -> None:
    async with AIOKafkaConsumer(
        "orders", bootstrap_servers=bootstrap_servers, value_deserializer=bytes.decode
    ) as consumer:
        record = await consumer.getone()
        assert_type(record.value, str | None)
        assert_type(record.key, bytes | None)


def handle(record: ConsumerRecord) -> int:
    return len(record.value or b"")


async def with_a_broker() -> None:
    async with EmbeddedBroker(nodes=3) as broker:
        assert_type(broker.bootstrap_servers, str)
        broker.create_topic("orders", partitions=3)


consumer_of_json = AIOKafkaConsumer("orders", value_deserializer=json_deserializer)
