"""Data frames and streams become records: columns, what is refused, and which task is which."""

from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyspark", reason=NO_SPARK)

from aiokafka_lite.errors import (
    KafkaConfigurationError,
)
from aiokafka_lite.spark import sink
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.sink import BatchWriter, checked_columns, place_of_task, stream_writer
from aiokafka_lite.spark.write.transactional_marker import TaskPlace, TaskTransaction
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.releases import needs
from tests.spark.support.spark_io import run_to_end, source, write
from tests.spark.support.topics import T0, fill

HEADERS = "array<struct<key:string,value:binary>>"


def sink_options(broker: EmbeddedBroker | None = None, **options: str) -> SinkOptions:
    servers = "h:1" if broker is None else broker.bootstrap_servers
    return SinkOptions.parse({"kafka.bootstrap.servers": servers, **options})


OF_P = {"delivery": "transactional", "transactionalIdPrefix": "p"}
OF_BATCH = {**OF_P, "txnAppId": "a", "txnVersion": "3"}


def records(broker: EmbeddedBroker, partition: int = 0) -> list[tuple[Any, Any]]:
    log = broker.log(("t", partition))
    return [(record.key, record.value) for record in log.records()]


# Columns…


def test_columns_of_other_names_are_left_out_and_the_option_topic_wins() -> None:
    fields = [("value", "string"), ("topic", "string"), ("extra", "date"), ("Key", "int")]
    assert checked_columns(fields, sink_options()) == ("value", "topic")
    assert checked_columns(fields, sink_options(topic="t")) == ("value",)
    every = [
        ("key", "binary"),
        ("value", "binary"),
        ("topic", "string"),
        ("partition", "int"),
        ("headers", HEADERS),
        ("timestamp", "double"),
    ]
    assert checked_columns(every, sink_options()) == tuple(name for name, _ in every)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ([("value", "string")], "topic option is required when no 'topic' attribute is present"),
        ([("topic", "string"), ("key", "string")], "required attribute 'value' not found"),
        (
            [("topic", "string"), ("value", "int")],
            "value attribute unsupported type int: value must be a string or binary",
        ),
        ([("topic", "int"), ("value", "string")], "topic must be a string"),
        ([("topic", "string"), ("value", "string"), ("partition", "bigint")], "must be a int"),
        ([("topic", "string"), ("value", "string"), ("headers", "map<string,string>")], HEADERS),
        ([("topic", "string"), ("value", "string"), ("key", "bigint")], "key must be a string or"),
    ],
)
def test_columns_that_do_not_fit_are_refused(fields: list[tuple[str, str]], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        checked_columns(fields, sink_options())


@pytest.mark.parametrize("name", ["key", "value", "topic", "headers"])
def test_a_collation_changes_no_byte_and_is_accepted(name: str) -> None:
    plain = {"value": "string", "headers": HEADERS, "topic": "string"}.get(name, "string")
    collated = plain.replace("string", "string collate UTF8_LCASE")
    fields = {"value": "string", name: collated}
    options = sink_options() if name == "topic" else sink_options(topic="t")
    assert set(checked_columns(fields.items(), options)) == set(fields)


def test_overwriting_is_refused() -> None:
    with pytest.raises(KafkaConfigurationError, match="overwrite is not allowed for Kafka"):
        BatchWriter(("value",), sink_options(topic="t"), overwrite=True)


def test_without_arrow_a_stream_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sink, "StreamArrowWriter", None)
    with pytest.raises(KafkaConfigurationError, match=r"needs PySpark 4\.1.*foreachBatch"):
        stream_writer(("value",), sink_options(topic="t"))


# Where a task is…


class Context:
    """What Spark tells a task."""

    def __init__(self, **properties: str) -> None:
        self._properties = {name.replace("__", "."): text for name, text in properties.items()}

    def stageId(self) -> int:
        return 1 << 20  # one that no session of these tests has

    def partitionId(self) -> int:
        return 4

    def attemptNumber(self) -> int:
        return 0

    def getLocalProperty(self, name: str) -> str | None:
        return self._properties.get(name)


@pytest.mark.parametrize("write_id", [None, "uuid"])
def test_a_task_of_a_stream_is_named_by_query_and_partition(
    monkeypatch: pytest.MonkeyPatch, write_id: str | None
) -> None:
    """Also in foreachBatch, whose writes are batch queries."""
    context = Context(sql__streaming__queryId="q", streaming__sql__batchId="12")
    monkeypatch.setattr("pyspark.TaskContext.get", lambda: context)
    place = place_of_task(sink_options(None, **OF_P), write_id)
    assert place == TaskPlace("p-q", 4, 12)
    assert place.transactional_id == "p-q-4"


def test_a_task_of_a_batch_query_is_named_by_the_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pyspark.TaskContext.get", Context)
    assert place_of_task(sink_options(None, **OF_P), "uuid") == TaskPlace("p-uuid", 4, None)


