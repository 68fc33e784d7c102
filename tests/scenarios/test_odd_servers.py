"""Servers that end responses with bytes of their own, as librdkafka's mock cluster does: Java's
client and librdkafka step over them.
"""

import asyncio
import logging
import re
import struct
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, Literal

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
    TopicPartition,
)
from aiokafka_lite.admin import NewTopic
from aiokafka_lite.codec.parts import Parts
from aiokafka_lite.protocol.message_header import encode_response
from aiokafka_lite.schema.message import Response
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker import router as router_module

P0 = TopicPartition("t", 0)
USERS = {"alice": "secret"}
Options = dict[str, Any]
GroupProtocol = Literal["classic", "consumer"]


def with_tail(response: Response, *, version: int, correlation_id: int) -> Parts:
    """Return the frame of a response with two bytes more than its version has."""
    frame = b"".join(encode_response(response, version=version, correlation_id=correlation_id))
    body = frame[4:] + b"\0\1"
    return [struct.pack(">i", len(body)) + body]


async def write(options: Options) -> None:
    async with AIOKafkaProducer(**options) as producer:
        for _ in range(3):
            await producer.send_and_wait("t", b"v")


async def write_in_a_transaction(options: Options) -> None:
    producer = AIOKafkaProducer(transactional_id="x", **options)
    async with producer, producer.transaction():
        await producer.send("t", b"v")
        await producer.send_offsets_to_transaction({P0: 1}, "of-a-transaction")


async def read(options: Options) -> None:
    async with AIOKafkaConsumer("t", auto_offset_reset="earliest", **options) as consumer:
        for _ in range(3):
            assert (await consumer.getone()).value == b"old"
        assert await consumer.end_offsets([P0])


async def read_in_a_group(options: Options, protocol: GroupProtocol) -> None:
    async with AIOKafkaConsumer(
        "t", group_id=protocol, group_protocol=protocol, auto_offset_reset="earliest", **options
    ) as consumer:
        await consumer.getone()
        await consumer.commit()
        assert await consumer.committed(P0) == 1


async def read_in_a_classic_group(options: Options) -> None:
    await read_in_a_group(options, "classic")


async def read_in_a_consumer_group(options: Options) -> None:
    await read_in_a_group(options, "consumer")


async def read_in_a_share_group(options: Options) -> None:
    async with AIOKafkaShareConsumer("t", group_id="s", **options) as consumer:
        assert await consumer.getmany(timeout_ms=50) == {}


async def administer(options: Options) -> None:
    async with AIOKafkaAdminClient(**options) as admin:
        (await admin.create_topics([NewTopic("new", 1, 1)])).topics.raise_first()
        assert "new" in await admin.list_topics()
        (await admin.delete_topics(["new"])).topics.raise_first()
        assert await admin.list_groups() == []


@pytest.mark.parametrize(
    "use",
    [
        write,
        write_in_a_transaction,
        read,
        read_in_a_classic_group,
        read_in_a_consumer_group,
        read_in_a_share_group,
        administer,
    ],
)
async def test_bytes_behind_each_response_are_stepped_over(
    use: Callable[[Options], Coroutine[Any, Any, None]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Bytes behind a response are no fault, and are told once a kind and connection (2f-16)."""
    monkeypatch.setattr(router_module, "encode_response", with_tail)
    async with EmbeddedBroker(security="SASL_PLAINTEXT", users=USERS) as broker:
        broker.create_topic("t")
        for _ in range(3):
            broker.produce("t", b"old")
        options: Options = {"bootstrap_servers": broker.bootstrap_servers}
        with caplog.at_level(logging.WARNING):
            await asyncio.wait_for(use(options | broker.client_options("alice")), 60)
    told = [
        (record.args[0], re.sub(r"\d+ bytes", "", record.getMessage()))
        for record in caplog.records
        if record.name.endswith("request_channel") and isinstance(record.args, tuple)
    ]
    assert told, "what is odd is told"
    per_kind = Counter(text.split(" v")[0] for _, text in told)
    assert max(per_kind.values()) <= 3, f"once for each connection: {per_kind}"
