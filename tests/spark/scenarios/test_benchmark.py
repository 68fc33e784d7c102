"""What the benchmark does in a session of Spark: each shape once, with few records."""

import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from benchmarks.spark.cases import (
    FIRST_BATCHES,
    ROWS_PER_BATCH,
    SHAPES,
    WRITING,
    SessionJob,
    select,
)
from benchmarks.spark.cases import RECORDS as ALL
from benchmarks.spark.session import Session
from tests.spark.support.topics import fill

RECORDS = 12


def test_every_shape_runs_to_its_end(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    for name in ("source", "small", "target", *WRITING):
        kafka_broker.create_topic(name, partitions=1)
    fill(kafka_broker, TopicPartition("source", 0), RECORDS)
    fill(kafka_broker, TopicPartition("small", 0), *[ROWS_PER_BATCH] * (FIRST_BATCHES + 1))
    cases = [
        {**asdict(case), "title": case.title, "source": "source", "target": case.shape}
        for case in select(SHAPES, [100], ["none"], [1], RECORDS / ALL[100], batches=2)
    ]
    servers = kafka_broker.bootstrap_servers
    job = SessionJob("ours", servers, cases, "small", FIRST_BATCHES + 1, "target")
    session = Session(spark, job, tmp_path)
    for case in cases:
        session.run(case)
    assert len(session.small_batches(to_topic=True)) == 1
    assert len(spark.read.parquet(str(tmp_path / "1")).collect()) == RECORDS
    assert end_of(kafka_broker, "target") == ROWS_PER_BATCH * (FIRST_BATCHES + 1)
    assert [end_of(kafka_broker, name) for name in WRITING] == [RECORDS] * len(WRITING)


def test_a_mirror_follows_until_it_is_told(
    spark: Any, kafka_broker: EmbeddedBroker, tmp_path: Path
) -> None:
    for name in ("source", "target"):
        kafka_broker.create_topic(name)
    session = Session(
        spark, SessionJob("ours", kafka_broker.bootstrap_servers, [], "", 0, ""), tmp_path
    )
    ends: list[int] = []

    def feed() -> None:
        for number in range(1, 4):
            fill(kafka_broker, TopicPartition("source", 0), 10)
            while end_of(kafka_broker, "target") < 10 * number:
                time.sleep(0.01)  # Spark is another process, without an event for it
            ends.append(end_of(kafka_broker, "target"))

    session.follow("source", "target", feed)
    assert ends == [10, 20, 30]
    assert not spark.streams.active


def end_of(broker: EmbeddedBroker, topic: str) -> int:
    return broker.log(TopicPartition(topic, 0)).high_watermark
