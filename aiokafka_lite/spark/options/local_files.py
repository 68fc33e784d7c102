"""Finds the files that security options name, on the machine of this process.

Spark gives driver and executors a folder with the files of `spark-submit --files`, `spark.files`
and `SparkContext.addFile`. A relative path is also looked for there. Reads no file. Does not wait.
"""

import socket
import sys
from pathlib import Path
from typing import Any

from aiokafka_lite.errors import KafkaConfigurationError


def local_file(option: str, path: str) -> str:
    """Return the path of a file that exists here.

    A relative path is one below the working directory, or else below Spark's folder of files.

    Raises: KafkaConfigurationError naming the option, the file and this machine, with the remedy.
    """
    if _exists(path):
        return path
    folder = spark_folder()
    if folder is not None and not Path(path).is_absolute():
        found = str(Path(folder, path))
        if _exists(found):
            return found
    raise KafkaConfigurationError(
        f"{option}: the file {path!r} is not here, on {socket.gethostname()}. Put it at this path"
        " on every machine of driver and executors; or distribute it by spark-submit --files,"
        f" spark.files or SparkContext.addFile, and name it {Path(path).name!r}"
    )


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a folder that this user may not read, or a name that is too long
        return False


def spark_folder() -> str | None:
    """Return the folder of the files that Spark distributes; None outside of Spark's processes."""
    spark: Any = sys.modules.get("pyspark")  # where it is not imported, Spark has no folder
    if spark is None:
        return None
    try:
        return str(spark.SparkFiles.getRootDirectory())
    except Exception:  # noqa: BLE001 - a program without a session, or with one that has ended
        return None


__all__ = ["local_file", "spark_folder"]
