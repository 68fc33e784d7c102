"""What the next fetch asks for, of whom, in which order: A3, A6, A7, A8, A10, A11, D3."""

from dataclasses import replace
from uuid import UUID

import pytest

from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_planner import FetchPlanner
from aiokafka_lite.consumer.fetch.fetch_round import FetchRound
from aiokafka_lite.consumer.position.subscription_state import (
    OffsetResetStrategy,
    SubscriptionState,
)
from aiokafka_lite.model import Node, TopicPartition
from aiokafka_lite.record.batch_reader import RecordCursor
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.consumer.batches import TOPIC_ID, batches, tps
from tests.consumer.cluster import cluster

P0, P1, P2, P3 = tps(0, 1, 2, 3)
OTHER_ID = UUID(int=99)


class Nodes:
    """What a fetcher would say of its nodes."""

    def __init__(self) -> None:
        self.delays: dict[int, float | None] = {}
        self.versions: dict[int, int] = {}

    def fetch_delay(self, node_id: int) -> float | None:
        return self.delays.get(node_id, 0.0)

    def fetch_version(self, node_id: int) -> int | None:
        return self.versions.get(node_id)


class Bench:
    def __init__(self, *partitions: TopicPartition, **options: int | str) -> None:
        self.config = replace(ConsumerConfig(), **options)  # type: ignore[arg-type]  # a test's own options
        self.subscription = SubscriptionState(OffsetResetStrategy.EARLIEST)
        self.subscription.assign_from_user(partitions)
        for tp in partitions:
            self.subscription.seek(tp, 0)
        self.buffer = FetchBuffer(self.subscription.revision)
        self.nodes = Nodes()
        self.planner = FetchPlanner(self.config, self.subscription, self.buffer, self.nodes)

    def buffered(
        self,
        tp: TopicPartition,
        size: int = 10,
        node_id: int = 1,
        received_at_s: float = 0.0,
        end_offset: int | None = None,
    ) -> CompletedFetch:
        cursor = RecordCursor(batches(0, 4), topic=tp.topic, partition=tp.partition, fetch_offset=0)
        fetch = CompletedFetch(
            tp,
            0,
            node_id=node_id,
            cursor=cursor,
            size_in_bytes=size,
            received_at_s=received_at_s,
            end_offset=end_offset,
        )
        self.buffer.add(fetch)
        return fetch

    def grant_session(self, node_id: int, *partitions: TopicPartition) -> None:
        self.planner.session(node_id).handle_response(
            error_code=0, session_id=5, throttle_time_ms=0, partitions=partitions
        )


def asked(planned: FetchRound) -> list[tuple[str, int, int]]:
    """The partitions a request names, in its order: (topic, partition, offset)."""
    return [
        (topic.topic, partition.partition, partition.fetch_offset)
        for topic in planned.request.topics
        for partition in topic.partitions
    ]


def test_a3_one_request_asks_for_every_free_partition_of_a_node() -> None:
    bench = Bench(P0, P1, P2)
    found = bench.planner.plan_round(cluster({P0: 1, P1: 1, P2: 1}), 0.0)
    (planned,) = found.fetches
    assert planned.node_id == 1
    assert asked(planned) == [("t", 0, 0), ("t", 1, 0), ("t", 2, 0)]


def test_a10_partitions_are_asked_of_their_leaders_one_request_each() -> None:
    bench = Bench(P0, P1, P2)
    found = bench.planner.plan_round(cluster({P0: 2, P1: 1, P2: 2}), 0.0)
    assert {planned.node_id: asked(planned) for planned in found.fetches} == {
        2: [("t", 0, 0), ("t", 2, 0)],
        1: [("t", 1, 0)],
    }


def test_a10_a_node_that_owes_an_answer_is_left_alone_the_others_are_asked() -> None:
    bench = Bench(P0, P1)
    bench.nodes.delays[1] = None
    found = bench.planner.plan_round(cluster({P0: 1, P1: 2}), 0.0)
    assert [planned.node_id for planned in found.fetches] == [2]
    assert found.due_at_s is None


