"""Bad input is answered with an error that names the value, the limit and the remedy, early."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pyarrow as pa
import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerStoppedError,
    TopicPartition,
)
from aiokafka_lite.errors import (
    IllegalArgumentError,
    IllegalStateError,
    InvalidTopicError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerClosed,
    SerializationError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.free_ports import held_ports
from tests.consumer.batches import batches

Client = type[AIOKafkaConsumer] | type[AIOKafkaProducer]
BOTH = pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])


@pytest.mark.parametrize(
    ("client", "option", "value", "allowed"),
    [
        (AIOKafkaProducer, "compression_type", "zip", "zstd"),
        (AIOKafkaProducer, "acks", 2, "all"),
        (AIOKafkaProducer, "linger_ms", -1, "0"),
        (AIOKafkaProducer, "max_in_flight_requests_per_connection", 6, "5"),
        (AIOKafkaProducer, "bootstrap_servers", "host:port", "port"),
        (AIOKafkaConsumer, "auto_offset_reset", "newest", "earliest"),
        (AIOKafkaConsumer, "isolation_level", "committed", "read_committed"),
        (AIOKafkaConsumer, "max_poll_records", 0, "1"),
        (AIOKafkaConsumer, "bootstrap_servers", "", "bootstrap_servers"),
        (AIOKafkaConsumer, "request_timeout_ms", "soon", "request_timeout_ms"),
    ],
)
def test_an_unknown_option_value_names_itself_and_what_is_allowed(
    client: Client, option: str, value: object, allowed: str
) -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        client(**{option: value})  # type: ignore[arg-type]
    assert isinstance(caught.value, ValueError)
    assert str(value) in str(caught.value)
    assert allowed in str(caught.value)


def test_all_faults_come_in_one_error() -> None:
    with pytest.raises(KafkaConfigurationError) as caught:
        AIOKafkaProducer(acks=7, compression_type="zip", linger_ms=-5)  # type: ignore[arg-type]
    for option in ("acks", "compression_type", "linger_ms"):
        assert option in str(caught.value)


@BOTH
def test_an_option_that_does_not_exist_is_a_type_error(client: Client) -> None:
    with pytest.raises(TypeError, match="linger_millis"):
        client(linger_millis=5)  # type: ignore[call-arg]


@BOTH
async def test_an_unreachable_bootstrap_names_each_address_and_what_happened(
    client: Client,
) -> None:
    with held_ports(2) as (first, second):
        servers = [f"127.0.0.1:{first}", f"127.0.0.1:{second}", "no-such-host.invalid:9092"]
        async with asyncio.timeout(30):
            with pytest.raises(KafkaConnectionError) as caught:
                await client(bootstrap_servers=servers, request_timeout_ms=5000).start()
    for server in servers:
        assert server in str(caught.value)
    assert "refused" in str(caught.value).lower()


@BOTH
async def test_a_bootstrap_that_accepts_and_says_nothing_ends_within_the_timeout(
    client: Client,
) -> None:
    async with _listening(_read_until_closed) as address:
        async with asyncio.timeout(30):
            with pytest.raises(KafkaConnectionError, match=address):
                await client(bootstrap_servers=address, request_timeout_ms=500).start()


@BOTH
async def test_a_broker_that_closes_on_a_new_api_versions_is_asked_in_an_older_one(
    client: Client,
) -> None:
    """Services that close the connection on versions they do not know can be used."""
    async with EmbeddedBroker() as broker:
        broker.faults.cut(ApiVersionsRequest, times=2)
        async with client(bootstrap_servers=broker.bootstrap_servers), asyncio.timeout(30):
            pass
        assert 0 in [request.api_version for request in broker.requests]


async def test_a_node_with_an_impossible_address_fails_what_is_for_it_and_nothing_else() -> None:
    """What the cluster says of one node cannot end a client that needs others, too."""
    async with EmbeddedBroker(nodes=2) as broker:
        broker.create_topic("t", 2)
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers.split(",")[0],
            linger_ms=0,
            request_timeout_ms=1000,
            delivery_timeout_ms=1500,
        ) as producer:
            on_2 = next(number for number in range(2) if broker.leader(("t", number)) == 2)
            broker.cluster.nodes[2].ports["PLAINTEXT"] = 70_000
            ack = await producer.send("t", b"v", partition=on_2)
            with pytest.raises(KafkaTimeoutError):
                await ack
            assert (await producer.send_and_wait("t", b"v", partition=1 - on_2)).offset == 0


@BOTH
async def test_tls_bytes_on_a_plain_port_are_recognised(client: Client) -> None:
    async def alert(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"\x15\x03\x03\x00\x02\x02\x50")  # what a TLS listener answers to plain bytes
        await _read_until_closed(reader, writer)

    async with _listening(alert) as address, asyncio.timeout(30):
        with pytest.raises(KafkaConnectionError, match=r"TLS") as caught:
            await client(bootstrap_servers=address, request_timeout_ms=2000).start()
        assert address in str(caught.value)


@BOTH
async def test_an_http_port_is_recognised(client: Client) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await _read_until_closed(reader, writer)

    async with _listening(answer) as address, asyncio.timeout(30):
        with pytest.raises(KafkaConnectionError, match="HTTP"):
            await client(bootstrap_servers=address, request_timeout_ms=2000).start()


@pytest.mark.parametrize(("field", "value"), [("value", "text"), ("value", 5), ("key", {})])
async def test_a_value_that_is_no_bytes_names_field_type_and_serializer(
    field: str, value: Any
) -> None:
    async with _producer() as (_, producer):
        with pytest.raises(SerializationError) as caught:
            await producer.send("t", **{"value": b"v", field: value})
        assert isinstance(caught.value, TypeError)
        assert field in str(caught.value)
        assert type(value).__name__ in str(caught.value)
        assert f"{field}_serializer" in str(caught.value)


async def test_a_record_too_large_names_both_sizes_and_the_option() -> None:
    async with _producer(max_request_size=1000) as (_, producer):
        with pytest.raises(MessageSizeTooLargeError, match=r"max_request_size.*1,?000"):
            await producer.send("t", b"x" * 1001)


async def test_use_before_start_says_to_start() -> None:
    producer = AIOKafkaProducer()
    with pytest.raises(IllegalStateError, match="start"):
        await producer.send("t", b"v")
    with pytest.raises(IllegalStateError, match="start"):
        await producer.flush()
    consumer = AIOKafkaConsumer("t")
    for call in (consumer.getone, consumer.getmany):
        with pytest.raises(IllegalStateError, match="start"):
            await call()
    await producer.stop()
    await consumer.stop()


async def test_use_after_stop_says_so() -> None:
    async with _producer() as (broker, producer):
        await producer.stop()
        with pytest.raises(ProducerClosed, match="stopped"):
            await producer.send("t", b"v")
        consumer = AIOKafkaConsumer("t", bootstrap_servers=broker.bootstrap_servers)
        await consumer.start()
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await consumer.getone()
        with pytest.raises(ConsumerStoppedError):
            await consumer.getmany()


async def test_sending_to_a_topic_that_does_not_exist_names_it() -> None:
    async with _producer(auto_create=False, max_block_ms=300) as (_, producer):
        async with asyncio.timeout(30):
            with pytest.raises((UnknownTopicOrPartitionError, KafkaTimeoutError), match="nowhere"):
                await producer.send("nowhere", b"v")


IMPOSSIBLE_TOPICS = pytest.mark.parametrize(
    "topic", ["no such/name", "\ud800", "a" * 40_000], ids=["characters", "surrogate", "length"]
)


@IMPOSSIBLE_TOPICS
@pytest.mark.parametrize(
    "how", ["send", "send_nowait", "send_many", "send_batch", "partitions_for"]
)
async def test_a_topic_that_cannot_exist_fails_the_call_that_names_it_and_nothing_else(
    topic: str, how: str
) -> None:
    """Whoever sends to a name no topic can have hears the rule; other records are written."""
    async with _producer(linger_ms=60_000) as (_, producer), asyncio.timeout(30):
        innocent = await producer.send("t", b"v")
        with pytest.raises(InvalidTopicError, match=r"1 to 249 characters out of a-z") as caught:
            await _call(producer, how, topic)
        assert len(str(caught.value)) < 300
        await producer.flush()
        assert (await innocent).offset == 0


@pytest.mark.parametrize("topic", ["no such/name", "a" * 40_000], ids=["characters", "length"])
async def test_a_row_for_a_topic_that_cannot_exist_fails_the_call_and_no_other_record(
    topic: str,
) -> None:
    """A column of topics is checked like a topic that is given as an argument."""
    async with _producer(linger_ms=60_000) as (_, producer), asyncio.timeout(30):
        innocent = await producer.send("t", b"v")
        rows = pa.table({"value": [b"v"], "topic": [topic]})
        with pytest.raises(InvalidTopicError, match=r"1 to 249 characters"):
            await producer.send_arrow(rows)
        await producer.flush()
        assert (await innocent).offset == 0


async def _call(producer: AIOKafkaProducer, how: str, topic: str) -> object:
    match how:
        case "send_nowait":
            return producer.send_nowait(topic, b"v")
        case "send_many":
            return await producer.send_many(topic, [b"v"])
        case "send_batch":
            batch = producer.create_batch()
            batch.append(key=None, value=b"v", timestamp=None)
            return await producer.send_batch(batch, topic, partition=0)
        case "partitions_for":
            return await producer.partitions_for(topic)
    return await producer.send(topic, b"v")


@IMPOSSIBLE_TOPICS
async def test_a_consumer_refuses_a_topic_that_cannot_exist_where_it_is_named(topic: str) -> None:
    """No subscription, assignment or question can be about a name no topic can have."""
    impossible = TopicPartition(topic, 0)
    with pytest.raises(InvalidTopicError, match=r"1 to 249 characters"):
        AIOKafkaConsumer(topic)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            group_id="g",
            auto_offset_reset="earliest",
        ) as consumer,
    ):
        calls: list[Callable[[], Any]] = [
            lambda: consumer.subscribe([topic]),
            lambda: consumer.assign([impossible]),
            lambda: consumer.list_partitions(topic),
            lambda: consumer.position(impossible),
            lambda: consumer.committed(impossible),
            lambda: consumer.commit({impossible: 1}),
            lambda: consumer.end_offsets([impossible]),
            lambda: consumer.offsets_for_times({impossible: 1}),
        ]
        for call in calls:
            with pytest.raises(InvalidTopicError, match=r"1 to 249 characters"):
                await call()
        broker.append(TopicPartition("t", 0), batches(0, 1))
        async with asyncio.timeout(30):
            assert (await consumer.getone()).offset == 0


async def test_a_value_no_request_can_carry_fails_its_call_and_nothing_else() -> None:
    """What does not fit the protocol is the caller's error, whatever request it is part of."""
    async with _producer() as (_, producer), asyncio.timeout(30):
        client = producer.kafka_client
        with pytest.raises(IllegalArgumentError, match=r"key.*bytes, above the limit"):
            await client.network.request_any(
                FindCoordinatorRequest(key="g" * 40_000), max_version=3
            )
        assert (await producer.send_and_wait("t", b"v")).offset == 0


