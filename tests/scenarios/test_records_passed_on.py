"""Every record that Kafka stores passes wherever records are passed on, and stays as it was.

Spark's ways are in `tests/spark/`, those of the command line in `tests/cli/test_produce.py`.
"""

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaConsumer,
    AIOKafkaProducer,
    ConsumerRecord,
    DeadLetters,
    ExactlyOnceSession,
    KeyedWorkers,
    TopicPartition,
)
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.support.unusual_records import ANY_TIME, KINDS, UNUSUAL, Fields, fields_of, put

FROM, TO = TopicPartition("from", 0), TopicPartition("to", 0)
Record = ConsumerRecord[Any, Any]


async def _read(kafka: VirtualKafka) -> list[Record]:
    count = len(fields_of(kafka.broker, FROM))
    async with _consumer(kafka) as consumer:
        return [await consumer.getone() for _ in range(count)]


def _consumer(kafka: VirtualKafka, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    return AIOKafkaConsumer("from", auto_offset_reset="earliest", **kafka.client_options, **options)


async def _send(kafka: VirtualKafka) -> None:
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        for each in await _read(kafka):
            rest: dict[str, Any] = {"timestamp_ms": each.timestamp, "headers": each.headers}
            if each.key is None and each.value is None:  # a mistake in `send`, as in aiokafka's
                await producer.send_many("to", [(None, None)], **rest)
            else:
                await producer.send("to", each.value, each.key, **rest)


async def _send_compressed_and_serialized(kafka: VirtualKafka) -> None:
    def same(data: bytes) -> bytes:
        return data

    options: dict[str, Any] = {"key_serializer": same, "value_serializer": same}
    async with AIOKafkaProducer(
        compression_type="gzip", **options, **kafka.client_options
    ) as producer:
        for each in await _read(kafka):
            await producer.send_many(
                "to",
                [(each.key, each.value)],
                timestamp_ms=each.timestamp,
                headers=each.headers,
            )


async def _send_batch(kafka: VirtualKafka) -> None:
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        batch = producer.create_batch()
        for each in await _read(kafka):
            rest: dict[str, Any] = {"timestamp": each.timestamp, "headers": each.headers}
            assert batch.append(key=each.key, value=each.value, **rest) is not None
        await (await producer.send_batch(batch, "to", partition=0))


async def _send_arrow(kafka: VirtualKafka, **options: Any) -> None:
    async with (
        _consumer(kafka) as consumer,
        AIOKafkaProducer(**kafka.client_options, **options) as producer,
    ):
        rows = await consumer.getmany_arrow(timeout_ms=5_000)
        ack = await (await producer.send_arrow(rows, "to"))
        assert [each.timestamp for each in ack.metadata()] == [
            fields_[0] for fields_ in fields_of(kafka.broker, TO)
        ]


async def _send_arrow_row_by_row(kafka: VirtualKafka) -> None:
    class Watch:
        def on_send(self, record: object) -> object:
            return record

    await _send_arrow(kafka, interceptors=[Watch()])


async def _exactly_once(kafka: VirtualKafka) -> None:
    reads = {"group_id": "g", "enable_auto_commit": False, "isolation_level": "read_committed"}
    producer = AIOKafkaProducer[Any, Any](transactional_id="t", **kafka.client_options)
    async with ExactlyOnceSession(_consumer(kafka, **reads), producer) as session:
        while len(fields_of(kafka.broker, TO)) < len(fields_of(kafka.broker, FROM)):
            async with session.batch() as records:
                for each in [each for batch in records.values() for each in batch]:
                    await session.producer.send_many(
                        "to",
                        [(each.key, each.value)],
                        timestamp_ms=each.timestamp,
                        headers=each.headers,
                    )


async def _dead_letters(kafka: VirtualKafka) -> None:
    async def fail(record: Record) -> None:
        raise ValueError("no")

    left = len(fields_of(kafka.broker, FROM))
    consumer = _consumer(kafka, group_id="g", enable_auto_commit=False)
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        workers = KeyedWorkers(
            consumer,
            fail,
            concurrency=1,
            retries=0,
            dead_letters=DeadLetters(producer, "to"),
            clock=kafka.clock,
        )
        async with workers, asyncio.TaskGroup() as group:
            group.create_task(workers.run())
            while len(fields_of(kafka.broker, TO)) < left:
                await asyncio.sleep(0.1)
            workers.stop()


async def _broker_itself(kafka: VirtualKafka) -> None:
    for each in kafka.broker.records("from"):
        told = kafka.broker.produce(
            *("to", each.value),
            key=each.key,
            headers=each.headers,
            timestamp_ms=each.timestamp,
        )
        assert told.timestamp == each.timestamp


WAYS: dict[str, Callable[[VirtualKafka], Coroutine[Any, Any, None]]] = {
    "send": _send,
    "send_many": _send_compressed_and_serialized,
    "send_batch": _send_batch,
    "send_arrow": _send_arrow,
    "send_arrow row by row": _send_arrow_row_by_row,
    "exactly once": _exactly_once,
    "dead letters": _dead_letters,
    "the broker's own": _broker_itself,
}


def _copied(way: str, *records: Fields, old: bytes = b"") -> list[Fields]:
    async def main(kafka: VirtualKafka) -> list[Fields]:
        for name in ("from", "to"):
            kafka.broker.create_topic(name, configs=ANY_TIME)
        if old:
            kafka.broker.append(FROM, old)
        else:
            put(kafka.broker, FROM, *records)
        await WAYS[way](kafka)
        return fields_of(kafka.broker, TO)

    return run_virtual_kafka(main)


@pytest.mark.parametrize("way", WAYS)
def test_a_record_of_any_kind_is_passed_on_as_it_was(way: str) -> None:
    """What passes records on keeps what Kafka keeps of any of them (2g-6)."""
    for kind in KINDS:
        (copied,) = _copied(way, UNUSUAL[kind])
        count = len(UNUSUAL[kind][3])
        assert (*copied[:3], copied[3][:count]) == UNUSUAL[kind], kind


@pytest.mark.parametrize("way", WAYS)
def test_so_are_all_of_them_in_one_batch(way: str) -> None:
    copied = [each[:3] for each in _copied(way, *UNUSUAL.values())]
    records = [each[:3] for each in UNUSUAL.values()]
    if way == "dead letters":  # they are in order for each key
        copied.sort(key=repr)
        records.sort(key=repr)
    assert copied == records


@pytest.mark.parametrize("way", WAYS)
def test_so_are_those_of_the_format_that_has_no_timestamps(way: str) -> None:
    file = Path(__file__).parents[1] / "conformance" / "java_batches.json"
    old = bytes.fromhex(json.loads(file.read_text(encoding="utf-8"))["v0_none"])
    copied = _copied(way, old=old)
    assert len(copied) == 20
    assert {each[0] for each in copied} == {-1}
