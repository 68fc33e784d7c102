"""Programs as users write them: checked by `make check` under strict mypy, never run."""

from dataclasses import replace
from typing import Any, Unpack, assert_type

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerOptions,
    ConsumerRecord,
    ExactlyOnceSession,
    ProducerOptions,
    ProducerRecord,
    RecordMetadata,
    Secret,
    TopicPartition,
)
from aiokafka_lite.serialization import BytesLike, json_deserializer, json_serializer
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


# Options…


def make_producer(**options: Unpack[ProducerOptions]) -> AIOKafkaProducer:
    return AIOKafkaProducer(**options)


def make_consumer(topic: str, **options: Unpack[ConsumerOptions]) -> AIOKafkaConsumer:
    return AIOKafkaConsumer(topic, **options)


assert_type(make_producer(linger_ms=5), AIOKafkaProducer[BytesLike, BytesLike])
assert_type(make_consumer("orders", group_id="billing"), AIOKafkaConsumer[bytes, bytes])

AIOKafkaProducer(client_id=None, acks=1, compression_type="zstd", interceptors=[AddTrace()])
AIOKafkaConsumer(auto_offset_reset="by_duration:PT1H", isolation_level="read_committed")

# What is refused: `make check` fails if one of these comments is not needed.
AIOKafkaProducer(acks=2)  # type: ignore[arg-type]
AIOKafkaProducer(compression_type="zip")  # type: ignore[arg-type]
AIOKafkaProducer(linger=5)  # type: ignore[call-arg]
AIOKafkaConsumer(group_id=1)  # type: ignore[arg-type]
AIOKafkaConsumer(isolation_level="committed")  # type: ignore[arg-type]

# Types of keys and values…


async def keys_and_values() -> None:
    of_bytes = AIOKafkaProducer(bootstrap_servers="localhost")
    assert_type(of_bytes, AIOKafkaProducer[BytesLike, BytesLike])
    await of_bytes.send("orders", b"value", memoryview(b"key"))
    await of_bytes.send("orders", None, key=bytearray(b"key"))
    await of_bytes.send("orders", "text")  # type: ignore[arg-type]

    of_text = AIOKafkaProducer(key_serializer=str.encode, value_serializer=json_serializer)
    assert_type(of_text, AIOKafkaProducer[str, Any])
    await of_text.send_and_wait("orders", {"number": 7}, key="seven")
    await of_text.send_many("orders", [{"number": 7}, ("eight", {"number": 8}), None])
    of_text.send_nowait("orders", [1, 2], key=b"seven")  # type: ignore[arg-type]

    of_anything: AIOKafkaProducer[str, Any] = AIOKafkaProducer(
        key_serializer=lambda key: key.encode(), value_serializer=lambda value: repr(value).encode()
    )
    await of_anything.send("orders", {1, 2}, key="both")
    takes_bytes(of_bytes)
    takes_bytes(of_text)  # type: ignore[arg-type]
    ExactlyOnceSession(AIOKafkaConsumer(), of_text)


def takes_bytes(producer: AIOKafkaProducer[bytes, bytes]) -> None:
    print(producer)


consumer_of_json = AIOKafkaConsumer("orders", value_deserializer=json_deserializer)


def credentials(password: Secret) -> tuple[str | bytes, bytes, str]:
    """A mechanism of the user's: what it sends."""
    assert_type(password.is_encodable, bool)
    return password.reveal(), password.reveal_bytes(), password.reveal_text()
