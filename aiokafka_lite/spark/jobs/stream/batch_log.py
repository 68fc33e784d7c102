"""Notes the batches of a job that is no stream, so that it goes on after it was killed.

A batch is noted before it is written, and again when it is done, as in Spark's checkpoints. A batch
that was begun comes again with the same offsets and the same number. It goes through Spark, so
every file system of Spark works.
"""

import json
import uuid
from dataclasses import dataclass, replace
from typing import Any

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.spark.jobs.stream.checkpoint import folder_numbers
from aiokafka_lite.spark.offsets import Offsets


@dataclass(frozen=True, kw_only=True)
class NotedBatch:
    """A batch, and the job that it is one of."""

    job_id: str
    """Made at the first batch in this folder."""
    number: int
    start: Offsets
    end: Offsets
    rows: Offsets | None = None
    """How many rows the input had then in files that begin before `end`, by partition; None: not
    noted.
    """
    is_done: bool = False

    def to_json(self) -> str:
        """Return the text of its file."""
        offsets = {"start": self.start.to_nested(), "end": self.end.to_nested()}
        if self.rows is not None:
            offsets["rows"] = self.rows.to_nested()
        return json.dumps({"id": self.job_id, **offsets}, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str, number: int, *, is_done: bool) -> "NotedBatch":
        """Read such a text. Raises: ValueError for another."""
        try:
            told = json.loads(text)
            start, end = (Offsets.from_nested(told[name]) for name in ("start", "end"))
            rows = Offsets.from_nested(told["rows"]) if "rows" in told else None
            made = cls(job_id=str(told["id"]), number=number, start=start, end=end, rows=rows)
            return replace(made, is_done=is_done)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"the note of batch {number} is not one of this job") from error

    @property
    def options(self) -> dict[str, str]:
        """Return the options of a transactional write, by which a repetition counts once."""
        return {"txnAppId": self.job_id, "txnVersion": str(self.number)}


class BatchLog:
    """The notes of one job in a folder, which is this job's alone."""

    def __init__(self, spark: Any, folder: str) -> None:
        self._spark = spark
        self._folder = folder.rstrip("/")

    def newest(self) -> NotedBatch | None:
        """Return the batch that was noted last; None without any. Raises: ValueError."""
        number = max(folder_numbers(self._spark, f"{self._folder}/offsets"), default=None)
        if number is None:
            return None
        rows = self._spark.read.text(f"{self._folder}/offsets/{number}").collect()
        done = folder_numbers(self._spark, f"{self._folder}/commits")
        return NotedBatch.from_json("".join(r[0] for r in rows), number, is_done=number in done)

    def begin(self, batch: NotedBatch) -> None:
        """Note a batch that will be written."""
        self._write(f"offsets/{batch.number}", batch.to_json())

    def done(self, batch: NotedBatch) -> None:
        """Note that a batch is written."""
        self._write(f"commits/{batch.number}", "{}")

    def _write(self, name: str, text: str) -> None:
        frame = self._spark.createDataFrame([(text,)], "value string").coalesce(1)
        frame.write.mode("overwrite").text(f"{self._folder}/{name}")


def next_batch(
    newest: NotedBatch | None, first: Offsets, end: Offsets
) -> tuple[NotedBatch, Offsets | None]:
    """Return a batch with id, number and start, and the end it has to have; None: any.

    `first` and `end` are those of what there is to write.
    """
    if newest is None:
        return NotedBatch(job_id=str(uuid.uuid4()), number=0, start=first, end=first), None
    if not newest.is_done:
        return newest, newest.end
    start = Offsets({tp: min(_later(newest.end, tp, at), end[tp]) for tp, at in first.items()})
    number = newest.number + 1
    return replace(newest, number=number, start=start, end=start, rows=None, is_done=False), None


def _later(done: Offsets, tp: TopicPartition, first: int) -> int:
    return max(done.get(tp, first), first)


__all__ = ["BatchLog", "NotedBatch", "next_batch"]
