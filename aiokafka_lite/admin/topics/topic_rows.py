"""The rows of aiokafka's answers about topics. Does not wait."""

from typing import NamedTuple


class TopicError(NamedTuple):
    """The result of one topic."""

    topic: str
    error_code: int
    error_message: str | None


class TopicErrorCode(NamedTuple):
    """The result of one topic that was to be deleted."""

    topic: str
    error_code: int


__all__ = ["TopicError", "TopicErrorCode"]
