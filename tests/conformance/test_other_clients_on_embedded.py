"""Other clients on the embedded broker: if they can talk to it, it speaks Kafka.

Each client produces and reads with every codec it has the library for, finds moved leaders, and,
where it is idempotent, sends again what was not acknowledged without doubling it.
"""

import asyncio
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import aiokafka
import confluent_kafka
import pytest

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.record.batch_header import parse_header
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.testing.broker.bench import batch

with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
    import kafka  # reads its schemas by a way that Python 3.11 deprecates
    import kafka.codec

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning")

COUNT = 20
TIMEOUT_S = 20
TOPIC = "t"
CODECS = [None, "gzip", "snappy", "lz4", "zstd"]
HEADERS = [("trace", b"1")]


class Sent(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes]]


EXPECTED = [Sent(b"k%d" % i, b"value " * 20 + b"%d" % i, HEADERS) for i in range(COUNT)]


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded(nodes=2) as broker:
        broker.create_topic(TOPIC)
        yield broker


# confluent-kafka (librdkafka)…


def confluent_produce(bootstrap: str, codec: str | None) -> None:
    producer = confluent_kafka.Producer(
        {
            "bootstrap.servers": bootstrap,
            "compression.type": codec or "none",
            "enable.idempotence": True,
            "log_level": 0,
        }
    )
    for key, value, headers in EXPECTED:
        producer.produce(TOPIC, value, key, partition=0, headers=headers)
    assert producer.flush(TIMEOUT_S) == 0


def confluent_consume(bootstrap: str) -> list[Sent]:
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": bootstrap,
            "group.id": "none",
            "enable.auto.commit": False,
            "check.crcs": True,
            "log_level": 0,
        }
    )
    consumer.assign([confluent_kafka.TopicPartition(TOPIC, 0, 0)])
    found = []
    for _ in range(COUNT):
        message = consumer.poll(TIMEOUT_S)
        assert message is not None
        assert message.error() is None, message.error()
        found.append(Sent(message.key(), message.value(), message.headers() or []))
    consumer.close()
    return found


# aiokafka…


def aiokafka_produce(bootstrap: str, codec: str | None) -> None:
    async def produce() -> None:
        async with aiokafka.AIOKafkaProducer(
            bootstrap_servers=bootstrap, compression_type=codec, enable_idempotence=True
        ) as producer:
            acks = [
                await producer.send(TOPIC, value, key, partition=0, headers=headers)
                for key, value, headers in EXPECTED
            ]
            await asyncio.wait_for(asyncio.gather(*acks), TIMEOUT_S)

    asyncio.run(produce())


def aiokafka_consume(bootstrap: str) -> list[Sent]:
    async def consume() -> list[Sent]:
        found: list[Sent] = []
        consumer = aiokafka.AIOKafkaConsumer(
            bootstrap_servers=bootstrap, auto_offset_reset="earliest"
        )
        consumer.assign([aiokafka.TopicPartition(TOPIC, 0)])
        async with consumer, asyncio.timeout(TIMEOUT_S):
            while len(found) < COUNT:
                message = await consumer.getone()
                found.append(Sent(message.key, message.value, list(message.headers)))
        return found

    return asyncio.run(consume())


# kafka-python…


def kafka_python_produce(bootstrap: str, codec: str | None) -> None:
    producer = kafka.KafkaProducer(
        bootstrap_servers=bootstrap, compression_type=codec, enable_idempotence=True
    )
    acks = [
        producer.send(TOPIC, value, key, headers=headers, partition=0)
        for key, value, headers in EXPECTED
    ]
    for ack in acks:
        ack.get(TIMEOUT_S)
    producer.close()


def kafka_python_consume(bootstrap: str) -> list[Sent]:
    consumer = kafka.KafkaConsumer(
        bootstrap_servers=bootstrap,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        consumer_timeout_ms=TIMEOUT_S * 1000,
    )
    consumer.assign([kafka.TopicPartition(TOPIC, 0)])
    found: list[Sent] = []
    while len(found) < COUNT:
        message = next(consumer)
        found.append(Sent(message.key, message.value, list(message.headers)))
    consumer.close()
    return found


