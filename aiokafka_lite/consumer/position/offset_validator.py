"""Owns the comparison of positions with the metadata, and with the log of a new leader.

It notices a new leader, or another topic of the same name. Then it asks the leader whether its log
still has the records before the position. A poll starts this and later finds the result in the
subscription. The requests run in tasks of the client, one for each node. So they go on if the poll
times out or is cancelled.
Source: 2c-1 to 2c-3, KIP-320, OffsetFetcher.validatePositionsIfNeeded.
"""

import logging
from collections.abc import Collection, Iterable, Mapping
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.epoch_questions import (
    EpochEnd,
    EpochOutcome,
    EpochQuestion,
    build_request,
    question_of,
    read_response,
)
from aiokafka_lite.consumer.position.retained_error import RetainedError
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import KafkaError, LogTruncationError, UnsupportedVersionError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.schema.field_types import ZERO_UUID

logger = logging.getLogger(__name__)

_Questions = Mapping[TopicPartition, EpochQuestion]

NEWER_EPOCH_PATIENCE = 5
"""After so many backoffs, the present leader decides about a position with a newer leader epoch.

Such an epoch may come from another cluster. Java may wait for ever.
"""


class OffsetValidator:
    """Notices new leaders and new topics, and validates positions."""

    def __init__(
        self,
        hold_s: float,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
    ) -> None:
        """`hold_s`: without a response in this time, the question is asked again."""
        self._hold_s = hold_s
        self._client = client
        self._subscription = subscription
        self._signal = signal
        self._seen_version = -1
        self._error = RetainedError()
        self.leaderless: tuple[TopicPartition, ...] = ()
        """The partitions whose position must be validated but whose leader is not known."""

    def follow_metadata(self) -> None:
        """Compare positions with the metadata: all if it is new, else only new positions (2c-2)."""
        snapshot, subscription = self._client.metadata.snapshot, self._subscription
        is_known = snapshot.version == self._seen_version
        unfollowed = subscription.take_unfollowed()
        for state in unfollowed if is_known else subscription.states():
            self._follow_topic(state, snapshot)
            leader = snapshot.leader(state.topic_partition)
            if leader.node_id is not None:
                subscription.follow_leader(state, leader)
        self._seen_version = snapshot.version

    def follow_topics(self, partitions: Iterable[TopicPartition] | None = None) -> None:
        """Void the positions in topics that were created anew, before a commit uses them.

        `partitions`: only of these; None: of all that are assigned.
        """
        snapshot, subscription = self._client.metadata.snapshot, self._subscription
        states = (
            subscription.states()
            if partitions is None
            else [state for tp in partitions if (state := subscription.get(tp)) is not None]
        )
        for state in states:
            self._follow_topic(state, snapshot)

    def _follow_topic(self, state: PartitionState, snapshot: MetadataSnapshot) -> None:
        tp = state.topic_partition
        topic_id = snapshot.topic_id(tp.topic)
        if topic_id != ZERO_UUID and self._subscription.follow_topic(state, topic_id):
            logger.warning(
                "%s: %s-%d: the topic was deleted and created again; its position is void",
                *(self._client.config.client_id, *tp),
            )

    def start(self) -> float | None:
        """Ask about the positions that await validation, in a task per node.

        Returns the moment (monotonic seconds) when the first backoff ends; None: no backoff. Call
        again then, even if nothing has changed. Does not wait.
        """
        now_s = self._client.clock.monotonic()
        due_at_s: float | None = None
        leaderless: list[TopicPartition] = []
        by_node: dict[int, dict[TopicPartition, EpochQuestion]] = {}
        for state in list(self._subscription.awaiting_validation()):
            question = question_of(state)
            if question is None or question.leader.node_id is None:
                leaderless.append(state.topic_partition)
            elif not self._can_validate(question):
                self._subscription.complete_validation(state)
            elif state.retry_at_s > now_s or self._waits_for_newer_leader(state, question, now_s):
                due_at_s = min(due_at_s or state.retry_at_s, state.retry_at_s)
            else:
                state.retry_at_s = now_s + self._hold_s
                by_node.setdefault(question.leader.node_id, {})[state.topic_partition] = question
        self.leaderless = tuple(leaderless)
        if leaderless:
            self._client.metadata.request_update()
        for node_id, questions in by_node.items():
            name = f"offset_validator.ask[{node_id}]"
            self._client.owner.spawn(name, self._validate, node_id, questions)
        return due_at_s

    def take_error(self) -> KafkaError | None:
        """Return a failure that the poll must raise, once."""
        return self._error.take()

    def _can_validate(self, question: EpochQuestion) -> bool:
        """Say whether both epochs are known and the leader supports the request."""
        if question.leader.epoch < 0 or question.offset_epoch < 0:
            return False
        assert question.leader.node_id is not None
        version = self._client.network.max_version(
            question.leader.node_id, OffsetForLeaderEpochRequest
        )
        # None: not connected yet, so the leader may support it.
        return version is None or version >= OffsetForLeaderEpochRequest.consumers_since

    def _waits_for_newer_leader(
        self, state: PartitionState, question: EpochQuestion, now_s: float
    ) -> bool:
        """Say whether to wait for newer metadata, because the position's epoch is newer (2c-4).

        A leader of an earlier epoch does not know where the position's epoch ends. It would report
        a truncation.
        """
        if question.offset_epoch <= question.leader.epoch:
            return False
        if state.failures >= NEWER_EPOCH_PATIENCE:
            return False
        delay_s = self._client.retry_backoff.delay(state.failures)
        self._subscription.back_off(state, now_s + delay_s)
        self._client.metadata.request_update()
        return True

    # One round at one node…

    async def _validate(self, node_id: int, questions: _Questions) -> None:
        try:
            response = await self._client.network.request(node_id, build_request(questions))
        except UnsupportedVersionError:
            for tp, question in questions.items():
                if (state := self._waiting_for(tp, question)) is not None:
                    self._subscription.complete_validation(state)
        except KafkaError as error:
            logger.debug("asking node %d where epochs end failed: %s", node_id, error)
            self._retry_later(questions, questions)
            if error.invalid_metadata:
                self._client.metadata.request_update()
            if not error.retriable:
                self._keep(error, questions, questions)
        else:
            self._apply(read_response(response, questions), questions)
        self._signal.notify()

    def _apply(self, outcome: EpochOutcome, questions: _Questions) -> None:
        for tp, end in outcome.ends.items():
            state = self._waiting_for(tp, questions[tp])
            if state is not None:
                self._conclude(state, questions[tp], end)
        for tp, error in outcome.to_retry.items():
            logger.debug("position of %s-%d not validated yet: %s", *tp, error.message)
        if outcome.to_retry:
            self._client.metadata.request_update()
        self._retry_later([*outcome.to_retry, *outcome.refused], questions)
        for tp, refusal in outcome.refused.items():
            self._keep(refusal, [tp], questions)

    def _conclude(self, state: PartitionState, question: EpochQuestion, end: EpochEnd) -> None:
        """Keep the position, move it back, or report a truncation, as the leader says (2c-3)."""
        subscription, tp, moves = self._subscription, state.topic_partition, state.moves
        if end.is_defined and end.end_offset >= state.offset:
            subscription.complete_validation(state)
            subscription.epoch_ends(state, end.end_offset)
            return
        place = f"{tp.topic}-{tp.partition}: the log was truncated before offset {state.offset}"
        if subscription.default_reset is None:
            self._retry_later([tp], {tp: question})
            self._keep(_truncation(place, tp, question, end), [tp], {tp: question})
        elif end.is_defined:
            logger.warning(
                "%s: %s; reading goes on at offset %d",
                *(self._client.config.client_id, place, end.end_offset),
            )
            subscription.truncate(state, end.end_offset, end.epoch, since=moves)
        else:
            strategy = subscription.default_reset
            logger.warning(
                "%s: %s, at an unknown place; reset to %s",
                *(self._client.config.client_id, place, strategy.label),
            )
            subscription.truncated_somewhere(state, strategy, since=moves)

    def _retry_later(self, partitions: Collection[TopicPartition], questions: _Questions) -> None:
        now_s = self._client.clock.monotonic()
        for tp in partitions:
            if (state := self._waiting_for(tp, questions[tp])) is not None:
                delay_s = self._client.retry_backoff.delay(state.failures)
                self._subscription.back_off(state, now_s + delay_s)

    def _keep(
        self, error: KafkaError, partitions: Collection[TopicPartition], questions: _Questions
    ) -> None:
        self._error.keep(error, [partial(self._is_wanted, tp, questions[tp]) for tp in partitions])

    def _is_wanted(self, tp: TopicPartition, question: EpochQuestion) -> bool:
        return self._waiting_for(tp, question) is not None

    def _waiting_for(self, tp: TopicPartition, question: EpochQuestion) -> PartitionState | None:
        """Return the partition's state if its position is still the one asked about, else None."""
        state = self._subscription.get(tp)
        if state is None or state.fetch_state is not FetchState.AWAIT_VALIDATION:
            return None
        return state if question_of(state) == question else None


def _truncation(
    place: str, tp: TopicPartition, question: EpochQuestion, end: EpochEnd
) -> LogTruncationError:
    known = (
        f"the logs differ from offset {end.end_offset} of leader epoch {end.epoch}"
        if end.is_defined
        else "from which offset the logs differ is not known"
    )
    return LogTruncationError(
        f"{place}; {known}, and auto_offset_reset is 'none'; records that were read may be gone "
        f"or replaced: seek() to the offset from which to read on",
        topic_partition=tp,
        fetch_offset=question.offset,
        divergent_offset=end.end_offset if end.is_defined else None,
        divergent_leader_epoch=end.epoch if end.is_defined else None,
    )


__all__ = ["OffsetValidator"]
