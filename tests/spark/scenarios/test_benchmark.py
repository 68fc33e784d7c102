"""What the benchmark does in a session of Spark: each shape once, with few records."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from benchmarks.spark.cases import FIRST_BATCHES, ROWS_PER_BATCH, SHAPES, SessionJob, select
from benchmarks.spark.cases import RECORDS as ALL
from benchmarks.spark.session import Session
from tests.spark.support.topics import fill

RECORDS = 12


def test_every_shape_runs_to_its_end(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    for name in ("source", "small", "write", "mirror", "target"):
        kafka_broker.create_topic(name, partitions=1)
    fill(kafka_broker, TopicPartition("source", 0), RECORDS)
    fill(kafka_broker, TopicPartition("small", 0), *[ROWS_PER_BATCH] * (FIRST_BATCHES + 1))
    cases = [
        {**asdict(case), "title": case.title, "source": "source", "target": case.shape}
        for case in select(SHAPES, [100], ["none"], [1], RECORDS / ALL[100])
    ]
    servers = kafka_broker.bootstrap_servers
    job = SessionJob("ours", servers, cases, "small", FIRST_BATCHES + 1, "target")
    session = Session(spark, job, tmp_path)
    for case in cases:
        session.run(case)
    assert len(session.small_batches(to_topic=True)) == 1
    assert len(spark.read.parquet(str(tmp_path / "1")).collect()) == RECORDS
    ends = {
        name: kafka_broker.log(TopicPartition(name, 0)).high_watermark
        for name in ("write", "mirror", "target")
    }
    assert ends == {
        "write": RECORDS,
        "mirror": RECORDS,
        "target": ROWS_PER_BATCH * (FIRST_BATCHES + 1),
    }
