"""Commits of what the application marked as done, with `enable_auto_offset_store=False`."""

import asyncio
import functools
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    CommitFailedError,
    IllegalOperation,
    IllegalStateError,
    PartitionRevokedError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets
from tests.scenarios.grouping import assigned, committed, expel, member_of, poll

P0, P1 = tps(0, 1)


def marking(broker: EmbeddedBroker, *topics: str, **options: Any) -> AIOKafkaConsumer[Any, Any]:
    return member_of(broker, *topics, enable_auto_offset_store=False, **options)


def _has_committed(broker: EmbeddedBroker, offset: int) -> bool:
    return committed(broker) == {P0: offset}


async def test_automatic_commits_store_what_was_marked_and_not_what_was_returned() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        async with marking(broker, "t", clock=clock, max_poll_records=4) as consumer:
            fill(broker, P0, 10)
            assert offsets(await poll(consumer)) == {0: [0, 1, 2, 3]}
            await clock.advance(5.1)
            await poll(consumer)
            assert committed(broker) == {}, "nothing is done yet"
            consumer.store_offsets({P0: 1})
            consumer.store_offsets({P0: (3, "three are done")})
            await clock.advance(5.1)
            await poll(consumer)
            await broker.wait_until(lambda: committed(broker) == {P0: 3})
        assert committed(broker) == {P0: 3}, "nor does the end count as done"


async def test_a_poll_that_waits_commits_what_is_marked_meanwhile() -> None:
    clock = FakeClock()
    async with embedded({"t": 1}) as broker, marking(broker, "t", clock=clock) as consumer:
        fill(broker, P0, 3)
        await poll(consumer)
        waiting = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        for done in (1, 2, 3):
            await clock.advance(5.1)
            consumer.store_offsets({P0: done})
            await clock.advance(5.1)
            await broker.wait_until(functools.partial(_has_committed, broker, done))
        fill(broker, P0, 1)
        assert offsets(await asyncio.wait_for(waiting, 30)) == {0: [3]}


async def test_commit_stores_the_marks_of_all_partitions() -> None:
    async with (
        embedded({"t": 2}) as broker,
        marking(broker, "t", enable_auto_commit=False) as consumer,
    ):
        fill(broker, P0, 3)
        await poll(consumer)
        await consumer.commit()
        assert committed(broker) == {}
        consumer.store_offsets({P0: 2})
        await consumer.commit()
        assert committed(broker) == {P0: 2}
        assert consumer.consumed_offsets()[P0].offset == 3, "positions are not marks"


async def test_the_end_stores_what_is_marked() -> None:
    async with embedded({"t": 1}) as broker:
        async with marking(broker, "t") as consumer:
            fill(broker, P0, 3)
            await poll(consumer)
            consumer.store_offsets({P0: 2})
        assert committed(broker) == {P0: 2}


async def test_marks_are_stored_before_a_revocation_and_stay_if_it_has_no_other_owner() -> None:
    async with embedded({"t": 1}) as broker, marking(broker, "t") as consumer:
        fill(broker, P0, 5)
        await poll(consumer)
        consumer.store_offsets({P0: 2})
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: committed(broker) == {P0: 2})
        await assigned(consumer, {P0})
        await consumer.commit()
        assert committed(broker) == {P0: 2}


async def test_marks_go_with_a_partition_that_is_lost() -> None:
    """Another owner may have gone further by the time it comes back."""
    async with embedded({"t": 1}) as broker, marking(broker, "t") as consumer:
        fill(broker, P0, 5)
        await poll(consumer)
        consumer.store_offsets({P0: 2})
        await expel(consumer)
        with pytest.raises(CommitFailedError):
            await consumer.commit()
        assert committed(broker) == {}


@pytest.mark.parametrize("marked", [{P1: 1}, {P0: 1, P1: 1}])
async def test_partitions_that_are_not_assigned_cannot_be_marked(
    marked: dict[TopicPartition, int],
) -> None:
    async with embedded({"t": 1}) as broker, marking(broker, "t") as consumer:
        with pytest.raises(IllegalStateError, match=r"t', partition=1.* is not assigned"):
            consumer.store_offsets(marked)
        await consumer.commit()
        assert committed(broker) == {}, "not even a part of it"


async def test_a_partition_that_the_group_gave_away_cannot_be_marked() -> None:
    async with (
        embedded({"t": 2}) as broker,
        marking(broker, "t") as first,
        marking(broker, "t") as second,
    ):
        fill(broker, P0, 1)
        fill(broker, P1, 1)
        await poll(second)
        await poll(first)
        (gone,) = second.assignment()
        with pytest.raises(PartitionRevokedError, match="given it to another member"):
            first.store_offsets({gone: 1})


async def test_marks_need_the_option_and_a_group() -> None:
    async with embedded({"t": 1}) as broker:
        async with member_of(broker, "t") as consumer:
            with pytest.raises(IllegalStateError, match="enable_auto_offset_store=False"):
                consumer.store_offsets({P0: 1})
        async with consumer_of(broker, "t", enable_auto_offset_store=False) as alone:
            with pytest.raises(IllegalOperation, match="group_id"):
                alone.store_offsets({P0: 1})
