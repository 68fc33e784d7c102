"""The same bare heartbeats to the embedded broker and to a real Apache Kafka get the same answers.

What a rule of the protocol is, Apache Kafka decides; each number below was seen on both (KIP-848).
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from aiokafka_lite.protocol.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from aiokafka_lite.protocol.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.support.topics import create_topic
from tests.testing.broker.apache.consumer_peers import (
    ConsumerPeer,
    ConsumerPeers,
    consumer_peers_of,
)
from tests.testing.broker.apache.group_peers import NOT_THERE_YET, MemberIdentity

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

STALE, FENCED, UNKNOWN, INVALID = 113, 110, 25, 42
ILLEGAL_GENERATION = 22
NOT_FOUND, UNRELEASED, FENCED_INSTANCE = 69, 111, 82


@pytest_asyncio.fixture
async def peers(any_kafka: str, topic_name: str) -> AsyncIterator[ConsumerPeers]:
    topic = topic_name.replace("[", "-").replace("]", "-")
    await create_topic(any_kafka, topic, partitions=4)
    async with consumer_peers_of(any_kafka, topic_name, topic) as peers:
        yield peers


async def test_one_member_gets_everything_and_is_told_again_when_it_tells_all(
    peers: ConsumerPeers,
) -> None:
    member = await peers.member("a")
    beat = await member.join()
    assert (beat.short, beat.member_id) == ((0, 2, [0, 1, 2, 3]), "a")
    assert beat.interval_ms == 5000
    assert (await member.beat()).short == (0, 2, None)
    assert (await member.owns(0, 1, 2, 3)).short == (0, 2, None)
    whole: dict[str, Any] = {
        "rebalance_timeout_ms": 30_000,
        "subscribed_topic_names": [peers.topic],
    }
    assert (await member.owns(0, 1, 2, 3, **whole)).short == (0, 2, [0, 1, 2, 3])
    assert (await member.join()).short == (0, 2, [0, 1, 2, 3])
    assert await peers.epochs() == ("Stable", 2, 2, {"a": 2})


async def pair(peers: ConsumerPeers) -> tuple[ConsumerPeer, ConsumerPeer]:
    """Two members, of which the first has to give up partitions 2 and 3."""
    first, second = await peers.member("a"), await peers.member("b")
    await first.join()
    assert (await second.join()).short == (0, 3, [])
    assert (await first.beat()).short == (0, 2, [0, 1])
    return first, second


async def test_a_partition_moves_when_its_owner_has_given_it_up(peers: ConsumerPeers) -> None:
    first, second = await pair(peers)
    assert (await first.beat()).short == (0, 2, None)
    assert (await first.owns(0, 1, 2)).short == (0, 2, None)
    assert (await second.beat()).short == (0, 3, None)
    assert await peers.epochs() == ("Reconciling", 3, 3, {"a": 2, "b": 3})
    assert (await first.owns(0, 1)).short == (0, 3, None)
    assert await peers.epochs() == ("Reconciling", 3, 3, {"a": 3, "b": 3})
    assert (await second.beat()).short == (0, 3, [2, 3])
    assert await peers.epochs() == ("Stable", 3, 3, {"a": 3, "b": 3})


async def test_a_member_leaves_and_another_gets_what_it_had(peers: ConsumerPeers) -> None:
    first, second = await pair(peers)
    await first.owns(0, 1)
    assert (await second.beat(member_epoch=-1)).short == (0, -1, None)
    assert await peers.epochs() == ("Assigning", 4, 3, {"a": 3})
    assert (await first.beat()).short == (0, 4, [0, 1, 2, 3])
    assert (await first.beat(member_epoch=-1)).short == (0, -1, None)
    assert await peers.epochs() == ("Empty", 5, 5, {})
    assert (await first.beat(member_epoch=-1)).error == UNKNOWN
    assert (await first.join()).short == (0, 6, [0, 1, 2, 3])


async def test_an_epoch_that_is_not_the_members_is_fenced(peers: ConsumerPeers) -> None:
    first, _ = await pair(peers)
    ahead = await first.beat(member_epoch=9)
    assert ahead.error == FENCED
    assert ahead.message is not None
    assert "greater member epoch (9) than the one known by the group" in ahead.message
    await first.owns(0, 1)
    assert (await first.beat(member_epoch=2)).error == FENCED
    assert (await first.owns(0, 1, 2, member_epoch=2)).error == FENCED
    assert (await first.owns(0, 1, member_epoch=2)).short == (0, 3, None)


async def test_a_member_that_subscribes_to_nothing_gives_up_everything(
    peers: ConsumerPeers,
) -> None:
    member = await peers.member("a")
    await member.join()
    assert (await member.beat(subscribed_topic_names=[])).short == (0, 2, [])
    assert (await member.beat()).short == (0, 2, None)
    assert (await member.owns()).short == (0, 3, None)
    assert await peers.epochs() == ("Stable", 3, 3, {"a": 3})


async def test_a_static_member_leaves_for_a_while_and_finds_its_partitions(
    peers: ConsumerPeers,
) -> None:
    first, again = await peers.member("a"), await peers.member("b")
    static: dict[str, Any] = {"instance_id": "i"}
    assert (await first.join(**static)).short == (0, 2, [0, 1, 2, 3])
    assert (await again.join(**static)).error == UNRELEASED
    assert (await first.join(**static)).error == UNRELEASED
    assert (await again.beat(member_epoch=-2, **static)).error == FENCED_INSTANCE
    assert (await first.beat(member_epoch=-2, **static)).short == (0, -2, None)
    assert await peers.epochs() == ("Reconciling", 2, 2, {"a": -2})
    assert (await again.join(**static)).short == (0, 2, [0, 1, 2, 3])
    assert await peers.epochs() == ("Stable", 2, 2, {"b": 2})
    assert (await first.beat(member_epoch=2, **static)).error == FENCED_INSTANCE
    assert (await first.beat(member_epoch=2)).error == UNKNOWN
    assert (await again.beat(member_epoch=-1, **static)).short == (0, -1, None)
    assert (await again.beat(member_epoch=2, **static)).error == UNKNOWN


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"rebalance_timeout_ms": -1}, INVALID, "RebalanceTimeoutMs must be provided in first re"),
        ({"topic_partitions": None}, INVALID, "TopicPartitions must be empty when (re-)joining."),
        ({"subscribed_topic_names": None}, INVALID, "Either SubscribedTopicNames or SubscribedTo"),
        ({"server_assignor": "x"}, 112, "ServerAssignor x is not supported. Supported assignors: "),
        ({"instance_id": ""}, INVALID, "InstanceId can't be empty."),
        ({"rack_id": ""}, INVALID, "RackId can't be empty."),
        ({"member_epoch": -3}, INVALID, "MemberEpoch is invalid."),
        ({"member_epoch": -2}, INVALID, "InstanceId can't be null."),
        ({"member_id": ""}, INVALID, "MemberId can't be empty."),
        ({"group_id": ""}, INVALID, "GroupId can't be empty."),
        ({"member_epoch": -1}, NOT_FOUND, "Group "),
        ({"member_epoch": 5}, NOT_FOUND, "Consumer group "),
    ],
)
async def test_a_request_that_no_member_sends_is_refused(
    peers: ConsumerPeers, fields: dict[str, Any], error: int, message: str
) -> None:
    beat = await (await peers.member("a")).join(**fields)
    assert (beat.error, beat.epoch, beat.member_id) == (error, 0, None)
    assert (beat.message or "").startswith(message)


async def test_the_first_version_gives_a_member_its_id(peers: ConsumerPeers) -> None:
    beat = await (await peers.member("")).join(version=0)
    assert beat.short == (0, 2, [0, 1, 2, 3])
    assert beat.member_id


async def test_a_topic_that_does_not_exist_is_no_reason_to_wait(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    assert (await member.join(subscribed_topic_names=["no-such-topic"])).short == (0, 2, [])
    assert await peers.epochs() == ("Stable", 2, 2, {"a": 2})


@pytest.mark.parametrize("pattern", ["(", "(?=a)", r"(a)\1", "a**"])
async def test_a_pattern_that_re2_does_not_know_is_refused(
    peers: ConsumerPeers, pattern: str
) -> None:
    member = await peers.member("a")
    beat = await member.join(subscribed_topic_names=None, subscribed_topic_regex=pattern)
    assert beat.error == 128
    assert f"`{pattern}` is not a valid regular expression: " in (beat.message or "")


async def test_topics_of_a_pattern_come_with_a_later_heartbeat(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    pattern = peers.topic[:-1] + "."
    beat = await member.join(subscribed_topic_names=None, subscribed_topic_regex=pattern)
    assert beat.short == (0, 1, [])
    assert (await member.until(2)).short == (0, 2, [0, 1, 2, 3])
    (described,) = (await peers.describe()).members
    assert described.subscribed_topic_names == []
    assert (described.subscribed_topic_regex, described.member_type) == (pattern, 1)


async def test_the_assignor_of_most_members_is_used(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    await member.join()
    assert (await peers.describe()).assignor_name == "uniform"
    assert (await member.beat(server_assignor="range")).short == (0, 3, None)
    assert (await peers.describe()).assignor_name == "range"
    (described,) = (await peers.describe()).members
    (assigned,) = described.assignment.topic_partitions
    assert (assigned.topic_name, assigned.topic_id) == (peers.topic, peers.topic_id)
    assert sorted(assigned.partitions) == [0, 1, 2, 3]
    assert described.target_assignment.topic_partitions[0].topic_name == peers.topic
    assert described.client_host.startswith("/127.0.0.1")


async def test_the_interval_follows_the_setting_of_the_group(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    await member.join()
    assert await peers.alter("consumer.heartbeat.interval.ms", "6000") == 0
    async with asyncio.timeout(30):  # brokers learn of a setting a moment later
        while (beat := await member.beat()).interval_ms != 6000:
            assert beat.interval_ms == 5000
            await asyncio.sleep(0.01)


# Offsets…


@pytest.mark.parametrize(
    ("version", "member_id", "epoch", "error"),
    [
        (9, "a", 2, 0),
        (9, "a", 1, STALE),
        (9, "a", 3, STALE),
        (9, "a", -1, STALE),
        (9, "x", 2, UNKNOWN),
        (9, "", -1, UNKNOWN),
        (8, "a", 2, 35),
        (8, "", -1, UNKNOWN),
    ],
)
async def test_only_members_commit_and_in_their_epoch(
    peers: ConsumerPeers, version: int, member_id: str, epoch: int, error: int
) -> None:
    member = await peers.member("a")
    await member.join()
    fields: dict[str, Any] = {"generation_id_or_member_epoch": epoch, "member_id": member_id}
    assert await member.peer.commit(peers.topic, {0: 5}, version=version, **fields) == [error]


@pytest.mark.parametrize(("partition", "error"), [(0, 0), (3, STALE)])
async def test_a_late_epoch_commits_what_the_member_has_kept(
    peers: ConsumerPeers, partition: int, error: int
) -> None:
    """KIP-1251: epoch 2 is over, but partition 0 was the member's in it and still is."""
    first, _ = await pair(peers)
    await first.owns(0, 1)
    fields: dict[str, Any] = {"generation_id_or_member_epoch": 2, "member_id": "a"}
    assert await first.peer.commit(peers.topic, {partition: 5}, **fields) == [error]


