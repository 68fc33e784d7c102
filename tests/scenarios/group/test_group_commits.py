"""commit() and commit_async(): their forms, what is stored, their order, and misuse (API 1.3)."""

import asyncio
import logging
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.errors import (
    CommitFailedError,
    ConsumerStoppedError,
    CoordinatorLoadInProgressError,
    GroupLoadInProgressError,
    IllegalOperation,
    IllegalStateError,
    InvalidCommitOffsetSizeError,
    KafkaError,
    OffsetMetadataTooLargeError,
    RebalanceInProgressError,
)
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from tests.consumer.batches import batch, of_epoch, tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets
from tests.scenarios.grouping import assigned, committed, member_of, nobody_is_left, poll

P0, P1, P2 = tps(0, 1, 2)
BY_HAND: dict[str, Any] = {"enable_auto_commit": False}


# The forms of commit()…


async def test_commit_stores_the_positions_with_what_the_newest_poll_returned() -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        fill(broker, P0, 3)
        assert offsets(await poll(consumer)) == {0: [0, 1, 2]}
        await consumer.position(P1)
        await consumer.commit()
        assert committed(broker) == {P0: 3, P1: 0}
        consumer.seek(P0, 1)
        await consumer.commit()
        assert committed(broker) == {P0: 1, P1: 0}


async def test_commit_after_getone_counts_the_record_at_hand() -> None:
    """Also on the fast path."""
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        fill(broker, P0, 5)
        for offset in range(5):
            assert (await consumer.getone()).offset == offset
            await consumer.commit()
            assert committed(broker) == {P0: offset + 1}


@pytest.mark.parametrize(
    ("given", "offset", "metadata", "epoch"),
    [
        (0, 0, "", -1),
        (7, 7, "", -1),
        ((7, "note"), 7, "note", -1),
        ((7, ""), 7, "", -1),
        (OffsetAndMetadata(7, "note"), 7, "note", -1),
        (OffsetAndMetadata(7, "note", 5), 7, "note", 5),
    ],
)
async def test_commit_takes_each_form_of_an_offset(
    given: Any, offset: int, metadata: str, epoch: int
) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        await consumer.commit({P0: given})
        stored = broker.group("g").offsets[P0]
        assert (stored.offset, stored.metadata, stored.leader_epoch) == (offset, metadata, epoch)


async def test_commit_carries_the_leader_epoch_of_what_was_read() -> None:
    """A commit carries the leader epoch, by which the next owner checks the log (KIP-320)."""
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        epoch = broker.cluster.partition(P0).leader_epoch
        broker.append(P0, of_epoch(epoch, batch([b"a", b"b"])))
        await poll(consumer)
        await consumer.commit()
        assert broker.group("g").offsets[P0].leader_epoch == epoch


async def test_commit_of_one_partition_leaves_the_others_alone() -> None:
    async with embedded({"t": 3}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        await consumer.commit({P0: 1, P1: 2})
        await consumer.commit({P1: 3})
        assert committed(broker) == {P0: 1, P1: 3}


async def test_assign_with_a_group_id_commits_as_a_simple_consumer() -> None:
    """No membership: neither joins nor heartbeats, generation -1."""
    async with embedded({"t": 2}) as broker:
        consumer = member_of(broker, enable_auto_commit=True)
        consumer.assign([P0, P1])
        async with consumer:
            fill(broker, P0, 3)
            await poll(consumer)
            await consumer.position(P1)
            await consumer.commit()
            assert committed(broker) == {P0: 3, P1: 0}
            fill(broker, P0, 2)
            await poll(consumer)
            assert await consumer.committed(P0) == 3
        assert committed(broker) == {P0: 5, P1: 0}, "auto-commit on stop, too"
        requests = broker.requests_of(OffsetCommitRequest)
        assert {(r.generation_id_or_member_epoch, r.member_id) for r in requests} == {(-1, "")}
        kinds = {type(received.request).__name__ for received in broker.requests}
        assert not kinds & {"JoinGroupRequest", "HeartbeatRequest", "LeaveGroupRequest"}
        again = member_of(broker)
        again.assign([P0])
        async with again:
            fill(broker, P0, 1)
            assert offsets(await poll(again)) == {0: [5]}


async def test_a_simple_consumer_may_not_commit_into_a_group_with_members() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t"):
        simple = member_of(broker, **BY_HAND)
        simple.assign([P0])
        async with simple:
            with pytest.raises(CommitFailedError):
                await simple.commit({P0: 1})


# Misuse…


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({}, ValueError, "offsets"),
        (5, ValueError, "offsets"),
        ([P0], ValueError, "offsets"),
        ({P0: -1}, ValueError, "not an offset"),
        ({P0: "1"}, ValueError, "not an offset"),
        ({P0: (1,)}, ValueError, "not an offset"),
        ({P0: None}, ValueError, "not an offset"),
        ({P0: (1, b"note")}, TypeError, "Metadata should be a string"),
        ({("t", 0): 1}, TypeError, "Key should be TopicPartition instance"),
        ({"t": 1}, TypeError, "Key should be TopicPartition instance, not <str, 1 long>; give"),
        ({P2: 1}, IllegalStateError, "Partition .* is not assigned; assigned: t-0"),
        ({TopicPartition("u", 0): 1}, IllegalStateError, "Partition .* is not assigned"),
    ],
)
async def test_offsets_of_another_shape_are_refused_with_aiokafkas_texts(
    given: Any, error: type[Exception], text: str
) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        with pytest.raises(error, match=text):
            await consumer.commit(given)
        with pytest.raises(error, match=text):
            consumer.commit_async(given)
        assert broker.requests_of(OffsetCommitRequest) == []


