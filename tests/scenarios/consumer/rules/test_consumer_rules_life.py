"""Ends: the bounds of stop(), and the lost connection that every waiter hears of (F4)."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.consumer import consumer_engine
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import (
    consumer_of,
    embedded,
    fill,
    read,
)

P0, P1, P2 = tps(0, 1, 2)


async def forever(*_: object) -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("timeout_ms", [3000, 7000])
async def test_stop_ends_within_its_timeout_whatever_keeps_the_fetches_from_ending(
    timeout_ms: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """And everything is closed all the same: nothing is left behind."""
    clock = FakeClock(autojump_threshold_s=0.1)
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", clock=clock)
        await consumer.start()
        fill(broker, P0, 1)
        await read(consumer, 1)
        assert consumer._engine is not None
        monkeypatch.setattr(consumer_engine, "close_fetches", forever)
        before = clock.monotonic()
        async with asyncio.timeout(30):
            await consumer.stop(timeout_ms=timeout_ms)
        assert timeout_ms / 1000 <= clock.monotonic() - before <= timeout_ms / 1000 + 0.1
    assert "fetches did not end" in caplog.text


async def test_stop_gives_its_client_a_second_at_least_and_no_more_than_its_timeout(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for timeout_ms, bound_s in ((0, 1.0), (4000, 4.0)):
        clock = FakeClock(autojump_threshold_s=0.1)
        async with embedded({"t": 1}) as broker:
            consumer = consumer_of(broker, "t", clock=clock)
            await consumer.start()
            assert consumer._engine is not None
            client = consumer._engine.client
            before = clock.monotonic()
            with monkeypatch.context() as patch:
                patch.setattr(client, "close", forever)
                async with asyncio.timeout(30):
                    await consumer.stop(timeout_ms=timeout_ms)
            assert clock.monotonic() - before == pytest.approx(bound_s, abs=0.1)
            await client.close()
        assert f"the client did not close within {bound_s:.1f} s" in caplog.text


# A lost connection…


async def test_f4_a_lost_connection_fails_every_waiter_of_its_node_with_one_cause() -> None:
    """And nobody else's: the other node's waiters get their answers."""
    async with embedded({"t": 2}, nodes=2) as broker, consumer_of(broker, "t") as consumer:
        await consumer.seek_to_beginning()
        assert consumer._engine is not None
        client = consumer._engine.client

        def ask(node_id: int, partition: int) -> "asyncio.Task[object]":
            wanted = ListOffsetsPartition(partition_index=partition, timestamp=-1)
            topic = ListOffsetsTopic(name="t", partitions=[wanted])
            request = ListOffsetsRequest(replica_id=-1, topics=[topic])
            return asyncio.create_task(client.network.request(node_id, request))

        lost_node, other_node = broker.leader(P0), broker.leader(P1)
        broker.forget_requests()
        broker.faults.stall(ListOffsetsRequest, times=None)
        lost = [ask(lost_node, 0) for _ in range(4)]
        kept = [ask(other_node, 1) for _ in range(2)]
        # A stalled node looks at one request at a time; the others were written with it.
        await broker.wait_until(lambda: len(broker.requests_of(ListOffsetsRequest)) == 2)
        broker.drop_connections(lost_node)
        errors = await asyncio.wait_for(asyncio.gather(*lost, return_exceptions=True), 30)
        assert [type(error) for error in errors] == [KafkaConnectionError] * 4
        causes = {id(error.__cause__) for error in errors if isinstance(error, BaseException)}
        assert len(causes) == 1
        assert len({id(error) for error in errors}) == 4, "each has its own traceback"
        assert all(error.__cause__ is not None for error in errors if isinstance(error, Exception))
        broker.faults.release()
        await asyncio.wait_for(asyncio.gather(*kept), 30)


async def test_f4_a_lost_connection_takes_no_waiting_call_of_the_user_along() -> None:
    """Positions, offsets and polls ask again: all that hung on that connection still end well."""
    async with (
        embedded({"t": 3}) as broker,
        consumer_of(broker, "t", retry_backoff_ms=1, reconnect_backoff_ms=1) as consumer,
    ):
        for tp in (P0, P1, P2):
            fill(broker, tp, 2)
        broker.faults.stall(ListOffsetsRequest, times=None)
        waiting: list[asyncio.Task[Any]] = [
            asyncio.create_task(call)
            for call in (
                consumer.position(P0),
                consumer.end_offsets([P1]),
                consumer.beginning_offsets([P2]),
                consumer.getone(),
            )
        ]
        await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
        broker.drop_connections()
        broker.faults.release()
        position, ends, beginnings, record = await asyncio.wait_for(asyncio.gather(*waiting), 30)
        assert (position, ends, beginnings) == (0, {P1: 2}, {P2: 0})
        assert record.offset == 0
