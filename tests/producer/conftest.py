"""Fixtures of the producer's tests."""

from tests.producer.twins import twin

__all__ = ["twin"]
