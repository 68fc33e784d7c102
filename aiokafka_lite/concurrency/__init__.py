"""Asyncio helpers that know nothing of Kafka."""
