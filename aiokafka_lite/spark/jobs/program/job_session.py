"""Finds a job's Spark session: the active one, spark-submit's, or a new one for the job.

PySpark is imported when a session is needed.
"""

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, Final

from aiokafka_lite.spark.process.pyspark_zips import lasting_interpreter
from aiokafka_lite.spark.registration import register

logger = logging.getLogger(__name__)

_SUBMITTED: Final = "PYSPARK_GATEWAY_PORT"
"""spark-submit sets it for the program it starts."""
_OWN: Final = {
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
}
"""In a session for the job, unless the config sets it: stderr already shows the progress."""


@contextmanager
def session(job: str, settings: Mapping[str, str], *, by_value: bool = False) -> Iterator[Any]:
    """Lend a session that knows kafka-lite. A session made here is stopped at the end.

    `by_value` brings the package to executors. A setting `remote` (or SPARK_REMOTE) names a server
    of Spark Connect instead of a master.

    Under spark-submit, or with an active session, the master stays unchanged. Otherwise it is the
    config's, or local[*]. Executors then use this interpreter, unless PYSPARK_PYTHON or a setting
    names another. Spark's default is the `python3` of the path, which may lack the package. On this
    machine alone they use it without the zips of PySpark.
    """
    from pyspark.sql import SparkSession  # noqa: PLC0415

    is_own = SparkSession.getActiveSession() is None and _SUBMITTED not in os.environ
    named = {_full_name(name): value for name, value in settings.items()}
    if is_own and _is_remote(named):
        pass  # the server has its master, its interpreter and its own settings
    elif is_own:
        named = {"spark.master": "local[*]", "spark.app.name": f"kafka-lite {job}", **_OWN, **named}
        os.environ.setdefault("PYSPARK_PYTHON", _python(named))
    elif named.pop("spark.master", None) is not None:
        logger.warning("spark.master of the config is without effect: a master is there already")
    builder = SparkSession.builder
    for name, value in named.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        register(spark, by_value=by_value)
        yield spark
    except BaseException:
        if is_own:
            # A JVM that has ended cannot be stopped, and the job's own error matters more.
            with suppress(Exception):
                spark.stop()
        raise
    if is_own:
        spark.stop()


def _python(settings: Mapping[str, str]) -> str:
    """Return the interpreter of Spark's processes."""
    if "spark.pyspark.python" in settings:
        return settings["spark.pyspark.python"]
    if settings["spark.master"].startswith("local"):
        return lasting_interpreter()
    return sys.executable  # on other machines, too


def _is_remote(named: Mapping[str, str]) -> bool:
    return "spark.remote" in named or "SPARK_REMOTE" in os.environ


def _full_name(name: str) -> str:
    return name if name.startswith("spark.") else f"spark.{name}"


__all__ = ["session"]
