"""Reads the offsets of Kafka after the last committed batch from a Spark checkpoint.

It only reads, and through Spark, so every file system of Spark works.
"""

import json
import uuid
from collections.abc import Iterable
from typing import Any

from aiokafka_lite.spark.offsets import Offsets


def done_offsets(spark: Any, checkpoint: str) -> Offsets | None:
    """Return the next offsets of a stream; None without a checkpoint, or without a batch in it.

    Raises: ValueError for a folder whose files are not a checkpoint's.
    """
    committed = _newest(_file_names(spark, f"{checkpoint}/commits"))
    if committed is None:
        return None
    path = f"{checkpoint}/offsets/{committed}"
    rows = spark.read.text(path, wholetext=True).collect()
    return offsets_of_log("".join(row[0] for row in rows), path)


def offsets_of_log(text: str, path: str) -> Offsets:
    """Read a file of the folder `offsets`.

    It holds a version, the batch's metadata, and a line of JSON for each source. Sources other than
    Kafka are skipped.

    Raises: ValueError, naming the path.
    """
    version, *lines = text.splitlines()
    if version != "v1":
        raise ValueError(
            f"{path} is not a Spark offset log of version 1: it begins with {version[:40]!r}. Leave"
            " spark.sql.streaming.offsetLog.formatVersion at 1"
        )
    found = Offsets()
    for line in lines[1:]:
        try:
            found.update(Offsets.from_nested(json.loads(line)))
        except ValueError:
            continue
    return found


def _newest(names: Iterable[str]) -> int | None:
    numbers = [int(name) for name in names if name.isdecimal()]
    return max(numbers, default=None)


def folder_numbers(spark: Any, folder: str) -> set[int]:
    """Return the numbers that name folders in a folder, of those that Spark has written whole."""
    parents = [path.rsplit("/", 2)[-2] for path in _paths(spark, f"{folder}/*")]
    return {int(name) for name in parents if name.isdecimal()}


def _file_names(spark: Any, folder: str) -> list[str]:
    """Return the names of the files in a folder; an empty list without the folder."""
    return [path.rsplit("/", 1)[-1] for path in _paths(spark, folder)]


def _paths(spark: Any, folder: str) -> list[str]:
    from pyspark.errors import AnalysisException  # noqa: PLC0415 - PySpark, only where a job runs

    try:
        # The contents are not read, because only the paths are asked for.
        rows = spark.read.format("binaryFile").load(folder).select("path").collect()
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return []
    return [str(row["path"]) for row in rows]


def stream_id(spark: Any, checkpoint: str) -> str:
    """Return the id of the stream that has this checkpoint, the same at each start.

    Raises: Spark's error without a checkpoint; ValueError for another file.
    """
    path = f"{checkpoint}/metadata"
    text = "".join(row[0] for row in spark.read.text(path, wholetext=True).collect())
    try:
        return str(json.loads(text)["id"])
    except (ValueError, TypeError, KeyError):
        raise ValueError(f"{path} is not a file of a Spark checkpoint") from None


def is_connect(spark: Any) -> bool:
    """Return whether a session is one of Spark Connect, which has no JVM of its own."""
    return type(spark).__module__.startswith("pyspark.sql.connect")


def query_options(spark: Any) -> dict[str, str]:
    """Return the options of a transactional write that is one batch, and never comes again."""
    return {"txnAppId": str(uuid.uuid4()), "txnVersion": "0"} if is_connect(spark) else {}


def batch_options(batch: Any, batch_id: int, checkpoint: str) -> dict[str, str]:
    """Return the options that tell a transactional write in foreachBatch its query and batch.

    Over Spark Connect tasks do not know them. They are those that Spark tells elsewhere.
    """
    spark = batch.sparkSession
    if not is_connect(spark):
        return {}
    return {"txnAppId": stream_id(spark, checkpoint), "txnVersion": str(batch_id)}


__all__ = [
    "batch_options",
    "done_offsets",
    "folder_numbers",
    "is_connect",
    "offsets_of_log",
    "query_options",
    "stream_id",
]
