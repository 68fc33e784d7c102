"""Owns asking the leaders for offsets: for positions that are missing, and for the user.

Resets run as tasks of the client, one per node asked, so that a poll that gave up does not take
them along; polls start them and look at the subscription.
Source: B4, B5, 2c-5, 2c-6, OffsetFetcher.
"""

import logging
import math
from collections.abc import Collection, Mapping
from functools import partial

import anyio

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.offset_reset import (
    ByDuration,
    OffsetReset,
    OffsetResetStrategy,
)
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.committed_offset import CommittedOffsets
from aiokafka_lite.consumer.position.committed_positions import CommittedPositions
from aiokafka_lite.consumer.position.leader_watch import missed, why_unreadable
from aiokafka_lite.consumer.position.offset_questions import (
    ListedOffset,
    ListOffsetsOutcome,
    OffsetQuestion,
    build_request,
    group_by_leader,
    is_expected,
    read_response,
)
from aiokafka_lite.consumer.position.offset_validator import OffsetValidator
from aiokafka_lite.consumer.position.retained_error import RetainedError
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError, UnknownError
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

_Questions = Mapping[TopicPartition, OffsetQuestion]


class OffsetFetcher:
    """Finds positions for partitions that have none, and answers questions about offsets."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
        committed: CommittedOffsets | None = None,
    ) -> None:
        """`committed`: whom to ask for committed offsets before resets; None without a group."""
        self._config = config
        self._committed: CommittedPositions | None = None
        if committed is not None:
            self._committed = CommittedPositions(committed, config, client, subscription, signal)
        self._client = client
        self._subscription = subscription
        self._signal = signal
        self._validator = OffsetValidator(
            config.request_timeout_ms / 1000, client, subscription, signal
        )
        self._error = RetainedError()
        self._leaderless: tuple[TopicPartition, ...] = ()

    # For the poll: nothing here waits…

    def update_positions(self) -> float | None:
        """Set going what finds the missing positions (B4).

        Returns the moment (monotonic seconds) when it makes sense to call again without anything
        else having changed; None: only a change makes sense.
        """
        self._validator.follow_metadata()
        if self._subscription.has_all_fetch_positions():
            self._leaderless = self._validator.leaderless = ()
            return None
        due_at_s = None if self._committed is None else self._committed.start()
        self._subscription.reset_missing_positions(without_committed=self._committed is not None)
        return _earliest(due_at_s, self.start_resets(), self._validator.start())

    def follow_topics(self) -> None:
        """New metadata is there: void the positions in topics that were created anew."""
        self._validator.follow_topics()

    def raise_for_missing_positions(self) -> None:
        """Raise NoOffsetForPartitionError or OffsetOutOfRangeError for partitions that only a seek
        helps, until the user has heard of them and has sought any.
        """
        self._subscription.raise_for_missing_positions(
            without_committed=self._committed is not None
        )

    def missing_position_error(
        self, partitions: Collection[TopicPartition] = ()
    ) -> KafkaError | None:
        """Return the error of those of `partitions` that only a seek helps, of all if none is
        named; None: there are none.
        """
        return self._subscription.missing_position_error(
            partitions, without_committed=self._committed is not None
        )

    @property
    def leaderless(self) -> tuple[TopicPartition, ...]:
        """The partitions without a valid position that have no known leader either, as far as that
        is the user's business."""
        waiting = (*self._leaderless, *self._validator.leaderless)
        return missed(waiting, self._subscription, self._client.metadata.snapshot)

    def take_error(self) -> KafkaError | None:
        """Return a failure the application has to hear of, once."""
        error = self._error.take() or self._validator.take_error()
        if error is None and self._committed is not None:
            return self._committed.take_error()
        return error

    def start_resets(self) -> float | None:
        """Ask for the positions of the partitions that await a reset. Returns: as above."""
        now_s = self._client.clock.monotonic()
        hold_until_s = now_s + self._config.request_timeout_ms / 1000
        due_at_s: float | None = None
        wanted: dict[TopicPartition, OffsetReset] = {}
        for state in self._subscription.awaiting_reset():
            if state.retry_at_s > now_s:
                due_at_s = _earliest(due_at_s, state.retry_at_s)
            elif state.reset_strategy is not None:
                wanted[state.topic_partition] = state.reset_strategy
        now_ms = int(self._client.clock.time() * 1000)
        asked = group_by_leader(
            ((tp, strategy.timestamp(now_ms)) for tp, strategy in wanted.items()),
            self._client.metadata.snapshot,
        )
        self._leaderless = tuple(asked.leaderless)
        if asked.leaderless:
            self._client.metadata.request_update()
        for node_id, questions in asked.by_node.items():
            for tp in questions:
                self._subscription.assigned(tp).retry_at_s = hold_until_s
            strategies = {tp: wanted[tp] for tp in questions}
            self._client.owner.spawn(
                f"offset_fetcher.reset[{node_id}]", self._reset, node_id, questions, strategies
            )
        return due_at_s

    # One round of resets at one node…

    async def _reset(
        self,
        node_id: int,
        questions: _Questions,
        strategies: Mapping[TopicPartition, OffsetReset],
    ) -> None:
        try:
            outcome = await self._ask(node_id, questions)
        except KafkaError as error:
            logger.debug("asking node %d for offsets failed: %s", node_id, error)
            self._retry_later(strategies)
            if error.invalid_metadata:
                self._client.metadata.request_update()
            if not error.retriable:
                self._keep(error, strategies)
        else:
            self._apply(outcome, strategies)
        self._signal.notify()

    def _apply(
        self,
        outcome: ListOffsetsOutcome,
        strategies: Mapping[TopicPartition, OffsetReset],
    ) -> None:
        for tp, listed in outcome.offsets.items():
            if listed.offset < 0 and isinstance(strategies[tp], ByDuration):
                self._go_on_to_the_end(tp, strategies[tp])
            elif listed.offset < 0:  # both ends of a log have an offset: the answer is no answer
                outcome.to_retry[tp] = UnknownError
            elif self._subscription.reset(tp, strategies[tp], listed.offset):
                self._client.metadata.note_leader_epoch(tp, listed.leader_epoch)
                logger.info(
                    "%s-%d: position reset to %d (%s)",
                    tp.topic,
                    tp.partition,
                    listed.offset,
                    strategies[tp].label,
                )
        for tp, error in outcome.to_retry.items():
            level = logging.DEBUG if is_expected(error) else logging.WARNING
            logger.log(level, "no offset of %s-%d yet: %s", tp.topic, tp.partition, error.message)
        if outcome.to_retry:
            self._client.metadata.request_update()
        again = [*outcome.to_retry, *outcome.refused]
        self._retry_later({tp: strategies[tp] for tp in again})
        for tp, refusal in outcome.refused.items():
            self._keep(refusal, {tp: strategies[tp]})

    def _go_on_to_the_end(self, tp: TopicPartition, strategy: OffsetReset) -> None:
        """Ask for the end: the log has no record as young as the duration wants (2c-6)."""
        if self._waiting_for(tp, strategy) is not None:
            self._subscription.await_reset(tp, OffsetResetStrategy.LATEST)

    def _retry_later(self, strategies: Mapping[TopicPartition, OffsetReset]) -> None:
        now_s = self._client.clock.monotonic()
        for tp, strategy in strategies.items():
            if (state := self._waiting_for(tp, strategy)) is not None:
                delay_s = self._client.retry_backoff.delay(state.failures)
                self._subscription.back_off(state, now_s + delay_s)

    def _keep(self, error: KafkaError, strategies: Mapping[TopicPartition, OffsetReset]) -> None:
        self._error.keep(error, [partial(self._waiting_for, *item) for item in strategies.items()])

    def _waiting_for(self, tp: TopicPartition, strategy: OffsetReset) -> PartitionState | None:
        """Return the partition's state while it still waits for this very reset (B5)."""
        state = self._subscription.get(tp)
        if state is None or state.fetch_state is not FetchState.AWAIT_RESET:
            return None
        return state if state.reset_strategy == strategy else None

    async def _ask(self, node_id: int, questions: _Questions) -> ListOffsetsOutcome:
        request = build_request(
            questions,
            read_committed=self._config.is_read_committed,
            timeout_ms=self._config.request_timeout_ms,
        )
        return read_response(await self._client.network.request(node_id, request), questions)

    # For the user…

    async def list_offsets(
        self, timestamps: Mapping[TopicPartition, int], timeout_s: float
    ) -> dict[TopicPartition, ListedOffset]:
        """Return the offset of each partition at its timestamp (-1 the end, -2 the beginning).

        Partitions need not be assigned. Raises: KafkaTimeoutError naming what is missing and why:
        after `timeout_s`, and after `request_timeout_ms` where it does not exist;
        TopicAuthorizationFailedError. Cancelled: nothing stays behind.
        """
        for topic in {tp.topic for tp in timestamps}:
            self._client.metadata.add_topic(topic)
        found: dict[TopicPartition, ListedOffset] = {}
        missing = dict(timestamps)
        reasons: dict[TopicPartition, str] = {}
        attempts = 0
        unknown_s = min(timeout_s, self._config.request_timeout_ms / 1000)
        unknown_until_s = self._client.clock.monotonic() + unknown_s
        try:
            async with deadline(self._client.clock, timeout_s):
                while True:
                    asked = await self._ask_leaders(missing, reasons)
                    found.update(asked)
                    for tp in asked:
                        del missing[tp]
                    if not missing:
                        return {tp: found[tp] for tp in timestamps}
                    self._client.metadata.request_update()
                    until_s = self._client.clock.monotonic() + self._client.retry_backoff.delay(
                        attempts
                    )
                    attempts += 1
                    await self._wait_until(min(until_s, unknown_until_s), tuple(missing))
                    if self._client.clock.monotonic() >= unknown_until_s:
                        unknown_until_s = math.inf
                        self._raise_for_unknown(missing, reasons, unknown_s)
        except TimeoutError as error:
            if isinstance(error, KafkaError):
                raise
            raise KafkaTimeoutError(
                f"no offsets within {timeout_s:g} s of {_listed(missing, reasons)}; check that the "
                f"partitions exist and have a leader, or raise default_api_timeout_ms"
            ) from error

    def _raise_for_unknown(
        self,
        missing: Collection[TopicPartition],
        reasons: Mapping[TopicPartition, str],
        waited_s: float,
    ) -> None:
        """Raise KafkaTimeoutError if the metadata does not know some of the partitions."""
        snapshot = self._client.metadata.snapshot
        unknown = [
            tp
            for tp in missing
            if tp.topic in snapshot.topics and tp.partition not in snapshot.partition_ids(tp.topic)
        ]
        if unknown:
            raise KafkaTimeoutError(
                f"{_listed(unknown, reasons)} did not come into being within {waited_s:g} s; check "
                f"topic and number, or raise request_timeout_ms"
            )

    async def _wait_until(self, until_s: float, missing: tuple[TopicPartition, ...]) -> None:
        """Wait for the backoff to end, or for the first news of a leader that was not known."""
        clock = self._client.clock
        snapshot = self._client.metadata.snapshot
        had_leaders = any(snapshot.leader(tp).node_id is not None for tp in missing)
        while clock.monotonic() < until_s:
            await self._signal.wait(until_s)
            snapshot = self._client.metadata.snapshot
            if not had_leaders and any(snapshot.leader(tp).node_id is not None for tp in missing):
                return

    async def _ask_leaders(
        self, timestamps: Mapping[TopicPartition, int], reasons: dict[TopicPartition, str]
    ) -> dict[TopicPartition, ListedOffset]:
        """Ask every leader once, side by side; what went wrong is noted in `reasons`."""
        asked = group_by_leader(timestamps.items(), self._client.metadata.snapshot)
        for tp in asked.leaderless:
            reasons[tp] = why_unreadable(tp, self._client.metadata.snapshot)
        found: dict[TopicPartition, ListedOffset] = {}
        refused: list[KafkaError] = []

        async def ask(node_id: int, questions: _Questions) -> None:
            try:
                outcome = await self._ask(node_id, questions)
            except KafkaError as error:
                reasons.update(dict.fromkeys(questions, str(error)))
                if not error.retriable:
                    refused.append(error)
                return
            found.update(outcome.offsets)
            for tp, listed in outcome.offsets.items():
                self._client.metadata.note_leader_epoch(tp, listed.leader_epoch)
            found.update(dict.fromkeys(outcome.unanswerable, ListedOffset(-1, -1, -1)))
            reasons.update({tp: error.message for tp, error in outcome.to_retry.items()})
            refused.extend(outcome.refused.values())

        async with anyio.create_task_group() as group:
            for node_id, questions in asked.by_node.items():
                group.start_soon(ask, node_id, questions)
        if refused:
            raise refused[0]
        return found


def _listed(partitions: Collection[TopicPartition], reasons: Mapping[TopicPartition, str]) -> str:
    return ", ".join(
        f"{tp.topic}-{tp.partition} ({reasons.get(tp, 'no answer')})" for tp in partitions
    )


def _earliest(*moments: float | None) -> float | None:
    return min((moment for moment in moments if moment is not None), default=None)


__all__ = ["OffsetFetcher"]
