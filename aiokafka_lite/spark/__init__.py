"""Reads and writes Kafka from Spark without a jar: the PySpark data source `kafka-lite`."""

from aiokafka_lite.spark.registration import register

__all__ = ["register"]
