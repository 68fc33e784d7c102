"""Every listener and mechanism, with each kind of client, on the embedded broker and a real Kafka.

The newest Kafka has the whole matrix, and the oldest one way for each listener. `make soak` has the
whole matrix of the other releases.
"""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from tests.conftest import KAFKA_VERSIONS, VERSION_BETWEEN
from tests.support.secured_kafka import EMBEDDED_WAYS, ONE_FOR_EACH_LISTENER, WAYS

VALUES = [b"%d" % n for n in range(50)]
REAL = pytest.mark.real_kafka
SOAK = (pytest.mark.real_kafka, pytest.mark.soak)


def doors() -> list[Any]:
    """The parameters: a broker, and a way to come in."""
    found = [pytest.param(("embedded", way), id=f"embedded-{way}") for way in EMBEDDED_WAYS]
    for version in (*KAFKA_VERSIONS, VERSION_BETWEEN):
        for way in WAYS:
            is_quick = version == DEFAULT_VERSION or (
                version in KAFKA_VERSIONS and way in ONE_FOR_EACH_LISTENER
            )
            marks = REAL if is_quick else SOAK
            found.append(pytest.param((version, way), id=f"{version}-{way}", marks=marks))
    return found


pytestmark = pytest.mark.parametrize("options", doors(), indirect=True)


async def read(topic: str, options: dict[str, Any], **more: Any) -> list[bytes | None]:
    """Return the values of as many records as were written."""
    found: list[bytes | None] = []
    async with AIOKafkaConsumer(topic, auto_offset_reset="earliest", **options, **more) as consumer:
        while len(found) < len(VALUES):
            records = await consumer.getmany(timeout_ms=10_000)
            assert records, "no more records came within 10 s"
            found += [record.value for part in records.values() for record in part]
        if "group_id" in more:
            await consumer.commit()
    return found


async def test_a_producer_writes_and_a_group_reads(
    options: dict[str, Any], topic_name: str
) -> None:
    async with AIOKafkaProducer(**options) as producer:
        for value in VALUES:
            await producer.send(topic_name, value, partition=0)
    assert await read(topic_name, options, group_id=topic_name) == VALUES


async def test_transactions_are_read_when_committed(
    options: dict[str, Any], topic_name: str
) -> None:
    async with AIOKafkaProducer(transactional_id=topic_name, **options) as producer:
        await producer.begin_transaction()
        await producer.send(topic_name, b"aborted", partition=0)
        await producer.abort_transaction()
        async with producer.transaction():
            for value in VALUES:
                await producer.send(topic_name, value, partition=0)
    assert await read(topic_name, options, isolation_level="read_committed") == VALUES
