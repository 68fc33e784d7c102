"""What the coordinator may answer to a commit, row by row (2e-12), by `faults.fail`."""

import asyncio

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    FencedInstanceIdError,
    GroupAuthorizationFailedError,
    GroupCoordinatorNotAvailableError,
    GroupIdNotFound,
    GroupLoadInProgressError,
    IllegalGenerationError,
    InvalidCommitOffsetSizeError,
    KafkaError,
    KafkaTimeoutError,
    NotCoordinatorForGroupError,
    OffsetMetadataTooLargeError,
    RebalanceInProgressError,
    RequestTimedOutError,
    TopicAuthorizationFailedError,
    UnknownMemberIdError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, eventually
from tests.scenarios.grouping import (
    Listener,
    assigned,
    committed,
    expel,
    member_of,
    poll,
    stable,
)

P0, P1 = tps(0, 1)
BY_HAND = {"enable_auto_commit": False}


@pytest.mark.parametrize(
    ("error", "finds_again"),
    [
        (GroupCoordinatorNotAvailableError, True),
        (NotCoordinatorForGroupError, True),
        (RequestTimedOutError, True),
        (GroupLoadInProgressError, False),
        (UnknownTopicOrPartitionError, False),
    ],
)
async def test_2e_12_what_may_pass_is_tried_again_until_it_is_stored(
    error: type[BrokerResponseError], finds_again: bool
) -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.forget_requests()
        broker.faults.fail(OffsetCommitRequest, error, times=3)
        await asyncio.wait_for(consumer.commit({P0: 4, P1: 5}), 30)
        assert committed(broker) == {P0: 4, P1: 5}
        assert len(broker.requests_of(OffsetCommitRequest)) == 4
        assert bool(broker.requests_of(FindCoordinatorRequest)) is finds_again
        assert broker.requests_of(JoinGroupRequest) == [], "the membership is as good as before"


async def test_2e_12_only_what_was_refused_is_sent_again() -> None:
    """What is stored is stored; until then another member may have stored something newer."""
    async with embedded({"t": 2}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.fail(
            OffsetCommitRequest, UnknownTopicOrPartitionError, topic_partition=P1, times=2
        )
        await asyncio.wait_for(consumer.commit({P0: 4, P1: 5}), 30)
        assert committed(broker) == {P0: 4, P1: 5}
        asked = [
            [each.partition_index for topic in request.topics for each in topic.partitions]
            for request in broker.requests_of(OffsetCommitRequest)
        ]
        assert asked == [[0, 1], [1], [1]]


async def test_2e_12_what_does_not_pass_ends_with_the_time_and_names_the_last_failure() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}) as broker:
        consumer = member_of(
            broker,
            "t",
            clock=clock,
            heartbeat_interval_ms=3000,
            retry_backoff_ms=1000,
            retry_backoff_max_ms=1000,
            default_api_timeout_ms=7000,
            **BY_HAND,
        )
        async with consumer:
            broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError, times=None)
            before_s = clock.monotonic()
            with pytest.raises(KafkaTimeoutError, match=r"offsets of t-0 .* within 7 s") as caught:
                await asyncio.wait_for(consumer.commit({P0: 4}), 30)
            assert clock.monotonic() - before_s == pytest.approx(7, abs=0.1)
            assert isinstance(caught.value.__cause__, GroupLoadInProgressError)
            broker.faults.clear()
            await asyncio.wait_for(consumer.commit({P0: 4}), 30)


@pytest.mark.parametrize(
    "error",
    [
        OffsetMetadataTooLargeError,
        InvalidCommitOffsetSizeError,
        GroupAuthorizationFailedError,
        TopicAuthorizationFailedError,
    ],
)
async def test_2e_12_what_is_refused_is_raised_at_once_naming_the_partitions(
    error: type[BrokerResponseError],
) -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.forget_requests()
        broker.faults.fail(OffsetCommitRequest, error)
        with pytest.raises(error, match="t-0, t-1"):
            await consumer.commit({P0: 4, P1: 5})
        assert len(broker.requests_of(OffsetCommitRequest)) == 1
        await consumer.commit({P0: 6})
        assert committed(broker) == {P0: 6}
        assert broker.requests_of(JoinGroupRequest) == []


