"""Owns what a checkpoint of Spark's says about Kafka: the offsets after the last batch that was
committed. It only reads, through Spark, so any file system of Spark's will do.
"""

import json
from collections.abc import Iterable
from typing import Any

from aiokafka_lite.spark.offsets import Offsets


def done_offsets(spark: Any, checkpoint: str) -> Offsets | None:
    """Return the next offsets of a stream; None where there is no checkpoint, or no batch yet.

    Raises ValueError for a folder with files that are no checkpoint's.
    """
    committed = _newest(_file_names(spark, f"{checkpoint}/commits"))
    if committed is None:
        return None
    path = f"{checkpoint}/offsets/{committed}"
    rows = spark.read.text(path, wholetext=True).collect()
    return offsets_of_log("".join(row[0] for row in rows), path)


def offsets_of_log(text: str, path: str) -> Offsets:
    """Read a file of the folder `offsets`: a version, the batch's metadata, and a line of JSON for
    each source. Sources that are not Kafka are passed over. Raises ValueError, naming the path.
    """
    version, *lines = text.splitlines()
    if not version.startswith("v"):
        raise ValueError(f"{path} is no offset log of Spark's: it begins with {version[:40]!r}")
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
    """Return the names of the files in a folder, none where there is no folder."""
    jvm = spark.sparkContext._jvm
    path = jvm.org.apache.hadoop.fs.Path(folder)
    files = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
    if not files.exists(path):
        return []
    return [str(each.getPath().getName()) for each in files.listStatus(path)]


__all__ = ["done_offsets", "offsets_of_log"]
