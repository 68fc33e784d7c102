"""An SQL statement over topics, and what becomes of records it cannot read."""

import json
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.aggregate import AggregateConfig, as_records, plan, run
from aiokafka_lite.spark.jobs.job import JobResult, NoProgress, StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfigError, read_toml
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.jobs.manual import manual_file
from tests.spark.support.topics import T0, T1, fill_records

COUNT = "SELECT string(key) AS key, string(count(*)) AS value FROM records GROUP BY key"
GIVEN: dict[str, Any] = {
    "bootstrap_servers": "h:1",
    "topics": ("t",),
    "checkpoint": "/c",
    "topic": "u",
    "sql": COUNT,
}


def test_a_statement_is_text_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "statement.sql"
    file.write_text("-- all\nSELECT * FROM records;\n")
    given = {**GIVEN, "sql": None, "sql_file": str(file)}
    assert AggregateConfig(**given).statement() == "-- all\nSELECT * FROM records"
    assert AggregateConfig(**GIVEN).statement() == COUNT


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"sql_file": "/x.sql"}, "one of sql and sql_file must be set, and only one"),
        ({"sql": None}, "one of sql and sql_file must be set"),
        ({"sql": None, "sql_file": "/no/such.sql"}, "sql_file='/no/such.sql' cannot be read: .*No"),
        ({"sql": " ; "}, "the statement is empty"),
        ({"watermark": "soon"}, "watermark='soon' is not an interval"),
        ({"output_mode": "all"}, "'all' is not one of 'append', 'update', 'complete'"),
        ({"topic": None, "path": "/p", "output_mode": "update"}, "'update' needs a topic"),
        ({"topic": None, "path": "/p", "key": "a"}, "with path, select it as a column"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        AggregateConfig(**{**GIVEN, **given})


# In Spark…


@pytest.fixture
def given(kafka_broker: EmbeddedBroker, tmp_path: Path) -> dict[str, Any]:
    kafka_broker.create_topic("t", partitions=2)
    kafka_broker.create_topic("u")
    checkpoint = str(tmp_path / "checkpoint")
    return {
        **GIVEN,
        "bootstrap_servers": kafka_broker.bootstrap_servers,
        "checkpoint": checkpoint,
    }


def ran(spark: Any, **given: Any) -> JobResult:
    return run(spark, AggregateConfig(**given), stop=StopSignal(), progress=NoProgress())


def written(broker: EmbeddedBroker) -> list[tuple[Any, Any]]:
    records = broker.log(TopicPartition("u", 0)).records()
    return sorted((record.key, json.loads(record.value or b"")) for record in records)


def click(at: str, page: str, seconds: int) -> bytes:
    return json.dumps({"at": at, "page": page, "seconds": seconds}).encode()


def test_windows_of_json_are_told_once_they_are_over_and_bad_records_kill_nothing(
    spark: Any,
    kafka_broker: EmbeddedBroker,
    given: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("clicks.sql").write_text(manual_file("clicks.sql"))
    shown = read_toml(manual_file("aggregate.toml"))
    del given["sql"], shown["spark"]
    given = {**shown, **given}
    fill_records(
        kafka_broker,
        T0,
        (0, None, click("2026-01-01T10:05:00Z", "a", 2)),
        (0, None, click("2026-01-01T10:59:59Z", "a", 5)),
        (0, None, b"\xff\xfe"),
        (0, None, b""),
        (0, None, b'{"at": "2026-01-01T10:05:00Z", "page": "a", "seconds": "many"}'),
        (0, b"deleted", None),
    )
    fill_records(
        kafka_broker,
        T1,
        (0, None, click("2026-01-01T11:30:00Z", "b", 1)),
        (0, None, b'{"page": "no time"}'),
        (0, None, click("2026-01-01T12:10:00Z", "b", 1)),
        (0, None, b'{"at": "soon", "page": "a", "seconds": 1}'),
    )
    first = ran(spark, **given)
    assert (first.status, first.rows, first.lag) == ("done", 10, 0)
    assert first.facts == {"bad_records": 5, "late_rows": 0, "state_rows": 2}
    ten = {"hour": "2026-01-01 10:00", "page": "a", "clicks": 2, "mean_s": 3.5}
    assert written(kafka_broker) == [(b"2026-01-01 10:00 a", ten)]

    late, next_day = click("2026-01-01T10:30:00Z", "a", 9), click("2026-01-02T10:30:00Z", "c", 9)
    fill_records(kafka_broker, T0, (0, None, late), (0, None, next_day), (0, None, b"[]"))
    second = ran(spark, **given)
    assert second.rows == 3
    assert second.facts == {"bad_records": 1, "late_rows": 1, "state_rows": 1}
    assert [key for key, _ in written(kafka_broker)] == [
        b"2026-01-01 10:00 a",
        b"2026-01-01 11:00 b",
        b"2026-01-01 12:00 b",
    ]


def test_updates_go_to_a_topic_and_the_complete_result_into_a_folder(
    spark: Any, kafka_broker: EmbeddedBroker, given: dict[str, Any], tmp_path: Path
) -> None:
    fill_records(kafka_broker, T0, (0, b"a", b"1"), (0, b"b", b"1"))
    assert ran(spark, **given, output_mode="update").rows == 2
    fill_records(kafka_broker, T1, (0, b"a", b"2"))
    assert ran(spark, **given, output_mode="update").rows == 1
    assert written(kafka_broker) == [(b"a", 1), (b"a", 2), (b"b", 1)]

    folder = str(tmp_path / "rows")
    given |= {"checkpoint": str(tmp_path / "other"), "topic": None, "path": folder}
    ran(spark, **given, output_mode="complete")
    rows = spark.read.parquet(folder).collect()
    assert sorted(map(tuple, rows)) == [("a", "2"), ("b", "1")]


def test_a_statement_that_does_not_fit_is_refused_before_anything_is_read(
    spark: Any, given: dict[str, Any]
) -> None:
    with pytest.raises(KafkaConfigurationError, match="the statement reads no topic"):
        plan(spark, AggregateConfig(**{**given, "sql": "SELECT 1 AS value"}))
    with pytest.raises(KafkaConfigurationError, match="event_schema has a field record"):
        plan(spark, AggregateConfig(**given, event_schema="Record STRING"))
    both = AggregateConfig(**given, key="key")
    with pytest.raises(KafkaConfigurationError, match="the statement has a column value"):
        plan(spark, both)
    rows = spark.range(1).selectExpr("id", "string(NULL) AS page", "'v' AS topic")
    keyed = AggregateConfig(**{**given, "topic": None}, key="id + 1")
    (row,) = as_records(rows, keyed).collect()
    assert row.asDict() == {"value": '{"id":0,"page":null,"topic":"v"}', "key": "1", "topic": "v"}
