"""Auto-commit on a broker (B7): what earlier polls returned, and when it is stored."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    CoordinatorLoadInProgressError,
    OffsetMetadataTooLargeError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import answers_are_there, embedded, fill, offsets, read
from tests.scenarios.grouping import assigned, commits_are_over, committed, member_of, poll

P0, P1 = tps(0, 1)


async def test_b7_at_the_interval_a_poll_commits_what_earlier_polls_returned() -> None:
    """What the newest poll returned is not processed yet (B7)."""
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", clock=clock, max_poll_records=2) as consumer,
    ):
        fill(broker, P0, 10)
        assert offsets(await poll(consumer)) == {0: [0, 1]}
        assert offsets(await poll(consumer)) == {0: [2, 3]}
        assert broker.requests_of(OffsetCommitRequest) == []
        await clock.advance(5.1)
        assert broker.requests_of(OffsetCommitRequest) == [], "no poll, no commit"
        assert offsets(await poll(consumer)) == {0: [4, 5]}
        await broker.wait_until(lambda: committed(broker) == {P0: 4})
        assert offsets(await poll(consumer)) == {0: [6, 7]}
        assert len(broker.requests_of(OffsetCommitRequest)) == 1, "once per interval"
        await clock.advance(5.1)
        assert offsets(await poll(consumer)) == {0: [8, 9]}
        await broker.wait_until(lambda: committed(broker) == {P0: 8})


async def test_b7_a_poll_that_waits_commits_when_the_interval_ends_meanwhile() -> None:
    """It is a poll like others: what came before it is processed."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, member_of(broker, "t", clock=clock) as consumer:
        fill(broker, P0, 2)
        await poll(consumer)
        waiting = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        await clock.advance(5.1)
        await broker.wait_until(lambda: committed(broker) == {P0: 2})
        fill(broker, P0, 1)
        assert offsets(await asyncio.wait_for(waiting, 30)) == {0: [2]}


async def test_b7_each_commit_has_the_partitions_that_were_read_since_the_one_before() -> None:
    """A member with thousands of partitions sends what is active, not what is assigned."""
    clock = FakeClock()
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", clock=clock) as consumer,
    ):
        for tp in (P0, P1):
            fill(broker, tp, 2)
            assert offsets(await poll(consumer)) == {tp.partition: [0, 1]}
        await clock.advance(5.1)
        fill(broker, P1, 1)
        assert offsets(await poll(consumer)) == {1: [2]}
        await broker.wait_until(lambda: committed(broker) == {P0: 2, P1: 2})
        await clock.advance(5.1)
        fill(broker, P1, 1)
        assert offsets(await poll(consumer)) == {1: [3]}
        await broker.wait_until(lambda: committed(broker) == {P0: 2, P1: 3})
        sent = [
            sorted(each.partition_index for each in topic.partitions)
            for received in broker.requests_of(OffsetCommitRequest)
            for topic in received.topics
        ]
        assert sent == [[0, 1], [1]]


async def test_b7_nothing_is_committed_before_anything_was_returned() -> None:
    """A position that nobody has read from is committed as it is, so that the group keeps it."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, member_of(broker, "t", clock=clock) as consumer:
        await clock.advance(5.1)
        assert await consumer.getmany() == {}
        await consumer.position(P0)
        assert committed(broker) == {}
        await clock.advance(5.1)
        assert await consumer.getmany() == {}
        await broker.wait_until(lambda: committed(broker) == {P0: 0})


async def test_b7_getone_commits_all_but_the_newest_record() -> None:
    """Also on the fast path, where a record comes from what was decoded ahead."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, member_of(broker, "t", clock=clock) as consumer:
        fill(broker, P0, 10)
        for offset in range(3):
            assert (await consumer.getone()).offset == offset
        await clock.advance(5.1)
        assert (await consumer.getone()).offset == 3
        await broker.wait_until(lambda: committed(broker) == {P0: 3})
        assert (await consumer.getone()).offset == 4
        assert len(broker.requests_of(OffsetCommitRequest)) == 1


async def test_b7_iteration_commits_all_but_the_newest_record() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, member_of(broker, "t", clock=clock) as consumer:
        fill(broker, P0, 10)
        async for record in consumer:
            if record.offset == 3:
                await clock.advance(5.1)
            if record.offset == 4:
                await broker.wait_until(lambda: committed(broker) == {P0: 4})
            if record.offset == 5:
                break
        assert committed(broker) == {P0: 4}


