"""Where members start (B4.2, B8), and what the group has committed, as users ask for it."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.errors import (
    BrokerResponseError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupLoadInProgressError,
    IllegalStateError,
    KafkaTimeoutError,
    NoOffsetForPartitionError,
    NotCoordinatorForGroupError,
    TopicAuthorizationFailedError,
    UnstableOffsetCommitError,
)
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, eventually, fill, offsets, read
from tests.scenarios.grouping import assigned, expel, member_of, poll

P0, P1, P2 = tps(0, 1, 2)
BY_HAND: dict[str, Any] = {"enable_auto_commit": False}


async def store(broker: EmbeddedBroker, positions: dict[TopicPartition, int]) -> None:
    """Let an earlier member have committed these offsets."""
    earlier = member_of(broker, **BY_HAND)
    earlier.assign(positions)
    async with earlier:
        await earlier.commit(dict(positions))
    broker.forget_requests()


# Where members start…


async def test_b4_2_members_start_where_the_group_has_committed_and_else_by_policy() -> None:
    async with embedded({"t": 3}) as broker:
        for tp in (P0, P1, P2):
            fill(broker, tp, 4)
        await store(broker, {P0: 3, P1: 0})
        async with member_of(broker, "t") as consumer:
            assert await read(consumer, 9) == {P0: [3], P1: [0, 1, 2, 3], P2: [0, 1, 2, 3]}
            listed = [
                partition.partition_index
                for request in broker.requests_of(ListOffsetsRequest)
                for topic in request.topics
                for partition in topic.partitions
            ]
            assert listed == [2], "only what is not committed is reset; offset 0 is committed"


async def test_b4_2_the_coordinator_is_asked_once_per_assignment_not_per_poll() -> None:
    async with embedded({"t": 3}, nodes=3) as broker:
        await store(broker, {P0: 0, P1: 0, P2: 0})
        async with member_of(broker, "t") as consumer:
            for tp in (P0, P1, P2):
                fill(broker, tp, 4)
            await read(consumer, 12, max_records=1)
            asked = [r for r in broker.requests if isinstance(r.request, OffsetFetchRequest)]
            assert len(asked) == 1
            assert asked[0].node_id == broker.group("g").coordinator
            request = asked[0].request
            assert isinstance(request, OffsetFetchRequest)
            assert request.require_stable, "2e-15"
            generation_id = broker.group("g").generation_id
            consumer.enforce_rebalance()
            await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
            await assigned(consumer, {P0, P1, P2})
            assert await consumer.position(P0) == 4
            assert len(broker.requests_of(OffsetFetchRequest)) == 1, "nobody else had them"
            await expel(consumer)
            await broker.wait_until(lambda: len(broker.requests_of(OffsetFetchRequest)) == 2)


async def test_b4_2_what_a_cooperative_member_keeps_is_not_asked_for_again() -> None:
    strategy = {"partition_assignment_strategy": [CooperativeStickyAssignor]}
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **strategy) as consumer:
        fill(broker, P0, 4)
        assert offsets(await poll(consumer, max_records=2)) == {0: [0, 1]}
        broker.forget_requests()
        generation_id = broker.group("g").generation_id
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
        await assigned(consumer, {P0})
        assert offsets(await poll(consumer)) == {0: [2, 3]}
        assert broker.requests_of(OffsetFetchRequest) == []


async def test_b8_a_second_poll_with_all_positions_asks_neither_coordinator_nor_leaders() -> None:
    async with embedded({"t": 3}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        fill(broker, P0, 2)
        await read(consumer, 2)
        for tp in (P1, P2):
            await consumer.position(tp)
        broker.forget_requests()
        fill(broker, P1, 2)
        await read(consumer, 2)
        kinds = {type(received.request) for received in broker.requests}
        assert kinds <= {FetchRequest, HeartbeatRequest}


async def test_b4_without_a_committed_offset_and_a_policy_the_partition_is_named() -> None:
    async with embedded({"t": 2}) as broker:
        fill(broker, P0, 4)
        await store(broker, {P0: 2})
        async with member_of(broker, "t", auto_offset_reset="none") as consumer:
            for _ in range(2):
                with pytest.raises(NoOffsetForPartitionError, match="t-1"):
                    await poll(consumer)
            consumer.seek(P1, 0)
            assert offsets(await poll(consumer)) == {0: [2, 3]}


@pytest.mark.parametrize(
    "error",
    [
        GroupLoadInProgressError,
        GroupCoordinatorNotAvailableError,
        NotCoordinatorForGroupError,
        UnstableOffsetCommitError,
    ],
)
async def test_2e_15_what_may_pass_is_asked_again(error: type[BrokerResponseError]) -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 4)
        await store(broker, {P0: 3})
        broker.faults.fail(OffsetFetchRequest, error, times=2)
        async with member_of(broker, "t") as consumer:
            assert offsets(await poll(consumer)) == {0: [3]}
            finds = len(broker.requests_of(FindCoordinatorRequest))
            is_lost = error in (GroupCoordinatorNotAvailableError, NotCoordinatorForGroupError)
            assert (finds > 1) is is_lost
        broker.faults.fail(OffsetFetchRequest, error, times=2)
        async with member_of(broker) as consumer:
            assert await asyncio.wait_for(consumer.committed(P0), 30) == 4


@pytest.mark.parametrize("error", [GroupAuthorizationFailedError, TopicAuthorizationFailedError])
async def test_2e_15_what_is_refused_is_raised(error: type[BrokerResponseError]) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        fill(broker, P0, 4)
        broker.faults.fail(OffsetFetchRequest, error, times=None)
        with pytest.raises(error):
            await poll(consumer)
        with pytest.raises(error, match="t-0"):
            await consumer.committed(P0)
        with pytest.raises(error, match="t-0"):
            await consumer.seek_to_committed()
        broker.faults.clear()
        records: dict[TopicPartition, list[Any]] = {}
        while not records:
            with suppress(error):  # a refusal may have been on its way
                records = await poll(consumer)
        assert offsets(records) == {0: [0, 1, 2, 3]}


async def test_the_log_says_that_nothing_is_read_while_committed_offsets_cannot_be_had(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """As when a transaction hangs: after a second, then once a minute, with the reason."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        options = {"heartbeat_interval_ms": 3000, "retry_backoff_ms": 100}
        async with member_of(broker, "t", clock=clock, **options) as consumer:
            broker.faults.fail(OffsetFetchRequest, UnstableOffsetCommitError, times=None)
            polling = asyncio.create_task(consumer.getone())

            async def warnings_after(seconds: float) -> int:
                for _ in range(round(seconds / 0.5)):
                    await clock.advance(0.5)
                return caplog.text.count("nothing is read of t-0: ")

            assert await warnings_after(0.5) == 0
            assert await warnings_after(3) == 1
            assert "UnstableOffsetCommitError" in caplog.text
            assert await warnings_after(50) == 1
            assert await warnings_after(15) == 2
            broker.faults.clear()
            fill(broker, P0, 1)
            while not polling.done():
                await clock.advance(0.5)
            await polling