@pytest.mark.parametrize(
    ("version", "member_id", "epoch", "error"),
    [
        (5, "a", 2, 0),
        (5, "a", 1, ILLEGAL_GENERATION),
        (5, "a", 3, ILLEGAL_GENERATION),
        (5, "x", 2, UNKNOWN),
        (5, "", -1, 0),
        (3, "a", 1, ILLEGAL_GENERATION),
    ],
)
async def test_a_transaction_commits_in_the_epoch_of_the_member(
    peers: ConsumerPeers, version: int, member_id: str, epoch: int, error: int
) -> None:
    """A producer hears of a stale epoch as of another generation."""
    member = await peers.member("a")
    await member.join()
    peer, transactional_id = member.peer, f"{member.peer.group_id}-tx"
    began = InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=60_000)
    find = FindCoordinatorRequest(key_type=1, coordinator_keys=[transactional_id])
    async with asyncio.timeout(30):
        while (await peer.ask(find, 4)).coordinators[0].error_code in NOT_THERE_YET:
            await asyncio.sleep(0.05)
        while (producer := await peer.ask(began, 4)).error_code in (*NOT_THERE_YET, 51):
            await asyncio.sleep(0.05)
    assert producer.error_code == 0
    ids: dict[str, Any] = {
        "transactional_id": transactional_id,
        "producer_id": producer.producer_id,
        "producer_epoch": producer.producer_epoch,
        "group_id": peer.group_id,
    }
    if version < 5:
        assert (await peer.ask(AddOffsetsToTxnRequest(**ids), 3)).error_code == 0
    partition = TxnOffsetCommitRequestPartition(partition_index=0, committed_offset=5)
    topic = TxnOffsetCommitRequestTopic(name=peers.topic, partitions=[partition])
    request = TxnOffsetCommitRequest(
        **ids, member_id=member_id, generation_id_or_member_epoch=epoch, topics=[topic]
    )
    answer = await peer.ask(request, version)
    assert answer.topics[0].partitions[0].error_code == error


