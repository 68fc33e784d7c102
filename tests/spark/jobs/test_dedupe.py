"""Each key once: the first within some time in a stream, the last as a compacted topic has it."""

from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.dedupe import JOB, DedupeConfig, run
from aiokafka_lite.spark.jobs.job import BatchReport, JobResult, NoProgress, StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.jobs.manual import manual_file
from tests.spark.support.topics import T0, T1, fill_records

GIVEN: dict[str, Any] = {
    "bootstrap_servers": "h:1",
    "topics": ("t",),
    "checkpoint": "/c",
    "topic": "u",
}
HOUR_MS = 3_600_000
TEN_MS = 1_750_000_000_000
"""Of some day; Spark takes the year 1970 for late at once."""
FIFTEEN_MS = TEN_MS + 5 * HOUR_MS


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"mode": "batch"}, "'batch' is not one of 'stream', 'compact'"),
        ({"key": ()}, r"key=\[\] must be SQL expressions"),
        ({"checkpoint": ""}, "checkpoint must be set"),
        ({"topic": None}, "topic must be set, or path, or the sink_bootstrap_servers"),
        ({"topic": "t"}, "topic='t' is one of those read"),
        ({"within": "1 hou"}, "within='1 hou' is not an interval such as 10 minutes"),
        ({"keep_tombstones": True}, "keep_tombstones is for mode='compact'"),
        ({"mode": "compact"}, "checkpoint is for mode='stream'"),
        ({"mode": "compact", "checkpoint": "", "starting_offsets": "latest"}, "latest"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        DedupeConfig(**{**GIVEN, **given})


def test_compact_needs_no_checkpoint() -> None:
    assert DedupeConfig(**{**GIVEN, "checkpoint": "", "mode": "compact"}).topic == "u"


@pytest.mark.parametrize("name", ["dedupe.toml", "dedupe-compact.toml"])
def test_what_the_manual_shows_is_a_configuration(name: str) -> None:
    assert DedupeConfig.from_toml(manual_file(name)).topics


# In Spark…


class Noted(NoProgress):
    def __init__(self) -> None:
        self.batches: list[BatchReport] = []

    def batch(self, report: BatchReport) -> None:
        self.batches.append(report)


@pytest.fixture
def given(kafka_broker: EmbeddedBroker, tmp_path: Path) -> dict[str, Any]:
    kafka_broker.create_topic("t", partitions=2)
    kafka_broker.create_topic("u")
    return {
        **GIVEN,
        "bootstrap_servers": kafka_broker.bootstrap_servers,
        "checkpoint": str(tmp_path / "checkpoint"),
    }


def ran(spark: Any, **given: Any) -> JobResult:
    return run(spark, DedupeConfig(**given), stop=StopSignal(), progress=NoProgress())


def written(broker: EmbeddedBroker) -> list[tuple[Any, Any, int]]:
    records = broker.log(TopicPartition("u", 0)).records()
    rows = [(record.key, record.value, record.timestamp) for record in records]
    return sorted(rows, key=lambda row: (row[0] or b"", row[1] or b""))


def test_a_stream_writes_the_first_of_each_key_and_says_what_came_late(
    spark: Any, kafka_broker: EmbeddedBroker, given: dict[str, Any]
) -> None:
    a, b, unkeyed = (TEN_MS, b"a", b"1"), (TEN_MS + 1, b"b", b"2"), (TEN_MS, None, b"3")
    end = (FIFTEEN_MS, b"end", b"")
    fill_records(kafka_broker, T0, a, a, unkeyed, unkeyed)
    fill_records(kafka_broker, T1, b, end, b)
    first = ran(spark, **given)
    assert (first.rows, first.lag, first.problems) == (7, 0, ())
    facts = {name: first.facts[name] for name in ("duplicates", "without_key", "late_rows")}
    assert facts == {"duplicates": 2, "without_key": 2, "late_rows": 0}
    kept = [(key, value, timestamp) for timestamp, key, value in (unkeyed, unkeyed, a, b, end)]
    assert written(kafka_broker) == kept

    fill_records(kafka_broker, T1, end, (TEN_MS, b"late", b""))
    second = ran(spark, **given)
    assert (second.facts["duplicates"], second.facts["late_rows"]) == (1, 1)
    (problem,) = second.problems
    assert "1 records came later than within='1 hour' allows" in problem
    assert len(written(kafka_broker)) == 5


def test_compact_leaves_the_last_of_each_key(
    spark: Any, kafka_broker: EmbeddedBroker, given: dict[str, Any], tmp_path: Path
) -> None:
    given |= {"mode": "compact", "checkpoint": ""}
    # In a partition the offset decides, whatever the clocks said; of two partitions the time does.
    fill_records(kafka_broker, T0, (9, b"a", b"1"), (5, b"a", b"2"), (0, b"b", b"3"))
    fill_records(kafka_broker, T0, (9, b"b", None), (0, None, b"4"))
    fill_records(kafka_broker, T1, (4, b"a", b"5"), (8, b"c", b"6"))
    folder = tmp_path / "rows"
    noted = Noted()
    config = DedupeConfig(**{**given, "topic": None, "path": str(folder)})
    result = run(spark, config, stop=StopSignal(), progress=noted)
    assert (result.rows, result.batches, result.lag) == (7, 1, 0)
    assert result.offsets == {"t": {"0": 5, "1": 2}}
    assert result.facts == {"written": 2, "without_key": 1}
    assert [each.rows for each in noted.batches] == [7]
    rows = spark.read.parquet(str(folder)).orderBy("key").collect()
    kept = [(bytes(row.key), bytes(row.value), row.partition, row.offset) for row in rows]
    assert kept == [(b"a", b"2", 0, 1), (b"c", b"6", 1, 1)]

    again = ran(spark, **given, keep_tombstones=True, key=("length(value) IS NULL", "key"))
    assert again.facts == {"written": 4, "without_key": 1}
    expected = [(b"a", b"2", 5), (b"b", None, 9), (b"b", b"3", 0), (b"c", b"6", 8)]
    assert written(kafka_broker) == expected


def test_a_dry_run_tells_the_offsets(spark: Any, given: dict[str, Any]) -> None:
    config = DedupeConfig(**{**given, "mode": "compact", "checkpoint": ""})
    assert JOB.offsets is not None
    ends = {"t": {"0": 0, "1": 0}}
    assert JOB.offsets(spark, config) == {"start": ends, "end": ends, "lag": 0}
    assert JOB.offsets(spark, DedupeConfig(**given))["begins"] == "starting_offsets"
