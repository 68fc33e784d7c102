"""Commits of records whose partition was taken away and given back before they were processed.

Rebalances run in the background, so one may begin and end between a poll and the commit of its
records. Others may have read and committed the partition meanwhile.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import CommitFailedError, PartitionRevokedError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, eventually, fill, offsets
from tests.scenarios.grouping import Listener, assigned, committed, expel, member_of, poll

P0, P1 = tps(0, 1)
Consumer = AIOKafkaConsumer[Any, Any]


@asynccontextmanager
async def given_back(
    broker: EmbeddedBroker, way: str = "lost", **options: Any
) -> AsyncIterator[Consumer]:
    """A member that holds records 0 to 3 of P0, which it lost and has again since."""
    listener = Listener()
    consumer = member_of(
        broker, enable_auto_commit=False, max_poll_records=4, max_partition_fetch_bytes=1, **options
    )
    consumer.subscribe(["t"], listener=listener)
    async with consumer:
        fill(broker, P0, 8)
        assert offsets(await poll(consumer)) == {0: [0, 1, 2, 3]}
        await _rebalanced(consumer, listener, way)
        yield consumer


async def _rebalanced(consumer: Consumer, listener: Listener, way: str) -> None:
    """Take P0 away, so that it is "lost" or "revoked", and give it back."""
    began = len(listener.diary)
    if way == "lost":
        await expel(consumer)
    else:
        consumer.enforce_rebalance()
    await eventually(consumer, lambda: len(listener.diary) == began + 2)
    assert [word for word, _ in listener.diary[began:]] == [way, "assigned"]


async def test_a_commit_by_offset_is_refused_until_the_next_poll() -> None:
    async with embedded({"t": 1}) as broker, given_back(broker) as consumer:
        with pytest.raises(CommitFailedError, match="given back since its records") as caught:
            await consumer.commit({P0: 4})
        assert isinstance(caught.value, PartitionRevokedError)
        with pytest.raises(PartitionRevokedError):
            consumer.commit_async({P0: 4})
        assert committed(broker) == {}
        assert offsets(await poll(consumer)) == {0: [0, 1, 2, 3]}, "they come again"
        await consumer.commit({P0: 4})
        assert committed(broker) == {P0: 4}


async def test_a_commit_of_the_positions_says_that_they_are_gone() -> None:
    """It would store nothing, and return as if it had."""
    async with embedded({"t": 1}) as broker, given_back(broker) as consumer:
        with pytest.raises(PartitionRevokedError, match="the position with it"):
            await consumer.commit()
        with pytest.raises(PartitionRevokedError, match="the position with it"):
            consumer.commit_async()
        assert committed(broker) == {}
        assert offsets(await poll(consumer)) == {0: [0, 1, 2, 3]}, "they come again"
        await consumer.commit()
        assert committed(broker) == {P0: 4}


@pytest.mark.parametrize("way", ["lost", "revoked"])
async def test_a_commit_of_positions_that_are_stored_has_nothing_to_say(way: str) -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, enable_auto_commit=False, max_poll_records=4)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            await _rebalanced(consumer, listener, way)
            await consumer.commit()  # nothing was returned yet
            fill(broker, P0, 4)
            assert offsets(await poll(consumer)) == {0: [0, 1, 2, 3]}
            await consumer.commit()
            await _rebalanced(consumer, listener, way)
            await consumer.commit()
            assert committed(broker) == {P0: 4}


@pytest.mark.parametrize("offsets_given", [None, {P0: 4}])
@pytest.mark.parametrize("times", [1, 2])
async def test_what_came_back_in_the_next_generation_is_committed(
    offsets_given: Any, times: int
) -> None:
    """Nobody else had it. Though the listener has heard that it went, it is not returned twice."""
    async with embedded({"t": 1}) as broker, given_back(broker, "revoked") as consumer:
        if times == 2:
            consumer.enforce_rebalance()
            await broker.wait_until(lambda: broker.group("g").generation_id == 3)
            await assigned(consumer, {P0})
        assert consumer.consumed_offsets()[P0].offset == 4
        await consumer.commit(offsets_given)
        assert committed(broker) == {P0: 4}
        assert offsets(await poll(consumer)) == {0: [4, 5, 6, 7]}


async def test_what_came_back_and_is_not_committed_comes_again() -> None:
    """The listener may have let it go, as with Java's client."""
    async with embedded({"t": 1}) as broker, given_back(broker, "revoked") as consumer:
        assert offsets(await poll(consumer)) == {0: [0, 1, 2, 3]}


