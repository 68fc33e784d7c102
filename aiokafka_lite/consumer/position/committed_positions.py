"""Owns asking the group where to start: once per assignment, before any reset.

The question runs as a task of the client, so that a poll that gave up does not take it along.
Source: B4 (2), 2c-4, 2c-5, ConsumerCoordinator.initWithCommittedOffsetsIfNeeded.
"""

import logging
from collections.abc import Collection, Mapping
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset, CommittedOffsets
from aiokafka_lite.consumer.position.retained_error import RetainedError
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition, names_of

logger = logging.getLogger(__name__)

LOG_AFTER_S = 1.0
"""A coordinator that starts, or a transaction that ends, is over sooner and not worth a line."""

LOG_AGAIN_S = 60.0
"""As long as it lasts, the log hears of it this often."""


class CommittedPositions:
    """Moves partitions that have just been assigned to what the group has committed of them."""

    def __init__(
        self,
        committed: CommittedOffsets,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
    ) -> None:
        self._committed = committed
        self._client = client
        self._subscription = subscription
        self._signal = signal
        self._bound_s = config.default_api_timeout_ms / 1000
        self._asked: set[PartitionState] = set()  # by identity: a state is one assignment's
        self._error = RetainedError()
        self._in_vain_since_s: float | None = None
        self._log_at_s = 0.0

    def start(self) -> float | None:
        """Ask for what was not asked yet, if there is anything.

        Returns the moment (monotonic seconds) when to call again although nothing has changed.
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
            self._client.owner.spawn("committed_positions.ask", self._ask, frozenset(wanted))
        return due_at_s

    def take_error(self) -> KafkaError | None:
        """Return a failure the application has to hear of, once; none for what was let go."""
        return self._error.take()

    async def _ask(self, states: frozenset[PartitionState]) -> None:
        partitions = [state.topic_partition for state in states]
        try:
            async with deadline(self._client.clock, self._bound_s):
                found = await self._committed.fetch_committed(partitions)
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
            self._apply(states, found)
        finally:
            self._asked -= states
        self._signal.notify()

    def _asked_in_vain(self, partitions: Collection[TopicPartition], why: object) -> None:
        """Log at DEBUG, or where it takes long as a warning, that nothing can be read yet."""
        now_s = self._client.clock.monotonic()
        if self._in_vain_since_s is None:
            self._in_vain_since_s, self._log_at_s = now_s, now_s + LOG_AFTER_S
        level = logging.DEBUG
        if now_s >= self._log_at_s:
            level, self._log_at_s = logging.WARNING, now_s + LOG_AGAIN_S
        logger.log(
            level,
            "nothing is read of %s: the group's committed offsets cannot be had for %.0f s (%s); "
            "asking again",
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
            logger.info("%s-%d: going on at the committed %d", *tp, committed.offset)
            self._client.metadata.note_leader_epoch(tp, committed.leader_epoch)
            self._subscription.seek(tp, committed.offset, committed.leader_epoch)

    def _retry_later(self, states: Collection[PartitionState]) -> None:
        now_s = self._client.clock.monotonic()
        for state in filter(self._is_wanted, states):
            delay_s = self._client.retry_backoff.delay(state.failures)
            self._subscription.back_off(state, now_s + delay_s)

    def _is_wanted(self, state: PartitionState) -> bool:
        """Say whether the partition is still assigned, by the same assignment, and nowhere."""
        return (
            self._subscription.get(state.topic_partition) is state
            and state.fetch_state is FetchState.INITIALIZING
        )


__all__ = ["CommittedPositions"]
