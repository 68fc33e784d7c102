"""The data source `kafka-lite` beside Spark's own Kafka connector, on a real Apache Kafka."""