Produce = Callable[[str, str | None], None]
Consume = Callable[[str], list[Sent]]
PRODUCERS: dict[str, Produce] = {
    "confluent-kafka": confluent_produce,
    "aiokafka": aiokafka_produce,
    "kafka-python": kafka_python_produce,
}
CONSUMERS: dict[str, Consume] = {
    "confluent-kafka": confluent_consume,
    "aiokafka": aiokafka_consume,
    "kafka-python": kafka_python_consume,
}


def require_codec(client: str, codec: str | None) -> None:
    """Skip what kafka-python has no library for; the other two bring their own."""
    if client == "kafka-python" and codec is not None:
        has_codec: Any = getattr(kafka.codec, f"has_{codec}")
        if not has_codec():
            pytest.skip(f"kafka-python has no library for {codec} here")


def in_the_log(broker: EmbeddedBroker) -> list[Sent]:
    return [
        Sent(record.key, record.value, list(record.headers))
        for record in broker.log((TOPIC, 0)).records()
    ]


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("client", PRODUCERS)
def test_what_a_client_produces_lies_in_the_log(
    broker: EmbeddedBroker, client: str, codec: str | None
) -> None:
    require_codec(client, codec)
    PRODUCERS[client](broker.bootstrap_servers, codec)
    assert in_the_log(broker) == EXPECTED
    codecs = {parse_header(stored.data).codec for stored in broker.log((TOPIC, 0)).batches()}
    assert codecs == {CompressionType.parse(codec)}


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("client", CONSUMERS)
def test_a_client_reads_what_lies_in_the_log(
    broker: EmbeddedBroker, client: str, codec: str | None
) -> None:
    require_codec(client, codec)
    values = [sent.value or b"" for sent in EXPECTED]
    compression = CompressionType.parse(codec)
    for start in (0, COUNT // 2):
        data = batch(*values[start : start + COUNT // 2], compression=compression)
        broker.append((TOPIC, 0), data)
    assert [sent.value for sent in CONSUMERS[client](broker.bootstrap_servers)] == values


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("producer", PRODUCERS)
def test_what_one_client_produces_another_reads(
    broker: EmbeddedBroker, producer: str, consumer: str
) -> None:
    PRODUCERS[producer](broker.bootstrap_servers, "gzip")
    assert CONSUMERS[consumer](broker.bootstrap_servers) == EXPECTED


@pytest.mark.parametrize("client", PRODUCERS)
def test_an_unacknowledged_batch_is_sent_again_and_not_doubled(
    broker: EmbeddedBroker, client: str
) -> None:
    """KIP-98: the broker recognises the sequence of a batch whose answer was lost."""
    broker.faults.cut(ProduceRequest)
    PRODUCERS[client](broker.bootstrap_servers, None)
    assert len(broker.requests_of(ProduceRequest)) > 1
    assert in_the_log(broker) == EXPECTED


@pytest.mark.parametrize("client", PRODUCERS)
def test_a_producer_finds_the_moved_leader(broker: EmbeddedBroker, client: str) -> None:
    partition = TopicPartition(TOPIC, 0)
    broker.faults.fail(ProduceRequest, 6)
    broker.move_leader(partition, 2)
    PRODUCERS[client](broker.bootstrap_servers, None)
    assert in_the_log(broker) == EXPECTED


@pytest.mark.parametrize("client", CONSUMERS)
def test_a_consumer_finds_the_moved_leader(broker: EmbeddedBroker, client: str) -> None:
    broker.append((TOPIC, 0), batch(*[b"a"] * (COUNT // 2)))
    broker.faults.fail(1, 6)
    broker.append((TOPIC, 0), batch(*[b"b"] * (COUNT // 2)))
    broker.move_leader((TOPIC, 0), 2)
    found = [sent.value for sent in CONSUMERS[client](broker.bootstrap_servers)]
    assert found == [b"a"] * (COUNT // 2) + [b"b"] * (COUNT // 2)
