"""The order of a poll, and what it does when it has nothing to return."""

import asyncio

import pytest

from aiokafka_lite.errors import CorruptRecordException
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import batches, tps, with_bad_crc
from tests.scenarios.consuming import consumer_of, embedded, eventually, fill, offsets

P0, P1 = tps(0, 1)


async def test_b8_positions_are_looked_for_before_anything_is_fetched() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 1)
        await consumer.getmany(timeout_ms=5000)
        kinds = [type(received.request) for received in broker.requests]
        assert kinds.index(ListOffsetsRequest) < kinds.index(FetchRequest)


async def test_partitions_with_a_position_are_read_while_others_look_for_theirs() -> None:
    async with embedded({"t": 2}, nodes=2) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 2)
        broker.faults.stall(ListOffsetsRequest, node_id=broker.leader(P1))
        assert offsets(await consumer.getmany(timeout_ms=5000)) == {0: [0, 1]}
        broker.faults.release()


async def test_a9_an_error_that_stands_aside_waits_for_the_fetches_on_their_way_only() -> None:
    """Neither does it hide what the others are about to bring, nor is it silent for ever."""
    async with embedded({"t": 2}) as broker:
        broker.append(P0, with_bad_crc(batches(0, 2)))
        async with consumer_of(broker, "t") as consumer:
            with pytest.raises(CorruptRecordException):
                await consumer.getone()
            broker.faults.stall(FetchRequest)
            poll = asyncio.create_task(consumer.getone())
            await eventually(consumer, lambda: consumer.statistics().fetching_nodes == {1})
            fill(broker, P1, 1)
            broker.faults.release()
            assert (await poll).partition == 1
            with pytest.raises(CorruptRecordException):
                await consumer.getone()


async def test_the_time_of_a_poll_follows_the_consumers_clock() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock()
        async with consumer_of(broker, "t", clock=clock, fetch_max_wait_ms=20_000) as consumer:
            poll = asyncio.create_task(consumer.getmany(timeout_ms=7000))
            await broker.wait_until(lambda: bool(broker.requests_of(FetchRequest)))
            await clock.advance(6.9)
            assert not poll.done()
            await clock.advance(0.2)
            assert await poll == {}
            assert clock.monotonic() == pytest.approx(7.1)


async def test_a_waiting_poll_does_not_spin() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        assert consumer._poller is not None
        calls = 0
        start_fetches = consumer._poller.fetcher.start_fetches

        def counted() -> float | None:
            nonlocal calls
            calls += 1
            return start_fetches()

        consumer._poller.fetcher.start_fetches = counted  # type: ignore[method-assign]  # to count
        assert await consumer.getmany(timeout_ms=500) == {}
        assert calls <= 12, "one turn per answered fetch (100 ms each), and the last one"
