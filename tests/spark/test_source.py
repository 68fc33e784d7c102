"""The source in Spark: tables and streams of topics, on the embedded broker."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.offsets import id_text
from aiokafka_lite.spark.process.worker import worker
from aiokafka_lite.spark.read.arrow import SparkColumns
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.free_ports import held_ports
from tests.conftest import require_spark
from tests.spark.support.releases import needs
from tests.spark.support.spark_io import run_to_end, source, values_in
from tests.spark.support.topics import T0, T1, fill, source_options

EARLIEST = {"startingOffsets": "earliest"}


@pytest.fixture
def broker(kafka_broker: EmbeddedBroker) -> EmbeddedBroker:
    """t has two partitions of 4 and 8 records; the record at offset n has the key b"n"."""
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 4)
    fill(kafka_broker, T1, 5, 3)
    return kafka_broker


def test_a_topic_is_a_table(spark: Any, broker: EmbeddedBroker) -> None:
    frame = source(spark, broker.bootstrap_servers, includeHeaders="true", minPartitions="5")
    assert [field.simpleString() for field in frame.schema] == [
        "key:binary",
        "value:binary",
        "topic:string",
        "partition:int",
        "offset:bigint",
        "timestamp:timestamp",
        "timestampType:int",
        "headers:array<struct<key:string,value:binary>>",
    ]
    rows = sorted(frame.collect(), key=lambda row: (row.partition, row.offset))
    assert [(row.partition, row.offset, bytes(row.value)) for row in rows] == [
        (partition, offset, b"v%d" % offset)
        for partition, count in ((0, 4), (1, 8))
        for offset in range(count)
    ]
    first = rows[0]
    assert (bytes(first.key), first.topic, first.timestampType, first.headers) == (
        *(b"0", "t", 0, None),
    )
    assert first.timestamp.microsecond == 0
    assert frame.rdd.getNumPartitions() == 5


def test_a_task_may_read_several_partitions(spark: Any, broker: EmbeddedBroker) -> None:
    frame = source(spark, broker.bootstrap_servers, minOffsetsPerTask="12")
    assert frame.rdd.getNumPartitions() == 1
    found = sorted((row.partition, row.offset) for row in frame.collect())
    assert found == [(0, n) for n in range(4)] + [(1, n) for n in range(8)]


def test_a_stream_copies_its_ranges_and_says_how_many_records(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    broker.create_topic("copy")
    reader = spark.readStream.format("kafka-lite").options(
        **{
            "kafka.bootstrap.servers": broker.bootstrap_servers,
            "subscribe": "t",
            "startingOffsets": "earliest",
            "copyTo.kafka.bootstrap.servers": broker.bootstrap_servers,
            "copyTo.topic": "copy",
            "copyColumns": "value",
        }
    )
    frame = reader.load()
    assert [field.simpleString() for field in frame.schema] == ["rows:bigint"]
    reports = run_to_end(frame, tmp_path)
    assert sum(each.numInputRows for each in reports) == 2  # ranges
    counts = [row.rows for row in spark.read.parquet(str(tmp_path / "rows")).collect()]
    assert sorted(counts) == [4, 8]
    found = broker.log(TopicPartition("copy", 0)).records()
    expected = [b"v%d" % n for n in (*range(4), *range(8))]
    assert sorted((each.key, each.value) for each in found) == sorted((None, e) for e in expected)


def test_a_batch_query_copies_nothing(spark: Any, broker: EmbeddedBroker) -> None:
    copied = {"copyTo.topic": "copy", "copyTo.kafka.bootstrap.servers": "h:1"}
    with pytest.raises(Exception, match=r"copyTo\.\* are for streams"):
        source(spark, broker.bootstrap_servers, **copied).collect()  # type: ignore[arg-type]


def test_columns_are_those_of_the_users_schema(spark: Any, broker: EmbeddedBroker) -> None:
    reader = spark.read.format("kafka-lite").schema("offset bigint, value binary")
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers, "subscribe": "t"}
    rows = reader.options(**given).load().where("offset = 7").collect()
    assert [(row.offset, bytes(row.value)) for row in rows] == [(7, b"v7")]
    with pytest.raises(Exception, match="column value is binary, not string"):
        spark.read.format("kafka-lite").schema("value string").options(**given).load().collect()


def test_a_view_in_sql_and_an_empty_topic(spark: Any, broker: EmbeddedBroker) -> None:
    broker.create_topic("empty")
    for topic, count in (("t", 12), ("empty", 0)):
        spark.sql(
            f"CREATE OR REPLACE TEMPORARY VIEW seen USING `kafka-lite` OPTIONS ("
            f"kafka.bootstrap.servers '{broker.bootstrap_servers}', subscribe '{topic}')"
        )
        assert spark.sql("SELECT count(*) FROM seen").first()[0] == count


@needs("HAS_PUSHDOWN")
def test_filters_are_pushed_down_when_asked_for(spark: Any, broker: EmbeddedBroker) -> None:
    name = "spark.sql.python.filterPushdown.enabled"
    spark.conf.set(name, "true")
    try:
        frame = source(spark, broker.bootstrap_servers, pushdown="true")
        where = (
            "partition = 1 AND offset >= 3 AND offset < 6 AND timestamp >= timestamp_millis(1004)"
        )
        left = frame.where(where)
        assert sorted(row.offset for row in left.collect()) == [4, 5]
        assert left.rdd.getNumPartitions() == 1
    finally:
        spark.conf.unset(name)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"subscribe": "nope"}, "there is no topic nope"),
        (
            {"kafka.security.protocol": "SSL", "kafka.ssl.truststore.location": "/absent.jks"},
            "absent.jks.*on every machine",
        ),
        ({"endingOffsets": '{"t":{"0":99,"1":-1}}'}, "t-0 ends at 4, before its ending offset 99"),
    ],
)
def test_what_cannot_work_fails_with_its_reason(
    spark: Any, broker: EmbeddedBroker, options: dict[str, str], said: str
) -> None:
    options = {"fetchOffset.retryIntervalMs": "1", **options}
    with pytest.raises(Exception, match=said):
        source(spark, broker.bootstrap_servers, **options).collect()  # type: ignore[arg-type]


@pytest.mark.parametrize("streaming", [False, True])
def test_a_wrong_option_fails_in_load(spark: Any, streaming: bool) -> None:
    reader = spark.readStream if streaming else spark.read
    given = {"kafka.bootstrap.servers": "h:1", "subscribe": "t", "minPartitions": "many"}
    with pytest.raises(Exception, match="minPartitions='many' is not a whole number") as raised:
        reader.format("kafka-lite").options(**given).load()
    before, _, _ = str(raised.value).partition("Traceback")
    assert "minPartitions='many' is not a whole number" in before


def test_a_wrong_address_fails_with_its_name(spark: Any) -> None:
    options = {"fetchOffset.numRetries": "1", "kafka.request.timeout.ms": "500"}
    with (
        held_ports(1) as (port,),
        pytest.raises(Exception, match=f"127.0.0.1:{port} could not be found"),
    ):
        source(spark, f"127.0.0.1:{port}", **options).collect()  # type: ignore[arg-type]


# Streams…


@needs("HAS_READ_LIMITS")
def test_a_stream_reads_what_there_is_in_batches_of_a_size_and_goes_on_later(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    options = {**EARLIEST, "maxOffsetsPerTrigger": "6", "commitGroupId": "lag"}
    batches = run_to_end(source(spark, servers, streaming=True, **options), tmp_path)
    assert [each.numInputRows for each in batches] == [6, 6]
    assert json.loads(batches[0].sources[0].endOffset) == {"t": {"0": 2, "1": 4}}
    assert json.loads(batches[-1].sources[0].latestOffset) == {"t": {"0": 4, "1": 8}}
    committed = {tp.partition: each.offset for tp, each in broker.group("lag").offsets.items()}
    assert committed == {0: 4, 1: 8}

    fill(broker, T0, 2)
    again = run_to_end(source(spark, servers, streaming=True, **options), tmp_path)
    assert sum(each.numInputRows for each in again) == 2
    expected = [b"v%d" % n for n in (*range(6), *range(8))]
    assert values_in(spark, tmp_path) == sorted(each.decode() for each in expected)


def test_a_replay_of_the_first_batch_starts_where_that_did(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """The end of the first batch, which is empty, keeps what "latest" was."""
    frame = source(spark, broker.bootstrap_servers, streaming=True, startingOffsets="latest")
    run_to_end(frame, tmp_path)
    (tmp_path / "checkpoint" / "commits" / "0").unlink()
    (tmp_path / "checkpoint" / "commits" / ".0.crc").unlink(missing_ok=True)
    fill(broker, T0, 3)
    from aiokafka_lite.spark.compat import HAS_READ_LIMITS

    for _ in range(1 if HAS_READ_LIMITS else 2):  # before 4.2 the replay is all a run does
        frame = source(spark, broker.bootstrap_servers, streaming=True, startingOffsets="latest")
        run_to_end(frame, tmp_path)
    assert values_in(spark, tmp_path) == ["v4", "v5", "v6"]


def test_lost_records_fail_a_stream_or_are_passed_over(
    spark: Any, broker: EmbeddedBroker, tmp_path: Path
) -> None:
    servers = broker.bootstrap_servers
    options = {"startingOffsets": '{"t":{"0":1,"1":8}}'}
    broker.delete_records(T0, 3)
    with pytest.raises(Exception, match=r"t-0: offsets 1 to 3 are before its log"):
        run_to_end(source(spark, servers, streaming=True, **options), tmp_path / "a")
    options["failOnDataLoss"] = "false"
    run_to_end(source(spark, servers, streaming=True, **options), tmp_path / "b")
    assert values_in(spark, tmp_path / "b") == ["v3"]


def test_a_stream_notices_a_log_that_has_changed_while_it_was_down(
    spark: Any, make_kafka_broker: Callable[..., EmbeddedBroker], tmp_path: Path
) -> None:
    """An unclean election cuts the log; then the topic is deleted and created again (2c-10)."""
    broker = make_kafka_broker(nodes=2)
    broker.create_topic("t")

    def write(kind: str, offsets: range) -> None:
        for number in offsets:
            broker.produce("t", f"{kind}{number}")

    def go_on(**options: str) -> None:
        given = {**EARLIEST, "topicIds": "true", **options}
        run_to_end(source(spark, broker.bootstrap_servers, streaming=True, **given), tmp_path)

    write("old", range(6))
    go_on()
    broker.cluster.partition(T0).truncate(4)
    broker.move_leader(T0, 3 - broker.leader(T0))
    write("cut", range(4, 9))
    with pytest.raises(Exception, match="t-0's log was cut at 4, before offset 6"):
        go_on()
    go_on(failOnDataLoss="false")
    broker.delete_topic("t")
    broker.create_topic("t")
    write("anew", range(12))
    go_on(failOnDataLoss="false")
    parts = (("old", range(6)), ("cut", range(4, 9)), ("anew", range(12)))
    expected = [f"{kind}{number}" for kind, offsets in parts for number in offsets]
    assert values_in(spark, tmp_path) == sorted(expected)


def test_a_stream_follows_records_as_they_come(spark: Any, broker: EmbeddedBroker) -> None:
    frame = source(spark, broker.bootstrap_servers, streaming=True, subscribePattern="^t")
    query = frame.writeStream.format("memory").queryName("followed").start()
    try:
        query.processAllAvailable()
        fill(broker, T1, 2)
        query.processAllAvailable()
        broker.create_topic("t-new")
        fill(broker, ("t-new", 0), 1)  # type: ignore[arg-type]
        query.processAllAvailable()
    finally:
        query.stop()
    rows = spark.sql("SELECT topic, offset FROM followed").collect()
    assert sorted((row.topic, row.offset) for row in rows) == [("t", 8), ("t", 9), ("t-new", 0)]


def test_a_process_that_only_makes_the_source_known_imports_no_client() -> None:
    """A query takes a dozen processes, and a client half a second of CPU in each."""
    require_spark()
    program = "import sys, aiokafka_lite.spark.source; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    modules = set(done.stdout.decode().split())
    clients = {"aiokafka_lite.consumer.consumer", "aiokafka_lite.producer.producer"}
    assert "aiokafka_lite.spark.source" in modules
    assert not modules & {*clients, "aiokafka_lite.protocol", "pandas"}


def test_tasks_know_the_ids_of_the_topics_that_were_planned(broker: EmbeddedBroker) -> None:
    require_spark()
    from aiokafka_lite.spark.source import BatchReader, StreamReader

    made = broker.cluster.topics["t"].topic_id
    columns = SparkColumns([("value", "binary")])
    try:
        batch = BatchReader(columns, source_options(broker)).partitions()
        stream = StreamReader(columns, source_options(broker, streaming=True))
        streamed = stream.partitions({"t": {"0": 0, "1": 0}}, stream.latestOffset())
    finally:
        worker().close()
    assert len(batch) == len(streamed) == 2
    assert all(each.topic_ids == {"t": id_text(made)} for each in (*batch, *streamed))
