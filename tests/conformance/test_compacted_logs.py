"""What the log cleaner of real Kafkas leaves behind, read in every way, as Java's consumer does.

The shapes: batches with holes and without records, deletions with a horizon, markers without their
transaction and without their record, transactions without their records, and without a marker.
Source: KIP-98, KIP-534, KIP-890, LogCleaner.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pyarrow as pa
import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaConsumer, AIOKafkaShareConsumer
from aiokafka_lite.admin import ConfigResource, ConfigResourceType
from aiokafka_lite.arrow import _record_columns_py
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record import _batch_reader_py
from aiokafka_lite.record.batch_header import TRANSACTIONAL, BatchHeader
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.conformance.compacted_logs import LEVELS, LOGS, CompactedLog, Line, line
from tests.support.twins import native_twin

_DELETE_HORIZON = 0x40
Read = Callable[[AIOKafkaConsumer[Any, Any], TopicPartition, int], Awaitable[list[Line]]]

each_log = pytest.mark.parametrize("log", LOGS, ids=lambda log: log.name)
each_level = pytest.mark.parametrize("level", LEVELS)
each_twin = pytest.mark.parametrize("twin", ["native", "pure"])


SHAPES: dict[str, Callable[[BatchHeader], object]] = {
    "emptied batch": lambda each: _is_emptied(each) and not each.attributes,
    "emptied batch of a transaction": lambda each: (
        _is_emptied(each) and each.attributes == TRANSACTIONAL
    ),
    "emptied marker": lambda each: _is_emptied(each) and each.is_control,
    "holes": lambda each: _has_holes(each) and not each.codec,
    "compressed, with holes": lambda each: _has_holes(each) and each.codec,
    "marker to be deleted": lambda each: _has_horizon(each) and each.is_control,
    "deletion to be deleted": lambda each: _has_horizon(each) and not each.is_control,
    "records without a timestamp": lambda each: each.records_count and each.base_timestamp == -1,
}


def _is_emptied(header: BatchHeader) -> bool:
    return not header.records_count and header.base_timestamp == -1


def _has_holes(header: BatchHeader) -> bool:
    return 0 < header.records_count <= header.last_offset_delta


def _has_horizon(header: BatchHeader) -> bool:
    return bool(header.attributes & _DELETE_HORIZON)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_shape_is_among_the_logs(shape: str) -> None:
    assert any(SHAPES[shape](each) for log in LOGS for each in log.headers())


@each_twin
@each_level
@each_log
def test_the_records_are_those_that_java_returns(log: CompactedLog, level: str, twin: str) -> None:
    """What compaction leaves is passed by, and its records are returned (2g-7)."""
    reader, columns = _twins(twin)
    for room in (1, 1000):
        found: list[Line] = []
        rows: list[Line] = []
        for fetched in log.fetched(level):
            options = {
                "topic": "t",
                "partition": 0,
                "fetch_offset": fetched.offset,
                "read_committed": level == "read_committed",
                "aborted_transactions": fetched.aborted,
            }
            cursor = reader.RecordCursor(fetched.records, **options)
            while taken := cursor.take(room):
                found += map(line, taken)
            assert cursor.exhausted
            ends = [cursor.next_offset]
            cursor = reader.RecordCursor(fetched.records, **options)
            taken = True
            while taken:
                builder = columns.RecordColumnsBuilder(room)
                taken = cursor.take_columns(builder)
                rows += _lines(pa.record_batch(builder.finish()))
            assert [*ends, cursor.next_offset] == [cursor.end_offset() or cursor.next_offset] * 2
        assert found == log.java[level]
        assert rows == log.java[level]


@each_twin
@each_level
@each_log
def test_a_fetch_from_any_offset_has_the_rest(log: CompactedLog, level: str, twin: str) -> None:
    """A seek may end in a hole, at a marker, or within a transaction."""
    reader, _ = _twins(twin)
    for fetched in log.fetched(level):
        whole: list[Line] = []
        for start in range(fetched.offset, fetched.offset + 80):
            cursor = reader.RecordCursor(
                fetched.records,
                topic="t",
                partition=0,
                fetch_offset=start,
                read_committed=level == "read_committed",
                aborted_transactions=fetched.aborted,
            )
            found = [*map(line, cursor.take(1000))]
            whole = whole or found
            assert found == [each for each in whole if each[0] >= start]


def _twins(twin: str) -> tuple[Any, Any]:
    if twin == "pure":
        return _batch_reader_py, _record_columns_py
    return (
        native_twin("aiokafka_lite.record._batch_reader"),
        native_twin("aiokafka_lite.arrow._record_columns"),
    )


def _lines(batch: pa.RecordBatch) -> list[Line]:
    times = batch.column("timestamp").cast(pa.int64()).to_pylist()
    texts = (
        ["null" if field is None else field.decode() for field in batch.column(name).to_pylist()]
        for name in ("key", "value")
    )
    return list(zip(batch.column("offset").to_pylist(), times, *texts, strict=True))


async def _by_getmany(
    consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition, end: int
) -> list[Line]:
    found: list[Line] = []
    while await consumer.position(tp) < end:
        for records in (await consumer.getmany(timeout_ms=100, max_records=3)).values():
            found += map(line, records)
    return found


async def _by_arrow(
    consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition, end: int
) -> list[Line]:
    found: list[Line] = []
    while await consumer.position(tp) < end:
        columns = await consumer.getmany_arrow(timeout_ms=100, max_records=3, until={tp: end})
        found += _lines(pa.record_batch(columns))
    return found


async def _one_by_one(
    consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition, end: int
) -> list[Line]:
    count = await _how_many(consumer, tp, end)
    return [line(await consumer.getone()) for _ in range(count)]


async def _by_iteration(
    consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition, end: int
) -> list[Line]:
    count = await _how_many(consumer, tp, end)
    found: list[Line] = []
    async for record in consumer:
        found.append(line(record))
        if len(found) == count:
            break
    return found


async def _how_many(consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition, end: int) -> int:
    start = await consumer.position(tp)
    count = len(await _by_getmany(consumer, tp, end))
    consumer.seek(tp, start)
    return count


@each_level
@pytest.mark.parametrize("most_bytes", [1, 1 << 20], ids=["each batch alone", "all at once"])
@pytest.mark.parametrize("read", [_by_getmany, _by_arrow, _one_by_one, _by_iteration])
def test_consumers_read_such_a_log_from_a_broker_to_its_end(
    read: Read, most_bytes: int, level: str
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        for log in LOGS:
            tp = log.store(kafka.broker)
            options: dict[str, Any] = {
                "isolation_level": level,
                "auto_offset_reset": "earliest",
                "max_partition_fetch_bytes": most_bytes,
            }
            async with AIOKafkaConsumer(**kafka.client_options, **options) as consumer:
                consumer.assign([tp])
                assert await read(consumer, tp, log.end(level)) == log.java[level], log.name

    run_virtual_kafka(main)


@each_level
@pytest.mark.parametrize(
    "options",
    [{}, {"fetch_max_bytes": 1}, {"share_acquire_mode": "record_limit", "max_poll_records": 1}],
    ids=["all at once", "each batch alone", "each record alone"],
)
def test_share_consumers_read_such_a_log_to_its_end(options: dict[str, Any], level: str) -> None:
    async def main(kafka: VirtualKafka) -> None:
        settings = {"share.auto.offset.reset": "earliest", "share.isolation.level": level}
        async with AIOKafkaAdminClient(**kafka.client_options) as admin:
            for log in LOGS:
                log.store(kafka.broker)
                group = ConfigResource(ConfigResourceType.GROUP, log.name, configs=settings)
                (await admin.incremental_alter_configs([group])).raise_first()
        for log in LOGS:
            found: list[Line] = []
            async with AIOKafkaShareConsumer(
                log.name, group_id=log.name, **kafka.client_options, **options
            ) as consumer:
                while records := await consumer.getmany(5_000):
                    found += [line(each) for batch in records.values() for each in batch]
            assert found == log.java[level], log.name

    run_virtual_kafka(main)


@each_log
def test_the_embedded_broker_stores_it_as_it_was(log: CompactedLog) -> None:
    async def main(kafka: VirtualKafka) -> None:
        tp = log.store(kafka.broker)
        stored = kafka.broker.log(tp)
        assert [stored.log_start_offset, stored.last_stable_offset, stored.high_watermark] == [
            *(log.log_start, log.last_stable, log.high_watermark)
        ]
        for level in LEVELS:
            records = kafka.broker.records(log.name, committed=level == "read_committed")
            assert [*map(line, records)] == log.java[level]
        async with AIOKafkaConsumer(**kafka.client_options) as consumer:
            for offset, time_ms, _, _ in log.java["read_uncommitted"]:
                if time_ms >= 0:
                    (found,) = (await consumer.offsets_for_times({tp: time_ms})).values()
                    assert found is not None
                    assert found.timestamp is not None
                    assert found.offset <= offset
                    assert found.timestamp >= time_ms

    run_virtual_kafka(main)
