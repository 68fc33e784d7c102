"""Functions that make bytes and objects are called with None, as by aiokafka; others leave it."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker

Write = Callable[[Any], Awaitable[Any]]


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


async def as_json_later(value: Any) -> bytes:
    return as_json(value)


def made_key(key: Any) -> bytes:
    return key or b"made"


async def sent(producer: Any) -> None:
    await producer.send_and_wait("t", None, key=b"k")
    await producer.send_and_wait("t", 1, key=None)


async def sent_together(producer: Any) -> None:
    await (await producer.send_many("t", [(b"k", None), (None, 1)]))


async def sent_at_once(producer: Any) -> None:
    await producer.partitions_for("t")
    await producer.send_nowait("t", None, key=b"k")
    await producer.send_nowait("t", 1, key=None)


@pytest.mark.parametrize(
    ("write", "serializer"),
    [
        (sent, as_json),
        (sent_together, as_json),
        (sent_at_once, as_json),
        (sent, as_json_later),
        (sent_together, as_json_later),
    ],
)
async def test_a_serializer_that_takes_none_makes_bytes_of_it(
    write: Write, serializer: Any
) -> None:
    async with EmbeddedBroker(num_partitions=1) as broker:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            key_serializer=made_key,
            value_serializer=serializer,
        ) as producer:
            await write(producer)
        written = [(record.key, record.value) for record in broker.records("t")]
        assert written == [(b"k", b"null"), (b"made", b"1")]


class Quoting:
    """An object of this package's own protocol."""

    def serialize(self, _topic: str, _headers: Any, obj: str) -> bytes:
        return repr(obj).encode()

    def deserialize(self, _topic: str, _headers: Any, data: bytes) -> str:
        return repr(data)


async def encoded_later(text: str) -> bytes:
    return text.encode()


@pytest.mark.parametrize("serializer", [str.encode, lambda text: text.encode(), encoded_later])
async def test_a_serializer_that_cannot_take_none_leaves_a_tombstone(serializer: Any) -> None:
    async with EmbeddedBroker(num_partitions=1) as broker:
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            key_serializer=Quoting(),
            value_serializer=serializer,
        ) as producer:
            for value in (None, "v", None):
                await producer.send_and_wait("t", value, key="k")
            await producer.send_and_wait("t", "v")
        written = [(record.key, record.value) for record in broker.records("t")]
        assert written == [(b"'k'", None), (b"'k'", b"v"), (b"'k'", None), (None, b"v")]


def or_empty(data: bytes | None) -> Any:
    return {} if data is None else json.loads(data)


async def or_empty_later(data: bytes | None) -> Any:
    return or_empty(data)


async def decoded_later(data: bytes) -> str:
    return data.decode()


@pytest.mark.parametrize(
    ("deserializer", "read"),
    [
        (or_empty, [{}, 1, {}]),
        (or_empty_later, [{}, 1, {}]),
        (json.loads, [None, 1, None]),
        (decoded_later, [None, "1", None]),
        (bytes.decode, [None, "1", None]),
        (Quoting(), [None, "b'1'", None]),
    ],
)
async def test_a_deserializer_is_called_with_a_tombstone_if_it_takes_it(
    deserializer: Any, read: list[Any]
) -> None:
    async with EmbeddedBroker(num_partitions=1) as broker:
        for value in (None, "1", None):
            broker.produce("t", value, key="k")
        async with AIOKafkaConsumer(
            "t",
            bootstrap_servers=broker.bootstrap_servers,
            auto_offset_reset="earliest",
            value_deserializer=deserializer,
        ) as consumer:
            assert [(await consumer.getone()).value for _ in range(3)] == read
            await consumer.seek_to_beginning()
            found: list[Any] = []
            while len(found) < 3:
                for records in (await consumer.getmany(timeout_ms=5000)).values():
                    found += [record.value for record in records]
            assert found == read
