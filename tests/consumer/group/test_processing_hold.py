"""A rebalance that is held back while a batch is processed (`processing()`)."""

import asyncio
import logging
from typing import Any

import pytest

from aiokafka_lite import CooperativeStickyAssignor, RangePartitionAssignor
from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import IllegalOperation
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets
from tests.scenarios.grouping import assigned, committed, member_of, poll
from tests.support.patience import eventually

P0, P1 = tps(0, 1)
WAITS = "a rebalance waits for processing() to end"


async def a_batch(consumer: AIOKafkaConsumer[Any, Any]) -> None:
    """Read both records of the topic: whatever one poll returns is one batch of the test."""
    seen = 0
    while seen < 2:
        seen += sum(map(len, (await poll(consumer)).values()))


@pytest.mark.parametrize("assignor", [RangePartitionAssignor, CooperativeStickyAssignor])
async def test_a_rebalance_waits_for_the_batch_which_is_committed_then(
    assignor: Any, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    strategy = {"partition_assignment_strategy": [assignor]}
    async with embedded({"t": 2}) as broker, member_of(broker, "t", **strategy) as first:
        fill(broker, P0, 1)
        fill(broker, P1, 1)
        await a_batch(first)
        second = member_of(broker, "t", **strategy)
        with first.processing():
            joining = asyncio.create_task(second.start())
            await eventually(lambda: WAITS in caplog.text)
            assert committed(broker) == {}
            assert first.assignment() == {P0, P1}
            assert not joining.done()
        try:
            await joining
            await eventually(lambda: len(second.assignment()) == 1)
            assert committed(broker) == {P0: 1, P1: 1}
            (taken,) = second.assignment()
            fill(broker, taken, 1)
            assert offsets(await poll(second)) == {taken.partition: [1]}, "nothing is repeated"
        finally:
            await second.stop()


async def test_a_batch_whose_processing_raised_is_not_committed() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", max_poll_records=2) as consumer:
        fill(broker, P0, 4)
        await poll(consumer)
        with consumer.processing():
            pass
        await poll(consumer)
        with pytest.raises(ValueError, match="bad"), consumer.processing(), consumer.processing():
            raise ValueError("bad")
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: bool(committed(broker)))
        await assigned(consumer, {P0})
        assert committed(broker) == {P0: 2}


async def test_the_group_waits_no_longer_than_the_rebalance_timeout(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    clock = FakeClock()
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", clock=clock, rebalance_timeout_ms=60_000) as consumer,
    ):
        with consumer.processing():
            consumer.enforce_rebalance()
            await eventually(lambda: WAITS in caplog.text)
            before = consumer.group_metadata().generation_id
            await clock.advance(49.9)
            assert "has held" not in caplog.text
            await clock.advance(0.2)
            await eventually(lambda: consumer.group_metadata().generation_id > before)
            assert "has held a rebalance back for 50 s" in caplog.text


async def test_a_consumer_can_be_stopped_while_it_processes() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        with consumer.processing():
            consumer.enforce_rebalance()
            await asyncio.wait_for(consumer.stop(), 30)


async def test_processing_needs_a_group() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        with pytest.raises(IllegalOperation, match="group_id"):
            consumer.processing()
