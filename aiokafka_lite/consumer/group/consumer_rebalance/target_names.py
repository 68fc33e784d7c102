"""Finds the names of the topics in an assignment, which has their ids. Does not wait.

A topic that the metadata does not know yet stays in the target: the next metadata may name it.
Source: KIP-848.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import TopicIdPartitions
from aiokafka_lite.model import TopicPartition


class NamedTarget(NamedTuple):
    """An assignment as far as its topics have names."""

    partitions: frozenset[TopicPartition]
    ids: TopicIdPartitions
    """The same partitions as the coordinator names them."""
    unknown: frozenset[UUID]
    """The topics whose names are not known."""
    topic_ids: Mapping[str, UUID]
    """The ids of the topics by name."""


def named_target(target: TopicIdPartitions, name_of: Callable[[UUID], str | None]) -> NamedTarget:
    """Return the part of `target` whose topics have names, and the ids of the others."""
    names = {topic_id: name_of(topic_id) for topic_id, _ in target}
    ids = frozenset(each for each in target if names[each[0]] is not None)
    return NamedTarget(
        frozenset(_partitions(ids, names)),
        ids,
        frozenset(topic_id for topic_id, name in names.items() if name is None),
        {name: topic_id for topic_id, name in names.items() if name is not None},
    )


def _partitions(
    ids: Iterable[tuple[UUID, int]], names: dict[UUID, str | None]
) -> Iterable[TopicPartition]:
    for topic_id, partition in ids:
        name = names[topic_id]
        if name is not None:
            yield TopicPartition(name, partition)


__all__ = ["NamedTarget", "named_target"]
