"""Rows become records: values, errors, and that nothing is done before it is acknowledged."""

from typing import Any

import pytest

from tests.conftest import NO_SPARK

pytest.importorskip("pyarrow", reason=NO_SPARK)

import pyarrow as pa

from aiokafka_lite.errors import KafkaError, MessageSizeTooLargeError, SerializationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.spark.offsets import OffsetRange
from aiokafka_lite.spark.options.sink_options import SinkOptions
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.spark.read.arrow import COLUMNS, SparkColumns
from aiokafka_lite.spark.read.range_reader import read_ranges
from aiokafka_lite.spark.write import row_sender
from aiokafka_lite.spark.write.row_sender import write_rows
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.support.topics import T0, T1, source_options
from tests.support.unusual_records import ANY_TIME, UNUSUAL, fields_of, put


def sink_options(broker: EmbeddedBroker | None = None, **options: str) -> SinkOptions:
    servers = "h:1" if broker is None else broker.bootstrap_servers
    return SinkOptions.parse({"kafka.bootstrap.servers": servers, **options})


def records(broker: EmbeddedBroker, partition: int = 0) -> list[tuple[Any, Any]]:
    log = broker.log(("t", partition))
    return [(record.key, record.value) for record in log.records()]


def test_rows_are_sent_as_they_are_and_counted(here: Worker, kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t", partitions=2)
    batch = pa.RecordBatch.from_pylist(
        [
            {"key": "k", "value": "v", "partition": 1, "timestamp": 1.5,
             "headers": [{"key": "h", "value": b"1"}], "extra": 1},
            {"key": None, "value": "w", "partition": 0, "timestamp": None, "headers": None},
            {"key": "tombstone", "value": None, "partition": 1, "timestamp": 2.0, "headers": []},
        ],
        schema=pa.schema(
            [("key", pa.string()), ("value", pa.string()), ("partition", pa.int32()),
             ("timestamp", pa.float64()),
             ("headers", pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))),
             ("extra", pa.int32())]
        ),
    )  # fmt: skip
    columns = ("key", "value", "partition", "timestamp", "headers")
    options = sink_options(kafka_broker, topic="t")
    assert write_rows([batch, batch.slice(0, 0)], columns, options, here) == 3
    first, second = kafka_broker.log(T1).records()
    assert (first.key, first.value, first.timestamp) == (b"k", b"v", 1500)
    assert list(first.headers) == [("h", b"1")]
    assert (second.key, second.value, second.timestamp) == (b"tombstone", None, 2000)
    assert records(kafka_broker) == [(None, b"w")]


def test_a_write_is_idempotent_and_waits_for_all_replicas(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t")
    batch = pa.RecordBatch.from_pydict({"value": [b"v"] * 10})
    assert write_rows([batch] * 3, ("value",), sink_options(kafka_broker, topic="t"), here) == 30
    requests = kafka_broker.requests_of(ProduceRequest)
    assert {request.acks for request in requests} == {-1}
    assert kafka_broker.log(T0).high_watermark == 30


def test_a_row_without_a_topic_is_refused(here: Worker, kafka_broker: EmbeddedBroker) -> None:
    kafka_broker.create_topic("t")
    options = sink_options(kafka_broker)
    no_topic = pa.RecordBatch.from_pydict({"topic": ["t", None], "value": [b"v", b"w"]})
    with pytest.raises(SerializationError, match=r"null topic present in the data.*option topic"):
        write_rows([no_topic], ("topic", "value"), options, here)
    assert records(kafka_broker) == []


def test_a_row_without_key_and_value_is_a_record(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    """As it is for Spark's own sink."""
    kafka_broker.create_topic("t")
    nulls = pa.array([None, None, None], pa.binary())
    batch = pa.RecordBatch.from_pydict({"value": nulls, "key": pa.array([None, b"k", None])})
    options = sink_options(kafka_broker, topic="t")
    assert write_rows([batch], ("value",), options, here) == 3
    assert write_rows([batch], ("value", "key"), options, here) == 3
    assert sorted(records(kafka_broker), key=repr) == [(None, None)] * 5 + [(b"k", None)]


def test_a_record_that_is_not_written_fails_the_task(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    kafka_broker.create_topic("t", configs={"max.message.bytes": "1000"})
    batch = pa.RecordBatch.from_pydict({"value": [b"v" * 5000]})
    with pytest.raises(MessageSizeTooLargeError):
        write_rows([batch], ("value",), sink_options(kafka_broker, topic="t"), here)
    assert len(here.clients) == 0  # the next task has a producer of its own


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"value": b"v" * 5000}, "exceeds kafka.max.request.size of 3,000 bytes"),
        ({"value": b"v", "partition": 99}, "did not appear within kafka.max.block.ms=200: "),
    ],
)
def test_errors_of_the_client_name_the_options_of_the_user(
    here: Worker, kafka_broker: EmbeddedBroker, row: dict[str, Any], said: str
) -> None:
    kafka_broker.create_topic("t")
    given = {"kafka.max.request.size": "3000", "kafka.max.block.ms": "200"}
    options = sink_options(kafka_broker, topic="t", **given)
    schema = pa.schema([("value", pa.binary()), ("partition", pa.int32())])
    batch = pa.RecordBatch.from_pylist([row], schema=schema)
    with pytest.raises(KafkaError, match=said):
        write_rows([batch], tuple(row), options, here)


def test_large_batches_are_sent_in_parts(
    here: Worker, kafka_broker: EmbeddedBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_sender, "_SEND_BYTES", 100)
    kafka_broker.create_topic("t")
    sent = [b"%04d" % number for number in range(500)]
    batch = pa.RecordBatch.from_pydict({"value": sent})
    assert write_rows([batch], ("value",), sink_options(kafka_broker, topic="t"), here) == 500
    assert [value for _, value in records(kafka_broker)] == sent


def test_rows_of_the_source_are_written_as_they_were(
    here: Worker, kafka_broker: EmbeddedBroker
) -> None:
    """Spark gives a record without a timestamp that of a millisecond before 1970."""
    kafka_broker.create_topic("t", partitions=2)
    put(kafka_broker, T0, *UNUSUAL.values())
    whole = SparkColumns([(name, kind) for name, (_, kind) in COLUMNS.items()])
    wanted = [OffsetRange("t", 0, 0, len(UNUSUAL))]
    rows = [*read_ranges(wanted, whole, source_options(kafka_broker), {}, lambda: here)]
    kafka_broker.create_topic("copy", configs=ANY_TIME)
    columns = ("key", "value", "headers", "timestamp")
    options = sink_options(kafka_broker, topic="copy")
    assert write_rows(rows, columns, options, here) == len(UNUSUAL)
    assert fields_of(kafka_broker, TopicPartition("copy", 0)) == list(UNUSUAL.values())