def test_a8_the_request_follows_the_queue() -> None:
    bench = Bench(P0, P1, P2)
    bench.subscription.move_to_end(P0)
    bench.subscription.move_to_end(P1)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, P1: 1, P2: 1}), 0.0).fetches
    assert [partition for _, partition, _ in asked(planned)] == [2, 0, 1]


def test_topics_are_grouped_only_with_their_neighbours() -> None:
    """The broker fills partitions in the order of the request, across topics."""
    u0 = TopicPartition("u", 0)
    bench = Bench(P0, u0, P1)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, u0: 1, P1: 1}, ZERO_UUID), 0.0).fetches
    assert [topic.topic for topic in planned.request.topics] == ["t", "u", "t"]
    bench.subscription.move_to_end(P0)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, u0: 1, P1: 1}, ZERO_UUID), 0.0).fetches
    assert [(topic.topic, len(topic.partitions)) for topic in planned.request.topics] == [
        ("u", 1),
        ("t", 2),
    ]


def test_a7_a_buffered_partition_is_not_asked_for() -> None:
    bench = Bench(P0, P1)
    bench.buffered(P0)
    found = bench.planner.plan_round(cluster({P0: 1, P1: 1}), 0.0)
    assert asked(found.fetches[0]) == [("t", 1, 0)]
    assert bench.planner.free_partitions(0.0) == [P1]


def test_a7_a_node_without_a_free_partition_gets_no_request() -> None:
    bench = Bench(P0)
    bench.buffered(P0)
    assert bench.planner.plan_round(cluster({P0: 1}), 0.0).fetches == []


def test_a7_a_partition_that_is_only_buffered_is_forgotten_and_comes_back_as_new() -> None:
    bench = Bench(P0, P1)
    snapshot = cluster({P0: 1, P1: 1})
    bench.planner.plan_round(snapshot, 0.0)
    bench.grant_session(1, P0, P1)
    fetch = bench.buffered(P0)
    (planned,) = bench.planner.plan_round(snapshot, 0.0).fetches
    assert asked(planned) == []
    assert [topic.partitions for topic in planned.request.forgotten_topics_data] == [[0]]
    bench.grant_session(1)
    bench.buffer.remove(fetch)
    bench.subscription.seek(P0, 4)
    (planned,) = bench.planner.plan_round(snapshot, 0.0).fetches
    assert asked(planned) == [("t", 0, 4)]
    assert planned.request.forgotten_topics_data == []


def test_a6_the_offset_asked_for_is_the_subscriptions() -> None:
    bench = Bench(P0)
    bench.subscription.seek(P0, 42)
    (planned,) = bench.planner.plan_round(cluster({P0: 1}), 0.0).fetches
    assert asked(planned) == [("t", 0, 42)]


def test_paused_partitions_and_those_without_a_position_are_not_free() -> None:
    bench = Bench(P0, P1)
    bench.subscription.pause(P0)
    bench.subscription.await_reset(P1, OffsetResetStrategy.LATEST)
    assert bench.planner.plan_round(cluster({P0: 1, P1: 1}), 0.0).fetches == []


def test_a_partition_without_a_leader_is_reported() -> None:
    bench = Bench(P0, P1, P2)
    found = bench.planner.plan_round(cluster({P0: -1, P1: 1}), 0.0)
    assert found.leaderless == [P0, P2]
    assert asked(found.fetches[0]) == [("t", 1, 0)]


def test_h5_a_partition_in_backoff_is_left_out_until_it_is_due() -> None:
    bench = Bench(P0, P1)
    snapshot = cluster({P0: 1, P1: 1})
    bench.subscription.back_off(bench.subscription.assigned(P0), retry_at_s=7.0)
    found = bench.planner.plan_round(snapshot, 6.0)
    assert asked(found.fetches[0]) == [("t", 1, 0)]
    assert found.due_at_s == 7.0
    assert bench.planner.free_partitions(6.0) == [P1]
    assert bench.planner.free_partitions(7.0) == [P0, P1]


