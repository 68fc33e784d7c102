"""Registers the data source in a Spark session; PySpark is imported then."""

from typing import TYPE_CHECKING, Final

from aiokafka_lite.spark.process.cargo import TravellingClass, carried, distributed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_CLUSTERS: Final = "spark.kafka.clusters."
_REDACTION: Final = "spark.sql.redaction.options.regex"
_SECRETS: Final = "(?i)password|secret|sasl[.]jaas[.]config|ssl[.]keystore[.]key"
"""Names of options whose values Spark hides in plans, in the UI and in logs. By itself it would
show a private key given as text."""


def register(spark: "SparkSession", *, by_value: bool = False) -> None:
    """Make `spark.read.format("kafka-lite")` and the other formats work in this session.

    Calling it again is harmless. Spark starts Python on driver and executors with
    `spark.pyspark.python` or `$PYSPARK_PYTHON`, where the package must be installed. With
    `by_value` each task carries the package's sources (up to 500 KB) instead, and they run without
    the compiled parts. A package that comes from a zip, as by `--py-files`, travels so in any case.
    The libraries anyio and pyarrow, and those of the codecs, must be installed.

    It adds the names of options with secrets to the session's `spark.sql.redaction.options.regex`.
    It warns of settings `spark.kafka.clusters.*`, which Spark's own connector alone can use.

    Raises: ImportError, with the remedy, without PySpark 4.
    """
    try:
        from aiokafka_lite.spark.source import KafkaLiteDataSource  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "this needs PySpark 4 and pyarrow: pip install 'aiokafka-lite[spark]'"
        ) from error
    archive = carried(by_value=by_value)
    place = None if archive is None else distributed(archive, spark)
    spark.dataSource.register(TravellingClass(KafkaLiteDataSource, place))
    _hide_secrets(spark)
    _warn_of_clusters(spark)


def _hide_secrets(spark: "SparkSession") -> None:
    present = spark.conf.get(_REDACTION, "") or ""
    if _SECRETS not in present:
        spark.conf.set(_REDACTION, "|".join(filter(None, [present, _SECRETS])))


def _warn_of_clusters(spark: "SparkSession") -> None:
    """Log that Spark's settings of delegation tokens do nothing here, if the session has any."""
    found = sorted(name for name in spark.conf.getAll if name.startswith(_CLUSTERS))
    if found:
        from aiokafka_lite.spark.options.kafka_keys import warn_once  # noqa: PLC0415

        warn_once(
            f"without effect in kafka-lite: {', '.join(found)}; set the option delegationToken=true"
        )


__all__ = ["register"]
