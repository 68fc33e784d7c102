"""The same bare requests of share groups to the embedded broker and to a real Apache Kafka get the
same answers.

What a rule of the protocol is, Apache Kafka decides; each number below was seen on both (KIP-932).
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from tests.support.topics import create_topic
from tests.testing.broker.apache.consumer_peers import ConsumerPeer
from tests.testing.broker.apache.share_peers import (
    ACCEPT,
    GAP,
    REJECT,
    RELEASE,
    RENEW,
    SharePeer,
    SharePeers,
    java_uuid,
    share_peers_of,
)

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

FENCED, UNKNOWN_MEMBER, INVALID, NOT_FOUND, NON_EMPTY = 110, 25, 42, 69, 68
INVALID_STATE, NO_SESSION, SESSION_EPOCH = 121, 122, 123
UNKNOWN_TOPIC, UNKNOWN_TOPIC_ID, UNKNOWN_SERVER = 3, 100, -1
NO_TOPIC = UUID(int=7)
RENEWS: dict[str, Any] = {
    "is_renew_ack": True,
    "max_records": 0,
    "min_bytes": 0,
    "max_bytes": 0,
    "max_wait_ms": 0,
}


@pytest_asyncio.fixture
async def peers(any_kafka: str, topic_name: str) -> AsyncIterator[SharePeers]:
    """A group and a topic of one partition."""
    async with _peers(any_kafka, topic_name, 1) as peers:
        yield peers


@pytest_asyncio.fixture
async def four(any_kafka: str, topic_name: str) -> AsyncIterator[SharePeers]:
    """A group and a topic of four partitions."""
    async with _peers(any_kafka, topic_name, 4) as peers:
        yield peers


@contextlib.asynccontextmanager
async def _peers(address: str, name: str, partitions: int) -> AsyncIterator[SharePeers]:
    await create_topic(address, name, partitions=partitions)
    async with share_peers_of(address, name, name) as peers:
        yield peers


def values(count: int) -> list[bytes]:
    return [b"%d" % index for index in range(count)]


# Heartbeats…


async def test_a_topic_is_assigned_by_a_later_heartbeat_than_the_first(four: SharePeers) -> None:
    member = await four.member()
    beat = await member.join()
    assert (beat.short, beat.member_id) == ((0, 2, []), member.member_id)
    assert (beat.interval_ms, await four.epochs()) == (5000, ("Stable", 2, 2, [2]))
    assert await member.until_assigned() == [0, 1, 2, 3]
    assert await four.epochs() == ("Stable", 3, 3, [3])
    assert await four.offsets() == dict.fromkeys(range(4), (-1, -1))
    assert (await member.beat()).short == (0, 3, None)
    told = await member.beat(subscribed_topic_names=[four.topic])
    assert told.short == (0, 3, [0, 1, 2, 3])
    assert (await member.join()).short == (0, 3, [0, 1, 2, 3])
    (described,) = (await four.describe()).members
    assert (described.subscribed_topic_names, described.client_id) == ([four.topic], "wire")
    assert described.client_host.startswith("/127.0.0.1")
    (assigned,) = described.assignment.topic_partitions
    assert (assigned.topic_name, assigned.topic_id) == (four.topic, four.topic_id)
    assert sorted(assigned.partitions) == [0, 1, 2, 3]


async def test_members_share_partitions_and_take_over_what_others_leave(four: SharePeers) -> None:
    first, second, third = [await four.member() for _ in range(3)]
    await first.until_assigned()
    beat = await second.join()
    assert (beat.error, beat.epoch, len(beat.assignment or [])) == (0, 4, 2)
    kept = await first.beat()
    assert sorted([*(kept.assignment or []), *(beat.assignment or [])]) == [0, 1, 2, 3]
    assert (await third.join()).error == 0
    beats = [await each.beat(subscribed_topic_names=[four.topic]) for each in (first, second)]
    beats.append(await third.beat(subscribed_topic_names=[four.topic]))
    assert sorted(len(each.assignment or []) for each in beats) == [1, 1, 2]
    assert sorted(i for each in beats for i in each.assignment or []) == [0, 1, 2, 3]
    assert (await first.beat(member_epoch=-1)).short == (0, -1, None)
    assert (await four.epochs())[:3] == ("Stable", 6, 5)
    assert (await first.beat(member_epoch=-1)).error == UNKNOWN_MEMBER
    left = await second.beat(subscribed_topic_names=[four.topic])
    assert (left.epoch, (await second.join()).assignment) == (6, left.assignment)
    assert len(left.assignment or []) == 2
    assert (await second.beat(subscribed_topic_names=[])).short == (0, 7, [])
    for each in (second, third):
        assert (await each.beat(member_epoch=-1)).short == (0, -1, None)
    assert await four.epochs() == ("Empty", 9, 9, [])


async def test_more_members_than_partitions_share_them(peers: SharePeers) -> None:
    first, second = await peers.member(), await peers.member()
    assert await first.until_assigned() == [0]
    assert (await second.join()).short == (0, 4, [0])
    assert (await first.beat()).short == (0, 4, None)


async def test_an_epoch_that_is_not_the_members_is_fenced(peers: SharePeers) -> None:
    member = await peers.member()
    await member.until_assigned()
    ahead = await member.beat(member_epoch=99)
    assert (ahead.error, ahead.epoch, ahead.member_id) == (FENCED, 0, None)
    assert ahead.message == (
        "The share group member has a greater member epoch (99) than the one known by the group "
        "coordinator (3). The member must abandon all its partitions and rejoin."
    )
    behind = await member.beat(member_epoch=1)
    assert behind.error == FENCED
    assert "(3), and it does not match the previous member epoch (2)" in (behind.message or "")
    assert (await member.beat(member_epoch=2)).short == (0, 3, None)
    assert (await member.beat(member_id=java_uuid())).error == UNKNOWN_MEMBER


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({"group_id": ""}, INVALID, "GroupId can't be empty."),
        ({"rack_id": ""}, INVALID, "RackId can't be empty."),
        ({"member_id": ""}, INVALID, ""),
        ({"subscribed_topic_names": None}, INVALID, "SubscribedTopicNames must be set in first"),
        ({"subscribed_topic_names": []}, INVALID, "SubscribedTopicNames must be set in first"),
        ({"member_epoch": -2}, INVALID, "MemberEpoch is invalid."),
        ({"member_epoch": -1}, NOT_FOUND, "Group "),
        ({"member_epoch": 5}, NOT_FOUND, "Share group "),
        ({"subscribed_topic_names": ["nope"]}, 0, ""),
    ],
)
async def test_a_request_that_no_member_sends_is_refused(
    peers: SharePeers, fields: dict[str, Any], error: int, message: str
) -> None:
    beat = await (await peers.member()).join(**fields)
    assert beat.error == error
    assert (beat.message or "").startswith(message)


async def test_groups_of_other_kinds_are_not_joined(peers: SharePeers) -> None:
    member = await peers.member()
    await member.until_assigned()
    consumer = ConsumerPeer(peers.first, "x", peers.topic, peers.topic_id)
    assert (await consumer.join()).error == NOT_FOUND
    assert (await peers.first.join()).error_code == 23
    assert await peers.first.commit(peers.topic, {0: 5}) == [NOT_FOUND]
    member.peer.group_id = peers.first.group_id = f"{peers.first.group_id}-other"
    assert (await consumer.join()).error == 0
    refused = await member.join()
    assert refused.error == NOT_FOUND
    assert refused.message == f"Group {member.peer.group_id} is not a share group."
    assert (await peers.describe()).error_message == refused.message
    member.session_epoch = 0
    assert (await member.fetch()).partitions[0].error == UNKNOWN_SERVER


# Acquiring and acknowledging…


async def test_records_are_acquired_and_acknowledged(peers: SharePeers) -> None:
    await peers.write(*values(3))
    await peers.write(*values(2))
    member = await peers.reader()
    fetched = await member.fetch()
    assert (fetched.error, fetched.lock_ms) == (0, 30_000)
    assert fetched.acquired == {0: [(0, 4, 1)]}
    assert fetched.partitions[0].offsets == [0, 1, 2, 3, 4]
    assert (await member.fetch(())).partitions == {}
    assert await peers.offsets() == {0: (-1, -1)}

    acks = {0: [(0, 0, [ACCEPT]), (1, 1, [REJECT]), (2, 2, [RELEASE])]}
    answered = (await member.fetch((), acks)).partitions[0]
    assert (answered.error, answered.ack_error) == (0, 0)
    assert await peers.offsets() == {0: (0, 3)}
    again = answered if answered.acquired else (await member.fetch(())).partitions[0]
    assert again.acquired == [(2, 2, 2)]
    assert again.offsets == [0, 1, 2]

    told = await member.acknowledge({0: [(3, 4, [ACCEPT, RELEASE])]})
    assert (told.error, told.errors) == (0, {0: 0})
    assert await peers.offsets() == {0: (2, 2)}
    assert await member.until_acquired(partitions=()) == [(4, 4, 2)]
    assert (await member.acknowledge({0: [(2, 2, [ACCEPT])]})).errors == {0: 0}
    assert await peers.offsets() == {0: (2, 1)}
    assert (await member.acknowledge({0: [(4, 4, [GAP])]})).errors == {0: 0}
    assert await peers.offsets() == {0: (4, 0)}


@pytest.mark.parametrize(
    ("acks", "error"),
    [
        ([(0, 0, [ACCEPT])], 0),
        ([(0, 2, [ACCEPT])], 0),
        ([(10, 12, [ACCEPT])], INVALID),
        ([(2, 9, [ACCEPT])], INVALID),
        ([(2, 2, [ACCEPT]), (2, 2, [ACCEPT])], INVALID_STATE),
        ([(2, 2, [ACCEPT, ACCEPT])], INVALID),
        ([(2, 2, [9])], INVALID),
        ([(2, 2, [])], INVALID),
        ([(2, 2, [RENEW])], INVALID),
        ([(4, 2, [ACCEPT])], INVALID),
        ([(2, 4, [ACCEPT]), (3, 3, [ACCEPT])], INVALID),
        ([(4, 4, [ACCEPT]), (2, 2, [ACCEPT])], INVALID),
        ([(2, 3, [ACCEPT])], INVALID_STATE),
    ],
)
async def test_what_may_be_acknowledged(
    peers: SharePeers, acks: list[tuple[int, int, list[int]]], error: int
) -> None:
    """The group is done with 0, 1 and 3, and the member has 2 and 4."""
    await peers.write(*values(5))
    member = await peers.reader()
    await member.fetch()
    done = {0: [(0, 1, [ACCEPT]), (3, 3, [REJECT])]}
    assert (await member.acknowledge(done)).errors == {0: 0}
    assert (await member.acknowledge({0: acks})).errors == {0: error}
    if error:
        assert (await member.acknowledge({0: [(2, 2, [ACCEPT])]})).errors == {0: 0}


async def test_nothing_or_something_unknown_is_acknowledged(peers: SharePeers) -> None:
    await peers.write(*values(2))
    member = await peers.reader()
    await member.fetch()
    assert (await member.acknowledge({0: []})).errors == {}
    assert (await member.acknowledge({})).errors == {}
    acks = [(0, 0, [ACCEPT])]
    assert (await member.acknowledge({7: acks})).errors == {7: UNKNOWN_TOPIC}
    unknown = await member.acknowledge({0: acks}, topic_id=NO_TOPIC)
    assert unknown.errors == {0: UNKNOWN_TOPIC_ID}
    other = await peers.member()
    await other.join()
    await other.fetch()
    assert (await other.acknowledge({0: acks})).errors == {0: INVALID_STATE}


async def test_a_record_is_delivered_as_often_as_the_limit_says(peers: SharePeers) -> None:
    await peers.write(*values(2))
    member = await peers.reader(**{"share.delivery.count.limit": "2"})
    assert (await member.fetch()).acquired == {0: [(0, 1, 1)]}
    assert (await member.acknowledge({0: [(0, 1, [RELEASE])]})).errors == {0: 0}
    assert await peers.offsets() == {0: (0, 2)}
    assert (await member.fetch(())).acquired == {0: [(0, 1, 2)]}
    assert (await member.acknowledge({0: [(0, 0, [RELEASE])]})).errors == {0: 0}
    assert await peers.offsets() == {0: (0, 1)}
    assert (await member.fetch(())).partitions == {}


async def test_records_that_come_back_often_come_with_fewer_others(peers: SharePeers) -> None:
    await peers.write(*values(16))
    member = await peers.reader(**{"share.delivery.count.limit": "10"})
    seen = []
    for turn in range(9):
        (acquired,) = (await member.fetch(() if turn else (0,))).acquired[0]
        seen.append(acquired)
        await member.acknowledge({0: [(acquired[0], acquired[1], [RELEASE])]})
    alike = [(0, 15, count) for count in range(1, 6)]
    assert seen == [*alike, (0, 7, 6), (0, 3, 7), (0, 1, 8), (0, 0, 9)]


async def test_a_batch_that_came_back_often_comes_alone(peers: SharePeers) -> None:
    await peers.write(*values(8))
    member = await peers.reader()
    for turn in range(3):
        await member.fetch(() if turn else (0,))
        await member.acknowledge({0: [(0, 7, [RELEASE])]})
    await peers.write(*values(4))
    found = [(await member.fetch(())).acquired for _ in range(3)]
    assert found == [{0: [(0, 3, 4)]}, {0: [(4, 7, 4)]}, {0: [(8, 11, 1)]}]


async def test_whole_batches_are_acquired_unless_the_limit_is_exact(peers: SharePeers) -> None:
    await peers.write(*values(10))
    await peers.write(*values(5))
    member = await peers.reader()
    first = await member.fetch(max_records=3)
    assert first.acquired == {0: [(0, 9, 1)]}
    assert first.partitions[0].offsets == [*range(10)]
    assert (await member.fetch(())).acquired == {0: [(10, 14, 1)]}
    await member.acknowledge({0: [(0, 14, [RELEASE])]})
    assert (await member.fetch((), batch_size=4)).acquired == {0: [(0, 9, 2), (10, 14, 2)]}


async def test_an_exact_limit_divides_batches(peers: SharePeers) -> None:
    if peers.version < 2:
        pytest.skip("this release has no acquire modes")
    await peers.write(*values(8))
    await peers.write(*values(4))
    member = await peers.reader()
    exact: dict[str, Any] = {"share_acquire_mode": 1, "max_records": 3}
    first = await member.fetch(**exact)
    assert first.acquired == {0: [(0, 2, 1)]}
    assert first.partitions[0].offsets == [*range(8)]
    assert (await member.fetch((), **exact)).acquired == {0: [(3, 5, 1)]}
    third = await member.fetch((), **exact)
    assert third.acquired == {0: [(6, 7, 1), (8, 8, 1)]}
    assert third.partitions[0].offsets == [*range(12)]
    last = await member.fetch(())
    assert (last.acquired, last.partitions[0].offsets) == ({0: [(9, 11, 1)]}, [8, 9, 10, 11])
    assert (await member.acknowledge({0: [(0, 11, [ACCEPT])]})).errors == {0: 0}
    assert await peers.offsets() == {0: (0, 0)}
    assert (await member.fetch((), share_acquire_mode=7)).error == UNKNOWN_SERVER


async def test_batches_are_divided_as_the_member_prefers(peers: SharePeers) -> None:
    await peers.write(*values(8))
    await peers.write(*values(4))
    member = await peers.reader()
    assert (await member.fetch(batch_size=1)).acquired == {0: [(0, 7, 1), (8, 11, 1)]}
    acks = {0: [(1, 5, [RELEASE, ACCEPT, RELEASE, RELEASE, REJECT])]}
    assert (await member.acknowledge(acks)).errors == {0: 0}
    assert await peers.offsets() == {0: (0, 10)}
    assert (await member.fetch(())).acquired == {0: [(1, 1, 2), (3, 4, 2)]}


async def test_so_many_records_of_a_partition_are_locked_at_a_time(peers: SharePeers) -> None:
    for _ in range(5):
        await peers.write(*values(50))
    member = await peers.reader(**{"share.partition.max.record.locks": "100"})
    assert (await member.fetch()).acquired == {0: [(0, 99, 1)]}
    assert (await member.fetch(())).acquired == {}
    await member.acknowledge({0: [(1, 1, [ACCEPT])]})
    assert (await member.fetch(())).acquired == {}
    await member.acknowledge({0: [(0, 0, [ACCEPT])]})
    assert (await member.fetch(())).acquired == {0: [(100, 149, 1)]}


async def test_a_fetch_has_bounds_in_bytes(peers: SharePeers) -> None:
    for _ in range(6):
        await peers.write(b"x" * 100)
    member = await peers.reader()
    assert (await member.fetch(max_bytes=1)).acquired == {0: [(0, 0, 1)]}
    assert (await member.fetch((), max_bytes=400)).acquired == {0: [(1, 2, 1)]}
    limits: dict[str, Any] = {"max_records": 2, "batch_size": 1}
    assert (await member.fetch((), **limits)).acquired == {0: [(3, 3, 1), (4, 4, 1)]}


async def test_partitions_come_in_turn(four: SharePeers) -> None:
    for partition in range(3):
        await four.write(b"v", partition=partition)
    member = await four.reader()
    found: list[int] = []
    async with asyncio.timeout(30):
        while len(found) < 3:
            got = (await member.fetch(() if found else (0, 1, 2), max_records=1)).acquired
            came = [index for index, runs in got.items() if runs == [(0, 0, 1)]]
            assert len(came) <= 1
            found += came
    assert sorted(found) == [0, 1, 2]
    acks = [(0, 0, [ACCEPT])]
    told = await member.acknowledge({0: acks, 1: [(0, 0, [RELEASE])], 7: acks})
    assert told.errors == {0: 0, 1: 0, 7: UNKNOWN_TOPIC}
    fetched = await member.fetch((), {0: acks, 7: acks})
    assert {k: (v.acquired, v.error, v.ack_error) for k, v in fetched.partitions.items()} == {
        0: ([], 0, 0),
        1: ([(0, 0, 2)], 0, 0),
        7: ([], UNKNOWN_TOPIC, UNKNOWN_TOPIC),
    }
    assert [*(await member.fetch(())).partitions] == [7]
    assert (await member.fetch((), forget=(7,))).partitions == {}


async def test_a_renewed_record_stays_acquired(peers: SharePeers) -> None:
    if peers.version < 2:
        pytest.skip("this release has no renewals")
    await peers.write(*values(3))
    member = await peers.reader()
    await member.fetch()
    renew = [(1, 1, [RENEW])]
    told = await member.acknowledge({0: renew}, is_renew_ack=True)
    assert (told.errors, told.lock_ms) == ({0: 0}, 30_000)
    assert (await member.acknowledge({0: renew})).errors == {0: INVALID}
    assert await peers.offsets() == {0: (-1, -1)}
    mixed = {0: [(0, 1, [ACCEPT, RENEW])]}
    assert (await member.acknowledge(mixed, is_renew_ack=True)).errors == {0: 0}
    assert (await member.fetch((), {0: renew})).partitions[0].ack_error == INVALID
    for field in ("max_records", "min_bytes", "max_bytes", "max_wait_ms"):
        assert (await member.fetch((), {0: renew}, **{**RENEWS, field: 1})).error == INVALID
    renewed = await member.fetch((), {0: renew}, **RENEWS)
    assert (renewed.error, renewed.partitions[0].ack_error) == (0, 0)
    assert (await member.acknowledge({0: [(1, 1, [ACCEPT])]}, is_renew_ack=True)).errors == {0: 0}
    assert (await member.acknowledge({0: renew}, is_renew_ack=True)).errors == {0: 0}
    late = {0: [(2, 2, [RENEW])]}
    await peers.alter("share.renew.acknowledge.enable", "false")
    async with asyncio.timeout(30):  # brokers learn of a setting a moment later
        while (told := await member.acknowledge(late, is_renew_ack=True)).errors == {0: 0}:
            await asyncio.sleep(0.01)
    assert told.errors == {0: INVALID_STATE}


# Sessions…


async def test_a_session_counts_its_requests(peers: SharePeers) -> None:
    await peers.write(b"v")
    member = await peers.reader()
    opens: dict[str, Any] = {"share_session_epoch": 0}
    acks = {0: [(0, 0, [ACCEPT])]}
    assert (await member.fetch((0,), acks)).error == INVALID
    assert (await member.fetch((), share_session_epoch=3)).error == NO_SESSION
    assert (await member.fetch((), share_session_epoch=-1)).error == NO_SESSION
    assert (await member.acknowledge(acks, share_session_epoch=3)).error == NO_SESSION
    assert (await member.acknowledge(acks, share_session_epoch=-1)).error == NO_SESSION
    assert (await member.acknowledge(acks, **opens)).error == SESSION_EPOCH
    assert (await member.fetch()).acquired == {0: [(0, 0, 1)]}
    assert (await member.fetch((), share_session_epoch=9)).error == SESSION_EPOCH
    assert (await member.acknowledge({}, share_session_epoch=9)).error == SESSION_EPOCH
    assert (await member.acknowledge({}, **opens)).error == SESSION_EPOCH
    assert (await member.fetch((), share_session_epoch=-2)).error == SESSION_EPOCH
    assert (await member.fetch(())).error == 0
    assert (await member.acknowledge(acks)).error == 0
    assert (await member.fetch(())).error == 0


async def test_the_end_of_a_session_releases_what_is_left(peers: SharePeers) -> None:
    await peers.write(*values(3))
    first, second = await peers.reader(), await peers.member()
    await second.join()
    await first.fetch()
    told = await first.acknowledge({0: [(0, 0, [ACCEPT])]}, share_session_epoch=-1)
    assert (told.error, told.errors) == (0, {0: 0})
    assert (await first.fetch((), share_session_epoch=1)).error == NO_SESSION
    assert await peers.offsets() == {0: (1, 2)}
    assert await second.until_acquired() == [(1, 2, 2)]
    ended = await second.fetch((), {0: [(2, 2, [ACCEPT])]}, share_session_epoch=-1)
    assert (ended.error, ended.partitions[0].ack_error) == (0, 0)
    first.session_epoch = 0
    assert await first.until_acquired() == [(1, 1, 3)]


async def test_the_end_of_a_connection_releases_what_is_left(peers: SharePeers) -> None:
    await peers.write(*values(2))
    first, second = await peers.reader(), await peers.member()
    await second.join()
    assert (await first.fetch()).acquired == {0: [(0, 1, 1)]}
    await second.fetch()
    first.peer.writer.close()
    assert await second.until_acquired(partitions=()) == [(0, 1, 2)]
    again = await peers.member()
    again.member_id, again.session_epoch = first.member_id, 1
    assert (await again.fetch(())).error == NO_SESSION
    assert (await again.beat(member_epoch=first.epoch)).error == 0


async def test_a_session_may_go_on_over_another_connection(peers: SharePeers) -> None:
    await peers.write(b"v")
    first, second = await peers.reader(), await peers.member()
    assert (await first.fetch()).acquired == {0: [(0, 0, 1)]}
    second.member_id, second.session_epoch = first.member_id, first.session_epoch
    assert (await second.fetch(())).error == 0
    assert (await second.acknowledge({0: [(0, 0, [ACCEPT])]})).errors == {0: 0}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"member_id": None}, INVALID),
        ({"member_id": ""}, INVALID),
        ({"member_id": "a" * 37}, INVALID),
        ({"member_id": "short"}, 0),
        ({"group_id": None}, INVALID),
    ],
)
async def test_a_fetch_names_a_group_and_a_member(
    peers: SharePeers, fields: dict[str, Any], error: int
) -> None:
    await peers.write(b"v")
    member = await peers.reader()
    fetched = await member.fetch(**fields)
    assert fetched.error == error
    assert bool(fetched.acquired) == (not error)


async def test_a_member_that_has_left_still_has_its_session(peers: SharePeers) -> None:
    await peers.write(*values(2))
    member = await peers.reader()
    await member.fetch()
    await member.beat(member_epoch=-1)
    assert (await member.acknowledge({0: [(0, 0, [ACCEPT])]})).errors == {0: 0}
    assert (await member.fetch(())).error == 0


async def test_a_group_or_partition_that_nobody_reads_is_an_error(peers: SharePeers) -> None:
    member = await peers.reader()
    fetched = await member.fetch(group_id=f"{peers.first.group_id}-other")
    assert fetched.partitions[0].error == UNKNOWN_SERVER
    member.session_epoch = 0
    assert (await member.fetch(topic_id=NO_TOPIC)).partitions[0].error == UNKNOWN_TOPIC_ID
    assert (await member.fetch((7,))).partitions[7].error == UNKNOWN_TOPIC


# Where a group begins, and what it may see…


async def test_a_group_begins_at_the_end_unless_told_otherwise(peers: SharePeers) -> None:
    await peers.write(*values(2))
    member = await peers.member()
    await member.until_assigned()
    assert (await member.fetch()).partitions[0].acquired == []
    await peers.write(b"2")
    assert await member.until_acquired(partitions=()) == [(2, 2, 1)]
    acks = {0: [(2, 2, [ACCEPT])]}
    await member.acknowledge(acks)
    assert await peers.offsets() == {0: (2, 0)}
    assert (await member.acknowledge(acks)).errors == {0: 0}
    await peers.write(*values(2))
    assert await peers.offsets() == {0: (2, 2)}
    await member.fetch(())
    await member.acknowledge({0: [(3, 3, [ACCEPT])]})
    assert await peers.offsets() == {0: (3, 1)}
    await member.acknowledge({0: [(4, 4, [ACCEPT])]})
    assert await peers.offsets() == {0: (4, 0)}


async def test_records_of_aborted_transactions_are_not_acquired(peers: SharePeers) -> None:
    await _three_transactions(peers)
    member = await peers.reader(**{"share.isolation.level": "read_committed"})
    fetched = await member.fetch()
    assert fetched.acquired == {0: [(0, 3, 1), (7, 12, 1)]}
    assert fetched.partitions[0].offsets == [0, 1, 2, 4, 5, 6, 8, 9, 10, 12]
    acks = {0: [(0, 2, [ACCEPT]), (3, 3, [GAP])]}
    assert (await member.acknowledge(acks)).errors == {0: 0}
    assert await peers.offsets() == {0: (0, 6)}


async def test_a_group_may_read_everything(peers: SharePeers) -> None:
    await _three_transactions(peers)
    member = await peers.reader()
    assert (await member.fetch()).acquired == {0: [(0, 12, 1)]}


async def _three_transactions(peers: SharePeers) -> None:
    """Three of three records each, of which the second is aborted, and a record without one."""
    async with AIOKafkaProducer(
        bootstrap_servers=peers.address, transactional_id=peers.topic
    ) as producer:
        for ends in (
            producer.commit_transaction,
            producer.abort_transaction,
            producer.commit_transaction,
        ):
            await producer.begin_transaction()
            for _ in range(3):
                await producer.send(peers.topic, b"v", partition=0)
            await producer.flush()
            await ends()
    async with asyncio.timeout(30):  # a transaction has ended before its marker is written
        while await peers.stable_end() != 12:
            await asyncio.sleep(0.01)
    await peers.write(b"plain")


# Administrators…


async def test_only_an_empty_group_is_altered_and_deleted(peers: SharePeers) -> None:
    await peers.write(*values(10))
    member = await peers.reader()
    group_id = peers.first.group_id

    async def altered() -> int:
        partition = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=5)
        topic = AlterShareGroupOffsetsRequestTopic(topic_name=peers.topic, partitions=[partition])
        request = AlterShareGroupOffsetsRequest(group_id=group_id, topics=[topic])
        code: int = (await peers.first.ask(request, 0)).error_code
        return code

    async def forgotten() -> int:
        topic = DeleteShareGroupOffsetsRequestTopic(topic_name=peers.topic)
        request = DeleteShareGroupOffsetsRequest(group_id=group_id, topics=[topic])
        code: int = (await peers.first.ask(request, 0)).error_code
        return code

    async def deleted() -> int:
        request = DeleteGroupsRequest(groups_names=[group_id])
        code: int = (await peers.first.ask(request, 2)).results[0].error_code
        return code

    async def listed() -> list[tuple[str, str, str]]:
        answer = await peers.first.ask(ListGroupsRequest(types_filter=["share"]), 5)
        return [
            (group.protocol_type, group.group_state, group.group_type)
            for group in answer.groups
            if group.group_id == group_id
        ]

    assert [await altered(), await forgotten(), await deleted()] == [NON_EMPTY] * 3
    assert await listed() == [("share", "Stable", "share")]
    await member.beat(member_epoch=-1)
    assert await listed() == [("share", "Empty", "share")]
    assert await altered() == 0
    assert await peers.offsets() == {0: (5, 5)}
    assert await peers.epochs() == ("Empty", 4, 4, [])
    assert (await member.join()).short == (0, 5, [0])
    assert (await member.fetch()).acquired == {0: [(5, 9, 1)]}
    await member.acknowledge({}, share_session_epoch=-1)
    await member.beat(member_epoch=-1)
    assert await forgotten() == 0
    assert await peers.offsets() == {}
    assert (await member.join()).short == (0, 7, [])
    await member.beat(member_epoch=-1)
    assert await deleted() == 0
    assert await listed() == []
    assert (await peers.describe()).error_code == NOT_FOUND
    assert await peers.offsets() == {}


async def test_a_topic_that_is_deleted_is_not_assigned_any_more(peers: SharePeers) -> None:
    await peers.write(*values(2))
    member = await peers.reader()
    await member.fetch()
    await peers.delete_topic()
    refused = {0: [(0, 2, [ACCEPT, ACCEPT])]}
    async with asyncio.timeout(30):
        while (told := await member.acknowledge(refused)).errors == {0: INVALID}:
            await asyncio.sleep(0.01)
    assert told.errors == {0: UNKNOWN_TOPIC_ID}
    async with asyncio.timeout(30):
        while (beat := await member.beat()).assignment is None:
            await asyncio.sleep(0.01)
    assert beat.short == (0, 4, [])


# Waiting…


async def test_a_fetch_waits_for_records_and_for_its_time(peers: SharePeers) -> None:
    member: SharePeer = await peers.reader()
    assert (await member.fetch()).acquired == {0: []}
    assert (await member.fetch((), max_wait_ms=100)).partitions == {}
    member.send_fetch((), max_wait_ms=25_000)
    await peers.write(b"v")
    assert (await member.fetched()).acquired == {0: [(0, 0, 1)]}
    member.send_fetch((), {0: [(0, 0, [ACCEPT])]}, max_wait_ms=25_000)
    await peers.write(b"v")
    assert (await member.fetched()).acquired == {0: [(1, 1, 1)]}
