"""Registers the data source in a Spark session; PySpark is imported then."""

from typing import TYPE_CHECKING

from aiokafka_lite.spark.process.cargo import TravellingClass, sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession", *, by_value: bool = False) -> None:
    """Make `spark.read.format("kafka-lite")` and the other formats work in this session.

    Calling it again is harmless. Spark starts Python on driver and executors with
    `spark.pyspark.python` or `$PYSPARK_PYTHON`, where the package must be installed. With
    `by_value` each task carries the package's sources (0.4 MB) instead, and they run without the
    compiled parts. anyio, pyarrow and the codecs' libraries must be installed in any case.

    Raises: ImportError, with the remedy, without PySpark 4.
    """
    try:
        from aiokafka_lite.spark.source import KafkaLiteDataSource  # noqa: PLC0415
    except ImportError as error:
        raise ImportError(
            "this needs PySpark 4 and pyarrow: pip install 'aiokafka-lite[spark]'"
        ) from error
    archive = sources() if by_value else None
    spark.dataSource.register(TravellingClass(KafkaLiteDataSource, archive))


__all__ = ["register"]
