"""A range is read to its end, wherever its last record lies. Source: 7."""

import pytest

from aiokafka_lite.errors import KafkaTimeoutError, OffsetOutOfRangeError
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.read.arrow import COLUMNS, SparkColumns
from aiokafka_lite.spark.read.data_loss import DataLossError
from aiokafka_lite.spark.read.planner import Planner
from aiokafka_lite.spark.read.range_reader import read_ranges
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.conformance.compacted_logs import LEVELS, LOGS
from tests.spark.support.topics import T0, T1, fill, fill_transaction, source_options, values

VALUES = SparkColumns([("value", "binary")])
WHOLE = SparkColumns([(name, kind) for name, (_, kind) in COLUMNS.items()])


def read(here: Worker, broker: EmbeddedBroker, start: int, end: int, **options: str) -> list[bytes]:
    parsed = source_options(broker, **options)  # type: ignore[arg-type]
    wanted = OffsetRange("t", 0, start, end)
    return values([*read_ranges([wanted], VALUES, parsed, {}, lambda: here)])


def test_a_range_has_its_records_and_no_others(here: Worker, kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 5, 5, 5)
    for start, end in ((0, 15), (3, 12), (7, 8), (14, 15), (5, 5)):
        assert read(here, kafka_broker, start, end) == [b"v%d" % n for n in range(start, end)]
    assert len(here.clients) == 1  # one consumer did it all


def test_a_task_reads_its_ranges_one_after_the_other_with_one_consumer(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 5)
    fill(kafka_broker, T1, 8)
    wanted = [OffsetRange("t", 1, 6, 8), OffsetRange("t", 0, 1, 3), OffsetRange("t", 1, 0, 2)]
    found = values([*read_ranges(wanted, VALUES, source_options(kafka_broker), {}, lambda: here)])
    assert found == [b"v6", b"v7", b"v1", b"v2", b"v0", b"v1"]
    assert len(here.clients) == 1


def test_batches_are_bounded_and_nothing_gets_lost_between_them(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 50, 50)
    options = source_options(kafka_broker, maxBatchRows="7")
    batches = [*read_ranges([OffsetRange("t", 0, 1, 99)], WHOLE, options, {}, lambda: here)]
    assert max(each.num_rows for each in batches) == 7
    assert [o for each in batches for o in each["offset"].to_pylist()] == list(range(1, 99))
    assert all(each.schema.equals(WHOLE.schema()) for each in batches)


@pytest.mark.parametrize(
    ("level", "expected"),
    [("read_committed", [b"v0", b"v1"]), ("read_uncommitted", [b"v0", b"v1", b"t0", b"t1"])],
)
def test_a_range_may_end_in_markers_and_aborted_records(
    here: Worker, kafka_broker: EmbeddedBroker, level: str, expected: list[bytes]
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 2)
    fill_transaction(kafka_broker, T0, 2, ControlRecordType.ABORT)
    options = {"kafka.isolation.level": level, "kafka.fetch.max.wait.ms": "30000"}
    assert read(here, kafka_broker, 0, 5, **options) == expected
    assert read(here, kafka_broker, 4, 5, **options) == []  # the marker alone


def test_the_end_of_a_range_that_is_never_reached_is_an_error_not_a_short_batch(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 3)
    with pytest.raises(
        KafkaTimeoutError, match="t-0 from 0 to 5 has not advanced beyond 3 for 500 ms"
    ):
        read(here, kafka_broker, 0, 5, **{"kafkaConsumer.pollTimeoutMs": "500"})


def test_a_broker_that_refuses_what_it_has_is_not_asked_for_ever(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    """It says out of range, and the log has the offset; for a while that passes."""
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 3)
    kafka_broker.faults.fail(FetchRequest, OffsetOutOfRangeError, times=2)
    assert read(here, kafka_broker, 0, 3) == [b"v0", b"v1", b"v2"]
    kafka_broker.faults.fail(FetchRequest, OffsetOutOfRangeError, times=None)
    with pytest.raises(KafkaTimeoutError, match="t-0 from 0 to 3 has not advanced beyond 0"):
        read(here, kafka_broker, 0, 3, **{"kafkaConsumer.pollTimeoutMs": "300"})


