"""Programs as users write them: checked by `make check` under strict mypy, never run."""

from dataclasses import replace
from typing import assert_type

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRecord,
    ProducerRecord,
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
        assert_type(metadata.serialized_value_size, int)
        assert_type(producer.send_nowait("orders", b"value").done(), bool)
        many = await (await producer.send_many("orders", [b"value", (b"key", b"value")]))
        assert_type(list(many.metadata()), list[RecordMetadata])
        rows = await (await producer.send_arrow(polars_like, "orders", partition=0))
        assert_type(list(rows.metadata()), list[RecordMetadata])
        batch = producer.create_batch()
        batch.append(timestamp=None, key=None, value=b"value")
        assert_type(await (await producer.send_batch(batch, "orders", partition=0)), RecordMetadata)


polars_like: object = None


class AddTrace:
    def on_send(self, record: ProducerRecord) -> ProducerRecord:
        return replace(record, headers=[*(record.headers or ()), ("trace", b"1")])

    def on_acknowledgement(self, metadata: RecordMetadata) -> None:
        print(metadata.offset)


intercepted = AIOKafkaProducer(interceptors=[AddTrace()])


async def consume_bytes(bootstrap_servers: str) -> None:
    async with AIOKafkaConsumer("orders", bootstrap_servers=bootstrap_servers) as consumer:
        assert_type(consumer, AIOKafkaConsumer[bytes, bytes])
        polled = await consumer.getmany(timeout_ms=1000, max_records=100)
        assert_type(polled, dict[TopicPartition, list[ConsumerRecord[bytes, bytes]]])
        columns = await consumer.getmany_columns(max_bytes=1 << 20, columns=["offset", "value"])
        assert_type(len(columns), int)
        await consumer.getmany_arrow(TopicPartition("orders", 0), timeout_ms=1000)
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