@pytest.mark.parametrize("reader", ["getmany", "getone", "iteration"])
async def test_b7_stop_counts_as_a_poll(reader: str) -> None:
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", max_poll_records=4)
        await consumer.start()
        fill(broker, P0, 10)
        if reader == "getmany":
            await poll(consumer)
        elif reader == "getone":
            for _ in range(4):
                await consumer.getone()
        else:
            async for record in consumer:
                if record.offset == 3:
                    break
        assert committed(broker) == {}
        await consumer.stop()
        assert committed(broker) == {P0: 4}


async def test_b7_the_normal_end_of_async_with_counts_as_a_poll_an_exception_does_not() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 10)
        async with member_of(broker, "t", max_poll_records=2) as consumer:
            await poll(consumer)
        assert committed(broker) == {P0: 2}

        async def fail() -> None:
            async with member_of(broker, "t", max_poll_records=2) as consumer:
                assert offsets(await poll(consumer)) == {0: [2, 3]}
                assert offsets(await poll(consumer)) == {0: [4, 5]}
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()
        assert committed(broker) == {P0: 4}, "the newest poll's records may not be processed"
        async with member_of(broker, "t") as consumer:
            assert (await consumer.getone()).offset == 4


async def test_b7_an_exception_while_iterating_leaves_the_record_at_hand_uncommitted() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 10)

        async def fail() -> None:
            async with member_of(broker, "t") as consumer:
                async for record in consumer:
                    if record.offset == 6:
                        raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            await fail()
        assert committed(broker) == {P0: 6}


async def columns(consumer: AIOKafkaConsumer[Any, Any]) -> int:
    return len(await consumer.getmany_columns(timeout_ms=60_000, max_records=30))


async def many(consumer: AIOKafkaConsumer[Any, Any]) -> int:
    return sum(map(len, (await poll(consumer, max_records=30)).values()))


@pytest.mark.parametrize("ones", [1, 3])
@pytest.mark.parametrize("reader", [many, columns])
@pytest.mark.parametrize("cause", ["exception", "rebalance"])
async def test_b7_what_a_poll_returned_after_getone_is_not_committed_before_the_next_poll(
    reader: Callable[[AIOKafkaConsumer[Any, Any]], Awaitable[int]], ones: int, cause: str
) -> None:
    """Neither the rest of what `getone` had decoded ahead, nor what came of other partitions."""
    async with embedded({"t": 2}) as broker:
        fill(broker, P0, 20)
        fill(broker, P1, 20)
        consumer = member_of(broker, "t")
        await consumer.start()
        for tp in (P0, P1):  # so that one answer has both
            await consumer.position(tp)
        for _ in range(ones):
            first = await consumer.getone()
        assert await reader(consumer) == 30
        if cause == "exception":
            await consumer.__aexit__(ZeroDivisionError, ZeroDivisionError(), None)
        else:
            async with member_of(broker, "t", client_id="b") as other:
                assert other.assignment()
            await consumer._life.stop(30_000, processed_all=False)
        read = TopicPartition("t", first.partition)
        assert committed(broker).pop(read) == ones
        assert set(committed(broker).values()) <= {0, ones}


async def test_b7_cancellation_that_leaves_the_block_is_an_exception_too() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 4)
        has_read = asyncio.Event()

        async def work() -> None:
            async with member_of(broker, "t", max_poll_records=2) as consumer:
                await poll(consumer)
                await poll(consumer)
                has_read.set()
                await asyncio.Event().wait()

        task = asyncio.create_task(work())
        await asyncio.wait_for(has_read.wait(), 30)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled()
        assert committed(broker) == {P0: 2}


async def test_b7_before_a_revocation_what_earlier_polls_returned_is_committed() -> None:
    """And the new owner starts there."""
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", client_id="a", max_poll_records=2) as first,
    ):
        fill(broker, P0, 10)
        fill(broker, P1, 10)
        seen = await read(first, 8)
        async with member_of(broker, "t", client_id="b") as second:
            await assigned(first, {P0})
            await assigned(second, {P1})
            stored = committed(broker)
            returned = {tp: found[-1] + 1 for tp, found in seen.items()}
            newest = {tp for tp, offset in returned.items() if stored.get(tp, 0) < offset}
            assert len(newest) <= 1, "only what the newest poll returned may be missing"
            assert sum(returned.values()) - sum(stored.values()) == 2
            assert (await poll(second))[P1][0].offset == stored.get(P1, 0)