def test_h5_of_several_backoffs_the_first_that_ends_counts() -> None:
    """Of partitions and of nodes, in whatever order they come."""
    bench = Bench(P0, P1, P2, P3)
    for tp, retry_at_s in ((P0, 9.0), (P1, 7.0), (P2, 8.0)):
        bench.subscription.back_off(bench.subscription.assigned(tp), retry_at_s=retry_at_s)
    bench.nodes.delays[2] = 0.5
    snapshot = cluster({P0: 1, P1: 1, P2: 1, P3: 2})
    assert bench.planner.plan_round(snapshot, 6.0).due_at_s == 6.5
    assert bench.planner.plan_round(snapshot, 6.75).due_at_s == 7.0


def test_a_node_in_backoff_is_due_when_the_backoff_ends() -> None:
    bench = Bench(P0)
    bench.nodes.delays[1] = 0.5
    found = bench.planner.plan_round(cluster({P0: 1}), 10.0)
    assert found.fetches == []
    assert found.due_at_s == 10.5


def test_a11_a_node_with_enough_unread_bytes_gets_no_new_fetch() -> None:
    bench = Bench(P0, P1, P2, P3, fetch_buffer_bytes=100)
    snapshot = cluster({P0: 1, P1: 1, P2: 2, P3: 2})
    full = bench.buffered(P0, size=100, node_id=1)
    bench.buffered(P2, size=99, node_id=2)
    found = bench.planner.plan_round(snapshot, 0.0)
    assert [planned.node_id for planned in found.fetches] == [2]
    bench.buffer.remove(full)
    found = bench.planner.plan_round(snapshot, 0.0)
    assert [planned.node_id for planned in found.fetches] == [1, 2]


def test_a11_paused_data_makes_room_when_it_alone_would_stop_the_node() -> None:
    bench = Bench(P0, P1, P2, fetch_buffer_bytes=100)
    bench.buffered(P0, size=60)
    bench.buffered(P1, size=60)
    bench.subscription.pause(P0)
    snapshot = cluster({P0: 1, P1: 1, P2: 1})
    assert bench.planner.plan_round(snapshot, 0.0).fetches == [], "a poll can drain P1"
    bench.subscription.pause(P1)
    assert asked(bench.planner.plan_round(snapshot, 0.0).fetches[0]) == [("t", 2, 0)]
    assert bench.buffer.is_buffered(P0)
    assert not bench.buffer.is_buffered(P1)


def test_a11_polls_of_named_partitions_do_not_wait_behind_data_nobody_takes() -> None:
    bench = Bench(P0, P1, P2, P3, fetch_buffer_bytes=100)
    bench.buffered(P0, size=60)
    bench.buffered(P1, size=60)
    other = bench.buffered(P3, size=100, node_id=2)
    snapshot = cluster({P0: 1, P1: 1, P2: 1, P3: 2})
    bench.planner.make_room_for([P1, P2], snapshot, 0.0)
    found = bench.planner.plan_round(snapshot, 0.0)
    assert (found.fetches, found.lacks_room) == ([], True), "a poll is going to drain P1"
    bench.planner.make_room_for([P2], snapshot, 0.0)
    assert list(bench.buffer)[1:] == [other]
    found = bench.planner.plan_round(snapshot, 0.0)
    assert asked(found.fetches[0]) == [("t", 2, 0)], "P1 would only fill the buffer again"
    assert not found.lacks_room


def test_a11_a_fetch_that_stands_aside_does_not_keep_paused_data_from_making_room() -> None:
    bench = Bench(P0, P1, P2, fetch_buffer_bytes=100)
    bench.buffered(P0, size=100)
    bench.subscription.pause(P0)
    bench.buffer.set_aside(bench.buffered(P1, size=100), ValueError())
    found = bench.planner.plan_round(cluster({P0: 1, P1: 1, P2: 1}), 0.0)
    assert asked(found.fetches[0]) == [("t", 2, 0)]
    assert bench.buffer.is_buffered(P1), "its error is still to be heard"


@pytest.mark.parametrize("wanted", [(), (P1,)], ids=["all", "named"])
def test_a11_what_was_dropped_is_fetched_again_when_a_poll_wants_it(
    wanted: tuple[TopicPartition, ...],
) -> None:
    bench = Bench(P0, P1, fetch_buffer_bytes=100)
    bench.buffered(P1, size=100)
    snapshot = cluster({P0: 1, P1: 1})
    bench.planner.make_room_for([P0], snapshot, 0.0)
    bench.planner.want([P0])
    assert bench.planner.free_partitions(0.0) == [P0]
    before = bench.subscription.revision.number
    bench.planner.want(wanted)
    assert bench.planner.free_partitions(0.0) == [P0, P1]
    assert bench.subscription.revision.number > before