async def test_2e_12_the_gravest_of_several_errors_is_the_answer() -> None:
    async with embedded({"t": 2}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError, topic_partition=P0)
        broker.faults.fail(OffsetCommitRequest, TopicAuthorizationFailedError, topic_partition=P1)
        with pytest.raises(TopicAuthorizationFailedError):
            await consumer.commit({P0: 4, P1: 5})


async def test_2e_12_rebalance_in_progress_lets_the_member_rejoin_and_is_raised() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        generation_id = broker.group("g").generation_id
        broker.faults.fail(OffsetCommitRequest, RebalanceInProgressError)
        with pytest.raises(RebalanceInProgressError, match="'g'"):
            await consumer.commit({P0: 4})
        await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
        await assigned(consumer, {P0})
        await consumer.commit({P0: 4})
        assert committed(broker) == {P0: 4}


@pytest.mark.parametrize("error", [UnknownMemberIdError, IllegalGenerationError])
async def test_2e_12_a_membership_that_is_gone_is_a_failed_commit_and_a_new_join(
    error: type[BrokerResponseError],
) -> None:
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, heartbeat_interval_ms=40_000, **BY_HAND)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            if error is UnknownMemberIdError:
                await expel(consumer)
            else:
                broker.faults.fail(OffsetCommitRequest, error)
            with pytest.raises(CommitFailedError) as caught:
                await consumer.commit({P0: 4})
            assert isinstance(caught.value.__cause__, error)
            await assigned(consumer, {P0})
            assert listener.diary[2:] == [("lost", [0]), ("assigned", [0])]
            await consumer.commit({P0: 4})
            assert committed(broker) == {P0: 4}


async def test_a_group_that_is_gone_is_a_failed_commit_and_a_new_join() -> None:
    """Kafka 4 answers GROUP_ID_NOT_FOUND since version 9, not ILLEGAL_GENERATION (2e-12)."""
    async with (
        embedded({"t": 1}) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
        member_of(broker, "t", heartbeat_interval_ms=40_000, **BY_HAND) as consumer,
    ):
        await expel(consumer)
        await admin.delete_groups(["g"])
        with pytest.raises(CommitFailedError) as caught:
            await consumer.commit({P0: 4})
        assert isinstance(caught.value.__cause__, GroupIdNotFound)
        await assigned(consumer, {P0})
        await consumer.commit({P0: 4})
        assert committed(broker) == {P0: 4}


async def test_2e_12_an_answer_about_a_generation_that_is_over_is_no_failure_for_good() -> None:
    """UNKNOWN_MEMBER_ID for the id before this one: already rejoined, so commit again."""
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.stall(OffsetCommitRequest)
        committing = asyncio.create_task(consumer.commit({P0: 4}))
        await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
        await expel(consumer)
        await stable(broker, 1)
        await assigned(consumer, {P0})
        generation_id = broker.group("g").generation_id
        broker.faults.release()
        with pytest.raises(RebalanceInProgressError, match="meanwhile"):
            await asyncio.wait_for(committing, 30)
        await consumer.commit({P0: 4})
        assert broker.group("g").generation_id == generation_id, "nothing was lost by that"


async def test_2e_12_while_the_group_rebalances_nothing_is_sent() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.stall(JoinGroupRequest)
        consumer.enforce_rebalance()
        await broker.wait_until(lambda: len(broker.requests_of(JoinGroupRequest)) == 3)
        with pytest.raises(RebalanceInProgressError, match="rebalancing"):
            await consumer.commit({P0: 4})
        with pytest.raises(RebalanceInProgressError, match="rebalancing"):
            consumer.commit_async({P0: 4})
        assert broker.requests_of(OffsetCommitRequest) == []
        broker.faults.release()
        await assigned(consumer, {P0})


async def test_2e_12_fenced_is_fatal_until_unsubscribe() -> None:
    """Another consumer has this one's place: joining again would fence that one in turn."""
    async with embedded({"t": 1}) as broker:
        listener = Listener()
        consumer = member_of(broker, group_instance_id="i", **BY_HAND)
        consumer.subscribe(["t"], listener=listener)
        async with consumer:
            broker.faults.fail(OffsetCommitRequest, FencedInstanceIdError)
            with pytest.raises(FencedInstanceIdError, match="t-0"):
                await consumer.commit({P0: 4})
            for _ in range(2):
                with pytest.raises(FencedInstanceIdError):
                    await poll(consumer)
            joins = len(broker.requests_of(JoinGroupRequest))
            heartbeats = len(broker.requests_of(HeartbeatRequest))
            assert await asyncio.wait_for(consumer.topics(), 30) == {"t"}
            assert len(broker.requests_of(JoinGroupRequest)) == joins
            assert len(broker.requests_of(HeartbeatRequest)) == heartbeats
            assert listener.diary[2:] == [("lost", [0])]
            consumer.unsubscribe()
            consumer.subscribe(["t"])
            await assigned(consumer, {P0})
            await consumer.commit({P0: 4})