async def test_b7_without_auto_commit_nothing_is_ever_committed() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 4)
        async with member_of(broker, "t", clock=clock, enable_auto_commit=False) as consumer:
            assert (await consumer.getone()).offset == 0
            await clock.advance(10)
            await poll(consumer)
        assert broker.requests_of(OffsetCommitRequest) == []
        assert broker.group("g").members == {}


async def test_b7_a_seek_is_committed_like_what_was_read() -> None:
    """From the next poll on; the position as it stood when the newest one began."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, member_of(broker, "t", clock=clock) as consumer:
        fill(broker, P0, 10)
        await poll(consumer)
        consumer.seek(P0, 3)
        await clock.advance(5.1)
        assert offsets(await poll(consumer)) == {0: list(range(3, 10))}
        await broker.wait_until(lambda: committed(broker) == {P0: 3})


async def test_b7_a_seek_between_polls_of_getone_does_not_commit_the_record_at_hand() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", clock=clock)
        await consumer.start()
        fill(broker, P0, 10)
        for _ in range(5):
            await consumer.getone()
        consumer.seek(P0, 0)
        assert (await consumer.getone()).offset == 0
        await consumer._life.stop(1000, processed_all=False)
        assert committed(broker) == {P0: 0}


async def test_2e_14_a_failure_that_may_pass_is_tried_again_after_the_backoff() -> None:
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", clock=clock, retry_backoff_ms=100) as consumer,
    ):
        fill(broker, P0, 3)
        await poll(consumer)
        broker.faults.fail(OffsetCommitRequest, CoordinatorLoadInProgressError)
        await clock.advance(5.1)
        await consumer.getmany()
        await commits_are_over(consumer)
        assert committed(broker) == {}
        await consumer.getmany()
        assert len(broker.requests_of(OffsetCommitRequest)) == 1, "not before its backoff"
        await clock.advance(0.13)
        await consumer.getmany()
        await broker.wait_until(lambda: committed(broker) == {P0: 3})


async def test_2e_14_a_failure_for_good_is_logged_and_reading_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, member_of(broker, "t", clock=clock) as consumer:
        fill(broker, P0, 3)
        await poll(consumer)
        broker.faults.fail(OffsetCommitRequest, OffsetMetadataTooLargeError)
        await clock.advance(5.1)
        with caplog.at_level(logging.WARNING):
            await consumer.getmany()
            await commits_are_over(consumer)
        assert "auto-commit" in caplog.text
        fill(broker, P0, 1)
        assert offsets(await poll(consumer)) == {0: [3]}
        await clock.advance(5.1)
        await consumer.getmany()
        await broker.wait_until(lambda: committed(broker) == {P0: 4})


async def test_b7_commits_by_hand_and_automatic_ones_keep_their_order() -> None:
    """An older automatic commit never overwrites what was committed by hand after it (2e-13)."""
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", clock=clock, max_poll_records=2) as consumer,
    ):
        fill(broker, P0, 10)
        await poll(consumer)
        broker.faults.stall(OffsetCommitRequest)
        await clock.advance(5.1)
        await poll(consumer)
        await broker.wait_until(lambda: len(broker.requests_of(OffsetCommitRequest)) == 1)
        by_hand = asyncio.create_task(consumer.commit())
        await answers_are_there(consumer)
        assert not by_hand.done()
        assert len(broker.requests_of(OffsetCommitRequest)) == 1
        broker.faults.release()
        await asyncio.wait_for(by_hand, 30)
        assert committed(broker) == {P0: 4}


async def test_b7_an_interval_of_zero_commits_once_per_poll_not_all_the_time() -> None:
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", auto_commit_interval_ms=0, max_poll_records=1) as consumer,
    ):
        fill(broker, P0, 3)
        for count in range(3):
            assert offsets(await poll(consumer)) == {0: [count]}
        assert await consumer.getmany(timeout_ms=100) == {}
        await broker.wait_until(lambda: committed(broker) == {P0: 3})
        assert len(broker.requests_of(OffsetCommitRequest)) <= 4