def test_a11_no_data_is_dropped_for_a_partition_whose_node_cannot_be_asked_now() -> None:
    bench = Bench(P0, P1, fetch_buffer_bytes=100)
    fetch = bench.buffered(P0, size=100)
    for delay_s in (None, 0.5):
        bench.nodes.delays[1] = delay_s
        bench.planner.make_room_for([P1], cluster({P0: 1, P1: 1}), 0.0)
        bench.planner.make_room_for([P0], cluster({P0: 1, P1: 1}), 0.0)
    assert list(bench.buffer) == [fetch]


def test_2b_6_2b_7_the_request_carries_limits_isolation_leader_epoch_and_topic_id() -> None:
    bench = Bench(
        P0,
        fetch_max_wait_ms=5,
        fetch_min_bytes=6,
        fetch_max_bytes=7,
        max_partition_fetch_bytes=8,
        isolation_level="read_committed",
    )
    (planned,) = bench.planner.plan_round(cluster({P0: 1}), 0.0).fetches
    request = planned.request
    assert (request.max_wait_ms, request.min_bytes, request.max_bytes) == (5, 6, 7)
    assert request.isolation_level == 1
    assert request.replica_id == -1
    (topic,) = request.topics
    assert topic.topic_id == TOPIC_ID
    (partition,) = topic.partitions
    assert partition.partition_max_bytes == 8
    assert partition.current_leader_epoch == 3
    assert (partition.last_fetched_epoch, partition.log_start_offset) == (-1, -1)
    assert planned.max_version is None


@pytest.mark.parametrize(
    ("now_s", "max_wait_ms"), [(3.0, 5), (3.005, 5), (3.04, 40), (3.5, 500), (9.0, 500)]
)
def test_a4_beside_unread_data_the_broker_may_hold_an_answer_no_longer_than_that_has_lain(
    now_s: float, max_wait_ms: int
) -> None:
    """P1 is not in the request: once it is used up it waits for the answer (A7, A10)."""
    bench = Bench(P0, P1)
    bench.buffered(P1, received_at_s=1.0)
    bench.buffered(P1, received_at_s=3.0)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, P1: 1}), now_s).fetches
    assert planned.request.max_wait_ms == max_wait_ms


def test_a4_a_shorter_wait_than_the_least_stays_as_it_is() -> None:
    bench = Bench(P0, P1, fetch_max_wait_ms=2)
    bench.buffered(P1)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, P1: 1}), 0.0).fetches
    assert planned.request.max_wait_ms == 2


def test_a4_what_lies_unread_of_other_nodes_or_is_used_up_shortens_no_wait() -> None:
    bench = Bench(P0, P1, P2)
    bench.buffered(P1, node_id=2)
    bench.buffer.remove(bench.buffered(P2))
    found = bench.planner.plan_round(cluster({P0: 1, P1: 2, P2: 1}), 0.0)
    assert [planned.request.max_wait_ms for planned in found.fetches] == [500]


def test_2a_6_a_partition_without_a_topic_id_caps_the_request_at_version_12() -> None:
    bench = Bench(P0)
    (planned,) = bench.planner.plan_round(cluster({P0: 1}, ZERO_UUID), 0.0).fetches
    assert planned.max_version == 12


def test_2a_6_an_incremental_request_is_capped_for_what_it_need_not_send() -> None:
    """And the next one, when the id has become known, is not."""
    u0 = TopicPartition("u", 0)
    bench = Bench(P0, u0)
    unknown = cluster({u0: 1}, ZERO_UUID)
    mixed = cluster({P0: 1}, before=unknown)
    both = replace(mixed, topics={**unknown.topics, **mixed.topics})
    bench.planner.plan_round(both, 0.0)
    bench.grant_session(1, P0, u0)
    bench.subscription.seek(P0, 5)
    (planned,) = bench.planner.plan_round(both, 0.0).fetches
    assert asked(planned) == [("t", 0, 5)]
    assert (planned.request.session_epoch, planned.max_version) == (1, 12)
    bench.grant_session(1)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, u0: 1}), 0.0).fetches
    assert (planned.request.session_epoch, planned.max_version) == (2, None)


