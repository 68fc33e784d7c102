"""The offsets of a checkpoint: those of the last batch that was committed, of Kafka's sources."""

from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.stream.checkpoint import done_offsets, offsets_of_log


def log(*sources: str) -> str:
    return "\n".join(["v1", '{"batchWatermarkMs":0}', *sources])


def test_all_sources_of_kafka_count_and_others_are_passed_over() -> None:
    found = offsets_of_log(log('{"a":{"0":5}}', "17", "-", '{"b":{"1":6}}'), "p")
    assert found == {TopicPartition("a", 0): 5, TopicPartition("b", 1): 6}


def test_another_file_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="some/7 is not a Spark offset log"):
        offsets_of_log("hello\nworld", "some/7")


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
