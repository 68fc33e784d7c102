"""Owns the patience with partitions nobody leads: the log hears of them once, the user in the end.

It reads metadata and decides; it asks nobody and does not wait.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.errors import KafkaError, UnknownTopicOrPartitionError
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Absence:
    since_s: float
    is_logged: bool = False


class LeaderWatch:
    """Remembers since when partitions have no leader.

    `patience_s`: how long a partition that does not exist, as far as the metadata says, is waited
    for before the user hears of it. A partition that exists is waited for without end: an election
    or a restart is on its way.
    """

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self.due_at_s: float | None = None
        """When `check` may have something new to say without new metadata; None: never."""
        self._absences: dict[TopicPartition, _Absence] = {}

    def check(
        self, leaderless: Iterable[TopicPartition], snapshot: MetadataSnapshot, now_s: float
    ) -> KafkaError | None:
        """Return the error the user has to hear of now, if any. `leaderless`: all of them."""
        before = self._absences
        self._absences = {tp: before.get(tp) or _Absence(now_s) for tp in dict.fromkeys(leaderless)}
        ends = (absence.since_s + self._patience_s for absence in self._absences.values())
        self.due_at_s = min((end_s for end_s in ends if end_s > now_s), default=None)
        for tp, absence in self._absences.items():
            error = self._verdict(tp, absence, snapshot, now_s)
            if error is not None:
                return error
        return None

    def _verdict(
        self, tp: TopicPartition, absence: _Absence, snapshot: MetadataSnapshot, now_s: float
    ) -> KafkaError | None:
        if tp.topic not in snapshot.topics:
            return None  # nobody has answered yet
        said = snapshot.topic_error(tp.topic)
        reason = "it has no leader" if said is None else f"{said.message} ({said.description})"
        exists = tp.partition in snapshot.partition_ids(tp.topic)
        if said is not None and not said.retriable:
            return said(f"topic {tp.topic!r}: {reason}")
        if not exists and said is None:
            count = len(snapshot.partition_ids(tp.topic))
            reason = f"the topic has {count} partitions, numbered from 0"
        if not absence.is_logged:
            absence.is_logged = True
            logger.warning("%s-%d cannot be read: %s; waiting", tp.topic, tp.partition, reason)
        if exists or now_s - absence.since_s < self._patience_s:
            return None
        absence.since_s = now_s  # should the user go on, the waiting begins anew
        return UnknownTopicOrPartitionError(
            f"{tp.topic}-{tp.partition} does not exist after {self._patience_s:g} s: {reason}; "
            f"create it, check its name, or assign others"
        )


__all__ = ["LeaderWatch"]
