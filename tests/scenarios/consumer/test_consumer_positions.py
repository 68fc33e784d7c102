"""Positions on a broker: B1 to B8, out of range, seeks while a fetch is on its way."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.errors import (
    ConsumerStoppedError,
    IllegalStateError,
    KafkaTimeoutError,
    LeaderNotAvailableError,
    NoOffsetForPartitionError,
    NotLeaderForPartitionError,
    OffsetOutOfRangeError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import (
    consumer_of,
    embedded,
    eventually,
    fill,
    offsets,
    read,
)

P0, P1, P2 = tps(0, 1, 2)


@pytest.mark.parametrize(("policy", "first"), [("earliest", 0), ("latest", 5)])
async def test_b4_without_a_position_the_policy_decides(policy: str, first: int) -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", auto_offset_reset=policy)
        fill(broker, P0, 5)
        await consumer.start()
        assert await consumer.position(P0) == first
        fill(broker, P0, 2)
        assert await read(consumer, 7 - first) == {P0: list(range(first, 7))}
        await consumer.stop()


async def test_b4_without_a_policy_the_partition_is_named_until_the_user_seeks() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", auto_offset_reset="none")
        fill(broker, P0, 5)
        async with consumer:
            for call in (consumer.getone(), consumer.getmany(), consumer.position(P0)):
                with pytest.raises(NoOffsetForPartitionError, match="t-0"):
                    await call
            consumer.seek(P0, 3)
            assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [3, 4]}


@pytest.mark.parametrize("reader", ["getone", "getmany"])
async def test_b4_without_a_policy_each_poll_says_so_until_a_seek_and_then_the_sought_is_read(
    reader: str,
) -> None:
    """One partition is sought: it is read, though the other still has no position. When there is
    nothing of it, and where the other is named, a poll says again what is missing."""
    async with embedded({"t": 2}) as broker:
        fill(broker, P0, 3)
        fill(broker, P1, 3)

        async def polled(*partitions: TopicPartition) -> int:
            if reader == "getone":
                return (await asyncio.wait_for(consumer.getone(*partitions), 30)).offset
            got = await consumer.getmany(*partitions, timeout_ms=30_000, max_records=1)
            return offsets(got)[0][0]

        async with consumer_of(broker, "t", auto_offset_reset="none") as consumer:
            for _ in range(3):
                with pytest.raises(NoOffsetForPartitionError, match="t-0, t-1"):
                    await polled()
            consumer.seek(P0, 0)
            assert [await polled() for _ in range(3)] == [0, 1, 2]
            assert await consumer.position(P0) == 3
            for _ in range(2):
                with pytest.raises(NoOffsetForPartitionError, match="for t-1,"):
                    await polled()
                with pytest.raises(NoOffsetForPartitionError, match="for t-1,"):
                    await polled(P1)
                with pytest.raises(NoOffsetForPartitionError, match="for t-1,"):
                    await consumer.position(P1)
            fill(broker, P0, 1)
            assert await polled(P0) == 3
            await consumer.seek_to_end(P1)
            assert await consumer.getmany(timeout_ms=5) == {}


async def test_seeks_of_what_is_no_partition_are_type_errors_before_anything_else() -> None:
    """Before a start, after a stop, without an assignment: the call is wrong whatever there is."""
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, group_id="g")
        wrong: Any = "t"
        for step in (consumer.start, consumer.stop):
            with pytest.raises(TypeError):
                consumer.seek(wrong, -1)
            for call in (
                consumer.seek_to_beginning,
                consumer.seek_to_end,
                consumer.seek_to_committed,
            ):
                with pytest.raises(TypeError):
                    await call(wrong)
            await step()


async def test_offsets_of_a_partition_that_does_not_exist_fail_within_the_request_timeout() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with (
        embedded({"t": 1}, auto_create_topics=False) as broker,
        consumer_of(
            broker, clock=clock, request_timeout_ms=5000, default_api_timeout_ms=60_000
        ) as consumer,
    ):
        for partition in (TopicPartition("t", 7), TopicPartition("nope", 0)):
            began_s = clock.monotonic()
            with pytest.raises(KafkaTimeoutError, match=f"{partition.topic}-{partition.partition}"):
                await consumer.offsets_for_times({partition: 0, P0: 0})
            assert clock.monotonic() - began_s < 7


async def test_b4_seek_to_end_needs_no_policy() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, "t", auto_offset_reset="none") as consumer,
    ):
        fill(broker, P0, 5)
        assert await consumer.seek_to_end(P0)
        assert await consumer.position(P0) == 5


async def test_b8_a_second_poll_with_all_positions_asks_neither_coordinator_nor_leaders() -> None:
    async with embedded({"t": 3}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        await read(consumer, 2)
        await consumer.seek_to_beginning()
        broker.forget_requests()
        fill(broker, P1, 2)
        await read(consumer, 4)
        kinds = {type(received.request) for received in broker.requests}
        assert kinds == {FetchRequest}
        assert ListOffsetsRequest not in kinds
        assert FindCoordinatorRequest not in kinds


async def test_b4_leaders_are_asked_one_request_each() -> None:
    async with embedded({"t": 4}, nodes=2) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        asked = {
            received.node_id: [p.partition_index for p in received.request.topics[0].partitions]
            for received in broker.requests
            if isinstance(received.request, ListOffsetsRequest)
        }
        assert asked == {1: [0, 2], 2: [1, 3]}


async def test_b5_a_seek_while_the_reset_is_on_its_way_wins() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 5)
        broker.faults.stall(ListOffsetsRequest)
        assert await consumer.getmany(timeout_ms=10) == {}
        await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
        consumer.seek(P0, 4)
        broker.faults.release()
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [4]}


async def test_b5_a_seek_wakes_the_poll_that_waits_for_the_reset() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 5)
        broker.faults.stall(ListOffsetsRequest)
        pending = asyncio.create_task(consumer.getone())
        await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
        consumer.seek(P0, 4)
        assert (await asyncio.wait_for(pending, 30)).offset == 4
        broker.faults.release()


@pytest.mark.parametrize("error", [LeaderNotAvailableError, NotLeaderForPartitionError])
async def test_2c_7_a_reset_is_retried_after_passing_errors(
    error: type[LeaderNotAvailableError],
) -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", retry_backoff_ms=1) as consumer,
    ):
        fill(broker, P0, 2)
        broker.faults.fail(ListOffsetsRequest, error, times=3)
        assert await read(consumer, 2) == {P0: [0, 1]}
        assert len(broker.requests_of(ListOffsetsRequest)) == 4


async def test_2c_7_a_verdict_on_rights_is_raised() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        broker.faults.fail(ListOffsetsRequest, TopicAuthorizationFailedError, times=None)
        with pytest.raises(TopicAuthorizationFailedError, match="t-0"):
            await consumer.getone()
        with pytest.raises(TopicAuthorizationFailedError, match="t-0"):
            await consumer.end_offsets([P0])


async def test_a_seek_drops_what_is_buffered_and_what_is_on_its_way() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=1, fetch_max_bytes=1) as consumer,
    ):
        fill(broker, P0, 3, 3, 3)
        assert (await consumer.getone()).offset == 0
        consumer.seek(P0, 7)
        assert consumer.statistics().buffered == ()
        assert (await consumer.getone()).offset == 7
        await consumer.getone()
        broker.faults.stall(FetchRequest)
        assert await consumer.getmany(timeout_ms=10) == {}
        consumer.seek(P0, 2)
        broker.faults.release()
        assert await read(consumer, 7) == {P0: [2, 3, 4, 5, 6, 7, 8]}


async def test_seeking_in_every_poll_never_returns_another_record_than_asked_for() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1) as consumer,
    ):
        fill(broker, P0, *[3] * 20)
        for offset in (17, 3, 3, 59, 0, 30, 31, 29):
            consumer.seek(P0, offset)
            assert (await consumer.getone()).offset == offset


async def test_seek_to_beginning_and_end_tell_whether_they_were_done_in_time() -> None:
    async with embedded({"t": 2}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        fill(broker, P0, 4)
        broker.delete_records(P0, 2)
        async with consumer_of(
            broker, "t", clock=clock, fetch_max_wait_ms=1, request_timeout_ms=1000
        ) as consumer:
            assert await consumer.seek_to_end()
            assert await consumer.position(P0) == 4
            assert await consumer.seek_to_beginning(P0)
            assert await consumer.position(P0) == 2
            assert await consumer.position(P1) == 0
            broker.faults.drop(ListOffsetsRequest, times=None)
            assert not await consumer.seek_to_end(P0)
            broker.faults.clear()
            assert await consumer.position(P0) == 4, "the polls go on looking"


async def test_seeks_refuse_what_is_not_assigned_or_no_offset() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        stranger = TopicPartition("t", 9)
        for bad in (-1, 1.5, "1", None):
            with pytest.raises(ValueError, match="Offset must be a positive integer"):
                consumer.seek(P0, bad)  # type: ignore[arg-type]  # that is the point
        with pytest.raises(IllegalStateError, match="is not assigned"):
            consumer.seek(stranger, 0)
        with pytest.raises(IllegalStateError, match="are not assigned"):
            await consumer.seek_to_end(stranger)
        with pytest.raises(TypeError, match="partitions must be TopicPartition instances"):
            await consumer.seek_to_beginning(("t", 0))  # type: ignore[arg-type]  # that is the point
        with pytest.raises(IllegalStateError, match="is not assigned"):
            await consumer.position(stranger)
        consumer.unsubscribe()
        for poll in (consumer.getone(P0), consumer.getmany(P0)):
            with pytest.raises(IllegalStateError, match="is not assigned"):
                await poll
        with pytest.raises(IllegalStateError, match="No partitions are currently assigned"):
            await consumer.seek_to_end()


async def test_seeking_works_before_start() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 5)
        consumer = consumer_of(broker)
        consumer.assign([P0])
        consumer.seek(P0, 3)
        async with consumer:
            assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [3, 4]}
            assert broker.requests_of(ListOffsetsRequest) == []


# Out of range…


async def test_out_of_range_goes_where_the_policy_says() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, *[1] * 10)
        broker.delete_records(P0, 6)
        consumer.seek(P0, 2)
        assert await read(consumer, 4) == {P0: [6, 7, 8, 9]}


async def test_out_of_range_without_a_policy_is_raised_again_until_the_user_seeks() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, "t", auto_offset_reset="none", retry_backoff_ms=1) as consumer,
    ):
        fill(broker, P0, 3)
        fill(broker, P1, 3)
        consumer.seek(P0, 99)
        consumer.seek(P1, 0)
        seen: list[dict[int, list[int]]] = []
        errors: list[str] = []
        while len(errors) < 2:
            try:
                polled = offsets(await consumer.getmany(timeout_ms=100))
            except OffsetOutOfRangeError as error:
                errors.append(str(error))
            else:
                seen += [polled] if polled else []
        assert seen == [{1: [0, 1, 2]}]
        assert all("t-0: offset 99 is out of range" in error for error in errors)
        consumer.seek(P0, 1)
        assert await read(consumer, 2) == {P0: [1, 2]}


# Offsets for the user…


async def test_beginning_and_end_offsets_of_partitions_assigned_or_not() -> None:
    async with (
        embedded({"t": 2, "u": 1}, nodes=2) as broker,
        consumer_of(broker, "t") as consumer,
    ):
        u0 = TopicPartition("u", 0)
        fill(broker, P0, *[1] * 4)
        fill(broker, u0, 7)
        broker.delete_records(P0, 3)
        assert await consumer.beginning_offsets([P0, P1, u0]) == {P0: 3, P1: 0, u0: 0}
        assert await consumer.end_offsets([u0, P0]) == {u0: 7, P0: 4}
        assert await consumer.end_offsets([]) == {}


async def test_offsets_of_a_partition_that_does_not_exist_end_with_a_timeout_naming_it() -> None:
    async with embedded({"t": 1}, auto_create_topics=False) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with consumer_of(broker, "t", clock=clock, default_api_timeout_ms=2000) as consumer:
            missing = TopicPartition("nope", 0)
            with pytest.raises(KafkaTimeoutError, match=r"nope-0 \(UNKNOWN_TOPIC_OR_PARTITION"):
                await consumer.end_offsets([P0, missing])


async def test_offsets_are_retried_until_they_are_there() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", retry_backoff_ms=1) as consumer,
    ):
        fill(broker, P0, 3)
        broker.faults.fail(ListOffsetsRequest, NotLeaderForPartitionError, times=2)
        broker.faults.cut(ListOffsetsRequest)
        assert await consumer.end_offsets([P0]) == {P0: 3}


async def test_a_position_that_cannot_be_found_ends_with_a_timeout_naming_it() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with consumer_of(broker, "t", clock=clock, default_api_timeout_ms=2000) as consumer:
            broker.faults.fail(ListOffsetsRequest, LeaderNotAvailableError, times=None)
            with pytest.raises(
                KafkaTimeoutError, match="no position for t-0 within 2 s: its leader"
            ):
                await consumer.position(P0)


async def test_waiting_for_a_position_ends_with_stop_and_with_the_assignment() -> None:
    async with embedded({"t": 2}) as broker:
        consumer = consumer_of(broker)
        consumer.assign([P0, P1])
        await consumer.start()
        broker.faults.stall(ListOffsetsRequest, times=None)
        first = asyncio.create_task(consumer.position(P0))
        second = asyncio.create_task(consumer.position(P1))
        await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
        consumer.assign([P1])
        with pytest.raises(IllegalStateError, match="partition=0"):
            await first
        await eventually(consumer, lambda: True)
        await consumer.stop()
        with pytest.raises(ConsumerStoppedError):
            await second


@pytest.mark.parametrize("unknown", [TopicPartition("t", 100), TopicPartition("nowhere", 0)])
async def test_offsets_of_a_partition_that_does_not_exist_are_given_up_after_request_timeout_ms(
    unknown: TopicPartition,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}, auto_create_topics=False) as broker:
        options = {"request_timeout_ms": 2000, "default_api_timeout_ms": 600_000}
        async with consumer_of(broker, "t", clock=clock, **options) as consumer:
            for call in (consumer.offsets_for_times({unknown: 0}), consumer.end_offsets([unknown])):
                began_s = clock.monotonic()
                with pytest.raises(KafkaTimeoutError, match=f"{unknown.topic}-{unknown.partition}"):
                    await asyncio.wait_for(call, 30)
                assert 2 <= clock.monotonic() - began_s <= 4