@pytest.mark.parametrize(
    ("member_id", "epoch", "error"),
    [("a", 2, 0), ("a", 1, STALE), ("x", 2, UNKNOWN), (None, -1, 0), ("a", -1, STALE)],
)
async def test_only_a_member_in_its_epoch_asks_as_a_member_for_offsets(
    peers: ConsumerPeers, member_id: str | None, epoch: int, error: int
) -> None:
    member = await peers.member("a")
    await member.join()
    group = OffsetFetchRequestGroup(
        group_id=member.peer.group_id,
        member_id=member_id,
        member_epoch=epoch,
        topics=[OffsetFetchRequestTopics(name=peers.topic, partition_indexes=[0])],
    )
    answer = await member.peer.ask(OffsetFetchRequest(groups=[group], require_stable=True), 9)
    assert answer.groups[0].error_code == error


# Administrators, and the classic protocol…


async def test_a_group_is_listed_with_its_type_and_deleted_when_empty(
    peers: ConsumerPeers,
) -> None:
    member = await peers.member("a")
    await member.join()
    group_id = member.peer.group_id

    async def listed() -> list[tuple[str, str, str]]:
        request = ListGroupsRequest(types_filter=["consumer"])
        return [
            (group.protocol_type, group.group_state, group.group_type)
            for group in (await member.peer.ask(request, 5)).groups
            if group.group_id == group_id
        ]

    async def deleted() -> int:
        request = DeleteGroupsRequest(groups_names=[group_id])
        code: int = (await member.peer.ask(request, 2)).results[0].error_code
        return code

    assert await listed() == [("consumer", "Stable", "consumer")]
    assert await deleted() == 68
    await member.beat(member_epoch=-1)
    assert await listed() == [("consumer", "Empty", "consumer")]
    assert await deleted() == 0
    assert await listed() == []
    assert (await peers.describe()).error_code == NOT_FOUND


