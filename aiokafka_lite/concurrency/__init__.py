"""Asyncio idioms that know nothing of Kafka."""
