"""A job that was killed goes on with the batch that it had begun, or behind its last one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.stream.batch_log import BatchLog, NotedBatch, next_batch
from aiokafka_lite.spark.offsets import Offsets

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)
FIRST, END = Offsets({T0: 2, T1: 0}), Offsets({T0: 9, T1: 5})
NOTED = NotedBatch(job_id="id", number=3, start=Offsets({T0: 2}), end=Offsets({T0: 4}))


def test_the_first_batch_of_a_job_has_a_new_id() -> None:
    batch, end = next_batch(None, FIRST, END)
    assert (batch.number, batch.start, end) == (0, FIRST, None)
    assert batch.options == {"txnAppId": batch.job_id, "txnVersion": "0"}
    assert next_batch(None, FIRST, END)[0].job_id != batch.job_id


def test_a_batch_that_was_begun_comes_again_as_it_was() -> None:
    assert next_batch(NOTED, FIRST, END) == (NOTED, Offsets({T0: 4}))


def test_behind_a_batch_that_is_done_the_next_one_begins() -> None:
    batch, end = next_batch(replace(NOTED, is_done=True), FIRST, END)
    assert (batch.job_id, batch.number, batch.is_done, end) == ("id", 4, False, None)
    assert batch.start == {T0: 4, T1: 0}
    shorter = next_batch(replace(NOTED, is_done=True), Offsets({T0: 2}), Offsets({T0: 3}))[0]
    assert shorter.start == {T0: 3}  # the rest is not to be written any more


def test_what_another_program_wrote_is_refused() -> None:
    for noted in (NOTED, replace(NOTED, rows=Offsets({T0: 2}))):
        assert NotedBatch.from_json(noted.to_json(), 3, is_done=False) == noted
    for text in ("hello", "[]", '{"id":"x"}'):
        with pytest.raises(ValueError, match="the note of batch 3 is not one of this job"):
            NotedBatch.from_json(text, 3, is_done=False)


def test_notes_outlive_the_job(spark: Any, tmp_path: Path) -> None:
    log = BatchLog(spark, f"{tmp_path}/_notes/")
    assert log.newest() is None
    for number in (9, 10):
        batch = replace(NOTED, number=number)
        log.begin(batch)
        assert log.newest() == batch
        log.done(batch)
        assert log.newest() == replace(batch, is_done=True)
    (tmp_path / "_notes" / "offsets" / "11" / "_temporary").mkdir(parents=True)
    assert log.newest() == replace(NOTED, number=10, is_done=True)