async def test_offsets_of_a_topic_that_is_read_are_not_deleted(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    await member.join()
    topic = OffsetDeleteRequestTopic(
        name=peers.topic, partitions=[OffsetDeleteRequestPartition(partition_index=0)]
    )
    request = OffsetDeleteRequest(group_id=member.peer.group_id, topics=[topic])
    answer = await member.peer.ask(request, 0)
    assert (answer.error_code, answer.topics[0].partitions[0].error_code) == (0, 86)


async def test_the_classic_protocol_does_not_know_the_members(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    await member.join()
    peer = member.peer
    assert await peer.heartbeat(member_id="a", generation_id=2) == UNKNOWN
    described = await peer.ask(DescribeGroupsRequest(groups=[peer.group_id]), 6)
    assert described.groups[0].error_code == NOT_FOUND
    assert described.groups[0].error_message == f"Group {peer.group_id} is not a classic group."


async def test_a_request_of_the_classic_protocol_removes_members(peers: ConsumerPeers) -> None:
    """This is how administrators remove members."""
    first, second = await pair(peers)
    static = await peers.member("s")
    await static.join(instance_id="i")
    members = [
        MemberIdentity(member_id="x"),
        MemberIdentity(member_id="a"),
        MemberIdentity(member_id="a", group_instance_id="i"),
        MemberIdentity(member_id="", group_instance_id="j"),
        MemberIdentity(member_id="", group_instance_id="i"),
    ]
    errors = [0, UNKNOWN, 0, FENCED_INSTANCE, UNKNOWN, 0]
    assert await first.peer.leave(*members) == errors
    assert list((await peers.epochs())[3]) == ["b"]
    assert (await second.beat()).short == (0, 5, [0, 1, 2, 3])


async def test_an_empty_group_takes_the_other_protocol(peers: ConsumerPeers) -> None:
    member = await peers.member("a")
    peer = member.peer
    await peer.join_alone()
    assert (await peers.describe()).error_code == NOT_FOUND
    assert await peer.leave() == [0, 0]
    assert (await member.join()).short == (0, 2, [0, 1, 2, 3])
    await member.beat(member_epoch=-1)
    peer.member_id, peer.generation_id = "", -1
    await peer.join_alone()
    assert (await member.join(member_epoch=2)).error == NOT_FOUND