async def test_without_a_group_offsets_cannot_be_committed() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        for call in (
            consumer.commit(),
            consumer.commit({P0: 1}),
            consumer.committed(P0),
            consumer.seek_to_committed(),
        ):
            with pytest.raises(IllegalOperation, match="group_id"):
                await call
        with pytest.raises(IllegalOperation, match="group_id"):
            consumer.commit_async()


async def test_without_partitions_there_is_nothing_to_commit() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, **BY_HAND) as consumer:
        with pytest.raises(IllegalStateError, match="Not subscribed to any topics"):
            await consumer.commit()
        with pytest.raises(IllegalStateError, match="Not subscribed to any topics"):
            await consumer.commit({P0: 1})
        consumer.subscribe(["not-there-yet"])
        await assigned(consumer, [TopicPartition("not-there-yet", 0)])
        consumer.unsubscribe()
        await nobody_is_left(broker)
        with pytest.raises(IllegalStateError, match="Not subscribed to any topics"):
            await consumer.commit()


@pytest.mark.parametrize("strategy", [RangePartitionAssignor, CooperativeStickyAssignor])
async def test_while_the_group_moves_on_a_commit_for_a_partition_of_others_says_the_same(
    strategy: Any,
) -> None:
    """Waiting would not mend it; for partitions of this member it may be tried again."""
    options = {**BY_HAND, "partition_assignment_strategy": [strategy]}
    async with embedded({"t": 1}) as broker, member_of(broker, **options) as consumer:
        broker.faults.stall(JoinGroupRequest, times=None)
        consumer.subscribe(["t"])
        await broker.wait_until(lambda: bool(broker.requests_of(JoinGroupRequest)))
        for offsets_or_none in ({P0: 1}, None):
            with pytest.raises(IllegalStateError, match="No partitions assigned"):
                await consumer.commit(offsets_or_none)
        broker.faults.release()
        await assigned(consumer, {P0})
        before = len(broker.requests_of(JoinGroupRequest))
        broker.faults.stall(JoinGroupRequest, times=None)
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) > before)
        with pytest.raises(IllegalStateError, match=r"Partition .*partition=2\) is not assigned"):
            await consumer.commit({P2: 1})
        for own in ({P0: 1}, None):
            with pytest.raises(RebalanceInProgressError):
                await consumer.commit(own)
        consumer.unsubscribe()
        with pytest.raises(IllegalStateError, match="Not subscribed to any topics"):
            await consumer.commit({P0: 1})
        consumer.subscribe(["t"])
        with pytest.raises(IllegalStateError, match="No partitions assigned"):
            await consumer.commit({P0: 1})
        broker.faults.release()
        await assigned(consumer, {P0})
        await consumer.commit({P0: 1})
        assert committed(broker) == {P0: 1}


async def test_a_member_without_partitions_has_none_to_commit() -> None:
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", client_id="a"),
        member_of(broker, "t", client_id="b", **BY_HAND) as idle,
    ):
        await assigned(idle, ())
        with pytest.raises(IllegalStateError, match="No partitions assigned"):
            await idle.commit()


async def test_before_start_and_after_stop_commits_are_refused() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t")
        with pytest.raises(IllegalStateError, match="start"):
            await consumer.commit()
        await consumer.start()
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await consumer.commit()
        with pytest.raises(ConsumerStoppedError):
            consumer.commit_async()
        with pytest.raises(ConsumerStoppedError):
            await consumer.committed(P0)


