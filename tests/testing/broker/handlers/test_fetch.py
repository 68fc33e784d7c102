"""Fetch: limits, waiting, sessions, epochs and what read_committed sees."""

import asyncio
from collections.abc import Coroutine
from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.errors import (
    FencedLeaderEpochError,
    FetchSessionIdNotFound,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    UnknownLeaderEpochError,
    UnknownTopicIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.alter_client_quotas import EntityData, OpData
from aiokafka_lite.protocol.messages.fetch import (
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from aiokafka_lite.record.control_record import ControlRecordType
from aiokafka_lite.record.memory_records import iter_batches
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.schema.message import Response
from aiokafka_lite.testing.broker.handlers import fetch
from aiokafka_lite.testing.fake_clock import settle
from tests.testing.broker.bench import Bench, batch, marker, on_the_wire

TP = TopicPartition("t", 0)
BIG = 1 << 30


def request(
    bench: Bench,
    *offsets: int,
    version: int = 18,
    partition_max_bytes: int = BIG,
    partition: dict[str, Any] | None = None,
    **fields: Any,
) -> FetchRequest:
    """Ask topic t for one offset in each of the partitions 0, 1, …"""
    topic_id = bench.cluster.topics["t"].topic_id if version >= 13 else ZERO_UUID
    wanted = [
        FetchPartition(
            partition=i,
            fetch_offset=offset,
            partition_max_bytes=partition_max_bytes,
            **(partition or {}),
        )
        for i, offset in enumerate(offsets)
    ]
    topics = [FetchTopic(topic="t", topic_id=topic_id, partitions=wanted)] if wanted else []
    return FetchRequest(
        **{"max_wait_ms": 0, "min_bytes": 1, "max_bytes": BIG, **fields}, topics=topics
    )


def ask(
    bench: Bench, *offsets: int, version: int = 18, node_id: int = 1, **fields: Any
) -> FetchResponse:
    asked = request(bench, *offsets, version=version, **fields)
    return bench.ask(fetch.HANDLER, asked, version, node_id)


def partitions(response: FetchResponse) -> list[PartitionData]:
    return [data for topic in response.responses for data in topic.partitions]


def only(response: FetchResponse) -> PartitionData:
    (data,) = partitions(response)
    return data


def found(response: FetchResponse) -> list[list[int]]:
    """The base offsets of the whole batches, partition by partition."""
    return [
        [entry.base_offset for entry in iter_batches(data.records or b"")]
        for data in partitions(response)
    ]


def filled(*counts: int, nodes: int = 1) -> Bench:
    """A bench whose topic t has that many one-record batches in the partitions 0, 1, …"""
    bench = Bench(nodes)
    topic = bench.cluster.new_topic("t", assignments={i: [1] for i in range(len(counts))})
    bench.cluster.add_topic(topic)
    for partition, count in zip(topic.partitions, counts, strict=True):
        for _ in range(count):
            partition.append(batch(b"x" * 10))
    return bench


SIZE = len(batch(b"x" * 10))


# Reading…


@pytest.mark.parametrize("version", range(4, 19))
def test_every_version_reads(version: int) -> None:
    bench = filled(3)
    answer = ask(bench, 1, version=version)
    topic = bench.cluster.topics["t"]
    named = (answer.responses[0].topic, answer.responses[0].topic_id)
    assert named == (("", topic.topic_id) if version >= 13 else ("t", ZERO_UUID))
    data = only(answer)
    assert (data.high_watermark, data.last_stable_offset) == (3, 3)
    assert data.log_start_offset == (0 if version >= 5 else -1)
    assert found(answer) == [[1, 2]]


def test_an_answer_without_records_has_them_empty_not_null() -> None:
    data = only(ask(filled(3), 3))
    assert (data.error_code, data.records) == (0, b"")


def test_max_bytes_of_1_gives_one_batch_of_the_first_partition_with_data() -> None:
    """A limit of one byte brings one batch of the first partition that has data (A4)."""
    bench = filled(0, 3, 3)
    assert found(ask(bench, 0, 1, 0, max_bytes=1)) == [[], [1], []]


def test_partition_max_bytes_is_soft_for_the_first_batch_of_the_answer_only() -> None:
    """`partition_max_bytes` is soft for the first batch of an answer only (A4)."""
    bench = filled(3, 3)
    assert found(ask(bench, 0, 0, partition_max_bytes=1)) == [[0], []]
    answer = ask(bench, 0, 0, partition_max_bytes=2 * SIZE + 1)
    assert found(answer) == [[0, 1], [0, 1]]
    assert [len(data.records or b"") for data in partitions(answer)] == [2 * SIZE + 1] * 2


def test_max_bytes_bounds_all_partitions_together() -> None:
    bench = filled(3, 3)
    assert found(ask(bench, 0, 0, max_bytes=4 * SIZE)) == [[0, 1, 2], [0]]


def test_offsets_outside_of_the_log_are_out_of_range() -> None:
    bench = filled(3)
    bench.cluster.partition(TP).log.delete_records(2)
    for offset in (1, 4, -1):
        data = only(ask(bench, offset))
        assert data.error_code == OffsetOutOfRangeError.errno
        assert (data.high_watermark, data.log_start_offset) == (-1, -1)
    assert only(ask(bench, 3)).error_code == 0


def test_unknown_topics_and_partitions_are_told_apart_by_version() -> None:
    bench = filled(1)
    assert partitions(ask(bench, 0, 0))[1].error_code == UnknownTopicOrPartitionError.errno
    bench.topic("other")
    asked = request(bench, 0)
    asked.topics[0].topic_id = UUID(int=1)
    response = bench.ask(fetch.HANDLER, asked, 18)
    assert only(response).error_code == UnknownTopicIdError.errno
    assert response.responses[0].topic_id == UUID(int=1)


# Leaders…


@pytest.mark.parametrize("version", [12, 15, 16, 18])
def test_a_node_that_does_not_lead_says_who_does_from_version_16_on(version: int) -> None:
    """From Fetch version 16 a node that does not lead names the leader (2b-9, KIP-951)."""
    bench = filled(1, nodes=2)
    bench.cluster.move_leader(TP, 2)
    bench.cluster.partition(TP).replicas.remove(1)
    answer = ask(bench, 0, version=version)
    data = only(answer)
    assert data.error_code == NotLeaderForPartitionError.errno
    hint = (data.current_leader.leader_id, data.current_leader.leader_epoch)
    nodes = [(node.node_id, node.port) for node in answer.node_endpoints]
    assert (hint, nodes) == (((2, 1), [(2, 9002)]) if version >= 16 else ((-1, -1), []))


def test_leader_epochs_are_checked() -> None:
    """Fetch refuses an older leader epoch and one that is not known yet (KIP-320)."""
    bench = filled(1, nodes=2)
    bench.cluster.move_leader(TP, 2)
    codes = [
        only(ask(bench, 0, node_id=2, partition={"current_leader_epoch": epoch})).error_code
        for epoch in (-1, 0, 1, 2)
    ]
    assert codes == [0, FencedLeaderEpochError.errno, 0, UnknownLeaderEpochError.errno]


def test_a_log_that_parted_from_what_was_fetched_is_told() -> None:
    """Fetch answers the diverging epoch of a log that parted from what was fetched (KIP-595)."""
    bench = filled(2, nodes=2)
    bench.cluster.move_leader(TP, 2)
    bench.cluster.partition(TP).append(batch())
    bench.cluster.move_leader(TP, 1)
    bench.cluster.move_leader(TP, 2)
    data = only(ask(bench, 3, node_id=2, partition={"last_fetched_epoch": 0}))
    assert (data.diverging_epoch.epoch, data.diverging_epoch.end_offset) == (0, 2)
    assert data.records == b""
    data = only(ask(bench, 2, node_id=2, partition={"last_fetched_epoch": 0}))
    assert data.diverging_epoch.epoch == -1


# Followers: KIP-392…


@pytest.mark.parametrize(("version", "is_served"), [(10, False), (11, True), (18, True)])
def test_a_follower_serves_consumers_that_can_name_their_rack(
    version: int, is_served: bool
) -> None:
    bench = filled(1, nodes=2)
    bench.cluster.partition(TP).replicas.append(2)
    data = only(ask(bench, 0, version=version, node_id=2))
    assert data.error_code == (0 if is_served else NotLeaderForPartitionError.errno)
    assert bool(data.records) is is_served


@pytest.mark.parametrize(
    ("rack", "preferred"), [("r2", 2), ("r1", -1), ("r3", -1), ("", -1)], ids=repr
)
def test_the_leader_sends_a_consumer_to_the_replica_in_its_rack(rack: str, preferred: int) -> None:
    """As RackAwareReplicaSelector: no other rack, and none when the leader itself is there."""
    bench = filled(1, nodes=3)
    bench.cluster.partition(TP).replicas.append(2)
    data = only(ask(bench, 0, rack_id=rack, max_wait_ms=500))
    assert data.preferred_read_replica == preferred
    assert bool(data.records) is (preferred == -1)
    assert data.high_watermark == 1
    followers = only(ask(bench, 0, rack_id="r2", node_id=2))
    assert (bool(followers.records), followers.preferred_read_replica) == (True, -1)


def test_a_replica_whose_node_is_down_is_nobodys_choice() -> None:
    bench = filled(1, nodes=2)
    bench.cluster.partition(TP).replicas.append(2)
    bench.cluster.set_alive(2, is_alive=False)
    assert only(ask(bench, 0, rack_id="r2")).preferred_read_replica == -1


# Waiting…


def waiting(bench: Bench, *offsets: int, **fields: Any) -> Coroutine[Any, Any, Response]:
    """The coroutine of a fetch that must wait."""
    asked = request(bench, *offsets, **{"max_wait_ms": 500, **fields})
    answer = bench.serve(fetch.HANDLER, asked, 18)
    assert callable(answer), "the fetch was answered at once"
    coroutine = answer()
    assert isinstance(coroutine, Coroutine)
    return coroutine


@pytest.mark.parametrize(
    "fields",
    [{"max_wait_ms": 0}, {"min_bytes": 0}, {"min_bytes": SIZE}],
    ids=["no wait", "nothing to wait for", "enough there"],
)
def test_a_fetch_that_gains_nothing_by_waiting_is_answered_at_once(fields: dict[str, int]) -> None:
    assert only(ask(filled(1), 0, **{"max_wait_ms": 500, **fields})).records


def test_a_fetch_of_nothing_is_answered_at_once() -> None:
    assert partitions(ask(filled(1), max_wait_ms=500)) == []


def test_an_error_is_answered_at_once() -> None:
    assert only(ask(filled(1), 9, max_wait_ms=500)).error_code == OffsetOutOfRangeError.errno


async def test_a_fetch_waits_for_min_bytes() -> None:
    bench = filled(1)
    waiter = asyncio.ensure_future(waiting(bench, 0, min_bytes=3 * SIZE))
    partition = bench.cluster.partition(TP)
    partition.append(batch(b"x" * 10))
    await settle()
    assert not waiter.done()
    partition.append(batch(b"x" * 10))
    assert found(on_the_wire(await waiter, request(bench), 18)) == [[0, 1, 2]]
    assert bench.clock.pending_timers == 0


def test_a_first_batch_above_the_limits_counts_whole() -> None:
    assert found(ask(filled(1), 0, min_bytes=2, partition_max_bytes=1, max_wait_ms=500)) == [[0]]


def test_more_than_the_answer_may_carry_is_not_waited_for() -> None:
    """DelayedFetch: max_bytes may be less than min_bytes."""
    answer = ask(filled(3, 3), 0, 0, min_bytes=4 * SIZE, max_bytes=2 * SIZE, max_wait_ms=500)
    assert found(answer) == [[0, 1], []]


async def test_bytes_above_a_partitions_limit_do_not_count() -> None:
    """DelayedFetch: what the answer may not carry must not wake it."""
    bench = filled(5)
    waiter = asyncio.ensure_future(waiting(bench, 0, min_bytes=2 * SIZE, partition_max_bytes=SIZE))
    await settle()
    assert not waiter.done()
    await bench.clock.advance(0.5)
    assert found(on_the_wire(await waiter, request(bench), 18)) == [[0]]


async def test_a_fetch_waits_for_max_wait_at_most() -> None:
    bench = filled(0)
    waiter = asyncio.ensure_future(waiting(bench, 0))
    await settle()
    await bench.clock.advance(0.499)
    assert not waiter.done()
    await bench.clock.advance(0.001)
    assert found(on_the_wire(await waiter, request(bench), 18)) == [[]]
    assert not bench.cluster.partition(TP)._watchers


async def test_a_moved_leader_ends_the_wait() -> None:
    bench = filled(0, nodes=2)
    waiter = asyncio.ensure_future(waiting(bench, 0, partition={"current_leader_epoch": 0}))
    await settle()
    bench.cluster.move_leader(TP, 2)
    answer = on_the_wire(await waiter, request(bench), 18)
    assert only(answer).error_code == FencedLeaderEpochError.errno


async def test_a_deleted_topic_ends_the_wait() -> None:
    bench = filled(0)
    asked = request(bench)
    waiter = asyncio.ensure_future(waiting(bench, 0))
    await settle()
    bench.cluster.delete_topic("t")
    assert only(on_the_wire(await waiter, asked, 18)).error_code == UnknownTopicIdError.errno


async def test_a_change_between_request_and_wait_is_not_missed() -> None:
    bench = filled(0, nodes=2)
    coroutine = waiting(bench, 0, partition={"current_leader_epoch": 0})
    bench.cluster.move_leader(TP, 2)
    answer = on_the_wire(await coroutine, request(bench), 18)
    assert only(answer).error_code == FencedLeaderEpochError.errno


async def test_a_cancelled_wait_leaves_no_watcher_and_no_timer() -> None:
    bench = filled(0)
    waiter = asyncio.ensure_future(waiting(bench, 0))
    await settle()
    assert bench.clock.pending_timers == 1
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter
    assert bench.clock.pending_timers == 0
    assert not bench.cluster.partition(TP)._watchers


# Quotas…


def limited(quota: int, batches: int) -> Bench:
    """A bench with batches of 1050 bytes, whose clients may read `quota` bytes a second."""
    bench = filled(0)
    data = next(made for size in range(1050) if len(made := batch(b"x" * size)) == 1050)
    for _ in range(batches):
        bench.cluster.partition(TP).append(data)
    default = EntityData(entity_type="client-id", entity_name=None)
    op = OpData(key="consumer_byte_rate", value=float(quota), remove=False)
    for node in bench.nodes.values():
        node.users.quotas.alter([default], [op], validate_only=False)
    return bench


async def test_an_answer_beyond_the_quota_is_empty_and_the_session_goes_on() -> None:
    """It does not count, so the next one that fits comes after the window of the first."""
    bench = limited(210, 6)
    first = ask(bench, 0, session_epoch=0)
    assert (found(first), first.throttle_time_ms) == ([[0, 1]], 0)
    session = {"session_id": first.session_id}
    for epoch in (1, 2):
        empty = ask(bench, 2, **session, session_epoch=epoch)
        assert (partitions(empty), empty.throttle_time_ms) == ([], 10_000)
        assert empty.session_id == first.session_id
        await bench.clock.advance(10)
    later = ask(bench, 2, **session, session_epoch=3)
    assert (found(later), later.throttle_time_ms) == ([[2, 3]], 0)
    opening = ask(bench, 4, session_epoch=0)
    assert (partitions(opening), opening.throttle_time_ms) == ([], 10_000)
    assert opening.session_id == 0


async def test_the_window_grows_for_a_second_and_lets_a_little_more_through() -> None:
    bench = limited(100, 1)
    assert ask(bench, 0).throttle_time_ms == 500
    await bench.clock.advance(0.5)
    assert found(ask(bench, 0)) == [[0]]


def test_a_fetch_does_not_wait_for_more_than_its_quota_allows() -> None:
    bench = limited(210, 3)
    assert found(ask(bench, 0, min_bytes=BIG, max_wait_ms=1000)) == [[0, 1]]


# Sessions…


def test_a_session_answers_with_what_changed() -> None:
    """An incremental request without changes is answered without partitions (D2)."""
    bench = filled(1, 1)
    first = ask(bench, 0, 0, session_epoch=0)
    assert first.session_id > 0
    session = {"session_id": first.session_id}
    moved = ask(bench, 1, 1, **session, session_epoch=1)
    assert partitions(moved) == []
    bench.cluster.partition(TopicPartition("t", 1)).append(batch())
    answer = ask(bench, **session, session_epoch=2)
    assert answer.session_id == first.session_id
    assert [data.partition_index for data in partitions(answer)] == [1]


def test_fairness_a_partition_that_gave_records_is_read_last_next_time() -> None:
    bench = filled(4, 4)
    first = ask(bench, 0, 0, session_epoch=0, max_bytes=1)
    assert found(first) == [[0], []]
    session = {"session_id": first.session_id, "max_bytes": 1}
    second = ask(bench, 1, **session, session_epoch=1)
    assert [data.partition_index for data in partitions(second)] == [0]
    third = ask(bench, 2, **session, session_epoch=2)
    assert [data.partition_index for data in partitions(third)] == [1]


def test_a_session_error_is_the_whole_answer() -> None:
    """A session error is the whole answer, without partitions (2a-7)."""
    answer = ask(filled(1), 0, session_id=99, session_epoch=1)
    assert (answer.error_code, answer.session_id) == (FetchSessionIdNotFound.errno, 0)
    assert answer.responses == []


def test_an_injected_session_error_leaves_the_session_as_it_was() -> None:
    bench = filled(1)
    session_id = ask(bench, 0, session_epoch=0).session_id
    bench.faults.fail(FetchRequest, FetchSessionIdNotFound)
    failed = ask(bench, session_id=session_id, session_epoch=1)
    assert failed.error_code == FetchSessionIdNotFound.errno
    assert ask(bench, session_id=session_id, session_epoch=1).error_code == 0


def test_a_recreated_topic_is_unknown_to_the_session_that_has_the_old_id() -> None:
    bench = filled(1)
    session_id = ask(bench, 0, session_epoch=0).session_id
    bench.cluster.delete_topic("t")
    bench.topic()
    data = only(ask(bench, session_id=session_id, session_epoch=1))
    assert data.error_code == UnknownTopicIdError.errno


# Transactions…


def open_transaction(bench: Bench) -> None:
    partition = bench.cluster.partition(TP)
    partition.append(batch(b"a", producer=(7, 0, 0), is_transactional=True))
    partition.append(batch(b"b"))


def test_read_committed_ends_at_the_last_stable_offset() -> None:
    """A `read_committed` fetch ends at the last stable offset (E1, 2b-19)."""
    bench = filled(1)
    open_transaction(bench)
    assert found(ask(bench, 0)) == [[0, 1, 2]]
    answer = ask(bench, 0, isolation_level=1)
    assert found(answer) == [[0]]
    assert (only(answer).high_watermark, only(answer).last_stable_offset) == (3, 1)


def test_read_committed_lists_the_aborted_transactions_of_what_it_brings() -> None:
    """A `read_committed` answer lists the aborted transactions of its data (E2)."""
    bench = filled(1)
    open_transaction(bench)
    bench.cluster.partition(TP).append(marker(7, ControlRecordType.ABORT))
    assert only(ask(bench, 0)).aborted_transactions is None
    answer = ask(bench, 0, isolation_level=1)
    assert found(answer) == [[0, 1, 2, 3]]
    told = only(answer).aborted_transactions or []
    assert [(entry.producer_id, entry.first_offset) for entry in told] == [(7, 1)]
    assert only(ask(bench, 0, isolation_level=1, max_bytes=1)).aborted_transactions == []


# Faults…


def test_injected_errors_hit_one_partition_or_all() -> None:
    bench = filled(1, 1)
    bench.faults.fail(FetchRequest, NotLeaderForPartitionError, topic_partition=("t", 1))
    assert [d.error_code for d in partitions(ask(bench, 0, 0, max_wait_ms=500))] == [0, 6]
    bench.faults.fail(FetchRequest, NotLeaderForPartitionError)
    assert [d.error_code for d in partitions(ask(bench, 0, 0))] == [6, 6]
    assert [d.error_code for d in partitions(ask(bench, 0, 0))] == [0, 0]


def test_a_corruption_is_in_the_answer_and_not_in_the_log() -> None:
    bench = filled(1)
    good = only(ask(bench, 0)).records
    bench.faults.corrupt(TP)
    assert only(ask(bench, 1)).records == b""
    assert only(ask(bench, 0)).records != good
    assert only(ask(bench, 0)).records == good
