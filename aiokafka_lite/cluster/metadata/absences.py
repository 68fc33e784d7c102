"""Owns when a topic or a partition counts as deleted: no single metadata answer is believed.

A broker that has just started may leave out a topic or a partition, or describe it with an error.
So may one during an election. Letting go of it would lose positions, move keys to other partitions,
and let groups rebalance. So what an answer leaves out stays as it was known. It goes once it was
absent from every answer for `PATIENCE_S`. A topic with another id is another topic at once. A
partition of a topic with the same id never goes, since Kafka only adds partitions. franz-go keeps
such data, too. It reads no clock. Does not wait.
"""

from collections.abc import Callable
from typing import Final

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    TopicMetadata,
    make_snapshot,
    rebuild_topic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataResponse
from aiokafka_lite.schema.field_types import ZERO_UUID

PATIENCE_S: Final = 5.0
"""How long a topic or partition has to be absent from every answer until it counts as deleted."""

_Part = tuple[str, int | None]
"""A topic (None), or a partition of it."""


class Absences:
    """Remembers since when topics, and partitions of topics without an id, are absent."""

    def __init__(self) -> None:
        self._since_s: dict[_Part, float] = {}

    @property
    def are_in_doubt(self) -> bool:
        """Whether the newest answer left something out that has not been absent for long."""
        return bool(self._since_s)

    def restored(
        self,
        before: MetadataSnapshot,
        after: MetadataSnapshot,
        response: MetadataResponse,
        is_wanted: Callable[[str], bool],
        now_s: float,
    ) -> MetadataSnapshot:
        """Return `after` with what `response` has left out, as `before` has it.

        Only of topics that are wanted. With another cluster id, nothing known before stays.
        """
        earlier, self._since_s = self._since_s, {}
        described = {topic.name for topic in response.topics} if earlier else ()
        if None not in (before.cluster_id, after.cluster_id) and (
            before.cluster_id != after.cluster_id
        ):
            return after
        kept: dict[str, TopicMetadata] = {}
        for name, known in before.topics.items():
            told = after.topics.get(name)
            if (name, None) in earlier and told is not None and name not in described:
                self._since_s[name, None] = earlier[name, None]  # it may still be absent
                continue
            if told is known:
                continue
            if not known.partitions or not is_wanted(name) or not _may_be_the_same(known, told):
                continue
            if told is None or told.error is not None:
                if self._is_in_doubt((name, None), earlier, now_s):
                    topic = known if told is None else told
                    partitions, epochs = known.partitions, known.seen_epochs
                    kept[name] = rebuild_topic(topic, after.nodes, partitions, epochs)
                continue
            has_id = ZERO_UUID not in (known.topic_id, told.topic_id)
            missing = {
                index: partition
                for index, partition in known.partitions.items()
                if index not in told.partitions
                and (has_id or self._is_in_doubt((name, index), earlier, now_s))
            }
            if missing:
                partitions = dict(sorted({**told.partitions, **missing}.items()))
                epochs = {**known.seen_epochs, **told.seen_epochs}
                kept[name] = rebuild_topic(told, after.nodes, partitions, epochs)
        if not kept:
            return after
        return make_snapshot(
            after.version,
            after.nodes,
            after.controller_id,
            after.cluster_id,
            {**after.topics, **kept},
        )

    def _is_in_doubt(self, what: _Part, earlier: dict[_Part, float], now_s: float) -> bool:
        """Say whether it has not been absent for long yet."""
        first_s = earlier.get(what, now_s)
        if now_s >= first_s + PATIENCE_S:
            return False
        self._since_s[what] = first_s
        return True


def _may_be_the_same(known: TopicMetadata, told: TopicMetadata | None) -> bool:
    """Say whether an answer leaves open that the topic is still there."""
    if told is None:
        return True
    return ZERO_UUID in (known.topic_id, told.topic_id) or known.topic_id == told.topic_id


__all__ = ["PATIENCE_S", "Absences"]