async def test_a_partition_that_went_to_another_member_is_a_failed_commit() -> None:
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", client_id="a", **BY_HAND) as first,
        member_of(broker, "t", client_id="b", **BY_HAND) as second,
    ):
        await assigned(first, {P0})
        await assigned(second, {P1})
        for known_as in (CommitFailedError, IllegalStateError):
            with pytest.raises(
                known_as, match=r"Partition .*partition=1\) is not assigned any more"
            ):
                await first.commit({P1: 1})
        await first.commit({P0: 1})
        assert committed(broker) == {P0: 1}


# commit_async()…


async def test_2e_13_callbacks_come_in_the_order_of_the_commits_and_before_a_later_commit() -> None:
    """Even when an earlier one is answered later."""
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        heard: list[tuple[int, Exception | None]] = []

        def note(stored: dict[TopicPartition, OffsetAndMetadata], error: Exception | None) -> None:
            heard.append((stored[P0].offset, error))

        for offset in range(5):
            consumer.commit_async({P0: offset}, note)
        assert heard == [], "it does not wait"
        await consumer.commit({P0: 9})
        assert heard == [(offset, None) for offset in range(5)]
        assert committed(broker) == {P0: 9}
        stored = [
            request.topics[0].partitions[0].committed_offset
            for request in broker.requests_of(OffsetCommitRequest)
        ]
        assert stored == [0, 1, 2, 3, 4, 9]


async def test_2e_13_a_failed_commit_keeps_its_place_among_the_callbacks() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        heard: list[object] = []
        broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError)
        for offset in range(3):
            consumer.commit_async(
                {P0: offset}, lambda stored, error: heard.append((stored[P0].offset, type(error)))
            )
        await consumer.commit({P0: 3})
        nothing = type(None)
        assert heard == [(0, CoordinatorLoadInProgressError), (1, nothing), (2, nothing)]


async def test_commit_async_stores_positions_with_metadata_and_epochs_for_the_callback() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        fill(broker, P0, 3)
        await poll(consumer)
        told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        consumer.commit_async(callback=lambda stored, error: told.set_result((stored, error)))
        stored, error = await asyncio.wait_for(told, 30)
        assert error is None
        assert stored == {P0: OffsetAndMetadata(3, "")}
        assert isinstance(stored[P0], OffsetAndMetadata)
        assert committed(broker) == {P0: 3}


async def test_commit_async_without_callback_logs_what_fails(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.fail(OffsetCommitRequest, InvalidCommitOffsetSizeError)
        with caplog.at_level(logging.WARNING):
            consumer.commit_async({P0: 1})
            await consumer.commit({P0: 2})
        assert "commit of" in caplog.text
        assert committed(broker) == {P0: 2}


async def test_a_callback_that_raises_is_logged_and_the_next_ones_are_called(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        heard: list[int] = []

        def fail(*_: object) -> None:
            raise ZeroDivisionError

        consumer.commit_async({P0: 1}, fail)
        consumer.commit_async({P0: 2}, lambda stored, _: heard.append(stored[P0].offset))
        await consumer.commit({P0: 3})
        assert heard == [2]
        assert "ZeroDivisionError" in caplog.text


async def test_2e_13_stop_waits_for_commits_in_the_background() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", **BY_HAND)
        await consumer.start()
        heard: list[object] = []
        consumer.commit_async({P0: 4}, lambda stored, error: heard.append(error))
        await consumer.stop()
        assert heard == [None]
        assert committed(broker) == {P0: 4}


async def test_2e_13_a_commit_that_stop_cannot_wait_for_is_told_so() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", **BY_HAND)
        await consumer.start()
        heard: list[object] = []
        broker.faults.stall(OffsetCommitRequest)
        consumer.commit_async({P0: 4}, lambda stored, error: heard.append(error))
        await asyncio.wait_for(consumer.stop(timeout_ms=1000), 30)
        assert len(heard) == 1
        assert isinstance(heard[0], KafkaError)


async def test_a_commit_never_queues_behind_a_long_fetch() -> None:
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", fetch_max_wait_ms=20_000, **BY_HAND) as consumer,
    ):
        polling = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        await consumer.position(P0)
        await asyncio.wait_for(consumer.commit({P0: 0}), 15)
        assert not polling.done()
        fill(broker, P0, 1)
        await asyncio.wait_for(polling, 30)


async def test_metadata_that_is_too_long_names_the_partition() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        with pytest.raises(OffsetMetadataTooLargeError, match="t-0"):
            await consumer.commit({P0: (1, "x" * 5000)})
        assert committed(broker) == {}
