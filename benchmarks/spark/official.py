"""The jars of Spark's own Kafka connector, which benchmarks and tests compare with."""

from pathlib import Path

from aiokafka_lite.testing.java_runtime import fetched_jars

VERSION = "4.2.0"
# A set that works together. The token provider of 4.2.0 was never published.
JARS = [
    ("org.apache.spark", "spark-sql-kafka-0-10_2.13", VERSION),
    ("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", "4.0.0"),
    ("org.apache.kafka", "kafka-clients", "3.9.2"),
    ("org.apache.commons", "commons-pool2", "2.13.1"),
]


def official_jars() -> list[Path]:
    """Return the jars for `spark.jars`, downloaded at first use."""
    return sorted(fetched_jars(f"spark-kafka-{VERSION}", JARS, transitive=False).glob("*.jar"))
