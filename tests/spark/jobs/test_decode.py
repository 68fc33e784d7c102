"""Values become typed columns, in Parquet or in a topic, and what cannot be decoded is put aside
with the reason."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.batch_builder import RecordBatchBuilder
from aiokafka_lite.schema_registry import UnknownSchemaError
from aiokafka_lite.spark.jobs.decode import DecodeConfig, plan, run
from aiokafka_lite.spark.jobs.job import JobResult, NoProgress, StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer
from tests.spark.decode.test_avro_decoder import record, written
from tests.spark.support.releases import needs

GIVEN: dict[str, Any] = {
    "bootstrap_servers": "h:1",
    "topics": ("t",),
    "checkpoint": "/c",
    "path": "/p",
    "schema": "id bigint",
}
AVRO: dict[str, Any] = {
    "format": "avro",
    "framing": "confluent",
    "schema": None,
    "registry_urls": ("http://h:8081",),
}


@pytest.fixture
def registry() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as served:
        yield served


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": None}, "one of path and topic must be set"),
        ({"topic": "out"}, "one of path and topic must be set, and only one"),
        ({"schema": None}, "schema or schema_file must be set: format='json'"),
        ({"schema": None, "format": "avro"}, "schema or schema_file must be set: format='avro'"),
        ({"schema_file": "/s"}, "schema and schema_file say the same"),
        ({"dead_letter_topic": "t"}, "dead_letter_topic='t' is one of those read"),
        ({"topic": "t", "path": None}, "topic='t' is one of those read"),
        ({"topic": "u", "path": None, "dead_letter_topic": "u"}, "the topic of decoded records"),
        ({"compression": "zst"}, "compression='zst' is not one of zstd, snappy"),
        ({"registry_password": ["hunter2"]}, "registry_password is not text"),
        ({"select": ()}, "select must name a column"),
        ({"format": "xml"}, "'xml' is not one of 'json', 'avro'"),
        ({"registry_urls": ("http://h",)}, "registry_urls is for format='avro' with"),
        ({**AVRO, "registry_urls": ()}, "registry_urls must be set"),
        ({**AVRO, "topics": ("a", "b")}, "subject, or a schema, must be set"),
        ({**AVRO, "registry_urls": ("h:1",)}, "not the address of a schema registry"),
        ({**AVRO, "registry_token": "hunter2"}, "token of the schema registry must be env:NAME"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        DecodeConfig(**{**GIVEN, **given})


def send(broker: EmbeddedBroker, *rows: tuple[bytes | None, bytes | None]) -> None:
    """Append records to t-0, each with a header."""
    builder = RecordBatchBuilder(bytearray(1 << 16))
    for number, (key, value) in enumerate(rows):
        builder.append(1000 + number, key, value, [("h", b"1")])
    builder.seal()
    broker.append(TopicPartition("t", 0), builder.wire())


def config_of(broker: EmbeddedBroker, folder: Path, **more: Any) -> DecodeConfig:
    given = {"bootstrap_servers": broker.bootstrap_servers, "topics": ("t",), **more}
    return DecodeConfig(checkpoint=str(folder / "checkpoint"), **given)


def decode(spark: Any, config: DecodeConfig) -> JobResult:
    return run(spark, config, stop=StopSignal(), progress=NoProgress())


def reasons(broker: EmbeddedBroker) -> list[dict[str, str]]:
    """The headers of the dead letters, without those that the records had."""
    found = []
    for each in broker.log(("dead", 0)).records():
        (first, *ours) = each.headers
        assert first == ("h", b"1")
        found.append(
            {name.removeprefix("__connect.errors."): (text or b"").decode() for name, text in ours}
        )
    return found


@needs("StreamArrowWriter")
def test_json_goes_to_a_topic_and_what_is_none_is_put_aside(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    for topic in ("t", "out", "dead"):
        kafka_broker.create_topic(topic)
    bad = [b'{"id": 1', b'{"id": "x", "name": "a"}', b"\xff", b"7", b""]
    good = (b"k", b'{"id": 1, "name": "\xc3\xbc", "extra": []}')
    send(kafka_broker, good, (None, None), *((b"%d" % n, value) for n, value in enumerate(bad)))
    config = config_of(
        kafka_broker,
        tmp_path,
        schema="id bigint, name string, at timestamp,",
        select=("value.id", "upper(value.name) AS name", "offset"),
        topic="out",
        dead_letter_topic="dead",
        delivery="transactional",
    )
    result = decode(spark, config)
    assert (result.status, result.rows, result.facts) == ("done", 7, {"dead_letters": 5})
    first, tombstone = kafka_broker.log(("out", 0)).records()
    decoded = json.loads(first.value or b"")
    assert (first.key, decoded) == (b"k", {"id": 1, "name": "Ü", "offset": 0})
    assert (list(first.headers), first.timestamp) == ([("h", b"1")], 1000)
    assert (tombstone.key, tombstone.value) == (None, None)
    letters = list(kafka_broker.log(("dead", 0)).records())
    assert [(each.key, each.value) for each in letters] == [
        (b"%d" % number, value) for number, value in enumerate(bad)
    ]
    told = reasons(kafka_broker)
    assert told[0] == {
        "topic": "t",
        "partition": "0",
        "offset": "2",
        "connector.name": "decode",
        "stage": "VALUE_CONVERTER",
        "exception.class.name": "JSONDecodeError",
        "exception.message": "it is not a JSON object, or its fields do not have the types"
        " id bigint, name string, at timestamp,",
    }
    assert [each["exception.class.name"] for each in told[1:]] == [
        *("JSONDecodeError", "UnicodeDecodeError", "JSONDecodeError", "JSONDecodeError")
    ]


@needs("arrow_udf")
def test_avro_of_a_registry_goes_to_parquet_and_a_batch_that_is_done_again_replaces_itself(
    spark: Any, kafka_broker: EmbeddedBroker, registry: SchemaRegistryServer, tmp_path: Path
) -> None:
    for topic in ("t", "dead"):
        kafka_broker.create_topic(topic)
    older, newer = record(id="int"), record(id="long", name={"type": "string", "default": "?"})
    registry.register("t-value", older)
    registry.register("t-value", newer)
    wires = [
        written(older, {"id": 1}, 1),
        written(newer, {"id": 2**40, "name": "b"}, 2),
        b"\0\0\0\0\x09\2",
        b"nonsense",
    ]
    send(kafka_broker, *((None, value) for value in wires), (None, None))
    config = config_of(
        kafka_broker,
        tmp_path,
        format="avro",
        framing="confluent",
        registry_urls=(registry.url,),
        select=("value.*", "offset AS source_offset"),
        tombstones="drop",
        path=str(tmp_path / "rows"),
        dead_letter_topic="dead",
    )
    result = decode(spark, config)
    assert (result.status, result.facts) == ("done", {"dead_letters": 2})
    for commit in (tmp_path / "checkpoint" / "commits").iterdir():
        commit.unlink()  # as if the driver had died before it was written
    assert decode(spark, config).rows == 5
    rows = spark.read.parquet(config.path).drop("batch").orderBy("id").collect()
    assert [tuple(row) for row in rows] == [(1, "?", 0), (2**40, "b", 1)]
    told = reasons(kafka_broker)
    assert [(each["offset"], each["exception.class.name"]) for each in told] == [
        ("2", "aiokafka_lite.schema_registry.registry_errors.UnknownSchemaError"),
        ("3", "aiokafka_lite.schema_registry.registry_errors.WireFormatError"),
    ] * 2  # at least once
    assert "HTTP 404: Schema 9 not found" in told[0]["exception.message"]
    assert registry.requests.count("GET /schemas/ids/1") <= 2  # Spark has as many workers


def test_without_a_dead_letter_topic_the_first_bad_value_ends_the_job(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("t")
    framed = b"\0\0\0\0\1"
    send(kafka_broker, (None, framed + b'{"id": 1}'))
    config = config_of(
        kafka_broker,
        tmp_path,
        schema="id bigint",
        framing="confluent",
        path=str(tmp_path / "rows"),
    )
    assert decode(spark, config).facts == {"dead_letters": 0}
    send(kafka_broker, (None, b'{"id": 2}'))
    with pytest.raises(Exception, match="t-0 offset 1 cannot be decoded: WireFormatError"):
        decode(spark, config)
    assert [tuple(row) for row in spark.read.parquet(config.path).collect()] == [(1,)]


@needs("arrow_udf")
def test_schemas_that_cannot_be_are_told_before_anything_is_read(
    spark: Any, kafka_broker: EmbeddedBroker, registry: SchemaRegistryServer, tmp_path: Path
) -> None:
    kafka_broker.create_topic("t")

    def config(**more: Any) -> DecodeConfig:
        return config_of(kafka_broker, tmp_path, path="/p", **more)

    asking = {"format": "avro", "framing": "confluent", "registry_urls": (registry.url,)}
    with pytest.raises(UnknownSchemaError, match="subjects/t-value/versions/latest"):
        plan(spark, config(**asking))
    registry.register("t-value", "{}", schema_type="JSON")
    with pytest.raises(KafkaConfigurationError, match="newest schema of t-value is JSON, not AVRO"):
        plan(spark, config(**asking))
    with pytest.raises(KafkaConfigurationError, match=r"value\.a: a union of 2 types"):
        plan(spark, config(format="avro", schema=record(a=["int", "string"])))
    with pytest.raises(KafkaConfigurationError, match="schema_file='/not/there'"):
        plan(spark, config(schema_file="/not/there"))
