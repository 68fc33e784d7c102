"""Owns asking the leaders for missing positions.

Positions are asked for from the assignment on, without a poll: "latest" is the end of the log at
that time. A poll finds the result in the subscription. Resets run in tasks of the client, one for
each node. So they go on if the poll times out or is cancelled.
Source: B4, B5, 2c-5, 2c-6, OffsetFetcher.
"""

import logging
from collections.abc import Collection, Iterator, Mapping
from functools import partial

from aiokafka_lite.clock import TimerHandle
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.refresh_failures import text_of, why_leaderless
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.concurrency.task_owner import OwnerState
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.offset_reset import (
    AtTimestamp,
    ByDuration,
    OffsetReset,
    OffsetResetStrategy,
)
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.committed_offset import CommittedOffsets
from aiokafka_lite.consumer.position.committed_positions import CommittedPositions
from aiokafka_lite.consumer.position.leader_watch import missed
from aiokafka_lite.consumer.position.offset_lister import ask_leader
from aiokafka_lite.consumer.position.offset_questions import (
    ListOffsetsOutcome,
    OffsetQuestion,
    group_by_leader,
    is_expected,
)
from aiokafka_lite.consumer.position.offset_validator import OffsetValidator
from aiokafka_lite.consumer.position.retained_error import RetainedError
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import (
    KafkaError,
    UnknownError,
    UnsupportedForMessageFormatError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import TopicPartition

logger = logging.getLogger(__name__)

_FIXED = (None, OffsetResetStrategy.EARLIEST)
"""Where a position goes at any time: nowhere, or to the first record that there is."""

_Questions = Mapping[TopicPartition, OffsetQuestion]
_NAMED = 3
"""How many partitions a warning names."""


class OffsetFetcher:
    """Finds positions for partitions that have none."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
        committed: CommittedOffsets | None = None,
    ) -> None:
        """`committed`: asked for committed offsets before any reset; None without a group."""
        self._config = config
        self._committed: CommittedPositions | None = None
        if committed is not None:
            self._committed = CommittedPositions(
                committed, config, client, subscription, self._heard
            )
        self._pursues = False
        self._timer: TimerHandle | None = None
        self._client = client
        self._subscription = subscription
        self._signal = signal
        self.validator = OffsetValidator(
            config.request_timeout_ms / 1000, client, subscription, signal
        )
        self._error = RetainedError()
        self._wait: LongWait | None = None
        self._last_failure = ""
        self._leaderless: tuple[TopicPartition, ...] = ()

    # For the rest of the consumer; none of these waits…

    def pursue(self) -> None:
        """Ask for what is missing, now and until `stop_pursuing`: also after each answer, and at
        the end of each backoff. Positions need no poll then.

        It does nothing while the listener is called with partitions: the listener may seek them,
        or commit for them.
        """
        self._pursues = True
        self._go_on()

    def stop_pursuing(self) -> None:
        """Leave what is missing to polls from now on."""
        self._pursues = False
        self._set_timer(None)

    def _heard(self) -> None:
        """Let waiting polls look again, and ask for what is missing now."""
        self._signal.notify()
        self._go_on()

    def _go_on(self) -> None:
        owner = self._client.owner
        if not self._pursues or owner.failure is not None or owner.state is not OwnerState.RUNNING:
            return
        if self._subscription.has_all_fetch_positions():
            self._set_timer(None)
        elif not self._subscription.is_listener_called:
            self._set_timer(self.update_positions())

    def _set_timer(self, due_at_s: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if due_at_s is not None:
            self._timer = self._client.clock.call_at(due_at_s, self._go_on)

    @property
    def moves(self) -> bool:
        """Whether auto_offset_reset gives another offset the later it is asked for."""
        return self._subscription.default_reset not in _FIXED

    def moving(self) -> list[TopicPartition]:
        """Return the partitions whose position depends on when a broker answers: those that go to
        the end of the log, or to a time, if nothing is committed. Empty after a failure that the
        next poll raises.
        """
        if self._error.is_kept or (self._committed is not None and self._committed.has_failed):
            return []
        found = [
            state
            for state in self._subscription.awaiting_reset()
            if state.reset_strategy not in _FIXED
        ]
        if self.moves:
            found += self._subscription.initializing()
        return sorted(state.topic_partition for state in found)

    def update_positions(self) -> float | None:
        """Start the requests that find the missing positions (B4).

        Returns the moment (monotonic seconds) when the first backoff ends; None: no backoff. Until
        that moment, another call starts nothing unless something else changes. Does not wait.
        """
        self.validator.follow_metadata()
        if self._subscription.has_all_fetch_positions():
            self._leaderless = self.validator.leaderless = ()
            self._note_wait()
            return None
        due_at_s = None if self._committed is None else self._committed.start()
        for state in self._subscription.reset_missing_positions(
            without_committed=self._committed is not None
        ):
            logger.info(
                "%s: %s-%d: reading goes on at offset %d, as before the metadata lost it",
                *(self._client.config.client_id, *state.topic_partition, state.offset),
            )
        return _earliest(due_at_s, self.start_resets(), self.validator.start())

    def follow_topics(self) -> None:
        """Call it after new metadata: it voids the positions in topics that were created anew."""
        self.validator.follow_topics()

    def raise_for_missing_positions(self) -> None:
        """Raise an error if partitions have no position and only a seek can give them one.

        After the error was raised, a seek of any partition stops it (A9).
        Raises: NoOffsetForPartitionError; OffsetOutOfRangeError if a topic was created anew.
        """
        self._subscription.raise_for_missing_positions(
            without_committed=self._committed is not None
        )

    def missing_position_error(
        self, partitions: Collection[TopicPartition] = ()
    ) -> KafkaError | None:
        """Return the error for partitions that only a seek can give a position; None: none.

        Only `partitions` count, or all if none is named.
        """
        return self._subscription.missing_position_error(
            partitions, without_committed=self._committed is not None
        )

    @property
    def leaderless(self) -> tuple[TopicPartition, ...]:
        """The partitions that have neither a valid position nor a known leader.

        Only those that `leader_watch.missed` finds worth an error for the user."""
        waiting = (*self._leaderless, *self.validator.leaderless)
        return missed(waiting, self._subscription, self._client.metadata.snapshot)

    def take_error(self) -> KafkaError | None:
        """Return a failure that the poll must raise, once."""
        error = self._error.take() or self.validator.take_error()
        if error is None and self._committed is not None:
            return self._committed.take_error()
        return error

    def start_resets(self) -> float | None:
        """Ask for the positions of the partitions that await a reset, in a task per node.

        Returns the moment (monotonic seconds) when the first backoff ends; None: no backoff.
        """
        now_s = self._client.clock.monotonic()
        self._note_wait()
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
            self._client.owner.spawn(
                f"offset_fetcher.reset[{node_id}]",
                self._reset,
                node_id,
                questions,
                {tp: wanted[tp] for tp in questions},
                {tp: self._subscription.assigned(tp).incarnation for tp in questions},
            )
        return due_at_s

    def _note_wait(self) -> None:
        """Note whether positions are asked of leaders."""
        if not any(self._asked_of_leaders()):
            self._waits_no_longer()
        elif self._wait is None:
            self._last_failure = ""
            self._wait = self._client.waits.of(
                "the leaders to tell positions (ListOffsets, OffsetForLeaderEpoch)",
                "check the nodes, and whether the partitions have a leader",
                self._what_is_missing,
                is_apart=True,
            )

    def _waits_no_longer(self) -> None:
        if self._wait is not None:
            self._wait.end()
            self._wait = None

    def _asked_of_leaders(self) -> Iterator[PartitionState]:
        for state in self._subscription.awaiting_reset():
            if state.reset_strategy is not None:
                yield state
        yield from self._subscription.awaiting_validation()

    def _what_is_missing(self) -> str:
        snapshot = self._client.metadata.snapshot
        missing = [state.topic_partition for state in self._asked_of_leaders()]
        if not missing:
            self._waits_no_longer()  # the call that asked has ended
        if self._client.metadata.is_told and all(
            snapshot.leader(tp).node_id is None for tp in missing
        ):
            return ""
        said = []
        for tp in missing[:_NAMED]:
            leader = snapshot.leader(tp).node_id
            why = why_leaderless(tp, snapshot) if leader is None else f"asked of node {leader}"
            said.append(f"{tp.topic}-{tp.partition} ({why})")
        if len(missing) > _NAMED:
            said.append(f"{len(missing) - _NAMED} more")
        failures = f"; the last failure: {self._last_failure}" if self._last_failure else ""
        return ", ".join(said) + failures

    # One round of resets at one node…

    async def _reset(
        self,
        node_id: int,
        questions: _Questions,
        strategies: Mapping[TopicPartition, OffsetReset],
        incarnations: Mapping[TopicPartition, int],
    ) -> None:
        try:
            outcome = await ask_leader(self._client, self._config, node_id, questions)
        except KafkaError as error:
            logger.debug("asking node %d for offsets failed: %s", node_id, error)
            self._last_failure = reason_of(error)
            self._retry_later(strategies)
            if error.invalid_metadata:
                self._client.metadata.request_update()
            if not error.retriable:
                self._keep(error, strategies)
        else:
            for tp, incarnation in incarnations.items():
                state = self._subscription.get(tp)
                if state is None or state.incarnation != incarnation:
                    outcome.offsets.pop(tp, None)  # of a topic that was deleted meanwhile
            self._apply(outcome, strategies)
        self._heard()

    def _apply(
        self,
        outcome: ListOffsetsOutcome,
        strategies: Mapping[TopicPartition, OffsetReset],
    ) -> None:
        for tp, listed in outcome.offsets.items():
            if listed.offset < 0 and isinstance(strategies[tp], ByDuration | AtTimestamp):
                self._go_on_to_the_end(tp, strategies[tp])
            elif listed.offset < 0:  # both ends of a log have an offset, so this answer is wrong
                outcome.to_retry[tp] = UnknownError
            elif self._subscription.reset(tp, strategies[tp], listed.offset):
                self._client.metadata.note_leader_epoch(tp, listed.leader_epoch)
                logger.info(
                    "%s: %s-%d: position reset to %d (%s)",
                    *(self._client.config.client_id, *tp, listed.offset, strategies[tp].label),
                )
        for tp in outcome.unanswerable:
            if not isinstance(strategies[tp], ByDuration | AtTimestamp):
                outcome.to_retry[tp] = UnsupportedForMessageFormatError
            elif self._waiting_for(tp, strategies[tp]) is not None:
                logger.warning(
                    "%s: %s-%d: its records have no timestamps, so the position goes to the end "
                    "(%s)",
                    *(self._client.config.client_id, *tp, strategies[tp].label),
                )
                self._go_on_to_the_end(tp, strategies[tp])
        for tp, error in outcome.to_retry.items():
            self._last_failure = text_of(error)
            level = logging.DEBUG if is_expected(error) else logging.WARNING
            logger.log(
                level,
                "%s: no offset of %s-%d yet: %s",
                *(self._client.config.client_id, *tp, error.message),
            )
        if outcome.to_retry:
            self._client.metadata.request_update()
        again = [*outcome.to_retry, *outcome.refused]
        self._retry_later({tp: strategies[tp] for tp in again})
        for tp, refusal in outcome.refused.items():
            self._keep(refusal, {tp: strategies[tp]})

    def _go_on_to_the_end(self, tp: TopicPartition, strategy: OffsetReset) -> None:
        """Reset to the end instead: the log has no record that new (2c-6)."""
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
        """Return the partition's state if it still waits for exactly this reset, else None (B5)."""
        state = self._subscription.get(tp)
        if state is None or state.fetch_state is not FetchState.AWAIT_RESET:
            return None
        return state if state.reset_strategy == strategy else None


def _earliest(*moments: float | None) -> float | None:
    return min((moment for moment in moments if moment is not None), default=None)


__all__ = ["OffsetFetcher"]