async def test_any_poll_ends_it() -> None:
    """An idle partition can be committed, too."""
    async with embedded({"t": 1}) as broker, given_back(broker) as consumer:
        consumer.pause(P0)
        assert await consumer.getmany(timeout_ms=0) == {}
        await consumer.commit({P0: 4})
        assert committed(broker) == {P0: 4}


async def test_a_mark_is_refused_as_well() -> None:
    async with (
        embedded({"t": 1}) as broker,
        given_back(broker, enable_auto_offset_store=False) as consumer,
    ):
        with pytest.raises(PartitionRevokedError, match="given back"):
            consumer.store_offsets({P0: 4})
        await consumer.commit()
        assert committed(broker) == {}


async def test_what_was_read_before_an_earlier_poll_is_the_users_own() -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, enable_auto_commit=False) as one:
        listener = Listener()
        one.subscribe(["t"], listener=listener)
        fill(broker, P0, 4)
        await poll(one)
        fill(broker, P1, 4)
        await poll(one)
        await expel(one)
        await eventually(one, lambda: ("lost", [0, 1]) in listener.diary)
        await eventually(one, lambda: listener.diary[-1] == ("assigned", [0, 1]))
        await one.commit({P0: 4})
        with pytest.raises(PartitionRevokedError):
            await one.commit({P0: 4, P1: 4})
        assert committed(broker) == {P0: 4}


@pytest.mark.parametrize("ways", [("lost",), ("lost", "revoked"), ("revoked", "lost")])
async def test_a_record_of_an_iteration_is_refused_as_well(ways: tuple[str, ...]) -> None:
    """Automatic commits count the polls of an iteration before partitions are revoked."""
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 8)
            seen = [(await anext(consumer)).offset for _ in range(3)]
            assert seen == [0, 1, 2]
            for way in ways:
                await _rebalanced(consumer, listener, way)
            with pytest.raises(PartitionRevokedError):
                await consumer.commit({P0: 3})
            await anext(consumer)
            await consumer.commit({P0: 3})
            assert committed(broker) == {P0: 3}


async def test_a_poll_that_began_before_returns_what_may_be_committed() -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, enable_auto_commit=False)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            polls = [asyncio.create_task(poll(consumer)) for _ in range(2)]
            await asyncio.sleep(0)
            fill(broker, P0, 4)
            (first,), (second,) = await asyncio.wait(polls, return_when=asyncio.FIRST_COMPLETED)
            await _rebalanced(consumer, listener, "lost")
            assert offsets(await second) == offsets(await first) == {0: [0, 1, 2, 3]}
            await consumer.commit({P0: 4})
            assert committed(broker) == {P0: 4}


async def test_the_listener_may_commit_what_it_wants() -> None:
    async with embedded({"t": 1}) as broker:

        class Committing(Listener):
            async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
                await consumer.commit(dict.fromkeys(assigned, 2))
                self.note("assigned", assigned)

        listener = Committing()
        consumer = member_of(broker, enable_auto_commit=False)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            fill(broker, P0, 8)
            await poll(consumer)
            await expel(consumer)
            await eventually(
                consumer, lambda: listener.diary[-2:] == [("lost", [0]), ("assigned", [0])]
            )
            assert committed(broker) == {P0: 2}


async def test_a_new_subscription_begins_anew() -> None:
    async with embedded({"t": 1}) as broker, given_back(broker) as consumer:
        consumer.unsubscribe()
        listener = Listener()
        consumer.subscribe(["t"], listener=listener)
        await eventually(consumer, lambda: ("assigned", [0]) in listener.diary)
        await consumer.commit({P0: 4})
        assert committed(broker) == {P0: 4}