# committed() and seek_to_committed()…


async def test_committed_asks_the_coordinator_each_time_for_any_partition() -> None:
    async with embedded({"t": 2, "u": 1}) as broker:
        other = TopicPartition("u", 0)
        await store(broker, {P0: 5, other: 7})
        async with member_of(broker, "t", **BY_HAND) as consumer:
            broker.forget_requests()
            assert await consumer.committed(P0) == 5
            assert await consumer.committed(P0) == 5
            assert await consumer.committed(P1) is None
            assert await consumer.committed(other) == 7, "it need not be assigned"
            assert len(broker.requests_of(OffsetFetchRequest)) >= 4
            await consumer.commit({P0: OffsetAndMetadata(6, "note", 0)})
            told = await consumer.committed(P0, metadata=True)
            assert told == OffsetAndMetadata(6, "note")
            assert told is not None
            assert told.leader_epoch == 0
            assert await consumer.committed(P1, metadata=True) is None
            with pytest.raises(TypeError):
                await consumer.committed(("t", 0))  # type: ignore[call-overload]


async def test_committed_is_bounded_and_names_the_last_failure() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(
            broker,
            clock=clock,
            retry_backoff_ms=1000,
            retry_backoff_max_ms=1000,
            default_api_timeout_ms=4000,
        )
        async with consumer:
            broker.faults.fail(OffsetFetchRequest, UnstableOffsetCommitError, times=None)
            before_s = clock.monotonic()
            with pytest.raises(KafkaTimeoutError, match=r"within 4 s.*not finished") as caught:
                await asyncio.wait_for(consumer.committed(P0), 30)
            assert clock.monotonic() - before_s == pytest.approx(4, abs=0.1)
            assert isinstance(caught.value.__cause__, UnstableOffsetCommitError)


