"""A commit after a rebalance that ended in the background stores what was read, or says that it
does not. It never succeeds with nothing stored.

Records are read, a rebalance begins and ends, then they are committed. Each record comes once if
its commit has succeeded, and again if the commit was refused.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.group.rebalance_listener import ConsumerRebalanceListener
from aiokafka_lite.errors import CommitFailedError, IllegalStateError
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.scenarios.grouping import Listener, committed

Consumer = AIOKafkaConsumer[Any, Any]
P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)
EACH = 4

PROTOCOLS: dict[str, dict[str, Any]] = {
    "eager": {"partition_assignment_strategy": [RangePartitionAssignor]},
    "cooperative": {"partition_assignment_strategy": [CooperativeStickyAssignor]},
    "consumer": {"group_protocol": "consumer"},
}


def member(
    kafka: VirtualKafka, protocol: str, listener: ConsumerRebalanceListener | None = None
) -> Consumer:
    made: Consumer = AIOKafkaConsumer(
        group_id="g",
        auto_offset_reset="earliest",
        enable_auto_commit=False,
        **PROTOCOLS[protocol],
        **kafka.client_options,
    )
    made.subscribe(["t"], listener=listener)
    return made


# How records are read…


async def by_getmany(consumer: Consumer, count: int) -> list[Any]:
    seen: list[Any] = []
    while len(seen) < count:
        for records in (await consumer.getmany(timeout_ms=60_000)).values():
            seen += records
    return seen


async def by_getone(consumer: Consumer, count: int) -> list[Any]:
    return [await consumer.getone() for _ in range(count)]


async def by_iteration(consumer: Consumer, count: int) -> list[Any]:
    return [await anext(consumer) for _ in range(count)]


# What happens then; each returns the partitions that the member has had all the time…


async def comes_back(kafka: VirtualKafka, consumer: Consumer, protocol: str) -> set[TopicPartition]:
    consumer.enforce_rebalance()
    await asyncio.sleep(10)
    return {P0, P1}


async def comes_back_twice(
    kafka: VirtualKafka, consumer: Consumer, protocol: str
) -> set[TopicPartition]:
    await comes_back(kafka, consumer, protocol)
    return await comes_back(kafka, consumer, protocol)


async def is_shared(kafka: VirtualKafka, consumer: Consumer, protocol: str) -> set[TopicPartition]:
    other = member(kafka, protocol)
    await other.start()
    await asyncio.sleep(20)
    kept = set(consumer.assignment())
    assert len(kept) == len(other.assignment()) == 1
    OTHERS.append(other)
    return kept


async def is_shared_for_a_while(
    kafka: VirtualKafka, consumer: Consumer, protocol: str
) -> set[TopicPartition]:
    kept = await is_shared(kafka, consumer, protocol)
    await OTHERS.pop().stop()
    await asyncio.sleep(20)
    assert consumer.assignment() == {P0, P1}
    return kept


async def is_lost(kafka: VirtualKafka, consumer: Consumer, protocol: str) -> set[TopicPartition]:
    """Heartbeats do not come through until the session is over."""
    kafka.network.latency_s = 50
    await asyncio.sleep(150)
    kafka.network.latency_s = 0
    await asyncio.sleep(60)
    assert consumer.assignment() == {P0, P1}
    return set()


async def is_subscribed_anew(
    kafka: VirtualKafka, consumer: Consumer, protocol: str
) -> set[TopicPartition]:
    """An eager member begins at the committed offsets then, as that of aiokafka."""
    kafka.broker.create_topic("u", 1)
    consumer.subscribe(["t", "u"])
    await asyncio.sleep(20)
    return set() if protocol == "eager" else {P0, P1}


OTHERS: list[Consumer] = []
WAYS = [
    comes_back,
    comes_back_twice,
    is_shared,
    is_shared_for_a_while,
    is_lost,
    is_subscribed_anew,
]
Way = Callable[[VirtualKafka, Consumer, str], Awaitable[set[TopicPartition]]]


async def fill(kafka: VirtualKafka) -> None:
    kafka.broker.create_topic("t", 2)
    async with AIOKafkaProducer(**kafka.client_options) as producer:
        for number in range(EACH):
            for partition in (0, 1):
                await producer.send("t", f"{partition}.{number}".encode(), partition=partition)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("read", [by_getmany, by_getone, by_iteration])
@pytest.mark.parametrize("listens", [False, True])
@pytest.mark.parametrize("names", [False, True])
def test_a_commit_stores_what_was_read_or_is_refused(
    protocol: str,
    way: Way,
    read: Callable[[Consumer, int], Awaitable[list[Any]]],
    listens: bool,
    names: bool,
) -> None:
    """`names`: the application names the offsets."""

    async def main(kafka: VirtualKafka) -> None:
        OTHERS.clear()
        await fill(kafka)
        consumer = member(kafka, protocol, Listener() if listens else None)
        async with consumer:
            in_hand = await read(consumer, 2 * EACH)
            newest = {P0: EACH, P1: EACH}
            kept = await way(kafka, consumer, protocol)
            given = {tp: newest[tp] for tp in (P0, P1)} if names else None
            try:
                await consumer.commit(given)
            except CommitFailedError:
                assert not committed(kafka.broker).keys() & newest.keys()
                assert kept != {P0, P1}, "nobody else had any"
                if kept:
                    await consumer.commit(dict.fromkeys(kept, EACH))
                    assert committed(kafka.broker) == dict.fromkeys(kept, EACH)
            else:
                assert kept == {P0, P1}
                stored = committed(kafka.broker)
                assert {tp: stored.get(tp) for tp in newest} == newest
            await asyncio.sleep(10)
            again: list[Any] = []
            for each in (consumer, *OTHERS):
                for records in (await each.getmany(timeout_ms=5000)).values():
                    again += records
            seen = Counter(record.value for record in (*in_hand, *again))
            stored = committed(kafka.broker)
            assert len(seen) == 2 * EACH
            for value, times in seen.items():
                tp = P0 if value.startswith(b"0") else P1
                assert times == (1 if tp in stored else 2), value
        for each in OTHERS:
            await each.stop()

    run_virtual_kafka(main)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("listens", [False, True])
def test_a_member_that_has_nothing_left_says_so(protocol: str, listens: bool) -> None:
    """The group gives its only partition to a member that was there before."""

    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", 1)
        kafka.broker.produce("t", b"0")
        consumer = member(kafka, protocol, Listener() if listens else None)
        async with consumer:
            await by_getone(consumer, 1)
            consumer.unsubscribe()
            async with member(kafka, protocol) as other:
                await asyncio.sleep(20)
                consumer.subscribe(["t"])
                await asyncio.sleep(20)
                holders = [each for each in (consumer, other) if each.assignment()]
                assert len(holders) == 1
                loser = other if holders == [consumer] else consumer
                if loser is consumer:
                    with pytest.raises((CommitFailedError, IllegalStateError)):
                        await consumer.commit()
                assert committed(kafka.broker) == {}

    run_virtual_kafka(main)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("when", ["revoked", "assigned"])
def test_a_commit_in_the_listener_stores_what_was_read(protocol: str, when: str) -> None:
    members: list[Consumer] = []

    class Commits(Listener):
        def on_partitions_revoked(self, revoked: Any) -> Any:
            return members[0].commit() if when == "revoked" and revoked else None

        def on_partitions_assigned(self, assigned: Any) -> Any:
            return members[0].commit() if when == "assigned" and self.has_read else None

        has_read = False

    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        listener = Commits()
        consumer = member(kafka, protocol, listener)
        members.append(consumer)
        async with consumer:
            await by_getmany(consumer, 2 * EACH)
            listener.has_read = True
            await comes_back(kafka, consumer, protocol)
            if protocol == "eager":
                assert committed(kafka.broker) == {P0: EACH, P1: EACH}
            await consumer.commit()
            assert committed(kafka.broker) == {P0: EACH, P1: EACH}

    run_virtual_kafka(main)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_automatic_commit_goes_on_after_a_rebalance(protocol: str) -> None:
    """The records in hand count as done with the next poll, and come once."""

    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        options = {**PROTOCOLS[protocol], **kafka.client_options}
        consumer = AIOKafkaConsumer("t", group_id="g", auto_offset_reset="earliest", **options)
        async with consumer:
            await by_getmany(consumer, 2 * EACH)
            await comes_back(kafka, consumer, protocol)
            assert await consumer.getmany(timeout_ms=10_000) == {}
            await asyncio.sleep(6)
            await consumer.getmany()
            await asyncio.sleep(1)
            assert committed(kafka.broker) == {P0: EACH, P1: EACH}

    run_virtual_kafka(main)


@pytest.mark.parametrize("listens", [False, True])
def test_what_an_aborted_transaction_read_before_a_rebalance_is_read_again(listens: bool) -> None:
    """An eager member gives its partitions up, and begins at what is committed."""

    async def main(kafka: VirtualKafka) -> None:
        await fill(kafka)
        consumer = member(kafka, "eager", Listener() if listens else None)
        producer = AIOKafkaProducer(transactional_id="x", **kafka.client_options)
        async with consumer, producer:
            await producer.begin_transaction()
            read = await by_getmany(consumer, 2 * EACH)
            group = consumer.group_metadata()
            await producer.send_offsets_to_transaction({P0: EACH, P1: EACH}, group)
            await comes_back(kafka, consumer, "eager")
            await producer.abort_transaction()
            again = await by_getmany(consumer, 2 * EACH)
            assert sorted(record.value for record in again) == sorted(
                record.value for record in read
            )

    run_virtual_kafka(main)
