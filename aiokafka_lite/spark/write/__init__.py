"""Writing Kafka: rows, and transactions."""
