"""Owns the checks of what users pass to the consumer's methods; error texts are aiokafka's.

Plain functions; nothing is kept and nothing waits.
"""

import warnings
from collections.abc import Iterable

from aiokafka_lite.model import TopicPartition


def is_int_from(minimum: int, value: object) -> bool:
    """Say whether `value` is an int of at least `minimum`."""
    return isinstance(value, int) and value >= minimum


def check_partitions(
    partitions: Iterable[object], text: str = "partitions must be TopicPartition instances"
) -> None:
    """Raise TypeError, beginning with `text`, for anything but TopicPartitions."""
    for partition in partitions:
        if not isinstance(partition, TopicPartition):
            raise TypeError(f"{text}, not {type(partition).__name__}")


def checked_topics(topics: object) -> list[str]:
    """Return the names as a list. Raises TypeError for a single str or anything but str in it."""
    if isinstance(topics, str) or not isinstance(topics, Iterable):
        raise TypeError("Topics should be list of strings")
    names: list[str] = list(topics)
    if not all(isinstance(name, str) for name in names):
        raise TypeError("Topics should be list of strings")
    return names


def warn_about_options_without_effect(
    loop: object, api_version: object, consumer_timeout_ms: object
) -> None:
    """Warn, in the name of the constructor's caller, for each of these options that is given."""
    remedies = {
        "loop": (loop, "the running event loop is used"),
        "api_version": (api_version, "versions are negotiated with each broker"),
        "consumer_timeout_ms": (consumer_timeout_ms, "polls are woken when data arrives"),
    }
    for name, (value, instead) in remedies.items():
        if value is not None:
            warnings.warn(
                f"{name} has no effect: {instead}; leave it out", DeprecationWarning, stacklevel=3
            )


__all__ = [
    "check_partitions",
    "checked_topics",
    "is_int_from",
    "warn_about_options_without_effect",
]
