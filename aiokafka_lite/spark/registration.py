"""Makes the data source known to a Spark session; PySpark is imported when that is asked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def register(spark: "SparkSession") -> None:
    """Make `spark.read.format("kafka-lite")` and its like work in this session.

    Calling it again is harmless. The package has to be installed where executors run Python; on
    the driver, Spark starts Python with `spark.pyspark.python` or `$PYSPARK_PYTHON`, which must be
    an interpreter that has it, too. Raises ImportError, with the remedy, without PySpark 4.
    """
    try:
        from aiokafka_lite.spark.source import KafkaLiteDataSource  # noqa: PLC0415 - see above
    except ImportError as error:
        raise ImportError(
            "this needs PySpark 4 and pyarrow: pip install 'aiokafka-lite[spark]'"
        ) from error
    spark.dataSource.register(KafkaLiteDataSource)


__all__ = ["register"]