async def test_2e_12_a_lost_connection_is_no_reason_to_give_up() -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        broker.faults.cut(OffsetCommitRequest, times=2)
        await asyncio.wait_for(consumer.commit({P0: 4}), 30)
        assert len(broker.requests_of(OffsetCommitRequest)) == 3
        assert committed(broker) == {P0: 4}


async def test_2e_12_a_coordinator_that_moved_is_found_again() -> None:
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        member_of(broker, "t", **BY_HAND) as consumer,
    ):
        other = 2 if broker.group("g").coordinator == 1 else 1
        broker.move_coordinator("g", other)
        await asyncio.wait_for(consumer.commit({P0: 4}), 30)
        assert committed(broker) == {P0: 4}
        asked = [r.node_id for r in broker.requests if isinstance(r.request, OffsetCommitRequest)]
        assert asked[-1] == other


@pytest.mark.parametrize(
    "error",
    [
        GroupCoordinatorNotAvailableError,
        GroupLoadInProgressError,
        UnknownTopicOrPartitionError,
        OffsetMetadataTooLargeError,
        GroupAuthorizationFailedError,
        RebalanceInProgressError,
    ],
)
async def test_2e_12_commit_async_tries_once_and_tells(error: type[BrokerResponseError]) -> None:
    async with embedded({"t": 1}) as broker, member_of(broker, "t", **BY_HAND) as consumer:
        heard: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        broker.faults.fail(OffsetCommitRequest, error)
        consumer.commit_async({P0: 4}, lambda _, told: heard.set_result(told))
        told = await asyncio.wait_for(heard, 30)
        assert isinstance(told, error)
        assert isinstance(told, KafkaError)
        assert len(broker.requests_of(OffsetCommitRequest)) == 1
        assert committed(broker) == {}


async def test_2e_12_a_commit_is_not_tried_again_in_a_later_generation() -> None:
    """The partitions may belong to another member by then, one that has committed further."""
    clock = FakeClock()
    async with embedded({"t": 1}) as broker:
        consumer = member_of(broker, "t", clock=clock, retry_backoff_ms=1000, **BY_HAND)
        async with consumer:
            broker.faults.fail(OffsetCommitRequest, GroupLoadInProgressError)
            committing = asyncio.create_task(consumer.commit({P0: 4}))
            await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
            generation_id = broker.group("g").generation_id
            consumer.enforce_rebalance()
            await broker.wait_until(lambda: broker.group("g").generation_id > generation_id)
            await assigned(consumer, {P0})
            await clock.advance(2)
            with pytest.raises(RebalanceInProgressError, match="has rebalanced meanwhile"):
                await asyncio.wait_for(committing, 30)
            assert committed(broker) == {}
            await consumer.commit({P0: 4})
            assert committed(broker) == {P0: 4}


async def test_kip_848_a_commit_that_a_removal_overtakes_has_failed() -> None:
    """Though a heartbeat has heard of it first, and the member joins again meanwhile."""
    quick = {"group_consumer_heartbeat_interval_ms": 20}
    async with embedded({"t": 1}, **quick) as broker:
        consumer = consumer_of(
            broker, "t", group_id="g", group_protocol="consumer", enable_auto_commit=False
        )
        async with consumer:
            broker.faults.stall(OffsetCommitRequest)
            committing = asyncio.create_task(consumer.commit({P0: 1}))
            await broker.wait_until(lambda: bool(broker.requests_of(OffsetCommitRequest)))
            await remove_members(broker)
            await eventually(consumer, lambda: not consumer.assignment())
            await eventually(consumer, lambda: consumer.assignment() == {P0})
            broker.faults.release()
            with pytest.raises(CommitFailedError, match="the coordinator gave it up"):
                await asyncio.wait_for(committing, 30)
            await consumer.commit({P0: 1})
        assert committed(broker) == {P0: 1}


async def remove_members(broker: EmbeddedBroker) -> None:
    """Remove all members, as an administrator does."""
    async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
        await admin.remove_members_from_consumer_group("g")
