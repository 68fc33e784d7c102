"""Owns the patience with partitions nobody leads: the log hears of them once, the user in the end.

It reads metadata and decides; it asks nobody and does not wait.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import KafkaError, UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

LOG_AFTER_S = 1.0
"""An election, or a topic being created, is over sooner and not worth a line."""


def why_unreadable(tp: TopicPartition, snapshot: MetadataSnapshot) -> str:
    """Say in words what the metadata has against a partition that has no leader."""
    if tp.topic not in snapshot.topics:
        return "no broker has described the topic yet"
    said = snapshot.topic_error(tp.topic)
    if said is not None:
        return f"{said.message} ({said.description})"
    if tp.partition not in snapshot.partition_ids(tp.topic):
        count = len(snapshot.partition_ids(tp.topic))
        return f"the topic has {count} partitions, numbered from 0"
    return "it has no leader"


def missed(
    leaderless: Iterable[TopicPartition],
    subscription: SubscriptionState,
    snapshot: MetadataSnapshot,
) -> tuple[TopicPartition, ...]:
    """Return the partitions whose absence is the user's business.

    Those of a subscription that do not exist any more are not: nobody named them, and their topic
    may come again.
    """
    return tuple(
        tp
        for tp in leaderless
        if not subscription.is_subscribed or tp.partition in snapshot.partition_ids(tp.topic)
    )


@dataclass(slots=True)
class _Absence:
    since_s: float
    is_logged: bool = False


class LeaderWatch:
    """Remembers since when partitions have no leader, and topics no partitions.

    `patience_s`: how long a partition that was named and does not exist, as far as the metadata
    says, is waited for before the user hears of it. A partition that exists is waited for without
    end, an election or a restart is on its way; so is a subscribed topic, it may come later.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self.due_at_s: float | None = None
        """When `check` may have something new to say without new metadata; None: never."""
        self._absences: dict[TopicPartition | str, _Absence] = {}

    def check(
        self,
        leaderless: Iterable[TopicPartition],
        missing_topics: Iterable[str],
        snapshot: MetadataSnapshot,
        now_s: float,
    ) -> KafkaError | None:
        """Return the error the user has to hear of now, if any. Both iterables are complete."""
        everything: list[TopicPartition | str] = [*leaderless, *missing_topics]
        before = self._absences
        self._absences = {
            missing: before.get(missing) or _Absence(now_s) for missing in dict.fromkeys(everything)
        }
        self.due_at_s = min(
            (
                absence.since_s + delay_s
                for absence in self._absences.values()
                for delay_s in (LOG_AFTER_S, self._patience_s)
                if absence.since_s + delay_s > now_s
            ),
            default=None,
        )
        for missing, absence in self._absences.items():
            error = self._verdict(missing, absence, snapshot, now_s)
            if error is not None:
                return error
        return None

    def _verdict(
        self,
        missing: TopicPartition | str,
        absence: _Absence,
        snapshot: MetadataSnapshot,
        now_s: float,
    ) -> KafkaError | None:
        tp = TopicPartition(missing, 0) if isinstance(missing, str) else missing
        if tp.topic not in snapshot.topics:
            return None  # nobody has answered yet
        reason = why_unreadable(tp, snapshot)
        said = snapshot.topic_error(tp.topic)
        if said is not None and not said.retriable:
            return said(f"topic {tp.topic!r}: {reason}")
        waited_s = now_s - absence.since_s
        name = missing if isinstance(missing, str) else f"{tp.topic}-{tp.partition}"
        if waited_s >= LOG_AFTER_S and not absence.is_logged:
            absence.is_logged = True
            logger.warning("%s cannot be read: %s; waiting", name, reason)
        exists = tp.partition in snapshot.partition_ids(tp.topic)
        if exists or isinstance(missing, str) or waited_s < self._patience_s:
            return None
        absence.since_s = now_s  # should the user go on, the waiting begins anew
        return UnknownTopicOrPartitionError(
            f"{name} does not exist after {self._patience_s:g} s: {reason}; "
            f"create it, check its name, or assign others"
        )


__all__ = ["LeaderWatch", "missed", "why_unreadable"]
