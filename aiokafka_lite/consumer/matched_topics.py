"""Owns which topics a subscription by pattern may take: it believes no single metadata answer.

A broker that has just started, or an election, leaves a topic out of an answer or describes it with
an error. Letting go of it for that would lose its positions. It reads no clock. Does not wait.

One response of a broker that has just started could otherwise make a group rebalance twice.
"""

from collections.abc import Collection

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.light_named_tuple import NamedTuple

PATIENCE_S = 5.0
"""How long a topic has to be absent from every answer until it counts as deleted."""


class FoundTopics(NamedTuple):
    """What a metadata answer means for a subscription by pattern."""

    names: list[str]
    """The topics there are, whether or not they match."""
    is_in_doubt: bool
    """A topic of the subscription is absent, and has not been for long: ask again."""


class MatchedTopics:
    """Remembers since when topics of the subscription are absent from the metadata."""

    def __init__(self, *, exclude_internal: bool) -> None:
        self._exclude_internal = exclude_internal
        self._absent_since_s: dict[str, float] = {}

    def update(
        self, snapshot: MetadataSnapshot, subscribed: Collection[str], now_s: float
    ) -> FoundTopics:
        """Look at the newest answer, which is about all topics.

        A topic of `subscribed` stays while its error may pass (KafkaError.retriable), and until it
        was absent for `PATIENCE_S`. Others come once they are described without an error.
        """
        names = [name for name in snapshot.topics if self._is_there(name, snapshot, subscribed)]
        absent = [name for name in subscribed if name not in snapshot.topics]
        self._absent_since_s = {
            name: self._absent_since_s.get(name, now_s) for name in sorted(absent)
        }
        in_doubt = [
            name for name, since_s in self._absent_since_s.items() if now_s < since_s + PATIENCE_S
        ]
        return FoundTopics(names + in_doubt, bool(in_doubt))

    def _is_there(self, name: str, snapshot: MetadataSnapshot, subscribed: Collection[str]) -> bool:
        topic = snapshot.topics[name]
        if topic.error is not None:
            return topic.error.retriable and name in subscribed
        return not (topic.is_internal and self._exclude_internal)


__all__ = ["PATIENCE_S", "FoundTopics", "MatchedTopics"]