@pytest.mark.parametrize(
    ("client", "options"),
    [
        (AIOKafkaProducer, {"client_id": "\ud800"}),
        (AIOKafkaConsumer, {"client_id": "a" * 40_000}),
        (AIOKafkaProducer, {"transactional_id": "\ud800"}),
        (AIOKafkaProducer, {"transactional_id": "a" * 40_000}),
        (AIOKafkaConsumer, {"group_id": "\ud800"}),
        (AIOKafkaConsumer, {"group_id": "g", "group_instance_id": "\ud800"}),
    ],
)
def test_an_option_no_request_can_carry_is_refused_at_construction(
    client: Client, options: dict[str, Any]
) -> None:
    *_, name = options
    with pytest.raises(KafkaConfigurationError, match=rf"{name}.*set it to") as caught:
        client(**options)
    assert len(str(caught.value)) < 300


async def test_reading_a_topic_that_does_not_exist_names_it() -> None:
    async with (
        EmbeddedBroker(auto_create_topics=False) as broker,
        AIOKafkaConsumer(
            bootstrap_servers=broker.bootstrap_servers, default_api_timeout_ms=500
        ) as consumer,
    ):
        consumer.assign([TopicPartition("nowhere", 0)])
        async with asyncio.timeout(30):
            with pytest.raises((UnknownTopicOrPartitionError, KafkaTimeoutError), match="nowhere"):
                await consumer.position(TopicPartition("nowhere", 0))


