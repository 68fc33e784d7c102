"""Which files of an archive a batch needs, and that it opens no others."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs import replay
from aiokafka_lite.spark.jobs.archived_ranges import (
    FileRange,
    extent,
    files_between,
    rows_reaching_before,
)
from aiokafka_lite.spark.jobs.job import JobFailedError, NoProgress, StopSignal
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.testing.broker import EmbeddedBroker

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
RANGES = [
    FileRange("a", T0, 5, 10, 4),
    FileRange("a", T1, 0, 3),
    FileRange("b", T0, 10, 20, 9),
    FileRange("c", T0, 2, 4, 1),
    FileRange("d", U0, 0, 9),
]


def test_a_partition_reaches_from_its_first_file_to_its_last() -> None:
    assert extent(RANGES) == ({T0: 2, T1: 0, U0: 0}, {T0: 20, T1: 3, U0: 9})
    assert extent([]) == ({}, {})


def test_a_batch_needs_the_files_that_its_offsets_reach_into() -> None:
    def needed(first: int, behind: int) -> set[str]:
        return files_between(RANGES, Offsets({T0: first, T1: 3}), Offsets({T0: behind, T1: 3}))

    assert needed(0, 2) == set()
    assert needed(0, 3) == {"c"}
    assert needed(4, 5) == set()
    assert needed(9, 10) == {"a"}
    assert needed(9, 11) == {"a", "b"}
    assert needed(20, 30) == set()


def test_the_rows_before_an_offset_are_those_of_all_files_that_reach_there() -> None:
    for end, rows in ((2, 0), (3, 1), (5, 1), (6, 5), (10, 5), (11, 14)):
        assert rows_reaching_before(RANGES, Offsets({T0: end})) == {T0: rows}
    assert rows_reaching_before([], Offsets({T0: 3})) == {T0: 0}


def files_read(spark: Any) -> int:
    """How many files Spark has opened in all of this session's queries."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    executions = store.executionsList()
    found: dict[int, int] = {}
    for execution in map(executions.apply, range(executions.size())):
        values = store.executionMetrics(execution.executionId())
        metrics = execution.metrics()
        # A plan that is adapted names its metrics again.
        for metric in map(metrics.apply, range(metrics.size())):
            number, name = metric.accumulatorId(), metric.name()
            if name == "number of files read" and values.contains(number):
                found[number] = int(values.apply(number).replace(",", ""))
    return sum(found.values())


def archive(folder: Path, name: str, offsets: range, kind: str = "") -> None:
    """Write a file of an archive."""
    folder.mkdir(parents=True, exist_ok=True)
    columns = {
        "value": pa.array([f"{kind}{each}".encode() for each in offsets]),
        "partition": pa.array([0] * len(offsets), pa.int32()),
        "offset": pa.array(list(offsets)),
    }
    pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def test_a_replay_opens_each_file_for_its_extent_and_for_its_own_batches(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("again", partitions=1)
    # A name that is written otherwise in an address, and in SQL.
    folder = tmp_path / "ar chive's 5%" / "topic=2024" / "date=2026-01-31"
    for number in range(5):
        archive(folder, str(number), range(number * 10, number * 10 + 10))
    config = replay.ReplayConfig(
        bootstrap_servers=kafka_broker.bootstrap_servers,
        path=str(tmp_path / "ar chive's 5%"),
        topic="again",
        batch_rows=20,
    )
    before = files_read(spark)
    done = replay.run(spark, config, stop=StopSignal(), progress=NoProgress())
    assert (done.status, done.rows, done.batches) == ("done", 50, 3)
    assert files_read(spark) - before == 5 + (2 + 2 + 1)
    written = [each.value for each in kafka_broker.log(("again", 0)).records()]
    assert written == [b"%d" % number for number in range(50)]


def test_a_checkpoint_does_not_pass_over_records_of_a_topic_that_was_made_anew(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    """The archive gets other records with the offsets that were replayed (2c-10)."""
    kafka_broker.create_topic("again", partitions=1)
    folder = tmp_path / "archive" / "topic=t" / "date=2026-01-31"

    def go_on(notes: str = "notes") -> int:
        config = replay.ReplayConfig(
            bootstrap_servers=kafka_broker.bootstrap_servers,
            path=str(tmp_path / "archive"),
            topic="again",
            checkpoint=str(tmp_path / notes),
            batch_rows=20,
        )
        return replay.run(spark, config, stop=StopSignal(), progress=NoProgress()).rows

    archive(folder, "a", range(10), "old")
    assert go_on() == 10
    archive(folder, "b", range(10, 15), "old")
    assert go_on() == 5
    archive(folder, "c", range(12), "new")
    said = (
        "partition t-0 has 12 more records in files that begin before offset 15 than when batch 1"
    )
    with pytest.raises(JobFailedError, match=said):
        go_on()
    assert len(kafka_broker.records("again")) == 15
    assert go_on("other notes") == 27
