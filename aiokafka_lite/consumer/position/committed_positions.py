"""Owns asking the group for committed offsets: once per assignment, before any reset.

The request runs in a task of the client, so it goes on if the poll times out or is cancelled.
Source: B4 (2), 2c-4, 2c-5, ConsumerCoordinator.initWithCommittedOffsetsIfNeeded.
"""

import logging
from collections.abc import Callable, Collection, Mapping
from functools import partial

from aiokafka_lite.checks.offset_arguments import checked_offsets
from aiokafka_lite.checks.quoted import quoted, said
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.consumer.consumer_config import ConsumerConfig, OffsetAdjuster
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset, CommittedOffsets
from aiokafka_lite.consumer.position.retained_error import RetainedError
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import IllegalArgumentError, KafkaError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition, names_of

logger = logging.getLogger(__name__)

LOG_AFTER_S = 1.0
"""The delay before the first warning. A coordinator's start or a transaction's end is shorter."""

LOG_AGAIN_S = 60.0
"""The time between two warnings while the offsets cannot be fetched."""


class CommittedPositions:
    """Moves newly assigned partitions to the offsets that the group has committed."""

    def __init__(
        self,
        committed: CommittedOffsets,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        on_answer: Callable[[], object],
    ) -> None:
        """`on_answer` is called after each answer, and after each failure."""
        self._committed = committed
        self._client = client
        self._subscription = subscription
        self._on_answer = on_answer
        self._commits_by_itself = config.commits_by_itself
        self._adjust = config.adjust_committed_offsets
        self._bound_s = config.default_api_timeout_ms / 1000
        self._asked: set[PartitionState] = set()  # compared by identity: one state per assignment
        self._error = RetainedError()
        self._in_vain_since_s: float | None = None
        self._log_at_s = 0.0

    def start(self) -> float | None:
        """Ask for the committed offsets that were not asked for yet, in a task.

        Returns the moment (monotonic seconds) when the first backoff ends; None: no backoff. Call
        again then, even if nothing has changed. Does not wait.
        """
        now_s = self._client.clock.monotonic()
        due_at_s: float | None = None
        wanted: list[PartitionState] = []
        for state in self._subscription.initializing():
            if state.has_no_committed or state in self._asked:
                continue
            if state.retry_at_s > now_s:
                due_at_s = min(due_at_s or state.retry_at_s, state.retry_at_s)
            else:
                wanted.append(state)
        if wanted:
            self._asked.update(wanted)
            self._client.owner.spawn("committed_positions.ask", self._ask, wanted)
        return due_at_s

    @property
    def has_failed(self) -> bool:
        """Whether there is a failure that the next poll raises."""
        return self._error.is_kept

    def take_error(self) -> KafkaError | None:
        """Return a failure that the poll must raise, once; None if its partitions are gone."""
        return self._error.take()

    async def _ask(self, states: list[PartitionState]) -> None:
        partitions = [state.topic_partition for state in states]
        incarnations = [state.incarnation for state in states]
        try:
            with self._client.waits.of(
                f"the committed offsets of {names_of(sorted(partitions)[:3])} (OffsetFetch)",
                "check the coordinator of the group",
            ):
                async with deadline(self._client.clock, self._bound_s):
                    found = await self._committed.fetch_committed(partitions)
            if self._adjust is not None:
                found = adjusted({tp: found.get(tp) for tp in partitions}, self._adjust)
        except KafkaError as error:
            self._asked_in_vain(partitions, error)
            if not error.retriable:
                self._error.keep(error, [partial(self._is_wanted, state) for state in states])
            self._retry_later(states)
        except TimeoutError:
            self._asked_in_vain(partitions, f"no answer within {self._bound_s:g} s")
            self._retry_later(states)
        else:
            self._in_vain_since_s = None
            # Of a topic that was created anew meanwhile, the offset is asked for once more.
            asked = zip(states, incarnations, strict=True)
            self._apply([state for state, number in asked if state.incarnation == number], found)
        finally:
            self._asked.difference_update(states)
        self._on_answer()

    def _asked_in_vain(self, partitions: Collection[TopicPartition], why: object) -> None:
        """Log that the partitions cannot be read yet: at DEBUG, as a warning if it takes long."""
        now_s = self._client.clock.monotonic()
        if self._in_vain_since_s is None:
            self._in_vain_since_s, self._log_at_s = now_s, now_s + LOG_AFTER_S
        level = logging.DEBUG
        if now_s >= self._log_at_s:
            level, self._log_at_s = logging.WARNING, now_s + LOG_AGAIN_S
        logger.log(
            level,
            "%s: nothing is read of %s: the group's committed offsets could not be fetched for "
            "%.0f s (%s); asking again",
            self._client.config.client_id,
            names_of(sorted(partitions)),
            now_s - self._in_vain_since_s,
            why,
        )

    def _apply(
        self,
        states: Collection[PartitionState],
        found: Mapping[TopicPartition, CommittedOffset | None],
    ) -> None:
        for state in filter(self._is_wanted, states):
            tp = state.topic_partition
            committed = found.get(tp)
            if committed is None:
                self._subscription.note_no_committed(state)
                continue
            logger.info(
                "%s: %s-%d: starting at the committed offset %d",
                *(self._client.config.client_id, *tp, committed.offset),
            )
            if not self._commits_by_itself:
                self._subscription.has_commits = True
            self._client.metadata.note_leader_epoch(tp, committed.leader_epoch)
            self._subscription.seek(tp, committed.offset, committed.leader_epoch)

    def _retry_later(self, states: Collection[PartitionState]) -> None:
        now_s = self._client.clock.monotonic()
        for state in filter(self._is_wanted, states):
            delay_s = self._client.retry_backoff.delay(state.failures)
            self._subscription.back_off(state, now_s + delay_s)

    def _is_wanted(self, state: PartitionState) -> bool:
        """Say whether the same assignment still has the partition, and it still has no position."""
        return (
            self._subscription.get(state.topic_partition) is state
            and state.fetch_state is FetchState.INITIALIZING
        )


def adjusted(
    committed: Mapping[TopicPartition, CommittedOffset | None], adjust: OffsetAdjuster
) -> dict[TopicPartition, CommittedOffset | None]:
    """Return the offsets that the user's function makes of committed ones.

    Raises: IllegalArgumentError, chained to the function's own error, if it fails or returns
    anything but offsets of these partitions.
    """
    given = {
        tp: each and OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
        for tp, each in committed.items()
    }
    result = dict(committed)
    try:
        for tp, place in adjust(given).items():
            before = result[tp]
            if place is None:
                result[tp] = None
            elif before is None or (place is not given[tp] and place != before.offset):
                at = checked_offsets({tp: place})[tp]
                result[tp] = CommittedOffset(at.offset, at.leader_epoch, at.metadata)
    except Exception as error:
        raise IllegalArgumentError(
            f"adjust_committed_offsets={quoted(adjust)} failed for {names_of(sorted(committed))}: "
            f"{said(error)}; it returns a mapping of these partitions to offsets"
        ) from error
    return result


__all__ = ["CommittedPositions", "adjusted"]
