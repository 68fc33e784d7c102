"""What the partitions of ShareFetch and ShareAcknowledge responses say: errors, and new leaders.

Plain functions. Source: KIP-932, KIP-951, ShareFetchCollector.
"""

from typing import Final

from aiokafka_lite.cluster.metadata.leader_updates import leader_hints
from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.errors import (
    FencedStateEpochError,
    GroupIdNotFound,
    KafkaError,
    UnknownError,
    for_code,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages._share import LeaderIdAndEpoch

Hints = list[tuple[TopicPartition, KafkaError, LeaderIdAndEpoch]]
"""Partitions, the errors about them, and the leaders that stand beside the errors."""

RECOVERING: Final = (UnknownError, FencedStateEpochError, GroupIdNotFound)
"""A leader that cannot read or write the group's state answers with these. It drops what it knows,
and reads the state anew for the next fetch.
"""


def error_about(tp: TopicPartition, code: int, message: str | None) -> KafkaError:
    """Return the error that a response has for a partition."""
    kind = for_code(code)
    return kind(f"{tp.topic}-{tp.partition}: {kind.explained(message)}")


def leaders_named(hints: Hints) -> dict[TopicPartition, LeaderAndEpoch]:
    """Return the leaders to ask instead. Where none is meant, a response has 0 for both numbers."""
    return leader_hints(
        (tp, leader)
        for tp, error, leader in hints
        if error.invalid_metadata and leader.leader_epoch > 0
    )


__all__ = ["RECOVERING", "Hints", "error_about", "leaders_named"]
