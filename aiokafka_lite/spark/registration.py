"""Makes the data source known to a Spark session; PySpark is imported when that is asked for."""

from typing import TYPE_CHECKING

from aiokafka_lite.spark.process.cargo import TravellingClass, sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession", *, by_value: bool = False) -> None:
    """Make `spark.read.format("kafka-lite")` and its like work in this session.

    Calling it again is harmless. Spark starts Python, on driver and executors, with
    `spark.pyspark.python` or `$PYSPARK_PYTHON`, and the package has to be installed there; unless
    by_value: then its sources are sent along (0.4 MB, with each task), and run without the compiled
    parts. What it stands on, anyio and pyarrow and a codec's library, has to be there in any case.
    Raises ImportError, with the remedy, without PySpark 4.
    """
    try:
        from aiokafka_lite.spark.source import KafkaLiteDataSource  # noqa: PLC0415 - see above
    except ImportError as error:
        raise ImportError(
            "this needs PySpark 4 and pyarrow: pip install 'aiokafka-lite[spark]'"
        ) from error
    archive = sources() if by_value else None
    spark.dataSource.register(TravellingClass(KafkaLiteDataSource, archive))


__all__ = ["register"]