def delete_before(broker: EmbeddedBroker, offset: int) -> None:
    broker.delete_records(T0, offset)


def test_records_that_are_gone_fail_the_read_or_are_passed_over(
    here: Worker, kafka_broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 5, 5)
    delete_before(kafka_broker, 5)
    with pytest.raises(DataLossError, match=r"t-0: offsets 2 to 5 .*begins at 5.*failOnDataLoss"):
        read(here, kafka_broker, 2, 8)
    assert read(here, kafka_broker, 2, 8, failOnDataLoss="false") == [b"v5", b"v6", b"v7"]
    assert "t-0: offsets 2 to 5 are before its log" in caplog.text
    assert read(here, kafka_broker, 2, 4, failOnDataLoss="false") == []


def test_a_range_behind_the_log_fails_the_read_or_is_passed_over(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 3)
    with pytest.raises(DataLossError, match="offsets 7 to 9 are behind its log, which ends at 3"):
        read(here, kafka_broker, 7, 9)
    assert read(here, kafka_broker, 7, 9, failOnDataLoss="false") == []


def make_anew(broker: EmbeddedBroker, records: int) -> None:
    broker.delete_topic("t")
    broker.create_topic("t")
    fill(broker, T0, records)


def ids(here: Worker, broker: EmbeddedBroker) -> dict[str, str]:
    """The ids that a plan would have now."""
    planner = Planner(source_options(broker), lambda: here)
    planner.latest()
    return planner.topic_ids


@pytest.mark.parametrize("is_reused", [True, False])
def test_a_topic_that_was_made_anew_behind_the_plan_is_lost_data(
    here: Worker, kafka_broker: EmbeddedBroker, caplog: pytest.LogCaptureFixture, is_reused: bool
) -> None:
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 5)
    planned = ids(here, kafka_broker)
    wanted = [OffsetRange("t", 0, 3, 5)]
    for fails in ("true", "false"):
        options = source_options(kafka_broker, failOnDataLoss=fails)
        if is_reused:
            assert values([*read_ranges(wanted, VALUES, options, planned, lambda: here)])
    make_anew(kafka_broker, 9)  # more records than before: by offsets alone, nothing is missing
    options = source_options(kafka_broker)
    with pytest.raises(
        DataLossError, match=r"t-0: offsets 3 to 5 are lost: the topic was deleted and created agai"
    ):
        list(read_ranges(wanted, VALUES, options, planned, lambda: here))
    options = source_options(kafka_broker, failOnDataLoss="false")
    assert not list(read_ranges(wanted, VALUES, options, planned, lambda: here))
    assert "t-0: offsets 3 to 5 are lost" in caplog.text


def test_a_topic_that_was_made_anew_before_the_plan_is_read_as_it_is(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    """The consumer of the last task still knows the topic that was deleted."""
    kafka_broker.create_topic("t")
    fill(kafka_broker, T0, 5)
    options = source_options(kafka_broker)
    assert read(here, kafka_broker, 0, 5)
    make_anew(kafka_broker, 9)
    planned = ids(here, kafka_broker)
    found = [*read_ranges([OffsetRange("t", 0, 3, 9)], VALUES, options, planned, lambda: here)]
    assert values(found) == [b"v%d" % n for n in range(3, 9)]


@pytest.mark.parametrize("level", LEVELS)
def test_what_compaction_leaves_behind_is_read_to_the_end_of_a_range(
    here: Worker, kafka_broker: EmbeddedBroker, level: str
) -> None:
    """The records of a range are those that Java's consumer returns of it."""
    for log in LOGS:
        tp = log.store(kafka_broker)
        options = {"kafka.isolation.level": level, "subscribe": log.name, "maxBatchRows": "3"}
        parsed = source_options(kafka_broker, **options)  # type: ignore[arg-type]
        wanted = [OffsetRange(*tp, log.log_start, log.end(level))]
        batches = [*read_ranges(wanted, WHOLE, parsed, {}, lambda: here)]
        found = [offset for each in batches for offset in each["offset"].to_pylist()]
        assert found == [offset for offset, _, _, _ in log.java[level]], log.name
