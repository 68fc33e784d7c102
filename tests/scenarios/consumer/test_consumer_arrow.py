"""Polls for Arrow columns deliver what `getmany` would, by the same rules."""

import asyncio
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.arrow import _record_columns_py, record_columns
from aiokafka_lite.arrow.record_schema import record_schema
from aiokafka_lite.consumer.consumer_config import IsolationLevel
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    CorruptRecordException,
    IllegalOperation,
    IllegalStateError,
)
from aiokafka_lite.record.control_record import ControlRecordType
from tests.consumer.batches import batch, batches, tps, with_bad_crc
from tests.scenarios.consumer.test_consumer_cancellation import Seen, add, cancelled_after, finish
from tests.scenarios.consumer.test_consumer_transactions import end, transactional
from tests.scenarios.consuming import answers_are_there, consumer_of, embedded, eventually, fill
from tests.scenarios.grouping import assigned, member_of
from tests.support.topics import KEEP_OLD_RECORDS, create_topic
from tests.support.twins import native_twin

P0, P1 = tps(0, 1)
CODECS = (None, "gzip", "snappy", "lz4", "zstd")


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Which twin of the columns the consumer uses."""
    module = _record_columns_py
    if request.param == "native":
        module = native_twin("aiokafka_lite.arrow._record_columns")
    monkeypatch.setattr(record_columns, "RecordColumnsBuilder", module.RecordColumnsBuilder)
    return module


pytestmark = pytest.mark.usefixtures("twin")


def offsets(batch: pa.RecordBatch) -> Seen:
    """The offsets of a batch, by partition number."""
    seen: Seen = {}
    for partition, offset in zip(
        batch["partition"].to_pylist(), batch["offset"].to_pylist(), strict=True
    ):
        seen.setdefault(partition, []).append(offset)
    return seen


async def rows_by_arrow(consumer: AIOKafkaConsumer[Any, Any], count: int) -> list[Any]:
    rows: list[Any] = []
    while len(rows) < count:
        taken = await consumer.getmany_arrow(timeout_ms=30_000)
        assert taken.num_rows, f"nothing for half a minute: {list(map(str, consumer.explain()))}"
        taken.validate(full=True)
        assert taken.schema == record_schema()
        rows += [
            (
                *(row[name] for name in ("topic", "partition", "offset")),
                int(row["timestamp"].timestamp() * 1000),
                *(row[name] for name in ("timestamp_type", "key", "value")),
                tuple((header["key"], header["value"]) for header in row["headers"]),
            )
            for row in taken.to_pylist()
        ]
    return rows


async def rows_by_getmany(consumer: AIOKafkaConsumer[Any, Any], count: int) -> list[Any]:
    rows: list[Any] = []
    while len(rows) < count:
        for part in (await consumer.getmany(timeout_ms=30_000)).values():
            rows += [
                (
                    *(r.topic, r.partition, r.offset, r.timestamp, r.timestamp_type),
                    *(r.key, r.value, tuple(r.headers)),
                )
                for r in part
            ]
    return rows


async def write_transactions(address: str, topic: str, codec: Any) -> tuple[int, int]:
    """Write records of every kind; return how many each isolation level shows."""
    shown, hidden = 0, 0
    async with AIOKafkaProducer(
        bootstrap_servers=address,
        transactional_id=f"{topic}-writer",
        compression_type=codec,
        linger_ms=0,
    ) as producer:
        for number, is_aborted in enumerate((False, True, False, True, True, False)):
            await producer.begin_transaction()
            for n in range(20):
                await producer.send(
                    topic,
                    None if n % 7 == 0 else b"%d of %d" % (n, number),
                    b"key",
                    partition=n % 2,
                    timestamp_ms=1_700_000_000_000 + n,
                    headers=[("n", b"%d" % n), ("ü", None)] if n % 3 == 0 else None,
                )
            if is_aborted:
                await producer.flush()
                await producer.abort_transaction()
                hidden += 20
            else:
                await producer.commit_transaction()
                shown += 20
    async with AIOKafkaProducer(bootstrap_servers=address, compression_type=codec) as producer:
        await producer.send_and_wait(topic, b"keyless", partition=0)
        await producer.send_and_wait(topic, b"", b"", partition=1)
    return shown + 2, shown + hidden + 2


@pytest.mark.parametrize("codec", CODECS)
async def test_rows_are_those_of_getmany_at_both_isolation_levels(
    any_kafka: str, topic_name: str, codec: str | None
) -> None:
    await create_topic(any_kafka, topic_name, partitions=2, configs=KEEP_OLD_RECORDS)
    committed, uncommitted = await write_transactions(any_kafka, topic_name, codec)
    levels: list[tuple[IsolationLevel, int]] = [
        ("read_committed", committed),
        ("read_uncommitted", uncommitted),
    ]
    for level, count in levels:
        found = []
        for read in (rows_by_arrow, rows_by_getmany):
            consumer = AIOKafkaConsumer(
                topic_name,
                bootstrap_servers=any_kafka,
                auto_offset_reset="earliest",
                isolation_level=level,
                max_poll_records=37,
            )
            async with consumer:
                found.append(sorted(await read(consumer, count), key=lambda row: row[:3]))
                ends = [await consumer.position(TopicPartition(topic_name, p)) for p in (0, 1)]
                found[-1].append(ends)
        assert found[0] == found[1]
        assert len(found[0]) == count + 1


async def test_a5_max_records_bounds_a_batch_and_the_rest_follows_in_order() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=4) as consumer,
    ):
        fill(broker, P0, 3, 7)
        sizes = []
        for max_records in (None, 5, None):
            taken = await consumer.getmany_arrow(timeout_ms=30_000, max_records=max_records)
            sizes.append(offsets(taken)[0])
        assert sizes == [[0, 1, 2, 3], [4, 5, 6, 7, 8], [9]]
        assert await consumer.position(P0) == 10


async def test_max_bytes_bounds_a_batch_over_all_partitions() -> None:
    async with embedded({"t": 2}) as broker:
        for tp in (P0, P1):
            broker.append(tp, batch([b"x" * 1000] * 5))
        async with consumer_of(broker, "t") as consumer:
            seen: Seen = {}
            while sum(map(len, seen.values())) < 10:
                taken = await consumer.getmany_arrow(timeout_ms=30_000, max_bytes=2500)
                assert 0 < taken.num_rows <= 3
                add(seen, offsets(taken))
            assert seen == {0: [0, 1, 2, 3, 4], 1: [0, 1, 2, 3, 4]}


async def test_one_batch_has_rows_of_several_partitions() -> None:
    async with embedded({"t": 2, "u": 1}) as broker, consumer_of(broker, "t", "u") as consumer:
        fill(broker, P0, 2)
        fill(broker, P1, 2)
        fill(broker, TopicPartition("u", 0), 1)
        seen: set[Any] = set()
        while len(seen) < 5:
            taken = await consumer.getmany_arrow(
                timeout_ms=30_000, columns=["topic", "partition", "offset"]
            )
            assert taken.schema.names == ["topic", "partition", "offset"]
            seen |= {tuple(row.values()) for row in taken.to_pylist()}
        assert seen == {("t", 0, 0), ("t", 0, 1), ("t", 1, 0), ("t", 1, 1), ("u", 0, 0)}


async def test_partitions_that_are_named_are_the_only_ones() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        fill(broker, P1, 2)
        taken = await consumer.getmany_arrow(P1, timeout_ms=30_000)
        assert offsets(taken) == {1: [0, 1]}


async def test_records_decoded_ahead_by_getone_come_first() -> None:
    """Buffered records come before newer ones, whichever call takes them (A5)."""
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 300, 300)
        seen: Seen = {}
        for size in (3, 500, 7, 1000):
            record = await consumer.getone()
            add(seen, {0: [record.offset]})
            add(seen, offsets(await consumer.getmany_arrow(timeout_ms=30_000, max_records=size)))
            if len(seen[0]) == 600:
                break
            polled = await consumer.getmany(timeout_ms=30_000, max_records=2)
            add(seen, {0: [r.offset for part in polled.values() for r in part]})
        assert seen == {0: list(range(600))}


async def test_without_records_the_batch_is_empty_and_has_its_schema() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        taken = await consumer.getmany_arrow()
        assert (taken.num_rows, taken.schema) == (0, record_schema())
        assert len(await consumer.getmany_columns(timeout_ms=1)) == 0


async def test_a9_rows_before_an_error_come_first_then_the_error_then_it_may_be_passed() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        broker.append(P0, with_bad_crc(batches(3, 2)))
        assert offsets(await consumer.getmany_arrow(timeout_ms=30_000)) == {0: [0, 1, 2]}
        for _ in range(2):
            with pytest.raises(CorruptRecordException, match="t-0 at offset 3"):
                await consumer.getmany_arrow(timeout_ms=30_000)
        fill(broker, P0, 2)
        consumer.seek(P0, 5)
        assert offsets(await consumer.getmany_arrow(timeout_ms=30_000)) == {0: [5, 6]}


async def test_cancelled_after_any_number_of_turns_a_poll_loses_and_repeats_nothing() -> None:
    async with (
        embedded({"t": 2}, nodes=2) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1, fetch_max_wait_ms=5) as consumer,
    ):

        async def poll() -> Seen:
            return offsets(await consumer.getmany_arrow(timeout_ms=1000, max_records=3))

        seen: Seen = {}
        fill(broker, P0, *[4] * 20)
        fill(broker, P1, *[3] * 20)
        for steps in range(40):
            add(seen, await cancelled_after(steps, poll))
        await finish(consumer, seen, 140)
        assert seen == {0: list(range(80)), 1: list(range(60))}


async def test_group_commits_what_columns_brought() -> None:
    """Auto-commit commits records that were returned as columns (B7)."""
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", group_id="g", enable_auto_commit=False) as consumer,
    ):
        fill(broker, P0, 6)
        await consumer.getmany_arrow(timeout_ms=30_000, max_records=4)
        await consumer.commit()
        assert await consumer.committed(P0) == 4


@pytest.mark.parametrize("option", ["key_deserializer", "value_deserializer"])
async def test_a_consumer_with_a_deserializer_is_told_to_leave_it(option: str) -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", **{option: bytes.decode}) as consumer,
    ):
        with pytest.raises(IllegalOperation, match="make one without key_deserializer and value"):
            await consumer.getmany_arrow()


async def test_wrong_arguments_are_named() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        wrong: list[tuple[dict[str, Any], str]] = [
            ({"max_records": 0}, "max_records"),
            ({"max_bytes": 0}, "max_bytes=0"),
            ({"timeout_ms": -1}, "timeout_ms=-1"),
            ({"columns": ["values"]}, "'values' is not a column"),
            ({"columns": []}, "no column is named"),
        ]
        for options, word in wrong:
            with pytest.raises(ValueError, match=word):
                await consumer.getmany_arrow(**options)


async def test_before_start_and_after_stop_it_says_so() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        with pytest.raises(IllegalStateError):
            await consumer.getmany_arrow()
        async with consumer:
            pass
        with pytest.raises(ConsumerStoppedError):
            await consumer.getmany_arrow()


# Reading to an offset…


async def test_reading_to_an_offset_ends_where_only_markers_and_aborted_records_lie() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 3)
        transactional(broker, P0, 1, 2)
        end(broker, P0, 1, ControlRecordType.ABORT)
        consumer = consumer_of(broker, isolation_level="read_committed", fetch_max_wait_ms=30_000)
        consumer.assign([P0])
        consumer.seek(P0, 0)
        async with consumer:
            taken: list[int] = []
            while await consumer.position(P0) < 6:
                batch = await consumer.getmany_arrow(P0, timeout_ms=30_000, until={P0: 6})
                taken += batch["offset"].to_pylist()
            assert taken == [0, 1, 2]
            # Nothing behind was asked for, so no node holds an answer until there is more.
            assert consumer.paused() == {P0}
            assert not consumer.statistics().fetching_nodes
            again = await consumer.getmany_arrow(P0, timeout_ms=30_000, until={P0: 6})
            assert again.num_rows == 0


async def test_partitions_are_read_on_until_each_has_come_to_its_offset() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker) as consumer:
        fill(broker, P0, 2)
        fill(broker, P1, 5)
        consumer.assign([P0, P1])
        until = {P0: 2, P1: 5}
        seen: Seen = {}
        while any([await consumer.position(tp) < last for tp, last in until.items()]):
            add(seen, offsets(await consumer.getmany_arrow(timeout_ms=5000, until=until)))
        assert seen == {0: [0, 1], 1: [0, 1, 2, 3, 4]}
        with pytest.raises(IllegalStateError):
            await consumer.getmany_arrow(until={TopicPartition("t", 7): 1})


async def test_an_offset_of_a_partition_the_group_took_away_is_an_error_that_takes_no_record() -> (
    None
):
    """What lies buffered of the others stays there for the next call."""
    async with embedded({"t": 2}) as broker, member_of(broker, "t", client_id="a") as consumer:
        until = dict.fromkeys(consumer.assignment(), 9)
        async with member_of(broker, "t", client_id="b"):
            await assigned(consumer, {P0})
            fill(broker, P0, 3)
            await consumer.position(P0)
            await consumer.getmany()
            await answers_are_there(consumer)
            for _ in range(2):
                with pytest.raises(IllegalStateError, match="not assigned"):
                    await consumer.getmany_arrow(timeout_ms=30_000, until=until)
                assert await consumer.position(P0) == 0
            taken = await consumer.getmany_arrow(timeout_ms=30_000, until={P0: 9})
            assert offsets(taken) == {0: [0, 1, 2]}


async def test_an_offset_of_a_partition_let_go_while_the_call_waits_takes_no_record() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker) as consumer:
        consumer.assign([P0, P1])
        call = asyncio.create_task(consumer.getmany_columns(timeout_ms=30_000, until={P1: 5}))
        await eventually(consumer, lambda: bool(consumer.statistics().fetching_nodes))
        consumer.assign([P0])
        fill(broker, P0, 4)
        with pytest.raises(IllegalStateError, match="not assigned"):
            await call
        assert offsets(await consumer.getmany_arrow(timeout_ms=30_000)) == {0: [0, 1, 2, 3]}
