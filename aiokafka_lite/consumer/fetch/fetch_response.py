"""Owns what a Fetch response means: data for the buffer, errors to act on, watermarks to remember.

It changes the subscription, the buffer and the node's session. It sends nothing. Does not wait.
Source: 2b-8 to 2b-16, AbstractFetch.handleFetchSuccess, FetchCollector.handleInitializeErrors.
"""

import logging
from collections.abc import Collection, Iterable, Mapping

from aiokafka_lite.cluster.metadata.leader_updates import UpdateLeaders, hinted_nodes, leader_hints
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer import AnswerMemory, FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_bytes import LoneAnswer
from aiokafka_lite.consumer.fetch.fetch_session import FetchSession, SessionPartition
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    PartitionState,
    SubscriptionState,
)
from aiokafka_lite.errors import (
    CorruptRecordException,
    FencedLeaderEpochError,
    FetchSessionTopicIdError,
    IllegalStateError,
    InconsistentTopicIdError,
    KafkaError,
    KafkaStorageError,
    NotLeaderForPartitionError,
    OffsetNotAvailableError,
    OffsetOutOfRangeError,
    RecordTooLargeError,
    ReplicaNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownError,
    UnknownLeaderEpochError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
    for_code,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchResponse, PartitionData
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.record.cursor.record_deserializer import RecordDeserializer

logger = logging.getLogger(__name__)

_FETCHING = FetchState.FETCHING  # on 3.11 it costs a call to find it in its class
_LEADER_MOVED = {
    NotLeaderForPartitionError.errno,
    ReplicaNotAvailableError.errno,
    KafkaStorageError.errno,
    FencedLeaderEpochError.errno,
    OffsetNotAvailableError.errno,
}
_TOPIC_CHANGED = {
    UnknownTopicOrPartitionError.errno,
    UnknownTopicIdError.errno,
    InconsistentTopicIdError.errno,
}
_NOT_THERE = _LEADER_MOVED | _TOPIC_CHANGED | {OffsetOutOfRangeError.errno}
"""After one of these errors, a preferred replica is not read any more."""
_HINTED = {NotLeaderForPartitionError.errno, FencedLeaderEpochError.errno}
_TRY_AGAIN = {UnknownLeaderEpochError.errno, UnknownError.errno}
Answered = PartitionData | LoneAnswer
"""What a response says of one partition."""
_RAISED_AS_SENT = {TopicAuthorizationFailedError.errno, CorruptRecordException.errno}


class FetchOutcome:
    """What the fetcher must do after a response was handled."""

    __slots__ = ("error_codes", "is_accepted", "needs_metadata", "records_bytes")

    def __init__(self) -> None:
        self.is_accepted = False
        """False: the session refused the response, and no data was used. Send a full fetch next."""
        self.needs_metadata = False
        self.records_bytes = 0
        """Size of the record batches in an accepted response."""
        self.error_codes: tuple[int, ...] = ()
        """The errors of partitions in an accepted response."""


class _Arrival:
    """When a response came (monotonic seconds, milliseconds since 1970), and its memory."""

    __slots__ = ("memory", "now_s", "timestamp_ms")

    def __init__(self, now_s: float, timestamp_ms: int, memory: AnswerMemory) -> None:
        self.now_s = now_s
        self.timestamp_ms = timestamp_ms
        self.memory = memory


class FetchResponseHandler:
    """Applies Fetch responses."""

    def __init__(
        self,
        config: ConsumerConfig,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        backoff: ExponentialBackoff,
        update_leaders: UpdateLeaders,
    ) -> None:
        self._config = config
        self._update_leaders = update_leaders
        self._subscription = subscription
        self._buffer = buffer
        self._backoff = backoff
        self.refused: dict[TopicPartition, str] = {}
        """Why nodes refuse partitions that are asked for again; see `still_refused`."""

    def still_refused(self, now_s: float, unasked_s: float) -> dict[TopicPartition, str]:
        """Return what is refused until now, and forget the rest.

        That is what has been read since, is not assigned any more, or was not asked for within
        `unasked_s` of its backoff.
        """
        for tp in list(self.refused):
            state = self._subscription.get(tp)
            if state is None or not state.failures or now_s - state.retry_at_s > unasked_s:
                self.refused.pop(tp, None)
        return self.refused

    def handle(
        self,
        session: FetchSession,
        response: FetchResponse | LoneAnswer,
        now_s: float,
        timestamp_ms: int,
    ) -> FetchOutcome:
        """Apply the response to the newest request of `session`.

        Data and errors of a partition are dropped if it is no longer assigned, or if its position
        has changed since the request.
        """
        unknown_ids: set[bytes] = set()
        answers = _named_partitions(session, response, unknown_ids)
        outcome = FetchOutcome()
        outcome.is_accepted = session.handle_response(
            response.error_code,
            response.session_id,
            response.throttle_time_ms,
            answers.keys(),
            unknown_ids,
        )
        if not outcome.is_accepted:
            outcome.needs_metadata = response.error_code == FetchSessionTopicIdError.errno
            return outcome
        arrival = _Arrival(now_s, timestamp_ms, AnswerMemory(_memory_size(answers.values())))
        moved = self._follow_hints(answers, response)
        for tp, data in answers.items():
            if data.records:
                outcome.records_bytes += len(data.records)
            state = self._subscription.get(tp)
            asked = session.partitions.get(tp)
            if state is None or asked is None or _is_other_log(state, asked):
                continue
            if data.error_code:
                outcome.error_codes += (data.error_code,)
                if tp in moved:
                    self._subscription.move_to_end(tp)  # the next round asks again (KIP-951)
                    continue
                outcome.needs_metadata |= data.error_code in _LEADER_MOVED | _TOPIC_CHANGED
                if _is_at(state, asked.fetch_offset):
                    self._handle_error(session, state, data, arrival)
                elif self._is_ahead(state, asked.fetch_offset):
                    self._put_off_error(state, data, arrival)
                # Else no poll needs this offset now.
            elif _is_at(state, asked.fetch_offset) or self._is_ahead(state, asked.fetch_offset):
                self._handle_data(session, state, asked.fetch_offset, data, arrival)
        return outcome

    def _is_ahead(self, state: PartitionState, fetch_offset: int) -> bool:
        """Say whether the offset is where the buffered fetches of the partition end."""
        return state.fetch_state is _FETCHING and self._buffer.end_offset(state) == fetch_offset

    def _follow_hints(
        self, answers: Mapping[TopicPartition, Answered], response: FetchResponse | LoneAnswer
    ) -> Collection[TopicPartition]:
        """Apply the leaders that the response names; return the partitions that moved (2b-9)."""
        named = [
            (tp, data.current_leader)
            for tp, data in answers.items()
            if data.error_code in _HINTED and isinstance(data, PartitionData)
        ]
        hints = leader_hints(named) if named else {}
        if not hints:
            return ()
        return self._update_leaders(hints, hinted_nodes(response.node_endpoints))

    # Data…

    def _handle_data(
        self,
        session: FetchSession,
        state: PartitionState,
        offset: int,
        data: Answered,
        arrival: _Arrival,
    ) -> None:
        _remember_watermarks(state, data, arrival.timestamp_ms)
        if data.preferred_read_replica >= 0:
            lease_s = self._config.metadata_max_age_ms / 1000
            self._subscription.prefer_replica(
                state, data.preferred_read_replica, arrival.now_s + lease_s
            )
        if not data.records:
            state.failures = 0
            return
        tp = state.topic_partition
        size = len(data.records)
        cursor = RecordCursor(
            data.records,
            topic=tp.topic,
            partition=tp.partition,
            fetch_offset=offset,
            check_crcs=self._config.check_crcs,
            read_committed=self._config.is_read_committed,
            aborted_transactions=[
                (aborted.producer_id, aborted.first_offset)
                for aborted in data.aborted_transactions or ()
            ],
        )
        if not cursor.has_complete_batch:
            cursor.release()
            self._fail(session, state, self._too_large(tp, offset, size), arrival, offset)
            return
        state.failures = 0
        self._buffer.add(
            CompletedFetch(
                tp,
                offset,
                node_id=session.node_id,
                cursor=cursor,
                deserializer=self._deserializer_of(tp),
                size_in_bytes=size,
                incarnation=state.incarnation,
                leader=state.leader,
                received_at_s=arrival.now_s,
                end_offset=cursor.end_offset() if self._config.prefetch_max_bytes else None,
            ),
            arrival.memory,
        )

    def _deserializer_of(self, tp: TopicPartition) -> RecordDeserializer | None:
        key, value = self._config.key_deserializer, self._config.value_deserializer
        if key is None and value is None:
            return None
        buffer = self._buffer
        in_vain = buffer.in_vain[tp]
        return RecordDeserializer(tp.topic, tp.partition, key, value, buffer.budget, in_vain)

    def _too_large(self, tp: TopicPartition, offset: int, size: int) -> RecordTooLargeError:
        return RecordTooLargeError(
            f"{tp.topic}-{tp.partition} at offset {offset}: {size} bytes came without one complete "
            f"record batch; raise max_partition_fetch_bytes "
            f"({self._config.max_partition_fetch_bytes}) and fetch_max_bytes "
            f"({self._config.fetch_max_bytes}) above the size of the largest batch, or seek past it"
        )

    # Errors…

    def _handle_error(
        self, session: FetchSession, state: PartitionState, data: Answered, arrival: _Arrival
    ) -> None:
        code = data.error_code
        was_preferred = code in _NOT_THERE and self._subscription.forget_replica(state)
        topic, partition = state.topic_partition
        place = f"{topic}-{partition} at offset {state.offset} from node {session.node_id}"
        if code in _TOPIC_CHANGED:
            level = logging.WARNING if state.failures == 0 else logging.DEBUG
            logger.log(level, "fetching %s: %s; asking again", place, for_code(code).message)
            self._ask_again(session, state, code, arrival)
        elif code in _LEADER_MOVED or code in _TRY_AGAIN:
            logger.debug("fetching %s: %s; asking again", place, for_code(code).message)
            self._ask_again(session, state, code, arrival)
        elif code == OffsetOutOfRangeError.errno and was_preferred:
            # A follower may be behind the leader, or its log may begin later: the leader decides.
            logger.debug("fetching %s: out of range; asking the leader", place)
            self._subscription.move_to_end(state.topic_partition)
        elif code == OffsetOutOfRangeError.errno:
            self._out_of_range(session, state, data, arrival)
        elif code in _RAISED_AS_SENT:
            cause = for_code(code)
            error = cause(f"while fetching {place}: {cause.description}")
            self._fail(session, state, error, arrival)
        else:
            cause = for_code(code)
            self._fail(
                session,
                state,
                IllegalStateError(
                    f"unexpected error {code} ({cause.message}) while fetching {place}: "
                    f"{cause.description}"
                ),
                arrival,
            )

    def _out_of_range(
        self, session: FetchSession, state: PartitionState, data: Answered, arrival: _Arrival
    ) -> None:
        strategy, moves = self._subscription.default_reset, state.moves
        tp = state.topic_partition
        if strategy is not None:
            logger.info(
                "%s: %s-%d: offset %d is out of range, going to the %s",
                *(self._config.client_id, *tp, state.offset, strategy.label),
            )
            self._subscription.out_of_range(state, strategy, since=moves)
            self._subscription.move_to_end(tp)
            return
        bounds = ""
        if data.log_start_offset >= 0:
            bounds = f" (the log starts at {data.log_start_offset})"
        error = OffsetOutOfRangeError(
            f"{tp.topic}-{tp.partition}: offset {state.offset} is out of range{bounds} and "
            f"auto_offset_reset is 'none'; seek() to an offset in the log, or set "
            f"auto_offset_reset to 'earliest' or 'latest'"
        )
        self._fail(session, state, error, arrival)

    def _fail(
        self,
        session: FetchSession,
        state: PartitionState,
        error: KafkaError,
        arrival: _Arrival,
        offset: int | None = None,
    ) -> None:
        """Queue the error behind the data that came before it (A9). `offset` None: the position."""
        self._back_off(state, arrival)
        self._buffer.add(
            CompletedFetch(
                state.topic_partition,
                state.offset if offset is None else offset,
                node_id=session.node_id,
                error=error,
                incarnation=state.incarnation,
                leader=state.leader,
                received_at_s=arrival.now_s,
            )
        )

    def _put_off_error(self, state: PartitionState, data: Answered, arrival: _Arrival) -> None:
        """Drop an error of a fetch ahead of the position, and ask again after a backoff (A9).

        Such an error is not raised and resets nothing. If it is still there when the position has
        come to its offset, it is handled then.
        """
        if data.error_code in _NOT_THERE:
            self._subscription.forget_replica(state)
        self._back_off(state, arrival)

    def _ask_again(
        self, session: FetchSession, state: PartitionState, code: int, arrival: _Arrival
    ) -> None:
        tp = state.topic_partition
        self.refused[tp] = f"node {session.node_id} says {for_code(code).message}"
        self._back_off(state, arrival)

    def _back_off(self, state: PartitionState, arrival: _Arrival) -> None:
        retry_at_s = arrival.now_s + self._backoff.delay(state.failures)
        self._subscription.back_off(state, retry_at_s)
        self._subscription.move_to_end(state.topic_partition)


def _named_partitions(
    session: FetchSession, response: FetchResponse | LoneAnswer, unknown_ids: set[bytes]
) -> dict[TopicPartition, Answered]:
    """Return each partition of a response under its topic's name.

    Topic ids that the request did not have are added to `unknown_ids`.
    """
    if isinstance(response, LoneAnswer):
        topic_name = session.name_told_by(response.topic_id_bytes)
        if topic_name is None:
            unknown_ids.add(response.topic_id_bytes)
            return {}
        return {TopicPartition(topic_name, response.partition_index): response}
    answers: dict[TopicPartition, Answered] = {}
    for topic in response.responses:
        name = topic.topic or session.topic_name(topic.topic_id)
        if name is None:
            unknown_ids.add(topic.topic_id.bytes)
            continue
        for data in topic.partitions:
            answers[TopicPartition(name, data.partition_index)] = data
    return answers


def _memory_size(answers: Iterable[Answered]) -> int:
    """Return the bytes of memory that the records of one response are views of."""
    for data in answers:
        if data.records:
            whole = data.records.obj if isinstance(data.records, memoryview) else data.records
            return memoryview(whole).nbytes
    return 0


def wants(state: PartitionState, asked: SessionPartition) -> bool:
    """Say whether the partition still needs exactly what the request asked for."""
    return not _is_other_log(state, asked) and _is_at(state, asked.fetch_offset)


def _is_at(state: PartitionState, fetch_offset: int) -> bool:
    return state.fetch_state is _FETCHING and state.offset == fetch_offset


def _is_other_log(state: PartitionState, asked: SessionPartition) -> bool:
    """Say whether the response comes from another log than the one that is read now.

    That is so if the topic was deleted and created again, or if the partition has another leader
    now. The log of the new leader may have been truncated (KIP-320).
    """
    mine, its = state.topic_id, asked.topic_id
    if mine is not its and mine.int and its.int and mine != its:
        return True
    return state.leader is not None and state.leader.epoch != asked.current_leader_epoch


def _remember_watermarks(state: PartitionState, data: Answered, timestamp_ms: int) -> None:
    state.last_poll_timestamp_ms = timestamp_ms
    if data.high_watermark >= 0:
        state.high_watermark = data.high_watermark
    if data.last_stable_offset >= 0:
        state.last_stable_offset = data.last_stable_offset
    if data.log_start_offset >= 0:
        state.log_start_offset = data.log_start_offset


__all__ = ["FetchOutcome", "FetchResponseHandler", "wants"]
