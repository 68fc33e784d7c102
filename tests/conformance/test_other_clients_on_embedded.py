"""Other clients on the embedded broker: if they can talk to it, it speaks Kafka.

Each client produces and reads with every codec it has the library for, finds moved leaders, and,
where it is idempotent, sends again what was not acknowledged without doubling it.
"""

from collections.abc import Iterator

import pytest

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.record.batch_header import parse_header
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.other_clients import (
    CODECS,
    CONSUMERS,
    COUNT,
    EXPECTED,
    PRODUCERS,
    Sent,
    require_codec,
)
from tests.testing.broker.bench import batch

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*is deprecated:DeprecationWarning"),
    pytest.mark.usefixtures("others_may_leak"),
]

TOPIC = "t"


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker.threaded(nodes=2) as broker:
        broker.create_topic(TOPIC)
        yield broker


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
    PRODUCERS[client](broker.bootstrap_servers, TOPIC, codec)
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
    assert [sent.value for sent in CONSUMERS[client](broker.bootstrap_servers, TOPIC)] == values


@pytest.mark.parametrize("consumer", CONSUMERS)
@pytest.mark.parametrize("producer", PRODUCERS)
def test_what_one_client_produces_another_reads(
    broker: EmbeddedBroker, producer: str, consumer: str
) -> None:
    PRODUCERS[producer](broker.bootstrap_servers, TOPIC, "gzip")
    assert CONSUMERS[consumer](broker.bootstrap_servers, TOPIC) == EXPECTED


@pytest.mark.parametrize("client", PRODUCERS)
def test_an_unacknowledged_batch_is_sent_again_and_not_doubled(
    broker: EmbeddedBroker, client: str
) -> None:
    """The broker recognises the sequence of a batch whose answer was lost (KIP-98)."""
    broker.faults.cut(ProduceRequest)
    PRODUCERS[client](broker.bootstrap_servers, TOPIC, None)
    assert len(broker.requests_of(ProduceRequest)) > 1
    assert in_the_log(broker) == EXPECTED


@pytest.mark.parametrize("client", PRODUCERS)
def test_a_producer_finds_the_moved_leader(broker: EmbeddedBroker, client: str) -> None:
    partition = TopicPartition(TOPIC, 0)
    broker.faults.fail(ProduceRequest, 6)
    broker.move_leader(partition, 2)
    PRODUCERS[client](broker.bootstrap_servers, TOPIC, None)
    assert in_the_log(broker) == EXPECTED


@pytest.mark.parametrize("client", CONSUMERS)
def test_a_consumer_finds_the_moved_leader(broker: EmbeddedBroker, client: str) -> None:
    broker.append((TOPIC, 0), batch(*[b"a"] * (COUNT // 2)))
    broker.faults.fail(1, 6)
    broker.append((TOPIC, 0), batch(*[b"b"] * (COUNT // 2)))
    broker.move_leader((TOPIC, 0), 2)
    found = [sent.value for sent in CONSUMERS[client](broker.bootstrap_servers, TOPIC)]
    assert found == [b"a"] * (COUNT // 2) + [b"b"] * (COUNT // 2)