@pytest.mark.parametrize(("version", "is_forgotten"), [(13, True), (12, False), (None, False)])
def test_2a_5_a_replaced_partition_is_forgotten_by_its_old_id_from_version_13_on(
    version: int | None, is_forgotten: bool
) -> None:
    bench = Bench(P0)
    before = cluster({P0: 1})
    bench.planner.plan_round(before, 0.0)
    bench.grant_session(1, P0)
    if version is not None:
        bench.nodes.versions[1] = version
    (planned,) = bench.planner.plan_round(cluster({P0: 1}, OTHER_ID, before=before), 0.0).fetches
    assert [topic.topic_id for topic in planned.request.topics] == [OTHER_ID]
    forgotten = [topic.topic_id for topic in planned.request.forgotten_topics_data]
    assert forgotten == ([TOPIC_ID] if is_forgotten else [])


def test_d5_closing_a_session_asks_for_nothing_and_waits_for_nothing() -> None:
    bench = Bench(P0)
    bench.planner.plan_round(cluster({P0: 1}), 0.0)
    bench.grant_session(1, P0)
    (session,) = bench.planner.open_sessions()
    closing = bench.planner.plan_close(session).request
    assert (closing.session_id, closing.session_epoch, closing.topics) == (5, -1, [])
    assert closing.max_wait_ms == 0
    assert bench.planner.open_sessions() == []


# Reading from a near replica: KIP-392, 2b-5…


def test_2b_7_the_request_names_the_consumers_rack() -> None:
    near, nowhere = Bench(P0, client_rack="a"), Bench(P0)
    snapshot = cluster({P0: 1})
    assert near.planner.plan_round(snapshot, 0.0).fetches[0].request.rack_id == "a"
    assert nowhere.planner.plan_round(snapshot, 0.0).fetches[0].request.rack_id == ""


def test_2b_5_a_preferred_replica_is_asked_until_its_lease_ends_then_the_leader() -> None:
    bench = Bench(P0, P1)
    snapshot = cluster({P0: 1, P1: 1})
    state = bench.subscription.assigned(P0)
    bench.subscription.prefer_replica(state, 2, 10.0)
    found = bench.planner.plan_round(snapshot, 9.9)
    assert {fetch.node_id: asked(fetch) for fetch in found.fetches} == {
        2: [("t", 0, 0)],
        1: [("t", 1, 0)],
    }
    assert not found.needs_metadata
    found = bench.planner.plan_round(snapshot, 10.0)
    assert [fetch.node_id for fetch in found.fetches if ("t", 0, 0) in asked(fetch)] == [1]
    assert found.needs_metadata
    assert state.preferred_replica is None


def test_2b_5_a_preferred_replica_that_is_not_known_gives_way_to_the_leader_after_a_backoff() -> (
    None
):
    """The leader would name it again at once, and again, until the metadata knows it."""
    bench = Bench(P0)
    bench.subscription.prefer_replica(bench.subscription.assigned(P0), 3, 10.0)
    snapshot = cluster({P0: 1})
    found = bench.planner.plan_round(snapshot, 0.0)
    assert (found.fetches, found.needs_metadata) == ([], True)
    assert found.due_at_s == pytest.approx(0.1)
    found = bench.planner.plan_round(snapshot, 0.1)
    assert [fetch.node_id for fetch in found.fetches] == [1]


def test_2b_5_a_replica_may_have_the_id_0() -> None:
    bench = Bench(P0, P1, fetch_buffer_bytes=10)
    snapshot = cluster({P0: 1, P1: 1})
    snapshot = replace(snapshot, nodes={**snapshot.nodes, 0: Node(0, "h", 9092)})
    bench.subscription.prefer_replica(bench.subscription.assigned(P0), 0, 10.0)
    bench.subscription.prefer_replica(bench.subscription.assigned(P1), 0, 10.0)
    (planned,) = bench.planner.plan_round(snapshot, 0.0).fetches
    assert planned.node_id == 0
    bench.buffered(P1, size=10, node_id=0)
    bench.planner.make_room_for([P0], snapshot, 0.0)
    assert len(bench.buffer) == 0


