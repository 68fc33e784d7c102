"""Reading Kafka: planning, ranges, Arrow batches."""
