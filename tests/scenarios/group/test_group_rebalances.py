"""Members that come and go: joining in the background (F2), and what polls see of rebalances."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.round_robin import RoundRobinPartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.errors import IllegalOperation, IllegalStateError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill, offsets, read
from tests.scenarios.grouping import assigned, committed, member_of, nobody_is_left, poll

P0, P1, P2, P3 = tps(0, 1, 2, 3)

ALL_ASSIGNORS: list[Any] = [
    [RangePartitionAssignor],
    [RoundRobinPartitionAssignor],
    [StickyPartitionAssignor],
    [CooperativeStickyAssignor],
    None,
]
strategies = pytest.mark.parametrize(
    "strategy", ALL_ASSIGNORS, ids=["range", "roundrobin", "sticky", "cooperative", "default"]
)


@strategies
async def test_f2_two_starts_one_after_the_other_in_one_task_both_end(strategy: Any) -> None:
    """Nobody polls meanwhile: membership is a background task."""
    async with embedded({"t": 4}) as broker:
        first = member_of(broker, "t", client_id="a", partition_assignment_strategy=strategy)
        second = member_of(broker, "t", client_id="b", partition_assignment_strategy=strategy)
        await asyncio.wait_for(first.start(), 30)
        await asyncio.wait_for(second.start(), 30)
        await shared(first, second)
        await asyncio.wait_for(second.stop(), 30)
        await assigned(first, {P0, P1, P2, P3})
        await asyncio.wait_for(first.stop(), 30)
        assert broker.group("g").members == {}


async def shared(first: Any, second: Any) -> None:
    """Wait until the two have all four partitions, two each."""
    async with asyncio.timeout(30):
        while {len(first.assignment()), len(second.assignment())} != {2}:
            await asyncio.wait(
                [asyncio.ensure_future(each._signal.wait()) for each in (first, second)],
                return_when=asyncio.FIRST_COMPLETED,
                timeout=0.1,
            )
    assert first.assignment() | second.assignment() == {P0, P1, P2, P3}
    await assigned(first, first.assignment())
    await assigned(second, second.assignment())


@strategies
async def test_f2_every_record_comes_once_while_members_come_and_go(strategy: Any) -> None:
    """With auto-commit before each revocation, and polls all the time."""
    options = {"partition_assignment_strategy": strategy, "max_poll_records": 3}
    async with embedded({"t": 4}) as broker:
        seen: list[tuple[int, int]] = []
        is_over = asyncio.Event()

        async def work(client_id: str) -> None:
            async with member_of(broker, "t", client_id=client_id, **options) as consumer:
                while not is_over.is_set():
                    found = await consumer.getmany(timeout_ms=20)
                    for tp, records in found.items():
                        assert tp in consumer.assignment()
                        seen.extend((tp.partition, record.offset) for record in records)
                    # One more poll before anything else: what was returned is processed.
                    if is_leaving.get(client_id):
                        return

        is_leaving: dict[str, bool] = {}
        async with asyncio.timeout(30), asyncio.TaskGroup() as group:
            for name in ("a", "b", "c"):
                group.create_task(work(name))
                for tp in (P0, P1, P2, P3):
                    fill(broker, tp, 10)
                have = len(seen)
                while len(seen) < have + 10:
                    await asyncio.sleep(0)
            is_leaving["b"] = True
            for tp in (P0, P1, P2, P3):
                fill(broker, tp, 10)
            while len(set(seen)) < 160:
                await asyncio.sleep(0)
            is_over.set()
        assert set(seen) == {(p, offset) for p in range(4) for offset in range(40)}
        # Who ends during a rebalance can commit nothing; whatever is committed was processed.
        assert all(offset <= 40 for offset in committed(broker).values())
        for partition in range(4):
            first_time = list(dict.fromkeys(o for p, o in seen if p == partition))
            assert first_time == sorted(first_time), "in order"


async def test_f2_a_poll_that_meets_a_rebalance_waits_for_it_and_returns_nothing_revoked() -> None:
    """Records of the revoked partition lay in the buffer."""
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", client_id="a", max_poll_records=1) as first,
    ):
        fill(broker, P0, 9)
        fill(broker, P1, 5)
        await read(first, 3)
        broker.faults.stall(SyncGroupRequest, times=None)
        second = member_of(broker, "t", client_id="b")
        starting = asyncio.create_task(second.start())
        await broker.wait_until(lambda: len(broker.requests_of(SyncGroupRequest)) >= 2)
        stored = committed(broker)
        polling = asyncio.create_task(first.getmany(timeout_ms=60_000, max_records=100))
        assert await asyncio.wait_for(first.getmany(timeout_ms=100), 30) == {}
        assert not polling.done()
        broker.faults.release()
        records = await asyncio.wait_for(polling, 30)
        await asyncio.wait_for(starting, 30)
        assert list(records) == [P0], "what is assigned now"
        assert stored[P0] < 3, "the newest record in hand is not stored yet"
        assert offsets(records) == {0: list(range(stored[P0] + 1, 9))}, "it goes on behind that"
        assert offsets(await poll(second)) == {1: list(range(stored[P1], 5))}
        await second.stop()


async def test_f2_cooperative_members_go_on_with_what_they_keep_during_a_rebalance() -> None:
    """A cooperative member reads what it keeps during a rebalance (KIP-429)."""
    options = {"partition_assignment_strategy": [CooperativeStickyAssignor]}
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", client_id="a", max_poll_records=1, **options) as first,
    ):
        fill(broker, P0, 5)
        fill(broker, P1, 5)
        broker.faults.stall(JoinGroupRequest, times=None)
        first.enforce_rebalance()
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 3)
        seen = await read(first, 10)
        assert sorted(seen) == [P0, P1]
        broker.faults.release()
        await assigned(first, {P0, P1})


@strategies
async def test_2e_11_before_each_join_what_was_processed_is_committed(strategy: Any) -> None:
    """Also what a cooperative member keeps: during the join nothing can be."""
    options = {"partition_assignment_strategy": strategy, "max_poll_records": 2}
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **options) as consumer:
        fill(broker, P0, 6)
        await poll(consumer)
        await poll(consumer)
        broker.faults.stall(JoinGroupRequest, times=None)
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 3)
        assert committed(broker) == {P0: 2}
        broker.faults.release()
        await assigned(consumer, {P0})


async def test_d7_getmany_is_bounded_while_unassigned() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, clock=clock, heartbeat_interval_ms=3000)
        await consumer.start()
        broker.faults.stall(JoinGroupRequest, times=None)
        consumer.subscribe(["t"])
        before_s = clock.monotonic()
        assert await asyncio.wait_for(consumer.getmany(timeout_ms=2000), 30) == {}
        assert clock.monotonic() - before_s == pytest.approx(2, abs=0.1)
        assert await asyncio.wait_for(consumer.getmany(), 30) == {}
        await asyncio.wait_for(consumer.stop(timeout_ms=2000), 30)


async def test_d5_several_assignors_are_one_join_group_per_join() -> None:
    async with embedded({"t": 1}) as broker:
        strategy = [RangePartitionAssignor, RoundRobinPartitionAssignor, StickyPartitionAssignor]
        async with member_of(broker, "t", partition_assignment_strategy=strategy):
            joins = broker.requests_of(JoinGroupRequest)
            assert len(joins) == 2, "the first asks for a member id (KIP-394)"
            for join in joins:
                names = [protocol.name for protocol in join.protocols]
                assert names == ["range", "roundrobin", "sticky"]


async def test_2e_8_the_metadata_of_a_member_is_of_version_3_with_all_that_is_in_it() -> None:
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", client_rack="r1") as consumer,
    ):
        generation_id = broker.group("g").generation_id
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
        await assigned(consumer, {P0, P1})
        (member,) = broker.group("g").members.values()
        told = ConsumerProtocolMemberMetadata.decode(member.metadata)
        assert told.version == 3
        assert told.subscription == ["t"]
        assert told.rack_id == "r1"
        assert told.generation_id == generation_id


@pytest.mark.parametrize(
    ("racks", "assigned_by", "read_from"),
    [
        ({"client_rack": "r2"}, "r2", "r2"),
        ({"assignment_rack": "r2"}, "r2", ""),
        ({"client_rack": "r2", "assignment_rack": ""}, None, "r2"),
    ],
)
async def test_the_rack_of_assignments_may_differ_from_that_of_fetches(
    racks: dict[str, str], assigned_by: str | None, read_from: str
) -> None:
    options: dict[str, Any] = {"nodes": 2, "racks": ["r1", "r2"]}
    async with embedded({"t": 1}, **options) as broker, member_of(broker, "t", **racks) as consumer:
        fill(broker, P0, 1)
        await read(consumer, 1)
        (member,) = broker.group("g").members.values()
        assert ConsumerProtocolMemberMetadata.decode(member.metadata).rack_id == assigned_by
        assert {request.rack_id for request in broker.requests_of(FetchRequest)} == {read_from}


async def test_2e_7_default_members_agree_with_members_of_either_kind() -> None:
    """[range, cooperative-sticky]: the first bounce of a move to cooperative."""
    async with (
        embedded({"t": 2}) as broker,
        member_of(broker, "t", client_id="a") as first,
    ):
        assert broker.group("g").protocol == "range"
        strategy = [CooperativeStickyAssignor]
        async with member_of(
            broker, "t", client_id="b", partition_assignment_strategy=strategy
        ) as second:
            assert broker.group("g").protocol == "cooperative-sticky"
            async with asyncio.timeout(30):
                while len(first.assignment()) != 1 or len(second.assignment()) != 1:
                    await asyncio.sleep(0)
            assert first.assignment() | second.assignment() == {P0, P1}


# Reasons (KIP-800)…


async def test_kip_800_joins_and_leaves_say_why() -> None:
    async with embedded({"t": 1, "u": 1}) as broker:
        async with member_of(broker, "t") as consumer:
            consumer.subscribe(["t", "u"])
            await assigned(consumer, [P0, TopicPartition("u", 0)])
            consumer.enforce_rebalance("because I say so")
            await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 4)
            await assigned(consumer, [P0, TopicPartition("u", 0)])
            reasons = [join.reason for join in broker.requests_of(JoinGroupRequest)]
            assert reasons == [
                "the consumer starts",
                "the consumer starts",
                "the subscription has changed",
                "because I say so",
            ]
            consumer.unsubscribe()
            await nobody_is_left(broker)
            consumer.subscribe(["t"])
            await assigned(consumer, [P0])
        said = [leave.members[0].reason for leave in broker.requests_of(LeaveGroupRequest)]
        assert said == ["the consumer has unsubscribed", "the consumer is being closed"]


async def test_kip_800_a_reason_is_cut_to_what_the_broker_takes() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        consumer.enforce_rebalance("x" * 1000)
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 3)
        assert broker.requests_of(JoinGroupRequest)[2].reason == "x" * 255
        await assigned(consumer, {P0})


async def test_enforce_rebalance_needs_a_group_and_a_subscription() -> None:
    async with embedded({"t": 1}) as broker:
        async with consumer_of(broker, "t") as alone:
            with pytest.raises(IllegalOperation):
                alone.enforce_rebalance()
        async with member_of(broker) as consumer:
            with pytest.raises(IllegalStateError, match="Not subscribed"):
                consumer.enforce_rebalance()


# Who the consumer is…


async def test_group_metadata_follows_the_generation() -> None:
    """`group_metadata` names the generation a producer commits for (KIP-447)."""
    async with embedded({"t": 1}) as broker, member_of(broker, group_instance_id="i") as consumer:
        assert consumer.group_metadata() == ("g", -1, "", None)
        consumer.subscribe(["t"])
        await assigned(consumer, {P0})
        group = broker.group("g")
        (member_id,) = group.members
        assert consumer.group_metadata() == ("g", group.generation_id, member_id, "i")
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: broker.group("g").generation_id > group.generation_id)
        await assigned(consumer, {P0})
        assert consumer.group_metadata().generation_id == broker.group("g").generation_id


# Heartbeats…


async def test_f1_heartbeats_go_on_during_a_long_poll_over_a_connection_of_their_own() -> None:
    """Neither a fetch that the broker holds, nor stalled requests for data, stand in their way."""
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t", fetch_max_wait_ms=20_000) as consumer,
    ):
        await consumer.position(P0)
        polling = asyncio.create_task(consumer.getmany(timeout_ms=60_000))
        beats = len(broker.requests_of(HeartbeatRequest))
        async with asyncio.timeout(15):
            await broker.wait_until(lambda: len(broker.requests_of(HeartbeatRequest)) > beats + 5)
        assert not polling.done()
        fill(broker, P0, 1)
        assert offsets(await asyncio.wait_for(polling, 30)) == {0: [0]}


async def test_f1_heartbeats_go_on_while_the_application_holds_records() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t") as consumer:
        fill(broker, P0, 1)
        await poll(consumer)
        beats = len(broker.requests_of(HeartbeatRequest))
        await broker.wait_until(lambda: len(broker.requests_of(HeartbeatRequest)) > beats + 5)