def test_2a_4_a_partition_that_goes_to_a_replica_is_forgotten_by_the_leaders_session() -> None:
    bench = Bench(P0, P1)
    snapshot = cluster({P0: 1, P1: 1})
    bench.planner.plan_round(snapshot, 0.0)
    bench.grant_session(1, P0, P1)
    bench.subscription.prefer_replica(bench.subscription.assigned(P0), 2, 10.0)
    found = bench.planner.plan_round(snapshot, 1.0)
    (to_leader,) = [fetch for fetch in found.fetches if fetch.node_id == 1]
    assert [topic.partitions for topic in to_leader.request.forgotten_topics_data] == [[0]]


def test_a11_room_is_made_at_the_replica_that_would_be_asked() -> None:
    bench = Bench(P0, P1, fetch_buffer_bytes=10)
    snapshot = cluster({P0: 1, P1: 1})
    bench.subscription.prefer_replica(bench.subscription.assigned(P0), 2, 10.0)
    bench.buffered(P1, size=10, node_id=2)
    assert bench.planner.plan_round(snapshot, 0.0).lacks_room
    bench.planner.make_room_for([P0], snapshot, 0.0)
    (planned,) = bench.planner.plan_round(snapshot, 0.0).fetches
    assert (planned.node_id, asked(planned)) == (2, [("t", 0, 0)])


# Ahead of the position (prefetch_max_bytes)…


def test_what_is_fetched_ahead_comes_behind_the_free_partitions_oldest_first() -> None:
    """The broker serves them in that order, and may have no room for all."""
    bench = Bench(P0, P1, P2, P3, prefetch_max_bytes=1000)
    bench.buffered(P1, end_offset=4)
    bench.buffered(P0, end_offset=9)
    bench.subscription.seek(P2, 3)
    (planned,) = bench.planner.plan_round(cluster({P0: 1, P1: 1, P2: 1, P3: 1}), 0.0).fetches
    assert asked(planned) == [("t", 2, 3), ("t", 3, 0), ("t", 1, 4), ("t", 0, 9)]
    assert planned.request.max_wait_ms == 500


@pytest.mark.parametrize(("limit", "partitions"), [(0, [1]), (10, [1]), (11, [1, 0])])
def test_nothing_is_fetched_ahead_while_so_much_of_the_node_lies_unread(
    limit: int, partitions: list[int]
) -> None:
    bench = Bench(P0, P1, P2, prefetch_max_bytes=limit)
    bench.buffered(P0, 10, end_offset=4)
    bench.buffered(P2, 10, node_id=2)
    found = bench.planner.plan_round(cluster({P0: 1, P1: 1, P2: 2}), 0.0)
    assert [[partition for _, partition, _ in asked(each)] for each in found.fetches] == [
        partitions
    ]


def test_what_is_paused_stands_aside_or_does_not_fit_is_not_fetched_ahead() -> None:
    bench = Bench(P0, P1, P2, P3, prefetch_max_bytes=1000)
    for tp in (P0, P1, P2):
        bench.buffered(tp, end_offset=4)
    bench.buffered(P3)
    bench.buffer.set_aside(next(iter(bench.buffer)), ValueError("bad"))
    bench.subscription.pause(P1)
    bench.subscription.seek(P2, 2)
    assert bench.planner.plan_round(cluster({P0: 1, P1: 1, P2: 1, P3: 1}), 0.0).fetches == []


def test_a_partition_that_backs_off_is_fetched_ahead_when_that_is_over() -> None:
    bench = Bench(P0, prefetch_max_bytes=1000)
    bench.buffered(P0, end_offset=4)
    bench.subscription.back_off(bench.subscription.assigned(P0), 2.0)
    found = bench.planner.plan_round(cluster({P0: 1}), 1.0)
    assert (found.fetches, found.due_at_s) == ([], 2.0)
    (planned,) = bench.planner.plan_round(cluster({P0: 1}), 2.0).fetches
    assert asked(planned) == [("t", 0, 4)]