async def test_a_partition_that_does_not_exist_names_it() -> None:
    async with _producer(max_block_ms=300) as (broker, producer), asyncio.timeout(30):
        broker.create_topic("t", partitions=2)
        with pytest.raises(Exception, match="7"):
            await producer.send("t", b"v", partition=7)


@asynccontextmanager
async def _producer(
    *, auto_create: bool = True, **options: Any
) -> AsyncIterator[tuple[EmbeddedBroker, AIOKafkaProducer]]:
    async with (
        EmbeddedBroker(auto_create_topics=auto_create) as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, **options) as producer,
    ):
        yield broker, producer


async def _read_until_closed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while await reader.read(4096):
        pass
    writer.close()


@asynccontextmanager
async def _listening(serve: Callable[..., Any]) -> AsyncIterator[str]:
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    async with server:
        yield f"{host}:{port}"


@pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])
def test_started_without_an_event_loop_of_asyncio_a_client_says_what_it_needs(client: Any) -> None:
    """Another library's loop, such as trio's, drives coroutines by hand; nothing has begun then."""
    made = client()
    for _ in range(2):
        with pytest.raises(RuntimeError, match="aiokafka_lite needs one"):
            made.start().send(None)
    assert repr(made).endswith("not started>")


@pytest.mark.parametrize("client", [AIOKafkaConsumer, AIOKafkaProducer])
@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"security_protocol": "SOME"}, "`security_protocol` should be SSL or PLAINTEXT"),
        (
            {"security_protocol": "SASL_PLAINTEXT"},
            "sasl_plain_username and sasl_plain_password required for PLAIN sasl",
        ),
        (
            {"security_protocol": "SASL_SSL", "sasl_mechanism": "NTLM"},
            "sasl_mechanism='NTLM' is not known: use one of `PLAIN`, `GSSAPI`",
        ),
    ],
)
def test_wrong_security_options_are_named_in_the_words_of_aiokafka(
    client: Any, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        client(**options)


def test_credentials_without_a_protocol_that_uses_them_are_refused_and_not_shown() -> None:
    with pytest.raises(ValueError, match="sasl_plain_password has no effect with") as caught:
        AIOKafkaConsumer(sasl_plain_username="ann", sasl_plain_password="open sesame")
    assert "sesame" not in str(caught.value)


@pytest.mark.parametrize(
    ("make", "given"),
    [
        (lambda: AIOKafkaConsumer(["a", "b"]), r"\['a', 'b'\]"),  # type: ignore[arg-type]
        (lambda: AIOKafkaConsumer("a", 5), "5"),  # type: ignore[arg-type]
    ],
)
def test_topics_in_a_list_are_refused_with_the_way_to_give_them(make: Any, given: str) -> None:
    says = rf"Topics should be list of strings, and {given} is none: .*AIOKafkaConsumer\('a', 'b'\)"
    with pytest.raises(TypeError, match=says):
        make()


@pytest.mark.parametrize("topics", ["a", [b"a"], 5])
def test_subscribe_says_how_topics_are_given(topics: Any) -> None:
    with pytest.raises(
        TypeError, match=r"Topics should be list of strings.*subscribe\(\['a', 'b'\]"
    ):
        AIOKafkaConsumer().subscribe(topics)
