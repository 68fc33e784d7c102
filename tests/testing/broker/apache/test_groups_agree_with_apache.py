"""The same bare requests about groups to the embedded broker and to real Apache Kafkas get the same
answers. What a rule of the protocol is, Apache Kafka decides; each number below was seen on all.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import pytest
import pytest_asyncio

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestTopic,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from tests.support.topics import create_topic
from tests.testing.broker.apache.group_peers import (
    OTHER_TOPICS,
    TOPICS,
    MemberIdentity,
    Peer,
    Peers,
    codes,
    offsets_in,
    peers_of,
    told,
)

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

BOTH = {"range": TOPICS, "sticky": OTHER_TOPICS}
BOTH_REVERSED = {"sticky": OTHER_TOPICS, "range": TOPICS}


@pytest_asyncio.fixture
async def peers(any_kafka: str, topic_name: str) -> AsyncIterator[Peers]:
    async with peers_of(any_kafka, topic_name) as peers:
        yield peers


@pytest_asyncio.fixture
async def topic(any_kafka: str, topic_name: str) -> str:
    name = topic_name.replace("[", "-").replace("]", "-")
    await create_topic(any_kafka, name, partitions=2)
    return name


async def serves(peer: Peer, api_key: int, version: int) -> bool:
    about_me = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    answer = await peer.ask(about_me, 3)
    return any(api.api_key == api_key and api.max_version >= version for api in answer.api_keys)


async def topic_id_of(peer: Peer, topic: str) -> UUID:
    request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
    return (await peer.ask(request, 12)).topics[0].topic_id


# JoinGroup…


async def test_a_dynamic_member_is_given_an_id_first(peers: Peers) -> None:
    """A dynamic member without an id gets one and has to join again (KIP-394)."""
    peer = await peers.peer()
    peer.send_join()
    answer = await peer.joined()
    assert told(answer, peer) == {
        "error": 79,
        "generation": -1,
        "protocol": (None, None),
        "leader": "",
        "skip": False,
        "me": "0",
        "members": [],
    }
    assert answer.member_id.startswith("wire-")
    peer.send_join()
    assert told(await peer.joined(), peer) == {
        "error": 0,
        "generation": 1,
        "protocol": ("consumer", "range"),
        "leader": "0",
        "skip": False,
        "me": "0",
        "members": [("0", None, TOPICS)],
    }


@pytest.mark.parametrize("version", range(10))
async def test_joining_in_each_version(peers: Peers, version: int) -> None:
    peer = await peers.peer()
    peer.send_join(version=version)
    answer = await peer.joined()
    assert answer.error_code == (79 if version >= 4 else 0)
    answer = await peer.join(version=version)
    assert (answer.error_code, answer.leader) == (0, peer.member_id)
    assert answer.protocol_name == "range"
    assert answer.protocol_type == ("consumer" if version >= 7 else None)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"session_timeout_ms": 5_999}, 26),
        ({"session_timeout_ms": 1_800_001}, 26),
        ({"member_id": "unknown"}, 25),
        ({"protocol_type": ""}, 23),
        ({"protocols": {}}, 23),
    ],
    ids=["short session", "long session", "unknown member", "no type", "no protocols"],
)
async def test_joins_that_are_refused(peers: Peers, fields: dict[str, Any], code: int) -> None:
    peer = await peers.peer()
    peer.send_join(**fields)
    answer = await peer.joined()
    assert (answer.error_code, answer.member_id) == (code, fields.get("member_id", ""))
    assert (answer.generation_id, answer.protocol_name, answer.leader) == (-1, None, "")


async def test_errors_before_null_names_were_allowed(peers: Peers) -> None:
    peer = await peers.peer()
    peer.send_join(session_timeout_ms=1, version=6)
    answer = await peer.joined()
    assert (answer.error_code, answer.protocol_name) == (26, "")


async def test_a_group_without_an_id(peers: Peers) -> None:
    peer = await peers.peer()
    peer.group_id = ""
    peer.send_join()
    assert (await peer.joined()).error_code == 24
    peer.generation_id = 1
    assert (await peer.sync())[0] == 24
    assert await peer.heartbeat() == 24
    assert (await peer.leave())[0] == 24


async def test_unknown_groups(peers: Peers) -> None:
    peer = await peers.peer()
    peer.member_id, peer.generation_id = "somebody", 1
    assert await peer.sync() == (25, b"")
    assert await peer.heartbeat() == 25
    assert await peer.leave() == [0, 25]
    old = LeaveGroupRequest(group_id=peer.group_id, member_id="somebody")
    assert (await peer.ask(old, 2)).error_code == 25


async def test_protocols_without_anything_in_common(peers: Peers) -> None:
    first, second = await peers.peer(), await peers.peer()
    await first.join_alone()
    unlike: list[dict[str, Any]] = [
        {"protocols": {"roundrobin": TOPICS}},
        {"protocol_type": "connect"},
    ]
    for fields in unlike:
        second.send_join(**fields)
        assert told(await second.joined())["error"] == 23


async def test_the_protocol_most_members_prefer_is_chosen(peers: Peers) -> None:
    a, b, c = [await peers.peer() for _ in range(3)]
    await a.join_alone(BOTH)
    for peer in (b, c):
        await peer.get_id(BOTH)
    b.send_join(BOTH_REVERSED)
    assert await peers.is_rebalancing(a)
    c.send_join({**BOTH_REVERSED, "other": TOPICS})
    a.send_join(BOTH)
    answers = [await peer.joined() for peer in (a, b, c)]
    assert {answer.protocol_name for answer in answers} == {"sticky"}
    assert {answer.generation_id for answer in answers} == {2}
    assert {member.metadata for member in answers[0].members} == {OTHER_TOPICS}
    assert [len(answer.members) for answer in answers] == [3, 0, 0]


async def test_a_rejoin_while_stable(peers: Peers) -> None:
    """A leader wants a rebalance by it, a follower with something new too, else it is told."""
    leader, follower = await peers.pair()
    follower.send_join()
    assert told(await follower.joined(), leader, follower) == {
        "error": 0,
        "generation": 2,
        "protocol": ("consumer", "range"),
        "leader": "0",
        "skip": False,
        "me": "1",
        "members": [],
    }
    assert await leader.heartbeat() == 0
    leader.send_join()
    assert await peers.is_rebalancing(follower)
    follower.send_join()
    answer = told(await leader.joined(), leader, follower)
    assert (answer["generation"], answer["members"]) == (
        3,
        [("0", None, TOPICS), ("1", None, TOPICS)],
    )
    assert (await follower.joined()).generation_id == 3
    given = {leader.member_id: b"x"}
    follower.send_sync()
    assert await leader.sync(given) == (0, b"x")
    assert await follower.synced() == (0, b"")
    follower.send_join({"range": OTHER_TOPICS})
    assert await peers.is_rebalancing(leader)


async def test_a_rejoin_before_the_assignment(peers: Peers) -> None:
    """The answer may have been lost: it is given again, unless something is new."""
    peer = await peers.peer()
    first = await peer.join()
    again = await peer.join()
    assert again == first
    changed = await peer.join({"range": OTHER_TOPICS})
    assert (changed.generation_id, changed.members[0].metadata) == (2, OTHER_TOPICS)


async def test_an_id_given_out_holds_the_join_phase(peers: Peers) -> None:
    first, second, third = [await peers.peer() for _ in range(3)]
    await first.join_alone()
    await second.get_id()
    await third.get_id()
    second.send_join()
    assert await peers.is_rebalancing(first)
    first.send_join()
    assert await third.leave() == [0, 0]
    assert (await first.joined()).generation_id == 2
    assert (await second.joined()).generation_id == 2


async def test_who_does_not_rejoin_in_time_is_out(peers: Peers) -> None:
    """The rebalance timeout."""
    late, other = await peers.peer(), await peers.peer()
    await late.join_alone(rebalance_timeout_ms=1000)
    await other.get_id()
    other.send_join(rebalance_timeout_ms=1000)
    answer = told(await other.joined(), late, other)
    assert (answer["generation"], answer["leader"]) == (2, "1")
    assert answer["members"] == [("1", None, TOPICS)]
    assert await late.heartbeat() == 25


async def test_who_does_not_ask_for_the_assignment_in_time_is_out(peers: Peers) -> None:
    leader, follower = await peers.pair(rebalance_timeout_ms=1500)
    leader.send_join(rebalance_timeout_ms=1500)
    assert await peers.is_rebalancing(follower)
    follower.send_join(rebalance_timeout_ms=1500)
    await leader.joined()
    await follower.joined()
    assert await leader.sync({leader.member_id: b"x"}) == (0, b"x")
    assert await peers.is_rebalancing(leader)
    assert await follower.heartbeat() == 25


# SyncGroup, Heartbeat…


async def test_syncs_that_are_refused(peers: Peers) -> None:
    leader, follower = await peers.pair()
    assert await follower.sync(protocol_name="sticky") == (23, b"")
    assert await follower.sync(protocol_type="connect") == (23, b"")
    assert await follower.sync(protocol_type=None) == (23, b"")
    assert await follower.sync(protocol_name=None) == (23, b"")
    assert await follower.sync(version=4) == (0, b"second")
    follower.generation_id = 1
    assert await follower.sync() == (22, b"")
    follower.generation_id = 2
    leader.send_join()
    assert await peers.is_rebalancing(follower)
    assert await follower.sync() == (27, b"")


async def test_what_a_sync_tells(peers: Peers) -> None:
    peer = await peers.peer()
    await peer.join_alone()
    request = SyncGroupRequest(
        group_id=peer.group_id,
        generation_id=1,
        member_id=peer.member_id,
        protocol_type="consumer",
        protocol_name="range",
    )
    answer = await peer.ask(request, 5)
    assert (answer.protocol_type, answer.protocol_name, answer.assignment) == (
        "consumer",
        "range",
        b"mine",
    )
    request.generation_id = 7
    answer = await peer.ask(request, 5)
    assert (answer.error_code, answer.protocol_type, answer.protocol_name) == (22, None, None)


async def test_who_waits_for_an_assignment_is_told_of_a_rebalance(peers: Peers) -> None:
    leader, follower = await peers.pair()
    leader.send_join()
    assert await peers.is_rebalancing(follower)
    follower.send_join()
    await leader.joined()
    await follower.joined()
    follower.send_sync()
    leader.send_join({"range": OTHER_TOPICS})
    assert await follower.synced() == (27, b"")
    follower.send_join()
    assert (await leader.joined()).generation_id == 4
    assert (await follower.joined()).generation_id == 4


async def test_heartbeats(peers: Peers) -> None:
    peer = await peers.peer()
    await peer.join()
    assert await peer.heartbeat() == 0
    assert await peer.heartbeat(generation_id=0) == 22
    assert await peer.heartbeat(member_id="other") == 25
    assert await peer.heartbeat(group_instance_id="other") == 25
    await peer.sync({peer.member_id: b"x"})
    assert await peer.heartbeat() == 0


# LeaveGroup…


async def test_leaving(peers: Peers) -> None:
    """Several members leave in one request, each with its own result (KIP-345)."""
    leader, follower = await peers.pair()
    nobody = MemberIdentity(member_id="nobody", group_instance_id=None)
    nameless = MemberIdentity(member_id="", group_instance_id=None)
    stranger = MemberIdentity(member_id="", group_instance_id="stranger")
    me = MemberIdentity(member_id=leader.member_id, group_instance_id=None, reason="tired")
    assert await follower.leave(nobody, nameless, stranger, me) == [0, 25, 25, 25, 0]
    assert await follower.heartbeat() == 27
    answer = told(await follower.join(), leader, follower)
    assert (answer["generation"], answer["leader"]) == (3, "1")
    assert await leader.heartbeat() == 25
    assert await follower.leave() == [0, 0]
    assert await follower.heartbeat() == 25
    leader.member_id = ""
    assert (await leader.join()).generation_id == 5


async def test_leaving_in_an_old_version(peers: Peers) -> None:
    peer = await peers.peer()
    await peer.join_alone()
    request = LeaveGroupRequest(group_id=peer.group_id, member_id=peer.member_id)
    assert (await peer.ask(request, 2)).error_code == 0
    assert (await peer.ask(request, 2)).error_code == 25


async def test_a_member_that_leaves_while_it_joins_learns_that_it_is_unknown(
    peers: Peers,
) -> None:
    first, second = await peers.peer(), await peers.peer()
    await first.join_alone()
    await second.get_id()
    second.send_join()
    assert await peers.is_rebalancing(first)
    assert await first.leave(MemberIdentity(member_id=second.member_id)) == [0, 0]
    answer = await second.joined()
    assert (answer.error_code, answer.member_id) == (25, "")


# Static members (KIP-345)…


async def test_a_static_member_needs_no_second_request_and_keeps_its_place(peers: Peers) -> None:
    """A static leader that comes back is told to skip the assignment (KIP-814)."""
    first, second = await peers.peer("one"), await peers.peer("one")
    first.send_join()
    answer = await first.joined()
    assert told(answer, first) == {
        "error": 0,
        "generation": 1,
        "protocol": ("consumer", "range"),
        "leader": "0",
        "skip": False,
        "me": "0",
        "members": [("0", "one", TOPICS)],
    }
    assert answer.member_id.startswith("one-")
    assert await first.sync({first.member_id: b"kept"}) == (0, b"kept")
    second.send_join()
    assert told(await second.joined(), first, second) == {
        "error": 0,
        "generation": 1,
        "protocol": ("consumer", "range"),
        "leader": "1",
        "skip": True,
        "me": "1",
        "members": [("1", "one", TOPICS)],
    }
    assert await second.sync() == (0, b"kept")
    # The former holder of the name is fenced.
    assert await first.heartbeat() == 82
    assert (await first.sync())[0] == 82
    assert await first.leave() == [0, 82]
    first.send_join()
    assert (await first.joined()).error_code == 82
    assert await second.heartbeat() == 0


async def test_a_static_leader_that_cannot_skip_is_not_told_that_it_leads(peers: Peers) -> None:
    first, second = await peers.peer("one"), await peers.peer("one")
    await first.join_alone()
    second.send_join(version=8)
    assert told(await second.joined(), first, second) == {
        "error": 0,
        "generation": 1,
        "protocol": ("consumer", "range"),
        "leader": "0",
        "skip": False,
        "me": "1",
        "members": [],
    }
    assert await second.sync() == (0, b"mine")


async def test_a_static_member_that_comes_back_with_another_protocol(peers: Peers) -> None:
    first, second = await peers.peer("one"), await peers.peer("one")
    await first.join_alone(BOTH)
    second.send_join(BOTH_REVERSED)
    answer = told(await second.joined(), first, second)
    assert (answer["generation"], answer["protocol"][1]) == (2, "sticky")
    assert answer["members"] == [("1", "one", OTHER_TOPICS)]


async def test_a_static_member_that_waits_is_fenced_at_once(peers: Peers) -> None:
    other, first, second = await peers.peer(), await peers.peer("one"), await peers.peer("one")
    await other.join_alone()
    first.send_join()
    assert await peers.is_rebalancing(other)
    second.send_join()
    fenced = await first.joined()
    assert (fenced.error_code, fenced.leader, fenced.members) == (82, "", [])
    other.send_join()
    assert (await second.joined()).generation_id == 2


async def test_a_static_member_that_comes_back_before_the_assignment(peers: Peers) -> None:
    other, first, second = await peers.peer(), await peers.peer("one"), await peers.peer("one")
    await other.join_alone()
    first.send_join()
    assert await peers.is_rebalancing(other)
    other.send_join()
    await other.joined()
    await first.joined()
    first.send_sync()
    second.send_join()
    assert await first.synced() == (82, b"")
    assert await peers.is_rebalancing(other)
    other.send_join()
    assert (await second.joined()).generation_id == 3


async def test_a_static_member_is_removed_by_its_name(peers: Peers) -> None:
    peer = await peers.peer("one")
    await peer.join_alone()
    wrong = MemberIdentity(member_id="other", group_instance_id="one")
    by_name = MemberIdentity(member_id="", group_instance_id="one")
    assert await peer.leave(wrong, by_name) == [0, 82, 0]
    assert await peer.heartbeat() == 25


async def test_static_members_stay_while_their_session_lasts(peers: Peers) -> None:
    static, other = await peers.peer("one"), await peers.peer()
    await static.join_alone(rebalance_timeout_ms=1000)
    await other.get_id()
    other.send_join(rebalance_timeout_ms=1000)
    answer = told(await other.joined(), static, other)
    assert (answer["generation"], answer["leader"]) == (2, "1")
    assert answer["members"] == [("0", "one", TOPICS), ("1", None, TOPICS)]


# OffsetCommit…


async def test_commits_by_somebody_who_is_no_member(peers: Peers, topic: str) -> None:
    """A commit with generation -1 is taken while the group is empty or does not exist (2e-12)."""
    peer, member = await peers.peer(), await peers.peer()
    assert await peer.commit(topic, {0: 7, 1: 8}, epoch=3, metadata="note") == [0, 0]
    await member.join()
    assert await peer.commit(topic, {0: 9}) == [25]
    await member.leave()
    assert await peer.commit(topic, {0: 9}) == [0]
    assert offsets_in(await peer.fetch(topic, 0, 1)) == [(0, 9, -1, "", 0), (1, 8, 3, "note", 0)]


async def test_commits_by_members(peers: Peers, topic: str) -> None:
    member = await peers.peer()
    member.generation_id, member.member_id = 1, "unknown"
    assert await member.commit(topic, {0: 1}, version=8) == [22]
    member.generation_id, member.member_id = -1, ""
    await member.join()
    assert await member.commit(topic, {0: 1}) == [27]
    await member.sync({member.member_id: b""})
    assert await member.commit(topic, {0: 1}) == [0]
    assert await member.commit(topic, {0: 1}, generation_id_or_member_epoch=0) == [22]
    assert await member.commit(topic, {0: 1}, generation_id_or_member_epoch=-1) == [22]
    assert await member.commit(topic, {0: 1}, member_id="other") == [25]
    assert await member.commit(topic, {0: 1}, group_instance_id="other") == [25]


async def test_commits_during_a_rebalance(peers: Peers, topic: str) -> None:
    """While the group joins, members may still commit what they have."""
    first, second = await peers.peer(), await peers.peer()
    await first.join_alone()
    await second.get_id()
    second.send_join()
    assert await peers.is_rebalancing(first)
    assert await first.commit(topic, {0: 5}) == [0]


async def test_commits_by_static_members(peers: Peers, topic: str) -> None:
    first, second = await peers.peer("one"), await peers.peer("one")
    await first.join_alone()
    await second.join()
    assert await first.commit(topic, {0: 1}) == [82]
    assert await second.commit(topic, {0: 1}) == [0]


async def test_commits_to_partitions_that_do_not_exist(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    assert await peer.commit(f"{topic}-unknown", {0: 1}) == [3]
    assert sorted(await peer.commit(topic, {0: 1, 9: 1})) == [0, 3]
    # Nobody is asked about the group then.
    peer.generation_id, peer.member_id = 5, "unknown"
    assert await peer.commit(f"{topic}-unknown", {0: 1}) == [3]
    assert codes(await peer.ask(OffsetCommitRequest(group_id=peer.group_id), 9)) == []


async def test_metadata_that_is_too_long(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    assert await peer.commit(topic, {0: 1}, metadata="x" * 4096) == [0]
    assert await peer.commit(topic, {0: 2}, metadata="x" * 4097) == [12]
    assert offsets_in(await peer.fetch(topic, 0))[0][1] == 1


@pytest.mark.parametrize("version", range(2, 10))
async def test_committing_in_each_version(peers: Peers, topic: str, version: int) -> None:
    peer = await peers.peer()
    assert await peer.commit(topic, {0: 4}, epoch=2, metadata="m", version=version) == [0]
    epoch = 2 if version >= 6 else -1
    assert offsets_in(await peer.fetch(topic, 0)) == [(0, 4, epoch, "m", 0)]


# OffsetFetch…


@pytest.mark.parametrize("version", range(1, 8))
async def test_fetching_of_one_group(peers: Peers, topic: str, version: int) -> None:
    peer = await peers.peer()
    await peer.commit(topic, {1: 8}, epoch=3, metadata="note")
    epoch = 3 if version >= 5 else -1
    answer = await peer.fetch_old(topic, 0, 1, 9, version=version)
    assert answer.error_code == 0
    assert offsets_in(answer) == [
        (0, -1, -1, "", 0),
        (1, 8, epoch, "note", 0),
        (9, -1, -1, "", 0),
    ]
    if version >= 2:
        answer = await peer.fetch_old(None, version=version)
        assert [found.name for found in answer.topics] == [topic]
        assert offsets_in(answer) == [(1, 8, epoch, "note", 0)]


@pytest.mark.parametrize("version", [8, 9])
async def test_fetching_of_several_groups(peers: Peers, topic: str, version: int) -> None:
    """OffsetFetch answers for several groups alike (KIP-709)."""
    peer = await peers.peer()
    await peer.commit(topic, {1: 8})
    topics = [OffsetFetchRequestTopics(name=topic, partition_indexes=[1])]
    other = f"{peer.group_id}-other"
    request = OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(group_id=peer.group_id, topics=None),
            OffsetFetchRequestGroup(group_id=other, topics=None),
            OffsetFetchRequestGroup(group_id=other, topics=topics),
        ]
    )
    answer = await peer.ask(request, version)
    found = {(g.group_id, len(g.topics)): (g.error_code, g.topics) for g in answer.groups}
    assert found[peer.group_id, 1][1][0].partitions[0].committed_offset == 8
    assert found[other, 0] == (0, [])
    assert found[other, 1][1][0].partitions[0].committed_offset == -1


async def test_offsets_of_a_deleted_topic(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    await peer.commit(topic, {0: 8})
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=topic)], timeout_ms=5000)
    await peer.ask(request, 6)
    async with asyncio.timeout(30):
        while offsets_in(await peer.fetch(None)):
            await asyncio.sleep(0.01)


async def test_topics_of_offsets_by_id(peers: Peers, topic: str) -> None:
    """Offsets may name topics by id (KIP-848)."""
    peer = await peers.peer()
    if not await serves(peer, ApiKey.OFFSET_COMMIT, 10):
        return  # Kafka 3.9
    topic_id, unknown = await topic_id_of(peer, topic), UUID(int=77)
    assert sorted(await peer.commit(topic_id, {0: 6, 9: 1}, version=10)) == [0, 3]
    assert await peer.commit(unknown, {0: 6}, version=10) == [100]
    answer = await peer.fetch(topic_id, 0, 1, version=10)
    assert answer.groups[0].topics[0].topic_id == topic_id
    assert offsets_in(answer) == [(0, 6, -1, "", 0), (1, -1, -1, "", 0)]
    answer = await peer.fetch(unknown, 0, version=10)
    assert answer.groups[0].error_code == 0
    assert answer.groups[0].topics[0].topic_id == unknown
    assert offsets_in(answer) == [(0, -1, -1, "", 100)]
    answer = await peer.fetch(None, version=10)
    assert answer.groups[0].topics[0].topic_id == topic_id
    assert offsets_in(answer) == [(0, 6, -1, "", 0)]


async def test_order_of_what_is_answered_about_commits(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    request = peer.commit_request(topic, {9: 1, 0: 1})
    unknown = OffsetCommitRequestTopic(
        name=f"{topic}-unknown", partitions=request.topics[0].partitions
    )
    request.topics.insert(0, unknown)
    answer = await peer.ask(request, 9)
    assert {
        (t.name, p.partition_index): p.error_code for t in answer.topics for p in t.partitions
    } == {(topic, 0): 0, (topic, 9): 3, (unknown.name, 0): 3, (unknown.name, 9): 3}


async def test_an_id_given_out_is_not_a_member_yet(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    await peer.get_id()
    assert await peer.heartbeat(generation_id=0) == 25
    assert await peer.sync() == (25, b"")
    assert await peer.commit(topic, {0: 3}, generation_id_or_member_epoch=0) == [25]
    # The group is empty still.
    assert await peer.commit(topic, {0: 3}) == [0]
    peer.instance_id = "one"
    peer.send_join()
    assert (await peer.joined()).error_code == -1
    peer.instance_id = None
    me = MemberIdentity(member_id=peer.member_id)
    assert await peer.leave(me, me) == [0, 0, 25]


async def test_a_member_that_is_named_twice_leaves_once(peers: Peers) -> None:
    peer = await peers.peer()
    await peer.join_alone()
    me = MemberIdentity(member_id=peer.member_id)
    assert await peer.leave(me, me) == [0, 0, 25]
    nobody = LeaveGroupRequest(group_id=peer.group_id, members=[])
    assert (await peer.ask(nobody, 5)).members == []


async def test_offsets_of_the_group_without_an_id(peers: Peers, topic: str) -> None:
    """Once allowed, and so it stays."""
    peer = await peers.peer()
    peer.group_id = ""
    assert await peer.commit(topic, {0: 3}) == [0]
    assert offsets_in(await peer.fetch(topic, 0)) == [(0, 3, -1, "", 0)]
    assert offsets_in(await peer.fetch_old(topic, 0)) == [(0, 3, -1, "", 0)]


async def test_negative_offsets_are_kept(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    assert await peer.commit(topic, {0: -5}) == [0]
    assert offsets_in(await peer.fetch(topic, 0)) == [(0, -5, -1, "", 0)]


async def test_no_topics_are_not_all_topics(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    await peer.commit(topic, {0: 3})
    nothing = OffsetFetchRequest(group_id=peer.group_id, topics=[])
    assert (await peer.ask(nothing, 7)).topics == []
