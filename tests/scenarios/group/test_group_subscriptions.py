"""What a member subscribes to: patterns, topics that come, grow, go and come again, and changes."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.cluster.metadata import absences
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from tests.consumer.batches import tps
from tests.scenarios.consuming import embedded, fill, offsets, read
from tests.scenarios.grouping import (
    Listener,
    assigned,
    committed,
    grow,
    member_of,
    nobody_is_left,
    poll,
)

P0, P1, P2 = tps(0, 1, 2)
U0 = TopicPartition("u", 0)
QUICK = {"metadata_max_age_ms": 50}

strategies = pytest.mark.parametrize(
    "strategy",
    [[RangePartitionAssignor], [CooperativeStickyAssignor]],
    ids=["eager", "cooperative"],
)


@strategies
async def test_a_pattern_takes_the_topics_that_match_and_those_that_come(
    strategy: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(absences, "PATIENCE_S", 0.2)
    async with embedded({"orders": 1, "ordinary": 1, "other-orders": 1}) as broker:
        consumer = member_of(broker, partition_assignment_strategy=strategy, **QUICK)
        consumer.subscribe(pattern="ord.*s")
        async with consumer:
            old, new = TopicPartition("orders", 0), TopicPartition("ordeals", 0)
            assert consumer.subscription() == {"orders"}, "as re.match: from the beginning"
            assert consumer.assignment() == {old}
            broker.create_topic("ordeals")
            fill(broker, new, 2)
            await assigned(consumer, {old, new})
            assert consumer.subscription() == {"orders", "ordeals"}
            assert await read(consumer, 2) == {new: [0, 1]}
            broker.delete_topic("orders")
            await assigned(consumer, {new})


async def test_a_pattern_that_matches_nothing_yet_is_a_member_without_partitions() -> None:
    async with embedded() as broker:
        consumer = member_of(broker, **QUICK)
        consumer.subscribe(pattern="later")
        async with consumer:
            assert consumer.assignment() == set()
            broker.create_topic("later")
            await assigned(consumer, {TopicPartition("later", 0)})


async def test_a_topic_that_does_not_exist_yet_is_noticed_when_it_comes() -> None:
    async with (
        embedded(auto_create_topics=False) as broker,
        member_of(broker, "t", **QUICK) as consumer,
    ):
        assert consumer.assignment() == set()
        broker.create_topic("t", 2)
        await assigned(consumer, {P0, P1})


@strategies
async def test_a_topic_that_grows_is_shared_anew(strategy: object) -> None:
    async with embedded({"t": 1}) as broker:
        options = {"partition_assignment_strategy": strategy, **QUICK}
        async with (
            member_of(broker, "t", client_id="a", **options) as first,
            member_of(broker, "t", client_id="b", **options) as second,
        ):
            await assigned(first, {P0})
            grow(broker, "t", 2)
            fill(broker, P1, 2)
            await assigned(second, {P1})
            await assigned(first, {P0})
            assert offsets(await poll(second)) == {1: [0, 1]}, "from the policy's end: earliest"


async def test_a_topic_deleted_and_created_again_is_read_from_its_beginning() -> None:
    """And no offset of the old one is committed for it."""
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **QUICK) as consumer:
        fill(broker, P0, 9)
        await read(consumer, 9)
        await consumer.commit()
        broker.delete_topic("t")
        broker.create_topic("t")
        assert committed(broker) == {}, "the broker forgets the offsets of a deleted topic"
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [0, 1]}
        await consumer.commit()
        assert committed(broker) == {P0: 2}


async def test_subscribe_again_replaces_the_topics() -> None:
    async with embedded({"t": 1, "u": 1}) as broker, member_of(broker, "t") as consumer:
        fill(broker, P0, 4)
        fill(broker, U0, 2)
        assert offsets(await poll(consumer, max_records=1)) == {0: [0]}
        consumer.subscribe(["u"])
        assert await read(consumer, 2) == {U0: [0, 1]}, "nothing more of t, though it lay buffered"
        await assigned(consumer, {U0})
        assert broker.requests_of(LeaveGroupRequest) == []


async def test_unsubscribe_and_subscribe_again_is_a_new_member() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        (before,) = broker.group("g").members
        consumer.unsubscribe()
        assert consumer.subscription() == frozenset()
        assert await asyncio.wait_for(consumer.getmany(timeout_ms=20), 30) == {}
        await nobody_is_left(broker)
        consumer.subscribe(["t"])
        await assigned(consumer, {P0})
        assert set(broker.group("g").members) != {before}
        # And at once, before anything of it has happened.
        consumer.unsubscribe()
        consumer.subscribe(["t"])
        fill(broker, P0, 1)
        assert offsets(await poll(consumer)) == {0: [0]}
        assert len(broker.group("g").members) == 1


async def test_unsubscribe_twice_and_stop_leave_once() -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            consumer.unsubscribe()
            consumer.unsubscribe()
        assert broker.group("g").members == {}
        assert len(broker.requests_of(LeaveGroupRequest)) == 1
        assert listener.diary.count(("revoked", [0])) == 1


async def test_the_listener_that_had_partitions_hears_that_they_go_not_the_one_that_follows() -> (
    None
):
    """Also where unsubscribe() and subscribe() come in one turn of the loop."""
    async with embedded({"t": 1, "u": 1}) as broker, member_of(broker) as consumer:
        old, new = Listener(), Listener()
        consumer.subscribe(["t"], listener=old)
        await assigned(consumer, {P0})
        consumer.unsubscribe()
        consumer.subscribe(["u"], listener=new)
        await assigned(consumer, {U0})
        assert old.diary == [("revoked", []), ("assigned", [0]), ("revoked", [0])]
        assert new.diary == [("revoked", []), ("assigned", [0])]


async def test_the_listener_hears_once_that_partitions_go_however_often_it_is_unsubscribed() -> (
    None
):
    async with embedded({"t": 1, "u": 1}) as broker, member_of(broker) as consumer:
        old, new = Listener(), Listener()
        consumer.subscribe(["t"], listener=old)
        await assigned(consumer, {P0})
        consumer.unsubscribe()
        consumer.subscribe(["u"], listener=new)
        consumer.unsubscribe()
        await nobody_is_left(broker)
        assert old.diary[2:] == [("revoked", [0])]
        assert new.diary == []


async def test_subscribe_with_what_is_subscribed_already_is_no_rebalance() -> None:
    """Neither with topics nor with a pattern; another listener is told what is assigned."""
    async with embedded({"t": 1}) as broker:
        ways: list[dict[str, Any]] = [{"topics": ["t"]}, {"pattern": "t"}]
        for how in ways:
            async with member_of(broker) as consumer:
                listener = Listener()
                consumer.subscribe(listener=listener, **how)
                await assigned(consumer, {P0})
                joins = len(broker.requests_of(JoinGroupRequest))
                consumer.subscribe(listener=listener, **how)
                fill(broker, P0, 1)
                await read(consumer, 1)
                assert len(broker.requests_of(JoinGroupRequest)) == joins
                other = Listener()
                consumer.subscribe(listener=other, **how)
                await assigned(consumer, {P0})
                assert other.diary[-1] == ("assigned", [0])
                consumer.unsubscribe()
                await nobody_is_left(broker)
                consumer.subscribe(listener=other, **how)
                await assigned(consumer, {P0})


async def test_b1_after_unsubscribe_partitions_may_be_assigned_by_hand() -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, "t") as consumer:
        with pytest.raises(IllegalStateError, match="mutually exclusive"):
            consumer.assign([P0])
        with pytest.raises(IllegalStateError, match="mutually exclusive"):
            consumer.subscribe(pattern="t")
        consumer.unsubscribe()
        consumer.assign([P1])
        fill(broker, P1, 2)
        assert offsets(await poll(consumer)) == {1: [0, 1]}
        await nobody_is_left(broker)
        await consumer.commit()
        assert committed(broker) == {P1: 2}
        with pytest.raises(IllegalStateError, match="mutually exclusive"):
            consumer.subscribe(["t"])


async def test_a_consumer_started_without_a_subscription_joins_with_the_first_one() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker) as consumer:
        assert broker.requests_of(JoinGroupRequest) == []
        assert await consumer.getmany() == {}
        consumer.subscribe(["t"])
        fill(broker, P0, 1)
        assert offsets(await poll(consumer)) == {0: [0]}


async def test_2e_10_an_assignment_that_does_not_fit_the_subscription_is_not_used() -> None:
    async with embedded({"t": 1, "u": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker)
        await consumer.start()
        broker.faults.stall(JoinGroupRequest)
        consumer.subscribe(["t"], listener=listener)
        await broker.wait_until(lambda: bool(broker.requests_of(JoinGroupRequest)))
        consumer.subscribe(["u"], listener=listener)
        broker.faults.release()
        await assigned(consumer, {U0})
        told = [call for call in listener.diary if call[0] == "assigned"]
        assert len(told) == 1, "nobody heard of t"
        await consumer.stop()


async def test_a_record_of_a_partition_that_another_member_has_is_waited_for() -> None:
    """It may come back: what was just lost is no mistake of the caller."""
    async with embedded({"t": 2}) as broker, member_of(broker, "t", client_id="a") as first:
        async with member_of(broker, "t", client_id="b") as second:
            await assigned(first, {P0})
            await assigned(second, {P1})
            waiting = asyncio.create_task(first.getone(P1))
            fill(broker, P0, 1)
            assert offsets(await poll(first, max_records=1)) == {0: [0]}
            assert not waiting.done()
        fill(broker, P1, 1)
        record = await asyncio.wait_for(waiting, 30)
        assert (record.partition, record.offset) == (1, 0)
