"""Owns the decision when a partition without a leader is logged, and when it is an error.

It reads metadata and sends nothing. Does not wait.
"""

import logging
from collections.abc import Collection, Iterable

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.cluster.metadata.refresh_failures import refused_topics, why_leaderless
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import KafkaError, UnknownTopicOrPartitionError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

LOG_AFTER_S = 1.0
"""The delay before the warning. Most elections and topic creations are shorter."""


def missed(
    leaderless: Collection[TopicPartition],
    subscription: SubscriptionState,
    snapshot: MetadataSnapshot,
) -> tuple[TopicPartition, ...]:
    """Return those of `leaderless` that a timeout error names.

    It leaves out partitions that have a leader by now, and those that no longer exist and come from
    a subscription. The user has not named these, and their topic may be created again.
    """
    if not leaderless:
        return ()  # as each time a poll waits
    return tuple(
        tp
        for tp in leaderless
        if snapshot.leader(tp).node_id is None
        and (not subscription.is_subscribed or tp.partition in snapshot.partition_ids(tp.topic))
    )


@dataclass(slots=True, eq=False)
class _Absence:
    since_s: float
    is_logged: bool = False


class LeaderWatch:
    """Remembers since when partitions have had no leader, and topics no partitions.

    `patience_s`: after this time, an assigned partition that the metadata does not have is an
    error. A partition that exists never is: its leader will come with an election or a restart. A
    subscribed topic never is, either: it may be created later.
    """

    def __init__(self, client_id: str, patience_s: float) -> None:
        self._client_id = client_id
        self._patience_s = patience_s
        self.due_at_s: float | None = None
        """When to call `check` again although the metadata has not changed; None: no need to."""
        self._absences: dict[TopicPartition | str, _Absence] = {}

    def check(
        self,
        leaderless: Iterable[TopicPartition],
        missing_topics: Iterable[str],
        snapshot: MetadataSnapshot,
        now_s: float,
    ) -> KafkaError | None:
        """Return the error that the poll must raise now, if any.

        Both iterables must be complete: what is missing in them has been found.
        """
        everything: list[TopicPartition | str] = [*leaderless, *missing_topics]
        before = self._absences
        if not everything and not before:
            return None
        self._absences = {
            missing: before.get(missing) or _Absence(now_s) for missing in dict.fromkeys(everything)
        }
        self.due_at_s = min(
            (
                absence.since_s + delay_s
                for absence in list(self._absences.values())
                for delay_s in (LOG_AFTER_S, self._patience_s)
                if absence.since_s + delay_s > now_s
            ),
            default=None,
        )
        topics = (item if isinstance(item, str) else item.topic for item in list(self._absences))
        if refusal := refused_topics(topics, snapshot):
            return refusal
        for missing, absence in self._absences.copy().items():
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
            return None  # no broker has described the topic yet
        waited_s = now_s - absence.since_s
        if waited_s < min(LOG_AFTER_S, self._patience_s):
            return None
        reason = why_leaderless(tp, snapshot)
        name = missing if isinstance(missing, str) else f"{tp.topic}-{tp.partition}"
        if waited_s >= LOG_AFTER_S and not absence.is_logged:
            absence.is_logged = True
            logger.warning("%s: %s cannot be read: %s; waiting", self._client_id, name, reason)
        exists = tp.partition in snapshot.partition_ids(tp.topic)
        if exists or isinstance(missing, str) or waited_s < self._patience_s:
            return None
        absence.since_s = now_s  # if the application polls again, the waiting begins anew
        return UnknownTopicOrPartitionError(
            f"{name} does not exist after {self._patience_s:g} s: {reason}; "
            f"create it, check its name, or assign others"
        )


__all__ = ["LeaderWatch", "missed"]
