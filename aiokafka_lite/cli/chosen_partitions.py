"""Checks the partitions that a command names against those of the topic. Does not wait."""

from collections.abc import Collection, Iterable

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import UnknownTopicOrPartitionError


def check_partitions(topic: str, known: Collection[int], wanted: Iterable[int]) -> None:
    """Do nothing if a topic has all partitions that are wanted.

    Raises: UnknownTopicOrPartitionError naming those that it does not have.
    """
    if missing := set(wanted).difference(known):
        raise UnknownTopicOrPartitionError(
            f"topic {quoted(topic)} has partitions 0 to {max(known)}, not {sorted(missing)}"
        )


__all__ = ["check_partitions"]
