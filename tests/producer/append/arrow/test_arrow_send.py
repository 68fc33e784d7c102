"""`send_arrow` on the embedded broker; what a row is read as is in `test_arrow_rows.py`."""

import asyncio
import time
from types import ModuleType

import pyarrow as pa
import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import (
    IllegalArgumentError,
    IllegalStateError,
    InvalidRecordError,
    KafkaError,
    KafkaTimeoutError,
    MessageSizeTooLargeError,
    ProducerClosed,
    SerializationError,
)
from aiokafka_lite.model import RecordMetadata, TopicPartition
from aiokafka_lite.producer.append.arrow import _arrow_rows_py, arrow_send
from aiokafka_lite.producer.key_hash.murmur2 import murmur2
from aiokafka_lite.producer.partition.partitioner import RoundRobinPartitioner
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from tests.producer.world import jumping_clock, kafka, producing, written
from tests.support.topics import KEEP_OLD_RECORDS, create_topic
from tests.support.twins import native_twin


@pytest.fixture(params=["pure", "native"])
def twin(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Who reads the Arrow data."""
    module = _arrow_rows_py
    if request.param == "native":
        module = native_twin("aiokafka_lite.producer.append.arrow._arrow_rows")
    monkeypatch.setattr(arrow_send, "arrow_batches", module.arrow_batches)
    return module


pytestmark = pytest.mark.usefixtures("twin")


async def test_values_arrive_in_order_in_full_batches() -> None:
    """The rows of a table arrive in order, in full batches (C2, C5)."""
    values: list[bytes | None] = [b"value %d" % number for number in range(3000)]
    async with (
        kafka() as broker,
        producing(broker, linger_ms=1000, max_batch_size=1000) as producer,
    ):
        ack = await producer.send_arrow(
            pa.record_batch({"value": values}), "orders", timestamp_ms=77
        )
        assert len(ack) == 3000
        assert await ack is ack
        assert [metadata.offset for metadata in ack.metadata()] == list(range(3000))
        assert {metadata.timestamp for metadata in ack.metadata()} == {77}
        assert written(broker) == values
        assert len(broker.log(("orders", 0)).records()) == 3000
        assert len(ack._firsts) == len(ack._batches) < 80
        assert producer._engine.pool.used_bytes == 0


async def test_in_a_single_partition_rows_with_and_without_keys_keep_their_order() -> None:
    values = [b"value %d" % number for number in range(300)]
    keys = [b"key" if number % 3 else None for number in range(300)]
    async with kafka() as broker, producing(broker) as producer:
        acks = await producer.send_arrow(pa.record_batch({"key": keys, "value": values}), "orders")
        await acks
        assert written(broker) == values
        assert [metadata.offset for metadata in acks.metadata()] == list(range(300))


async def test_rows_go_where_their_keys_belong_and_the_handle_counts_rows() -> None:
    """Each row goes to its key's partition, and the acknowledgement counts rows (2d-4)."""
    pairs = [(b"%d" % (number % 7), b"%d" % number) for number in range(900)]
    keys, values = zip(*pairs, strict=True)
    table = pa.table({"key": list(keys), "value": list(values)})
    async with (
        kafka(num_partitions=3) as broker,
        producing(broker, linger_ms=1000, max_batch_size=600) as producer,
    ):
        ack = await (await producer.send_arrow(table, "orders"))
        for partition in range(3):
            assert written(broker, partition=partition) == [
                value for key, value in pairs if (murmur2(key) & 0x7FFFFFFF) % 3 == partition
            ]
        logs = [list(broker.log(("orders", partition)).records()) for partition in range(3)]
        for (key, value), metadata in zip(pairs, ack.metadata(), strict=True):
            record = logs[metadata.partition][metadata.offset]
            assert (record.key, record.value, record.timestamp) == (key, value, metadata.timestamp)


async def test_rows_are_numbered_over_all_the_batches_of_a_table() -> None:
    """The acknowledgement has the rows in the table's order, whatever chunks that is made of."""
    values = [b"%d" % number for number in range(60)]
    keys = [b"%d" % (number % 7) for number in range(60)]
    batch = pa.record_batch({"key": keys, "value": values})
    table = pa.Table.from_batches([batch.slice(0, 20), batch.slice(20, 3), batch.slice(23)])
    async with kafka(num_partitions=3) as broker, producing(broker) as producer:
        ack = await (await producer.send_arrow(table, "orders"))
        logs = [list(broker.log(("orders", partition)).records()) for partition in range(3)]
        places = [(metadata.partition, metadata.offset) for metadata in ack.metadata()]
        assert [logs[partition][offset].value for partition, offset in places] == values


async def test_keys_choose_no_partition_where_they_are_to_be_ignored() -> None:
    """With `partitioner_ignore_keys`, rows of one key spread as those without any do."""
    async with (
        kafka(num_partitions=4) as broker,
        producing(
            broker, linger_ms=1000, max_batch_size=500, partitioner_ignore_keys=True
        ) as producer,
    ):
        table = pa.table({"key": [b"k"] * 400, "value": [b"v" * 50] * 400})
        await (await producer.send_arrow(table, "orders"))
        assert all(written(broker, partition=partition) for partition in range(4))


async def test_rows_without_key_spread_over_the_partitions_batch_by_batch() -> None:
    """Rows without a key spread over the partitions, a batch at a time (2d-5)."""
    async with (
        kafka(num_partitions=4) as broker,
        producing(broker, linger_ms=1000, max_batch_size=500) as producer,
    ):
        ack = await (await producer.send_arrow(pa.table({"value": [b"v" * 50] * 400}), "orders"))
        counts = [len(written(broker, partition=partition)) for partition in range(4)]
        assert sum(counts) == 400
        assert all(counts)
        assert len(list(ack.metadata())) == 400


@pytest.mark.parametrize("number", [2**64 - 1, 2**63, 2**31])
async def test_a_number_that_can_be_no_partition_is_refused_at_once_as_it_was_given(
    twin: ModuleType, number: int
) -> None:
    table = pa.table({"value": [b"v"] * 2, "partition": pa.array([0, number], pa.uint64())})
    async with kafka() as broker, producing(broker) as producer:
        with pytest.raises(IllegalArgumentError, match=f"partition={number} is no.*to 2147483647"):
            await producer.send_arrow(table, topic="orders")


async def test_columns_say_topic_partition_time_and_headers() -> None:
    table = pa.table(
        {
            "topic": ["orders", "others", "orders", "others"],
            "partition": pa.array([1, 0, 0, None], pa.int32()),
            "timestamp": pa.array([1_000, 2_000, None, 4_000], pa.timestamp("ms", "UTC")),
            "key": [b"a", b"b", b"c", None],
            "value": ["eins", "zwei", None, "vier"],
            "headers": pa.array(
                [[("h", b"x")], None, [], [("n", None)]], pa.map_(pa.string(), pa.binary())
            ),
        }
    )
    async with kafka(num_partitions=2) as broker, producing(broker) as producer:
        broker.create_topic("others", 1)
        ack = await (await producer.send_arrow(table))
        found = [
            (record.partition, record.timestamp, record.key, record.value, tuple(record.headers))
            for topic, partition in (("orders", 0), ("orders", 1), ("others", 0))
            for record in broker.log((topic, partition)).records()
        ]
        now = found[0][1]
        assert found == [
            (0, now, b"c", None, ()),
            (1, 1_000, b"a", b"eins", (("h", b"x"),)),
            (0, 2_000, b"b", b"zwei", ()),
            (0, 4_000, None, b"vier", (("n", None),)),
        ]
        places = [(m.topic, m.partition, m.offset, m.timestamp) for m in ack.metadata()]
        assert places == [
            ("orders", 1, 0, 1_000),
            ("others", 0, 0, 2_000),
            ("orders", 0, 0, now),
            ("others", 0, 1, 4_000),
        ]


async def test_arguments_win_over_columns() -> None:
    table = pa.table(
        {"topic": ["nowhere"] * 2, "partition": [5, 6], "timestamp": [1, 2], "value": [b"a", b"b"]}
    )
    async with kafka(num_partitions=2) as broker, producing(broker) as producer:
        ack = await producer.send_arrow(table, "orders", partition=1, timestamp_ms=9)
        assert [m.timestamp for m in (await ack).metadata()] == [9, 9]
        assert written(broker, partition=1) == [b"a", b"b"]


async def test_what_was_consumed_as_arrow_can_be_sent_on_as_it_is(
    any_kafka: str, topic_name: str
) -> None:
    copy = f"{topic_name}-copy"
    for topic in (topic_name, copy):
        await create_topic(any_kafka, topic, partitions=2, configs=KEEP_OLD_RECORDS)
    async with AIOKafkaProducer(bootstrap_servers=any_kafka) as producer:
        for n in range(50):
            await producer.send(
                topic_name,
                None if n % 9 == 0 else b"%d" % n,
                b"k%d" % n,
                timestamp_ms=1_000_000_000_000 + n,
                headers=[("a", b"%d" % n), ("b", None)],
            )
        await producer.flush()
        tables = []
        for topic in (topic_name, copy):
            batches: list[pa.RecordBatch] = []
            async with AIOKafkaConsumer(
                topic, bootstrap_servers=any_kafka, auto_offset_reset="earliest"
            ) as consumer:
                while sum(batch.num_rows for batch in batches) < 50:
                    batches.append(await consumer.getmany_arrow(timeout_ms=30_000))
            table = pa.Table.from_batches(batches).sort_by([("partition", "ascending"),
                                                            ("offset", "ascending")])  # fmt: skip
            tables.append(table)
            if topic == topic_name:
                await (await producer.send_arrow(table, copy))
    assert tables[0].drop_columns("topic").equals(tables[1].drop_columns("topic"))


async def test_transactions_hold_the_rows(any_kafka: str, topic_name: str) -> None:
    await create_topic(any_kafka, topic_name, partitions=3)
    table = pa.table({"key": [b"%d" % n for n in range(100)], "value": [b"v"] * 100})
    async with AIOKafkaProducer(
        bootstrap_servers=any_kafka, transactional_id=topic_name
    ) as producer:
        for ends in ("aborted", "committed"):
            await producer.begin_transaction()
            await producer.send_arrow(table.set_column(1, "value", [[ends] * 100]), topic_name)
            await (
                producer.commit_transaction()
                if ends == "committed"
                else producer.abort_transaction()
            )
    rows: list[bytes] = []
    async with AIOKafkaConsumer(
        topic_name,
        bootstrap_servers=any_kafka,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        while len(rows) < 100:
            rows += (await consumer.getmany_arrow(timeout_ms=30_000))["value"].to_pylist()
    assert rows == [b"committed"] * 100


async def test_serializers_interceptors_and_partitioners_see_every_row() -> None:
    seen = []

    class Watch:
        def on_send(self, record):
            seen.append(record.value)
            return record

    table = pa.table({"value": ["a", "b", "c"]})
    async with kafka(num_partitions=3) as broker:
        async with producing(broker, interceptors=[Watch()]) as producer:
            await (await producer.send_arrow(table, "orders", partition=0))
        assert seen == [b"a", b"b", b"c"]
        async with producing(broker, value_serializer=lambda v: v.upper()) as producer:
            await (await producer.send_arrow(table, "orders", partition=1))
        assert written(broker, partition=1) == [b"A", b"B", b"C"]
        async with producing(broker, partitioner=RoundRobinPartitioner()) as producer:
            ack = await (await producer.send_arrow(table, "orders"))
            assert sorted(m.partition for m in ack.metadata()) == [0, 1, 2]


async def test_a_wrong_row_is_raised_and_the_note_says_how_many_were_queued() -> None:
    """A row that cannot be sent is raised, with a note of how many were queued before (C4)."""
    clock = jumping_clock()
    async with kafka(clock=clock) as broker, producing(broker, clock=clock) as producer:
        for column, error, queued in (
            ({"value": [b"a", b"v" * 2_000_000]}, MessageSizeTooLargeError, 1),
            ({"value": pa.array([b"a", b"b", None], pa.binary())}, AssertionError, 2),
            ({"value": [b"a", b"b"], "partition": [0, 7]}, KafkaTimeoutError, 1),
            (
                {"value": [b"a", b"b"], "timestamp": pa.array([0, 2**62], pa.timestamp("s"))},
                IllegalArgumentError,
                1,
            ),
        ):
            with pytest.raises(error) as raised:
                await producer.send_arrow(pa.table(column), "orders", allow_empty=False)
            assert raised.value.__notes__ == [
                f"{queued} rows of this send_arrow() were queued before"
            ]


async def test_rows_without_key_and_value_are_sent(twin: ModuleType) -> None:
    class Watch:
        def on_send(self, record: object) -> object:
            return record

    table = pa.table({"value": pa.array([None, b"a", None, None], pa.binary())})
    async with kafka(num_partitions=2) as broker:
        for partition, interceptors in enumerate(([], [Watch()])):
            async with producing(broker, interceptors=interceptors) as producer:
                ack = await producer.send_arrow(table, "orders", partition=partition)
                assert [each.offset for each in (await ack).metadata()] == [0, 1, 2, 3]
                with pytest.raises(AssertionError, match="Need at least one"):
                    await producer.send("orders", partition=partition)
            assert written(broker, partition=partition) == [None, b"a", None, None]


async def test_wrong_columns_queue_nothing() -> None:
    async with kafka() as broker, producing(broker) as producer:
        for data, words in (
            (pa.table({"value": [1]}), "column 'value' is of the Arrow type"),
            (pa.table({"values": [b"a"]}), "column 'values' is no part of a record"),
            (pa.table({"value": [b"a"]}), "no column 'topic', and no topic was named"),
            ([b"a"], "list has no Arrow data"),
        ):
            with pytest.raises(SerializationError, match=words) as raised:
                await producer.send_arrow(data)
            assert raised.value.__notes__ == ["0 rows of this send_arrow() were queued before"]
        await producer.flush()
        assert not broker.requests_of(ProduceRequest)


async def test_errors_are_numbered_by_row() -> None:
    """Errors are numbered by row, and a refused batch is that of one partition (KIP-467)."""
    table = pa.table({"partition": [0, 1, 0, 1, 1], "value": [b"v"] * 5})
    async with kafka(num_partitions=2) as broker, producing(broker) as producer:
        broker.faults.fail(
            ProduceRequest, InvalidRecordError, topic_partition=TopicPartition("orders", 1)
        )
        ack = await producer.send_arrow(table, "orders")
        with pytest.raises(InvalidRecordError):
            await ack
        assert [row for row, _ in ack.errors()] == [1, 3, 4]
        assert (ack.failed_count, ack.written_count) == (3, 2)
        places: list[RecordMetadata] = []
        with pytest.raises(InvalidRecordError):
            places.extend(ack.metadata())
        assert [(m.partition, m.offset) for m in places] == [(0, 0)]


async def test_cancelled_it_has_queued_whole_records_and_goes_on_sending_them() -> None:
    values = [b"%06d" % n for n in range(20_000)]
    async with (
        kafka() as broker,
        producing(broker, max_batch_size=2000, buffer_memory=20_000, linger_ms=0) as producer,
    ):
        broker.faults.stall(ProduceRequest)
        task = asyncio.create_task(producer.send_arrow(pa.table({"value": values}), "orders"))
        async with asyncio.timeout(30):
            while producer._engine.pool.used_bytes < 20_000:
                await asyncio.sleep(0)
        assert not task.done(), "it waits for memory"
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        broker.faults.release()
        await producer.flush()
        found = written(broker)
        assert 0 < len(found) < 20_000
        assert found == values[: len(found)]


async def test_an_empty_table_is_acknowledged_at_once() -> None:
    async with kafka() as broker, producing(broker) as producer:
        empty = pa.table({"value": pa.array([], pa.binary())})
        assert len(await (await producer.send_arrow(empty, "orders"))) == 0
        assert list((await producer.send_arrow(empty, "orders")).metadata()) == []


async def test_before_start_and_after_stop_it_says_so() -> None:
    table = pa.table({"value": [b"v"]})
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        with pytest.raises(IllegalStateError):
            await producer.send_arrow(table, "orders")
        async with producer:
            pass
        with pytest.raises(ProducerClosed):
            await producer.send_arrow(table, "orders")


async def test_a_null_timestamp_is_the_present_time_beside_others_that_are_not() -> None:
    """As None is for `send`."""
    async with kafka() as broker, producing(broker) as producer:
        before_ms = int(time.time() * 1000)
        table = pa.table(
            {
                "value": [b"0", b"1", b"2"],
                "timestamp": pa.array([1000, None, None], pa.timestamp("ms")),
            }
        )
        ack = await producer.send_arrow(table, "orders")
        await ack
        stored = [record.timestamp for record in broker.log(("orders", 0)).records()]
        assert stored[0] == 1000
        assert all(before_ms <= time_ms <= time.time() * 1000 for time_ms in stored[1:])
        assert [metadata.timestamp for metadata in ack.metadata()] == stored


async def test_rows_that_no_record_can_be_are_refused_by_name_and_the_producer_goes_on() -> None:
    """A row that no record can hold is refused by name, and the producer goes on (C4)."""
    text = pa.array([b"a", b"\xff"]).view(pa.string())
    bad_name = pa.StructArray.from_arrays([text[1:], pa.array([b"x"])], ["key", "value"])
    values = pa.array([b"0", b"1"])
    tables = {
        r"timestamp_ms=\d+": {
            "value": values,
            "timestamp": pa.array([1, 2**62], pa.timestamp("s")),
        },
        "timestamp_ms=-": {
            "value": values,
            "timestamp": pa.array([1, -(2**62)], pa.timestamp("s")),
        },
        "'headers' has text that is no UTF-8 in row 1": {
            "value": values,
            "headers": pa.ListArray.from_arrays([0, 0, 1], bad_name),
        },
        "'topic' has text that is no UTF-8 in row 1": {"value": values, "topic": text},
    }
    async with kafka() as broker, producing(broker) as producer:
        for said, columns in tables.items():
            topic = None if "topic" in columns else "orders"
            with pytest.raises(KafkaError, match=said):
                await producer.send_arrow(pa.table(columns), topic)
        await producer.send_and_wait("orders", b"after")
        assert written(broker)[-1] == b"after"