def test_with_speculation_a_task_of_a_batch_query_looks_for_other_attempts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By the marker of a batch. Else the slower attempt fences one that is being committed."""
    monkeypatch.setattr("pyspark.TaskContext.get", lambda: Context(spark__speculation="true"))
    assert place_of_task(sink_options(None, **OF_P), "uuid") == TaskPlace("p-uuid", 4, 0)


@pytest.mark.parametrize(
    ("attempt", "speculation", "has_rivals"),
    [(0, "false", False), (1, "false", True), (0, "true", True)],
)
def test_a_task_knows_whether_another_attempt_may_run(
    monkeypatch: pytest.MonkeyPatch, attempt: int, speculation: str, has_rivals: bool
) -> None:
    context = Context(spark__speculation=speculation)
    monkeypatch.setattr(context, "attemptNumber", lambda: attempt)
    monkeypatch.setattr("pyspark.TaskContext.get", lambda: context)
    told: dict[str, Any] = {}

    def write(*_: Any, **named: Any) -> TaskTransaction:
        told.update(named)
        return TaskTransaction(TaskPlace("p-uuid", 4, None))

    monkeypatch.setattr("aiokafka_lite.spark.write.transactional_write.write_in_transaction", write)
    BatchWriter(("value",), sink_options(None, topic="t", **OF_P)).write(iter(()))
    assert told == {"has_rivals": has_rivals}


@needs("StreamArrowWriter")
def test_a_stream_knows_its_batches_itself() -> None:
    with pytest.raises(KafkaConfigurationError, match="txnAppId and txnVersion are for writes in"):
        stream_writer(("value",), sink_options(None, topic="t", **OF_BATCH))


# In Spark…


def test_a_data_frame_is_written_and_wrong_ones_are_refused(
    spark: Any, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t")
    servers = kafka_broker.bootstrap_servers
    frame = spark.range(20).selectExpr(
        "cast(id as string) key", "encode(string(id), 'utf-8') value", "'t' topic"
    )
    write(frame, servers)
    assert sorted(int(key) for key, _ in records(kafka_broker)) == list(range(20))
    with pytest.raises(Exception, match="value must be a string or binary"):
        write(spark.range(1).selectExpr("id value"), servers, topic="t")
    with pytest.raises(Exception, match="null topic present in the data"):
        write(frame.selectExpr("value", "cast(null as string) topic"), servers)
    given = {"kafka.bootstrap.servers": servers}
    writer = frame.write.format("kafka-lite").options(**given).mode("overwrite")
    with pytest.raises(Exception, match="overwrite is not allowed"):
        writer.save()


def test_a_write_that_cannot_succeed_waits_once_and_says_so(
    spark: Any, kafka_broker: EmbeddedBroker
) -> None:
    """A task has four attempts. All but the first end before they wait for kafka.max.block.ms, so
    the error of the last one is not that of the wait."""
    kafka_broker.create_topic("t")
    frame = spark.range(1).selectExpr("string(id) value", "9 partition").coalesce(1)
    given = {"topic": "t", "kafka.max.block.ms": "500"}
    with pytest.raises(Exception, match="FinalError: final: an earlier attempt") as raised:
        write(frame, kafka_broker.bootstrap_servers, **given)
    assert "did not appear within kafka.max.block.ms=500" in str(raised.value)


def test_texts_with_a_collation_are_written(spark: Any, kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t")
    texts = ("key", "value", "topic")
    of = {"key": "'K'", "value": "'V'", "topic": "'t'"}
    frame = spark.range(1).selectExpr(*(f"{of[x]} COLLATE UTF8_LCASE AS {x}" for x in texts))
    write(frame, kafka_broker.bootstrap_servers)
    assert records(kafka_broker) == [(b"K", b"V")]


@needs("StreamArrowWriter")
def test_a_stream_is_written_to_a_topic_and_read_back(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("in")
    kafka_broker.create_topic("t")
    fill(kafka_broker, ("in", 0), 30)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "20"}
    frame = source(spark, servers, streaming=True, **options).select("key", "value", "timestamp")
    given = {"kafka.bootstrap.servers": servers, "topic": "t", "kafka.compression.type": "lz4"}
    run_to_end(frame, tmp_path, sink="kafka-lite", **given)
    copied = list(kafka_broker.log(T0).records())
    assert [(each.key, each.value) for each in copied] == [
        (b"%d" % n, b"v%d" % n) for n in range(30)
    ]
    assert [each.timestamp for each in copied] == [1000 + n for n in range(30)]


@needs("HAS_READ_LIMITS")
def test_counts_that_change_are_appended_in_complete_mode(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("in")
    kafka_broker.create_topic("t")
    fill(kafka_broker, ("in", 0), 4)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest", "maxOffsetsPerTrigger": "2"}
    counts = source(spark, servers, streaming=True, **options).groupBy("topic").count()
    frame = counts.selectExpr("topic key", "cast(count as string) value")
    given = {"kafka.bootstrap.servers": servers, "topic": "t"}
    writer = frame.writeStream.format("kafka-lite").outputMode("complete").options(**given)
    query = writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start()
    query.awaitTermination()
    assert records(kafka_broker) == [(b"in", b"2"), (b"in", b"4")]


def test_what_changes_is_written_by_foreach_batch(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """Update mode, which PySpark keeps from the sink itself; and a trigger with a lower limit."""
    kafka_broker.create_topic("in")
    kafka_broker.create_topic("t")
    fill(kafka_broker, ("in", 0), 4)  # type: ignore[arg-type]
    servers = kafka_broker.bootstrap_servers
    options = {"subscribe": "in", "startingOffsets": "earliest", "minOffsetsPerTrigger": "4"}
    counts = source(spark, servers, streaming=True, **options).groupBy("topic").count()

    def write_batch(frame: Any, batch_id: int) -> None:
        write(frame.selectExpr("topic key", "string(count) value"), servers, topic="t")

    writer = counts.writeStream.outputMode("update").foreachBatch(write_batch)
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    try:
        query.processAllAvailable()
        fill(kafka_broker, ("in", 0), 4)  # type: ignore[arg-type]
        query.processAllAvailable()
    finally:
        query.stop()
    assert records(kafka_broker) == [(b"in", b"4"), (b"in", b"8")]
