"""Keeps the locks of records that are held over polls: it renews them, and tells which were lost.

The broker decides about a partition's acknowledgements together. One record whose lock has ended
would undo those of its neighbours, so nothing is sent for it. Does not wait. Source: KIP-1222.
"""

import logging
from collections.abc import Collection
from typing import Final, Protocol

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.errors import (
    InvalidRecordStateError,
    InvalidShareSessionEpochError,
    KafkaError,
    ShareSessionNotFoundError,
)
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.share.held_records import AckBatch, HeldRecords
from aiokafka_lite.share.pending_acknowledgements import AckGroup, Outcome
from aiokafka_lite.share.share_fetcher import ShareFetcher

logger = logging.getLogger(__name__)

_RENEW_AT: Final = 0.5
"""A lock is renewed when this share of its time is left."""
_MARGIN: Final = 0.02
"""A lock counts as ended when this share of its time is left: an answer took as long to come."""
_LOOKS: Final = 10
"""How often in the time of a lock to look at all of them."""
_UNKNOWN_LOCK_S: Final = 10.0
_LOST: Final = (
    InvalidRecordStateError,
    InvalidShareSessionEpochError,
    ShareSessionNotFoundError,
)
"""These say that locks have ended, not that brokers do not renew."""

Place = tuple[TopicPartition, int]


class LockHolder(Protocol):
    """Who holds records over polls."""

    def locks_lost(self, places: Collection[Place]) -> object:
        """Hear of records that others may have by now."""

    def topics_replaced(self, topics: Collection[str]) -> object:
        """Hear of topics that were deleted and created again: their records are gone."""

    def answered(self, group: AckGroup, outcome: Outcome) -> object:
        """Hear what became of acknowledgements."""


class HeldLocks:
    """The locks of one share consumer's records."""

    def __init__(
        self, held: HeldRecords, fetcher: ShareFetcher, client: KafkaClient, holder: LockHolder
    ) -> None:
        self._held = held
        self._fetcher = fetcher
        self._client = client
        self._holder = holder
        self._can_renew = True
        self._late_at_s = 0.0
        self.renewed = 0
        """How many times a record's lock was renewed."""

    @property
    def _lock_s(self) -> float:
        lock_ms = self._fetcher.lock_timeout_ms
        return _UNKNOWN_LOCK_S if lock_ms is None else lock_ms / 1000

    @property
    def interval_s(self) -> float:
        """How often to call `look`; earlier when the fetcher's `locks_are_shorter` is set."""
        return self._lock_s / _LOOKS

    def look(self) -> None:
        """Renew the locks that end soon, and let go of records whose locks have ended."""
        now_s, lock_s = self._client.clock.monotonic(), self._lock_s
        self._fetcher.locks_are_shorter.clear()
        self._late_at_s = now_s + 2 * self.interval_s
        self.let_go_of_expired()
        if self._can_renew:
            self._fetcher.acknowledge(self._held.due(now_s + lock_s * _RENEW_AT))

    def look_if_late(self) -> None:
        """Call `look` if that is overdue: the program was stopped, or has blocked its loop."""
        if self._client.clock.monotonic() >= self._late_at_s:
            self.look()

    def let_go_of_expired(self) -> None:
        """Let go of records whose locks have ended."""
        by_s = self._client.clock.monotonic() + self._lock_s * _MARGIN
        self._tell(self._held.expired(by_s))

    def session_lost(self, node_id: int) -> None:
        """Let go of all records of a node: it has released them."""
        self._tell(self._held.lost(node_id))

    def topics_replaced(self, topics: Collection[str]) -> None:
        """Forget all records of topics that were deleted and created again: others are at their
        offsets now.
        """
        self._held.forget(topics)
        self._holder.topics_replaced(topics)

    def _tell(self, places: Collection[Place]) -> None:
        if places:
            self._holder.locks_lost(places)

    def answered(self, group: AckGroup, outcome: Outcome) -> None:
        """Take what became of acknowledgements, renewals among them."""
        until_s = group.sent_at_s + self._lock_s
        for tp, batches in group.batches.items():
            error = outcome.get(tp)
            for batch in batches:
                if batch.types[0] == AcknowledgeType.RENEW:
                    self._renewed(tp, batch, error, until_s)
        self._holder.answered(group, outcome)

    def _renewed(
        self, tp: TopicPartition, batch: AckBatch, error: KafkaError | None, until_s: float
    ) -> None:
        self.renewed += self._held.renewed(tp, batch, until_s if error is None else None)
        if error is not None and not error.retriable and not isinstance(error, _LOST):
            if self._can_renew:
                logger.warning("locks are not renewed from now on: %s", error)
            self._can_renew = False


__all__ = ["HeldLocks", "LockHolder", "Place"]
