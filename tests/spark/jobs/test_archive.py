"""Topics become Parquet, in folders by topic and date, each record once."""

from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.spark.jobs.archive import ArchiveConfig, run
from aiokafka_lite.spark.jobs.job import NoProgress, StopSignal
from aiokafka_lite.spark.jobs.job_config import JobConfigError
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.spark.topics import T0, T1, fill

GIVEN: dict[str, Any] = {"bootstrap_servers": "h:1", "topics": ("t",), "path": "/a/"}


def test_the_checkpoint_is_in_the_archive_unless_it_is_named() -> None:
    assert ArchiveConfig(**GIVEN).checkpoint == "/a/_checkpoint"
    assert ArchiveConfig(**GIVEN, checkpoint="/c").checkpoint == "/c"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"path": ""}, "path must be set"),
        ({"partition_by": "day"}, "'day' is not one of 'date', 'hour'"),
        ({"files_per_partition": 0}, "files_per_partition=0 must be at least 1"),
    ],
)
def test_wrong_keys_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(JobConfigError, match=said):
        ArchiveConfig(**{**GIVEN, **given})


def test_an_archive_is_filled_by_runs_and_has_each_record_once(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    kafka_broker.create_topic("t", partitions=2)
    fill(kafka_broker, T0, 4)
    fill(kafka_broker, T1, 3)
    config = ArchiveConfig(
        bootstrap_servers=kafka_broker.bootstrap_servers,
        topics=("t",),
        path=str(tmp_path),
        partition_by="hour",
        files_per_partition=1,
    )
    first = run(spark, config, stop=StopSignal(), progress=NoProgress())
    assert (first.status, first.rows, first.lag) == ("done", 7, 0)
    fill(kafka_broker, T0, 5)
    second = run(spark, config, stop=StopSignal(), progress=NoProgress())
    assert (second.rows, second.offsets) == (5, {"t": {"0": 9, "1": 3}})
    files = list(tmp_path.glob("topic=t/date=1970-01-01/hour=0/*.zstd.parquet"))
    assert len(files) == 2
    rows = spark.read.parquet(str(tmp_path)).orderBy("partition", "offset").collect()
    assert [(row.topic, row.partition, row.offset, bytes(row.value)) for row in rows] == [
        ("t", partition, offset, b"v%d" % offset)
        for partition, count in ((0, 9), (1, 3))
        for offset in range(count)
    ]
