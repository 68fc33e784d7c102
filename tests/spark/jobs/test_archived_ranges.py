"""Which files of an archive a batch needs, and that it opens no others."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs import replay
from aiokafka_lite.spark.jobs.archived_ranges import FileRange, extent, files_between
from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal
from aiokafka_lite.spark.offsets import Offsets
from aiokafka_lite.testing.broker import EmbeddedBroker

T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
RANGES = [
    FileRange("a", T0, 5, 10),
    FileRange("a", T1, 0, 3),
    FileRange("b", T0, 10, 20),
    FileRange("c", T0, 2, 4),
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


def test_a_replay_opens_each_file_for_its_extent_and_for_its_own_batches(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("again", partitions=1)
    # A name that is written otherwise in an address, and in SQL.
    folder = tmp_path / "ar chive's 5%" / "topic=2024" / "date=2026-01-31"
    folder.mkdir(parents=True)
    for number in range(5):
        offsets = list(range(number * 10, number * 10 + 10))
        columns = {
            "value": pa.array([b"%d" % each for each in offsets]),
            "partition": pa.array([0] * 10, pa.int32()),
            "offset": pa.array(offsets),
        }
        pq.write_table(pa.table(columns), folder / f"{number}.parquet")
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
