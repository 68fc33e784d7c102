"""What a Fetch answer means: data, watermarks and the error table 2b-15 (A4, A6, A9, H5)."""

import random
from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.concurrency.backoff import ExponentialBackoff
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_bytes import LoneAnswer
from aiokafka_lite.consumer.fetch.fetch_response import FetchOutcome, FetchResponseHandler
from aiokafka_lite.consumer.fetch.fetch_session import FetchSession, SessionPartition
from aiokafka_lite.consumer.position.subscription_state import (
    FetchState,
    OffsetResetStrategy,
    SubscriptionState,
)
from aiokafka_lite.errors import (
    BrokerResponseError,
    ClusterAuthorizationFailedError,
    CorruptRecordException,
    FencedLeaderEpochError,
    FetchSessionTopicIdError,
    IllegalStateError,
    InconsistentTopicIdError,
    InvalidFetchSessionEpoch,
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
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch, NodeEndpoint
from aiokafka_lite.protocol.messages.fetch import PartitionData
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.consumer.batches import TOPIC_ID, batches, fetch_answer, partition_data, tps

P0, P1 = tps(0, 1)
NOW_S, NOW_MS = 100.0, 1_700_000_000_000
EARLIEST = OffsetResetStrategy.EARLIEST


class Bench:
    """Two partitions at offset 5, asked for in a session with node 1."""

    def __init__(
        self, default_reset: OffsetResetStrategy | None = EARLIEST, **options: Any
    ) -> None:
        self.config = ConsumerConfig(**options)
        self.subscription = SubscriptionState(default_reset)
        self.subscription.assign_from_user([P0, P1])
        self.subscription.seek(P0, 5)
        self.subscription.seek(P1, 5)
        self.buffer = FetchBuffer()
        self.session = FetchSession(1)
        for tp in (P0, P1):
            self.session.want(tp, SessionPartition(TOPIC_ID, 5, 1 << 20, 0))
        self.session.build(self.subscription.place)
        backoff = ExponentialBackoff(0.1, 1.0, jitter=0.0, rng=random.Random(0))
        self.hints: list[tuple[Mapping[TopicPartition, LeaderAndEpoch], list[Node]]] = []
        self.moved: set[TopicPartition] = set()
        self.handler = FetchResponseHandler(
            self.config, self.subscription, self.buffer, backoff, self._update_leaders
        )

    def _update_leaders(
        self, leaders: Mapping[TopicPartition, LeaderAndEpoch], nodes: Iterable[Node]
    ) -> set[TopicPartition]:
        self.hints.append((leaders, list(nodes)))
        return self.moved

    def answer(self, *partitions: PartitionData, **fields: Any) -> FetchOutcome:
        response = fetch_answer(*partitions, **{"topic_id": TOPIC_ID, **fields})
        return self.handler.handle(self.session, response, now_s=NOW_S, timestamp_ms=NOW_MS)

    def error(self, error: type[BrokerResponseError], **fields: Any) -> FetchOutcome:
        """P0 fails, P1 has nothing."""
        failed = partition_data(0, error_code=error.errno, **{"high_watermark": -1, **fields})
        return self.answer(failed, partition_data(1))

    @property
    def buffered(self) -> list[CompletedFetch]:
        return list(self.buffer)

    def raised(self) -> KafkaError:
        """The failure in the buffer."""
        (fetch,) = self.buffer
        assert fetch.is_failure
        assert isinstance(fetch.error, KafkaError)
        return fetch.error


def told(outcome: FetchOutcome) -> tuple[bool, bool, int, tuple[int, ...]]:
    return (
        outcome.is_accepted,
        outcome.needs_metadata,
        outcome.records_bytes,
        outcome.error_codes,
    )


# Data…


@pytest.mark.parametrize("topic_id", [TOPIC_ID, ZERO_UUID], ids=["by id", "by name"])
def test_data_becomes_a_completed_fetch_in_the_order_of_the_answer(topic_id: Any) -> None:
    bench = Bench()
    data = batches(5, 3)
    outcome = bench.answer(partition_data(1, data), partition_data(0, data), topic_id=topic_id)
    assert outcome.is_accepted
    assert not outcome.needs_metadata
    assert [fetch.topic_partition for fetch in bench.buffered] == [P1, P0]
    assert all(fetch.fetch_offset == 5 for fetch in bench.buffered)
    assert bench.buffer.unread_bytes(1) == 2 * len(data)
    assert [record.offset for record in bench.buffered[0].take(9)] == [5, 6, 7]


def lone_answer(session_id: int = 1, topic_id: UUID = TOPIC_ID, partition: int = 0) -> LoneAnswer:
    records = memoryview(batches(5, 3))
    return LoneAnswer(session_id, topic_id.bytes, partition, 9, 8, 2, records)


def test_the_answer_of_one_partition_is_taken_in_without_a_message() -> None:
    bench = Bench()
    bench.answer(partition_data(0), partition_data(1))
    state = bench.subscription.assigned(P1)
    outcome = bench.handler.handle(bench.session, lone_answer(partition=1), NOW_S, NOW_MS)
    assert told(outcome) == (True, False, len(batches(5, 3)), ())
    (fetch,) = bench.buffered
    assert (fetch.topic_partition, fetch.received_at_s) == (P1, NOW_S)
    assert [record.offset for record in fetch.take(9)] == [5, 6, 7]
    assert (state.high_watermark, state.last_stable_offset, state.log_start_offset) == (9, 8, 2)
    assert bench.session.epoch == 2


@pytest.mark.parametrize("strange", [{"topic_id": UUID(int=99)}, {"partition": 7}])
def test_2a_8_the_answer_of_one_partition_that_is_not_in_the_session_is_refused(
    strange: dict[str, Any],
) -> None:
    bench = Bench()
    bench.answer(partition_data(0), partition_data(1))
    outcome = bench.handler.handle(bench.session, lone_answer(**strange), NOW_S, NOW_MS)
    assert told(outcome) == (False, False, 0, ())
    assert bench.buffered == []
    assert bench.session.epoch == 0


def test_an_answer_without_records_updates_the_watermarks_and_is_not_buffered() -> None:
    bench = Bench()
    bench.answer(
        partition_data(0, high_watermark=9, last_stable_offset=8, log_start_offset=2),
        partition_data(1, None),
    )
    state = bench.subscription.assigned(P0)
    assert (state.high_watermark, state.last_stable_offset, state.log_start_offset) == (9, 8, 2)
    assert state.last_poll_timestamp_ms == NOW_MS
    assert bench.buffered == []


def test_2b_13_watermarks_that_are_not_told_do_not_erase_those_known() -> None:
    bench = Bench()
    state = bench.subscription.assigned(P0)
    state.high_watermark, state.last_stable_offset, state.log_start_offset = 9, 8, 2
    bench.answer(
        partition_data(0, high_watermark=-1, last_stable_offset=-1, log_start_offset=-1),
        partition_data(1),
    )
    assert (state.high_watermark, state.last_stable_offset, state.log_start_offset) == (9, 8, 2)


def test_a6_data_for_a_position_that_changed_meanwhile_is_dropped() -> None:
    bench = Bench()
    bench.subscription.seek(P0, 50)
    bench.answer(partition_data(0, batches(5, 3)), partition_data(1))
    assert bench.buffered == []
    assert bench.subscription.assigned(P0).high_watermark is None


def test_data_of_a_partition_let_go_meanwhile_is_dropped() -> None:
    bench = Bench()
    bench.subscription.assign_from_user([P1])
    bench.answer(partition_data(0, batches(5, 3)), partition_data(1, batches(5, 1)))
    assert [fetch.topic_partition for fetch in bench.buffered] == [P1]


def test_e3_aborted_transactions_are_handed_to_the_reader() -> None:
    """The batch is of no producer, so nothing is skipped; that the list arrives is what counts."""
    bench = Bench(isolation_level="read_committed")
    bench.answer(partition_data(0, batches(5, 1), aborted=[(7, 5)]), partition_data(1))
    assert [record.offset for record in bench.buffered[0].take(9)] == [5]


def test_keys_and_values_are_deserialized_each_in_its_way() -> None:
    bench = Bench(key_deserializer=lambda key: ("key", key), value_deserializer=bytes.decode)
    bench.answer(partition_data(0, batches(5, 1)), partition_data(1))
    (record,) = bench.buffered[0].take(9)
    assert (record.key, record.value) == (("key", b"5"), "v5")


def test_a4_bytes_without_one_whole_batch_are_an_error_naming_offset_and_both_limits() -> None:
    bench = Bench(max_partition_fetch_bytes=111, fetch_max_bytes=222)
    bench.answer(partition_data(0, batches(5, 50)[:80]), partition_data(1))
    error = bench.raised()
    assert isinstance(error, RecordTooLargeError)
    assert "t-0 at offset 5: 80 bytes" in str(error)
    assert "max_partition_fetch_bytes (111)" in str(error)
    assert "fetch_max_bytes (222)" in str(error)


def test_a4_h5_bytes_without_one_whole_batch_are_asked_for_ever_more_rarely() -> None:
    bench = Bench()
    delays = []
    for _ in range(3):
        bench.answer(partition_data(0, batches(5, 50)[:80]), partition_data(1))
        delays.append(bench.subscription.assigned(P0).retry_at_s - NOW_S)
        bench.buffer.discard(lambda _tp: True)
    assert delays == pytest.approx([0.1, 0.2, 0.4])
    bench.answer(partition_data(0, batches(5, 1)), partition_data(1))
    assert bench.subscription.assigned(P0).failures == 0


def test_2b_12_a_partial_batch_behind_a_whole_one_is_ignored() -> None:
    bench = Bench()
    bench.answer(partition_data(0, batches(5, 2) + batches(7, 50)[:80]), partition_data(1))
    (fetch,) = bench.buffered
    assert [record.offset for record in fetch.take(99)] == [5, 6]
    assert fetch.is_drained()


# Ahead of the position…


def fetched_ahead(offset: int = 8) -> Bench:
    """P0 has three records buffered from its position on, and was asked for from `offset` on."""
    bench = Bench(prefetch_max_bytes=1 << 20)
    bench.answer(partition_data(0, batches(5, 3)), partition_data(1))
    bench.session.want(P0, SessionPartition(TOPIC_ID, offset, 1 << 20, 0))
    bench.session.build(bench.subscription.place)
    return bench


@pytest.mark.parametrize(("offset", "kept"), [(8, [5, 8]), (7, [5]), (9, [5])])
def test_data_ahead_is_of_use_where_it_goes_on_behind_what_is_buffered(
    offset: int, kept: list[int]
) -> None:
    bench = fetched_ahead(offset)
    bench.answer(partition_data(0, batches(offset, 2)), partition_data(1))
    assert [fetch.next_offset for fetch in bench.buffered] == kept


def test_data_ahead_is_dropped_when_the_position_has_left_what_is_buffered() -> None:
    bench = fetched_ahead()
    bench.subscription.seek(P0, 6)
    bench.answer(partition_data(0, batches(8, 2)), partition_data(1))
    assert [fetch.next_offset for fetch in bench.buffered] == [5]


def test_data_ahead_is_dropped_when_what_is_buffered_cannot_be_read() -> None:
    bench = fetched_ahead()
    bench.buffer.set_aside(bench.buffered[0], CorruptRecordException("bad"))
    bench.answer(partition_data(0, batches(8, 2)), partition_data(1))
    assert [fetch.next_offset for fetch in bench.buffered] == [5]


def test_a4_bytes_ahead_without_one_whole_batch_are_an_error_in_their_place() -> None:
    bench = fetched_ahead()
    bench.answer(partition_data(0, batches(8, 2)[:-1]), partition_data(1))
    good, bad = bench.buffered
    assert (good.next_offset, bad.next_offset, bad.is_failure) == (5, 8, True)
    assert isinstance(bad.error, RecordTooLargeError)
    assert "t-0 at offset 8" in str(bad.error)


@pytest.mark.parametrize(
    "error",
    [OffsetOutOfRangeError, NotLeaderForPartitionError, TopicAuthorizationFailedError],
)
def test_a9_an_error_ahead_only_puts_off_the_next_fetch(error: type[BrokerResponseError]) -> None:
    bench = fetched_ahead()
    bench.subscription.prefer_replica(bench.subscription.assigned(P0), 1, NOW_S + 9)
    bench.error(error)
    state = bench.subscription.assigned(P0)
    assert [fetch.next_offset for fetch in bench.buffered] == [5]
    assert (state.position, state.retry_at_s) == (5, NOW_S + 0.1)
    assert (state.preferred_replica is None) is (error is not TopicAuthorizationFailedError)


# The session's verdict…


def test_2b_8_an_answer_the_session_refuses_is_dropped_as_a_whole() -> None:
    bench = Bench()
    outcome = bench.answer(
        partition_data(0, batches(5, 3)), error_code=InvalidFetchSessionEpoch.errno
    )
    assert told(outcome) == (False, False, 0, ())
    assert bench.buffered == []


def test_2a_7_a_topic_id_error_of_the_session_asks_for_metadata() -> None:
    outcome = Bench().answer(error_code=FetchSessionTopicIdError.errno)
    assert told(outcome) == (False, True, 0, ())


def test_2a_8_an_unknown_topic_id_refuses_the_answer() -> None:
    bench = Bench()
    response = fetch_answer(partition_data(0, batches(5, 3)), partition_data(1), topic_id=TOPIC_ID)
    response.responses[0].topic_id = type(TOPIC_ID)(int=12345)
    outcome = bench.handler.handle(bench.session, response, now_s=0, timestamp_ms=0)
    assert not outcome.is_accepted


# The table 2b-15…


@pytest.mark.parametrize(
    "error",
    [
        NotLeaderForPartitionError,
        ReplicaNotAvailableError,
        KafkaStorageError,
        FencedLeaderEpochError,
        OffsetNotAvailableError,
        UnknownTopicOrPartitionError,
        UnknownTopicIdError,
        InconsistentTopicIdError,
    ],
)
def test_2b_15_errors_of_old_metadata_refresh_it_and_try_again_later(
    error: type[BrokerResponseError],
) -> None:
    bench = Bench()
    outcome = bench.error(error)
    assert outcome.is_accepted
    assert outcome.needs_metadata
    assert bench.buffered == []
    state = bench.subscription.assigned(P0)
    assert state.position == 5
    assert state.retry_at_s == pytest.approx(NOW_S + 0.1)


@pytest.mark.parametrize("error", [UnknownLeaderEpochError, UnknownError])
def test_2b_15_other_passing_errors_try_again_later(error: type[BrokerResponseError]) -> None:
    bench = Bench()
    outcome = bench.error(error)
    assert not outcome.needs_metadata
    assert bench.buffered == []
    assert bench.subscription.assigned(P0).retry_at_s > NOW_S


@pytest.mark.parametrize("error", [TopicAuthorizationFailedError, CorruptRecordException])
def test_2b_15_errors_for_the_user_are_queued_as_they_are(
    error: type[BrokerResponseError],
) -> None:
    bench = Bench()
    bench.error(error)
    raised = bench.raised()
    assert type(raised) is error
    assert "t-0 at offset 5 from node 1" in str(raised)


def test_2b_15_any_other_error_is_an_illegal_state() -> None:
    bench = Bench()
    bench.error(ClusterAuthorizationFailedError)
    raised = bench.raised()
    assert isinstance(raised, IllegalStateError)
    assert "unexpected error 31 (CLUSTER_AUTHORIZATION_FAILED)" in str(raised)


def test_2b_15_out_of_range_is_reset_by_the_policy() -> None:
    bench = Bench(EARLIEST)
    bench.error(OffsetOutOfRangeError)
    state = bench.subscription.assigned(P0)
    assert state.fetch_state is FetchState.AWAIT_RESET
    assert state.reset_strategy is EARLIEST
    assert bench.buffered == []
    assert bench.subscription.queue() == (P1, P0), "2b-16"


def test_2b_15_out_of_range_without_a_policy_names_partition_offset_and_remedy() -> None:
    bench = Bench(None)
    bench.error(OffsetOutOfRangeError, log_start_offset=7)
    raised = bench.raised()
    assert isinstance(raised, OffsetOutOfRangeError)
    assert "t-0: offset 5 is out of range (the log starts at 7)" in str(raised)
    assert "auto_offset_reset is 'none'; seek()" in str(raised)
    assert bench.subscription.assigned(P0).position == 5


@pytest.mark.parametrize("default_reset", [EARLIEST, None])
def test_2b_15_out_of_range_for_an_old_position_is_ignored(
    default_reset: OffsetResetStrategy | None,
) -> None:
    bench = Bench(default_reset)
    bench.subscription.seek(P0, 6)
    bench.error(OffsetOutOfRangeError)
    assert bench.subscription.assigned(P0).position == 6
    assert bench.buffered == []


def test_2b_16_a_failed_partition_goes_to_the_end_of_the_queue() -> None:
    bench = Bench()
    bench.error(UnknownError)
    assert bench.subscription.queue() == (P1, P0)


def test_h5_the_backoff_of_a_partition_grows_and_ends_with_success() -> None:
    bench = Bench()
    delays = []
    for _ in range(3):
        bench.error(UnknownError)
        delays.append(bench.subscription.assigned(P0).retry_at_s - NOW_S)
    assert delays == pytest.approx([0.1, 0.2, 0.4])
    bench.answer(partition_data(0), partition_data(1))
    assert bench.subscription.assigned(P0).failures == 0


def test_an_unknown_topic_is_warned_about_once(caplog: pytest.LogCaptureFixture) -> None:
    bench = Bench()
    bench.error(UnknownTopicOrPartitionError)
    bench.error(UnknownTopicOrPartitionError)
    warnings = [record for record in caplog.records if record.levelname == "WARNING"]
    assert len(warnings) == 1
    assert "t-0 at offset 5 from node 1: UNKNOWN_TOPIC_OR_PARTITION" in warnings[0].getMessage()


def test_a9_an_error_stands_behind_the_data_that_came_before_it() -> None:
    bench = Bench()
    bench.answer(
        partition_data(1, batches(5, 1)),
        partition_data(0, error_code=TopicAuthorizationFailedError.errno),
    )
    assert [fetch.topic_partition for fetch in bench.buffered] == [P1, P0]
    assert TopicPartition("t", 0) == bench.buffered[1].topic_partition


# Hints of leaders (KIP-951), near replicas (KIP-392), other topics…

HINT = LeaderIdAndEpoch(leader_id=2, leader_epoch=9)


def hinted(error: type[BrokerResponseError], leader: LeaderIdAndEpoch = HINT) -> PartitionData:
    return partition_data(0, error_code=error.errno, high_watermark=-1, current_leader=leader)


@pytest.mark.parametrize("error", [NotLeaderForPartitionError, FencedLeaderEpochError])
def test_2b_9_a_hint_of_a_new_leader_is_followed_at_once(error: type[BrokerResponseError]) -> None:
    bench = Bench()
    bench.moved = {P0}
    response = fetch_answer(hinted(error), partition_data(1), topic_id=TOPIC_ID)
    response.node_endpoints = [NodeEndpoint(node_id=2, host="h", port=9, rack="r")]
    outcome = bench.handler.handle(bench.session, response, now_s=NOW_S, timestamp_ms=NOW_MS)
    assert bench.hints == [({P0: LeaderAndEpoch(2, 9)}, [Node(2, "h", 9, "r")])]
    state = bench.subscription.assigned(P0)
    assert (state.retry_at_s, state.failures) == (0.0, 0)
    assert not outcome.needs_metadata
    assert bench.subscription.queue() == (P1, P0), "2b-16"


def test_2b_9_a_hint_that_is_no_news_leaves_the_backoff_and_the_metadata_request() -> None:
    bench = Bench()
    outcome = bench.answer(hinted(NotLeaderForPartitionError), partition_data(1))
    assert len(bench.hints) == 1
    assert outcome.needs_metadata
    assert bench.subscription.assigned(P0).retry_at_s > NOW_S


@pytest.mark.parametrize(
    ("error", "leader"),
    [
        (KafkaStorageError, HINT),
        (NotLeaderForPartitionError, LeaderIdAndEpoch(leader_id=-1, leader_epoch=9)),
        (NotLeaderForPartitionError, LeaderIdAndEpoch(leader_id=2, leader_epoch=-1)),
        (NotLeaderForPartitionError, LeaderIdAndEpoch()),
    ],
)
def test_2b_9_only_two_errors_bring_hints_and_only_whole_ones(
    error: type[BrokerResponseError], leader: LeaderIdAndEpoch
) -> None:
    bench = Bench()
    bench.answer(hinted(error, leader), partition_data(1))
    assert bench.hints == []


def test_2b_5_a_preferred_replica_is_read_from_for_the_age_of_metadata() -> None:
    bench = Bench(metadata_max_age_ms=60_000)
    bench.answer(partition_data(0, preferred_read_replica=2), partition_data(1))
    state = bench.subscription.assigned(P0)
    assert (state.preferred_replica, state.preferred_until_s) == (2, NOW_S + 60)
    assert bench.subscription.assigned(P1).preferred_replica is None


@pytest.mark.parametrize("default_reset", [EARLIEST, None])
def test_2b_15_out_of_range_at_a_follower_only_ends_reading_from_it(
    default_reset: OffsetResetStrategy | None,
) -> None:
    bench = Bench(default_reset)
    state = bench.subscription.assigned(P0)
    bench.subscription.prefer_replica(state, 1, NOW_S + 60)
    bench.error(OffsetOutOfRangeError)
    assert state.preferred_replica is None
    assert (state.position, state.retry_at_s) == (5, 0.0)
    assert bench.buffered == []


@pytest.mark.parametrize(
    ("error", "is_kept"),
    [
        (NotLeaderForPartitionError, False),
        (ReplicaNotAvailableError, False),
        (KafkaStorageError, False),
        (OffsetNotAvailableError, False),
        (UnknownTopicOrPartitionError, False),
        (UnknownTopicIdError, False),
        (UnknownLeaderEpochError, True),
        (UnknownError, True),
    ],
)
def test_2b_15_errors_of_a_place_end_the_reading_from_a_follower(
    error: type[BrokerResponseError], is_kept: bool
) -> None:
    bench = Bench()
    state = bench.subscription.assigned(P0)
    bench.subscription.prefer_replica(state, 1, NOW_S + 60)
    bench.error(error)
    assert (state.preferred_replica is not None) is is_kept


def test_2b_11_an_answer_for_a_position_being_validated_is_dropped() -> None:
    bench = Bench()
    state = bench.subscription.assigned(P0)
    state.offset_epoch = 0
    bench.subscription.follow_leader(state, LeaderAndEpoch(1, 0))
    bench.subscription.follow_leader(state, LeaderAndEpoch(2, 1))
    bench.answer(partition_data(0, batches(5, 3)), partition_data(1))
    assert bench.buffered == []


def test_2b_11_an_answer_of_a_leadership_that_is_over_is_dropped() -> None:
    """It was on its way while the next leader's log was found to have the position: what comes
    behind that may be another there."""
    bench = Bench()
    for tp, epoch in ((P0, 1), (P1, 0)):
        state = bench.subscription.assigned(tp)
        bench.subscription.follow_leader(state, LeaderAndEpoch(1, epoch))
    bench.answer(partition_data(0, batches(5, 3)), partition_data(1, batches(5, 3)))
    (fetch,) = bench.buffered
    assert (fetch.topic_partition, fetch.leader) == (P1, LeaderAndEpoch(1, 0))


@pytest.mark.parametrize("is_error", [True, False])
def test_an_answer_about_a_topic_that_is_no_more_is_dropped(is_error: bool) -> None:
    bench = Bench()
    state = bench.subscription.assigned(P0)
    bench.subscription.follow_topic(state, UUID(int=99))
    if is_error:
        bench.error(OffsetOutOfRangeError)
    else:
        bench.answer(partition_data(0, batches(5, 3)), partition_data(1))
    assert bench.buffered == []
    assert state.position == 5
