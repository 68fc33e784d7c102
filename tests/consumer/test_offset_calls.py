"""The calls about offsets of the public consumer: what they check, ask and return (API 1.3). What
groups make of them is told by the scenarios of groups.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    GroupLoadInProgressError,
    IllegalOperation,
    IllegalStateError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnstableOffsetCommitError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import OffsetAndMetadata, OffsetAndTimestamp, OffsetSpec, TopicPartition
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

P0, P1, P2 = tps(0, 1, 2)
Consumer = AIOKafkaConsumer[Any, Any]
Call = Callable[[Consumer], Any]


@asynccontextmanager
async def simple(
    *partitions: TopicPartition, **options: Any
) -> AsyncIterator[tuple[EmbeddedBroker, Consumer]]:
    """A consumer of group g, and no member of it, with these partitions out of two."""
    async with embedded({"t": 2}) as broker:
        options = {"group_id": "g", "enable_auto_commit": False, "retry_backoff_ms": 1, **options}
        consumer = consumer_of(broker, **options)
        if partitions:
            consumer.assign(partitions)
        async with consumer:
            yield broker, consumer


# Committing and asking for it…


async def test_what_is_committed_comes_back_as_an_int_or_with_all_that_belongs_to_it() -> None:
    async with simple(P0, P1) as (_, consumer):
        await consumer.commit({P0: OffsetAndMetadata(7, "note", 3), P1: 0})
        assert await consumer.committed(P0) == 7
        assert await consumer.committed(P1) == 0
        told = await consumer.committed(P0, metadata=True)
        assert told == OffsetAndMetadata(7, "note")
        assert told is not None
        assert told.leader_epoch == 3
        assert await consumer.seek_to_committed() == {P0: 7, P1: 0}


async def test_the_shape_of_offsets_is_checked_before_the_assignment() -> None:
    async with simple() as (broker, consumer):
        with pytest.raises(ValueError, match="offsets"):
            await consumer.commit({})
        with pytest.raises(IllegalStateError, match="Not subscribed to any topics"):
            await consumer.commit({P0: 1})
        consumer.assign([P0])
        with pytest.raises(IllegalStateError, match=r"Partition .* is not assigned"):
            consumer.commit_async({P1: 1})
        assert broker.requests_of(OffsetCommitRequest) == []


@pytest.mark.parametrize("error", [GroupLoadInProgressError, UnstableOffsetCommitError])
async def test_committed_and_seek_to_committed_ask_until_there_is_an_answer(error: Any) -> None:
    async with simple(P0) as (broker, consumer):
        await consumer.commit({P0: 4})
        broker.faults.fail(OffsetFetchRequest, error, times=3)
        assert await asyncio.wait_for(consumer.committed(P0), 30) == 4
        broker.faults.fail(OffsetFetchRequest, error, times=3)
        assert await asyncio.wait_for(consumer.seek_to_committed(), 30) == {P0: 4}


async def test_a_partition_that_was_let_go_meanwhile_is_not_sought() -> None:
    async with simple(P0, P1) as (broker, consumer):
        await consumer.commit({P0: 4, P1: 5})
        broker.faults.stall(OffsetFetchRequest)
        asked = len(broker.requests_of(OffsetFetchRequest))
        seeking = asyncio.create_task(consumer.seek_to_committed())
        await broker.wait_until(lambda: len(broker.requests_of(OffsetFetchRequest)) > asked)
        consumer.assign([P1])
        broker.faults.release()
        assert await asyncio.wait_for(seeking, 30) == {P0: 4, P1: 5}
        assert await consumer.position(P1) == 5


CALLS: list[Call] = [
    lambda consumer: consumer.commit(),
    lambda consumer: consumer.commit_async(),
    lambda consumer: consumer.committed(P0),
    lambda consumer: consumer.seek_to_committed(P0),
    lambda consumer: consumer.group_metadata(),
    lambda consumer: consumer.enforce_rebalance(),
]
calls = pytest.mark.parametrize(
    "call", CALLS, ids=["commit", "async", "committed", "seek", "metadata", "enforce"]
)


async def result_of(call: Callable[[Consumer], Any], consumer: Consumer) -> Any:
    result = call(consumer)
    return await result if asyncio.iscoroutine(result) else result


@calls
async def test_without_a_group_they_say_what_is_missing(call: Call) -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        with pytest.raises(IllegalOperation, match="group_id"):
            await result_of(call, consumer)


@calls
async def test_before_start_and_after_stop_all_are_refused(
    call: Callable[[Consumer], Any],
) -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, group_id="g")
        consumer.assign([P0])
        with pytest.raises(IllegalStateError, match="start"):
            await result_of(call, consumer)
        await consumer.start()
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await result_of(call, consumer)


async def test_who_is_no_member_has_the_groups_name_only() -> None:
    async with simple(P0) as (_, consumer):
        assert consumer.group_metadata() == ("g", -1, "", None)
        with pytest.raises(IllegalStateError, match="Not subscribed"):
            consumer.enforce_rebalance()


# Asking the leaders…


async def test_offsets_for_times_finds_the_first_record_from_a_time_on() -> None:
    async with simple() as (broker, consumer):
        fill(broker, P0, 2, 3)
        asked = {P0: 1003, P1: 0}
        found = await consumer.offsets_for_times(asked)
        assert found == {P0: OffsetAndTimestamp(3, 1003), P1: None}
        assert asked == {P0: 1003, P1: 0}, "the caller's mapping is as it was"
        assert await consumer.offsets_for_times({P0: 2000}) == {P0: None}
        assert await consumer.offsets_for_times({}) == {}


async def test_seek_to_timestamp_goes_to_the_first_record_from_a_time_on() -> None:
    async with simple(P0, P1) as (broker, consumer):
        fill(broker, P0, 2, 3)
        fill(broker, P1, 2)
        assert await consumer.seek_to_timestamp(1003)
        assert [await consumer.position(tp) for tp in (P0, P1)] == [3, 2], "or to the end"
        assert (await consumer.getone(P0)).offset == 3
        assert await consumer.seek_to_timestamp(0, P1)
        assert [await consumer.position(tp) for tp in (P0, P1)] == [4, 0]
        with pytest.raises(IllegalStateError, match="not assigned"):
            await consumer.seek_to_timestamp(0, P2)
        for no_time in (-1, 1.5, True, "1003", 2**63):
            with pytest.raises(ValueError, match=r"is no time; give milliseconds"):
                await consumer.seek_to_timestamp(no_time)  # type: ignore[arg-type]


async def test_seek_to_timestamp_goes_on_after_its_call_was_cancelled() -> None:
    async with simple(P0) as (broker, consumer):
        fill(broker, P0, 5)
        assert await consumer.position(P0) == 0
        broker.faults.stall(ListOffsetsRequest)
        asked = len(broker.requests_of(ListOffsetsRequest))
        seeking = asyncio.create_task(consumer.seek_to_timestamp(1002))
        await broker.wait_until(lambda: len(broker.requests_of(ListOffsetsRequest)) > asked)
        seeking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await seeking
        broker.faults.release()
        assert (await asyncio.wait_for(consumer.getone(), 30)).offset == 2


async def test_beginning_and_end_of_partitions_that_need_not_be_assigned() -> None:
    async with simple() as (broker, consumer):
        fill(broker, P0, 2, 3)
        broker.delete_records(P0, 2)
        assert await consumer.beginning_offsets([P0, P1]) == {P0: 2, P1: 0}
        assert await consumer.end_offsets(iter([P0, P1])) == {P0: 5, P1: 0}
        broker.forget_requests()
        assert await consumer.end_offsets([]) == {}
        assert await consumer.beginning_offsets([]) == {}
        assert broker.requests_of(ListOffsetsRequest) == []


async def test_list_offsets_finds_what_leaders_know_of_partitions() -> None:
    async with simple() as (broker, consumer):
        fill(broker, P0, 2, 3)
        broker.delete_records(P0, 1)
        found = await consumer.list_offsets({P0: OffsetSpec.MAX_TIMESTAMP, P1: OffsetSpec.LATEST})
        assert found == {P0: OffsetAndTimestamp(4, 1004), P1: OffsetAndTimestamp(0, None)}
        assert await consumer.list_offsets({P0: 1003, P1: OffsetSpec.MAX_TIMESTAMP}) == {
            P0: OffsetAndTimestamp(3, 1003),
            P1: None,
        }
        for spec, offset in [(OffsetSpec.EARLIEST, 1), (OffsetSpec.EARLIEST_LOCAL, 1)]:
            one = (await consumer.list_offsets({P0: spec}))[P0]
            assert one is not None
            assert one.offset == offset
        assert await consumer.list_offsets({P0: OffsetSpec.LATEST_TIERED}) == {P0: None}
        assert await consumer.list_offsets({}) == {}
        with pytest.raises(ValueError, match=r"t-0: -7 is no OffsetSpec and no time"):
            await consumer.list_offsets({P0: -7})


@pytest.mark.parametrize(
    ("spec", "version"),
    [(OffsetSpec.MAX_TIMESTAMP, 6), (OffsetSpec.LATEST_TIERED, 8)],
)
async def test_a_spec_that_the_leader_does_not_know_is_refused(
    spec: OffsetSpec, version: int
) -> None:
    async with (
        embedded({"t": 2}, max_versions={ApiKey.LIST_OFFSETS: version}) as broker,
        consumer_of(broker) as consumer,
    ):
        text = rf"{spec.name} of t-1 needs Kafka .* up to {version} .* in place of {version + 1}"
        with pytest.raises(UnsupportedVersionError, match=text):
            await consumer.list_offsets({P0: OffsetSpec.LATEST, P1: spec})
        assert broker.requests_of(ListOffsetsRequest) == []
        assert await consumer.list_offsets({P0: OffsetSpec.LATEST})


async def test_partitions_and_times_are_checked() -> None:
    async with simple() as (_, consumer):
        for call in (consumer.beginning_offsets, consumer.end_offsets):
            with pytest.raises(TypeError):
                await call([("t", 0)])  # type: ignore[list-item]
        with pytest.raises(ValueError, match="cannot be negative"):
            await consumer.offsets_for_times({P0: -1})


async def test_what_the_leaders_refuse_is_raised_and_what_may_pass_ends_with_the_time() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    options = {"retry_backoff_ms": 1000, "retry_backoff_max_ms": 1000}
    async with simple(clock=clock, default_api_timeout_ms=3000, **options) as (broker, consumer):
        broker.faults.fail(ListOffsetsRequest, TopicAuthorizationFailedError)
        with pytest.raises(TopicAuthorizationFailedError):
            await consumer.end_offsets([P0])
        broker.faults.fail(ListOffsetsRequest, LeaderNotAvailableError, times=None)
        before_s = clock.monotonic()
        with pytest.raises(KafkaTimeoutError, match="t-0"):
            await asyncio.wait_for(consumer.beginning_offsets([P0]), 30)
        assert clock.monotonic() - before_s == pytest.approx(3, abs=0.2)
