"""Reads the offsets of Kafka after the last committed batch from a Spark checkpoint.

It only reads, and through Spark, so every file system of Spark works.
"""

import json
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
    if not version.startswith("v"):
        raise ValueError(f"{path} is not a Spark offset log: it begins with {version[:40]!r}")
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


def _file_names(spark: Any, folder: str) -> list[str]:
    """Return the names of the files in a folder; an empty list without the folder."""
    jvm = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    if not files.exists(path):
        return []
    return [str(each.getPath().getName()) for each in files.listStatus(path)]


__all__ = ["done_offsets", "offsets_of_log"]