async def test_d11_seek_to_committed_goes_to_offset_0_too_and_leaves_the_others() -> None:
    async with embedded({"t": 3}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        for tp in (P0, P1, P2):
            fill(broker, tp, 4)
        await read(consumer, 12)
        await consumer.commit({P0: 0, P1: 2})
        assert await consumer.seek_to_committed() == {P0: 0, P1: 2, P2: None}
        assert [await consumer.position(tp) for tp in (P0, P1, P2)] == [0, 2, 4]
        assert await read(consumer, 6) == {P0: [0, 1, 2, 3], P1: [2, 3]}
        assert await consumer.seek_to_committed(P1) == {P1: 2}
        assert await read(consumer, 2) == {P1: [2, 3]}


async def test_seek_to_committed_checks_its_partitions() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, **BY_HAND) as consumer:
        with pytest.raises(IllegalStateError, match="No partitions are currently assigned"):
            await consumer.seek_to_committed()
        consumer.subscribe(["t"])
        await assigned(consumer, {P0})
        with pytest.raises(IllegalStateError, match="not assigned"):
            await consumer.seek_to_committed(P1)
        with pytest.raises(TypeError):
            await consumer.seek_to_committed("t")  # type: ignore[arg-type]


async def test_seek_to_committed_cancelled_changes_no_position() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        fill(broker, P0, 4)
        await read(consumer, 4)
        await consumer.commit({P0: 1})
        broker.faults.stall(OffsetFetchRequest)
        asked = len(broker.requests_of(OffsetFetchRequest))
        seeking = asyncio.create_task(consumer.seek_to_committed())
        await broker.wait_until(lambda: len(broker.requests_of(OffsetFetchRequest)) > asked)
        seeking.cancel()
        await asyncio.wait([seeking])
        broker.faults.release()
        assert await consumer.committed(P0) == 1
        assert await consumer.position(P0) == 4


async def test_position_waits_while_the_group_assigns_the_partitions_anew() -> None:
    """A partition may be another member's for a moment; once it is for good, that is said."""
    async with embedded({"t": 1, "u": 1}) as broker, member_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        assert await consumer.position(P0) == 0
        broker.faults.stall(JoinGroupRequest, times=None)
        joins = len(broker.requests_of(JoinGroupRequest))
        consumer.subscribe(["t", "u"])
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) > joins)
        waiting = asyncio.create_task(consumer.position(P0))
        with pytest.raises(IllegalStateError, match="is not assigned"):
            await consumer.position(TopicPartition("w", 0))
        assert not waiting.done()
        broker.faults.release()
        assert await asyncio.wait_for(waiting, 30) == 0
        broker.faults.stall(JoinGroupRequest, times=None)
        consumer.enforce_rebalance()
        await eventually(consumer, lambda: not consumer.assignment())
        waiting = asyncio.create_task(consumer.position(P0))
        await asyncio.sleep(0)
        consumer.unsubscribe()
        with pytest.raises(IllegalStateError, match="is not assigned"):
            await asyncio.wait_for(waiting, 30)
        broker.faults.release()
