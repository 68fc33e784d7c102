"""Ranges copied from topic to topic, in the process that reads them."""

import pytest

from aiokafka_lite.errors import MessageSizeTooLargeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.options.copy_options import CopyOptions
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.range_copy import copy_ranges
from aiokafka_lite.spark.read.data_loss import DataLossError
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conformance.compacted_logs import LEVELS, LOGS
from tests.spark.support.topics import T0, T1, fill, fill_transaction, source_options
from tests.support.unusual_records import ANY_TIME, UNUSUAL, fields_of, put

ALL = ("key", "value", "headers", "timestamp", "partition", "topic")
COPY = TopicPartition("copy", 0)


@pytest.fixture
def broker(kafka_broker: EmbeddedBroker) -> EmbeddedBroker:
    kafka_broker.create_topic("t", partitions=2)
    kafka_broker.create_topic("copy", configs=ANY_TIME)
    return kafka_broker


def into(
    broker: EmbeddedBroker,
    columns: tuple[str, ...] = ALL[:4],
    topic: str | None = "copy",
    **options: str,
) -> CopyOptions:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, **options}
    written = SinkOptions.parse(given if topic is None else {**given, "topic": topic})
    return CopyOptions(columns=columns, written=written)


def test_records_arrive_whole_and_in_order(here: Worker, broker: EmbeddedBroker) -> None:
    special = RecordBatchBuilder(bytearray(1 << 16))
    special.append(3_600_000, b"k", None, [("h", b"1"), ("h", None)])
    special.append(3_600_001, None, b"", [])
    special.append(3_600_002, None, None, [])
    special.seal()
    broker.append(T0, special.wire())
    fill(broker, T1, 50)
    read = source_options(broker, maxBatchRows="7")
    wanted = [OffsetRange("t", 0, 0, 3), OffsetRange("t", 1, 10, 45)]
    assert copy_ranges(wanted, read, into(broker), {}, here) == [3, 35]
    found = [
        (each.key, each.value, each.timestamp, list(each.headers))
        for each in broker.log(COPY).records()
    ]
    assert found[:3] == [
        (b"k", None, 3_600_000, [("h", b"1"), ("h", None)]),
        (None, b"", 3_600_001, []),
        (None, None, 3_600_002, []),
    ]
    assert [value for _, value, _, _ in found[3:]] == [b"v%d" % n for n in range(10, 45)]
    assert len(here.clients) == 2


def test_columns_name_partition_and_topic_and_only_committed_records_count(
    here: Worker, broker: EmbeddedBroker
) -> None:
    fill(broker, T1, 2)
    fill_transaction(broker, T1, 3, ControlRecordType.ABORT)
    committed = {"kafka.isolation.level": "read_committed"}
    read = source_options(broker, **committed)  # type: ignore[arg-type]
    assert copy_ranges([OffsetRange("t", 1, 1, 6)], read, into(broker, ALL, None), {}, here) == [1]
    assert [each.value for each in broker.log(T1).records()][-1] == b"v1"


def test_a_record_that_cannot_be_written_fails_the_task(
    here: Worker, broker: EmbeddedBroker
) -> None:
    fill(broker, T0, 2)
    small = into(broker, **{"kafka.max.request.size": "60"})  # type: ignore[arg-type]
    with pytest.raises(MessageSizeTooLargeError):
        copy_ranges([OffsetRange("t", 0, 0, 2)], source_options(broker), small, {}, here)


def test_a_topic_that_was_made_anew_behind_the_plan_is_not_copied(
    here: Worker, broker: EmbeddedBroker
) -> None:
    fill(broker, T0, 2)
    with pytest.raises(DataLossError, match="offsets 0 to 2 are lost: the topic was deleted"):
        copy_ranges(
            [OffsetRange("t", 0, 0, 2)], source_options(broker), into(broker), {"t": "older"}, here
        )
    assert not [*broker.log(COPY).records()]


def test_a_record_of_any_kind_is_copied_as_it_was(here: Worker, broker: EmbeddedBroker) -> None:
    put(broker, T0, *UNUSUAL.values())
    wanted = [OffsetRange("t", 0, 0, len(UNUSUAL))]
    assert copy_ranges(wanted, source_options(broker), into(broker), {}, here) == [len(UNUSUAL)]
    assert fields_of(broker, COPY) == list(UNUSUAL.values())


@pytest.mark.parametrize("level", LEVELS)
def test_what_compaction_leaves_behind_is_copied(
    here: Worker, broker: EmbeddedBroker, level: str
) -> None:
    """The records of a range are those that Java's consumer returns of it."""
    for log in LOGS:
        tp = log.store(broker)
        before = broker.log(COPY).high_watermark
        options = {"kafka.isolation.level": level, "subscribe": log.name}
        read = source_options(broker, **options)  # type: ignore[arg-type]
        wanted = [OffsetRange(*tp, log.log_start, log.end(level))]
        lines = log.java[level]
        assert copy_ranges(wanted, read, into(broker), {}, here) == [len(lines)], log.name
        copied = fields_of(broker, COPY)[before:]
        assert [each[0] for each in copied] == [time_ms for _, time_ms, _, _ in lines]
        assert [each[1] for each in copied] == [key.encode() for _, _, key, _ in lines]
