"""The offsets of a checkpoint: those of the last batch that was committed, of Kafka's sources."""

from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.stream.checkpoint import (
    batch_options,
    done_offsets,
    is_connect,
    offsets_of_log,
    stream_id,
)


def log(*sources: str) -> str:
    return "\n".join(["v1", '{"batchWatermarkMs":0}', *sources])


def test_all_sources_of_kafka_count_and_others_are_passed_over() -> None:
    found = offsets_of_log(log('{"a":{"0":5}}', "17", "-", '{"b":{"1":6}}'), "p")
    assert found == {TopicPartition("a", 0): 5, TopicPartition("b", 1): 6}


def test_another_file_is_refused_by_name() -> None:
    for text in ("hello\nworld", 'v2\n{}\n{"0":{"t":{"0":5}}}'):
        with pytest.raises(ValueError, match="some/7 is not a Spark offset log of version 1"):
            offsets_of_log(text, "some/7")


def test_a_batch_that_was_planned_and_not_committed_does_not_count(
    spark: Any, tmp_path: Path
) -> None:
    assert done_offsets(spark, str(tmp_path / "none")) is None
    checkpoint = tmp_path / "_checkpoint"  # hidden files are not read by Spark's own readers
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True)
    assert done_offsets(spark, str(checkpoint)) is None
    for batch in range(11):
        (checkpoint / "offsets" / str(batch)).write_text(log(f'{{"t":{{"0":{batch}}}}}'))
    for name in ("0", "9", ".9.crc", "metadata"):
        (checkpoint / "commits" / name).write_text("v1\n{}")
    assert done_offsets(spark, str(checkpoint)) == {TopicPartition("t", 0): 9}


def test_a_stream_is_named_by_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "metadata").write_text('{"id":"1b4e28ba"}')
    assert stream_id(spark, str(tmp_path)) == "1b4e28ba"
    (tmp_path / "metadata").write_text("hello")
    with pytest.raises(ValueError, match="metadata is not a file of a Spark checkpoint"):
        stream_id(spark, str(tmp_path))


def test_a_batch_is_named_where_spark_does_not_do_it(spark: Any, tmp_path: Path) -> None:
    """Over Spark Connect; elsewhere the tasks know it."""
    (tmp_path / "metadata").write_text('{"id":"1b4e28ba"}')
    remote = type("SparkSession", (), {"__module__": "pyspark.sql.connect.session"})()
    remote.read = spark.read
    batch = type("Batch", (), {"sparkSession": remote})
    assert is_connect(remote)
    assert batch_options(batch, 7, str(tmp_path)) == {"txnAppId": "1b4e28ba", "txnVersion": "7"}
    assert batch_options(spark.range(1), 7, str(tmp_path)) == {}
