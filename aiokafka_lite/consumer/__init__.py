"""Reading from Kafka; each module says what it owns."""
