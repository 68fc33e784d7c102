"""The same bare requests of an administrator of groups to the embedded broker and to real Apache
Kafkas get the same answers. What a rule of the protocol is, Apache Kafka decides.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from aiokafka_lite.protocol.messages.delete_groups import DeleteGroupsRequest
from aiokafka_lite.protocol.messages.delete_share_group_offsets import (
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
)
from aiokafka_lite.protocol.messages.list_groups import ListGroupsRequest
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from aiokafka_lite.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from aiokafka_lite.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from aiokafka_lite.schema.message import Request
from tests.support.topics import create_topic
from tests.testing.broker.apache.group_peers import (
    NOT_THERE_YET,
    OTHER_TOPICS,
    TOPICS,
    Peer,
    Peers,
    offsets_in,
    peers_of,
)

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])


@pytest_asyncio.fixture
async def peers(any_kafka: str, topic_name: str) -> AsyncIterator[Peers]:
    async with peers_of(any_kafka, topic_name) as peers:
        yield peers


@pytest_asyncio.fixture
async def topic(any_kafka: str, topic_name: str) -> str:
    name = topic_name.replace("[", "-").replace("]", "-")
    await create_topic(any_kafka, name, partitions=2)
    return name


async def newest(peer: Peer, request_type: type[Request[Any]]) -> int:
    """The newest version that both know; -1 if the broker does not have the API."""
    about_me = ApiVersionsRequest(client_software_name="x", client_software_version="1")
    for api in (await peer.ask(about_me, 3)).api_keys:
        if api.api_key == request_type.api_key:
            return min(api.max_version, request_type.versions.max)
    return -1


async def ask(peer: Peer, request: Request[Any]) -> Any:
    version = await newest(peer, type(request))
    if version < request.versions.min:
        pytest.skip("this release does not have the API")
    return await peer.ask(request, version)


# ListGroups…


async def listed(peer: Peer, version: int = 5, **filters: list[str]) -> list[tuple[str, str, str]]:
    answer = await peer.ask(ListGroupsRequest(**filters), version)
    assert answer.error_code == 0
    return [
        (each.protocol_type, each.group_state, each.group_type)
        for each in answer.groups
        if each.group_id == peer.group_id
    ]


@pytest.mark.parametrize("version", range(6))
async def test_listing(peers: Peers, topic: str, version: int) -> None:
    peer = await peers.peer()
    assert await listed(peer, version) == []
    assert await peer.commit(topic, {0: 5}) == [0]
    kind = "classic" if version >= 5 else ""
    assert await listed(peer, version) == [("", "Empty" if version >= 4 else "", kind)]
    await peer.join_alone()
    assert await listed(peer, version) == [("consumer", "Stable" if version >= 4 else "", kind)]
    await peer.leave()
    assert await listed(peer, version) == [("consumer", "Empty" if version >= 4 else "", kind)]


@pytest.mark.parametrize(
    ("filters", "is_listed"),
    [
        ({"states_filter": ["Stable"]}, True),
        ({"states_filter": ["stABLE", "x"]}, True),
        ({"states_filter": ["Empty"]}, False),
        ({"types_filter": ["Classic"]}, True),
        ({"types_filter": ["consumer"]}, False),
        ({"types_filter": ["nothing"]}, False),
        ({"types_filter": ["classic"], "states_filter": ["Dead"]}, False),
    ],
)
async def test_listing_some(peers: Peers, filters: dict[str, list[str]], is_listed: bool) -> None:
    peer = await peers.peer()
    await peer.join_alone()
    assert bool(await listed(peer, 5, **filters)) == is_listed


# DescribeGroups…


async def described(peer: Peer, version: int, *, operations: bool = False) -> Any:
    request = DescribeGroupsRequest(
        groups=[peer.group_id], include_authorized_operations=operations
    )
    (group,) = (await peer.ask(request, version)).groups
    assert group.group_id == peer.group_id
    return group


@pytest.mark.parametrize("version", range(7))
async def test_describing(peers: Peers, version: int) -> None:
    leader, follower = await peers.peer("one"), await peers.peer()
    if version > await newest(leader, DescribeGroupsRequest):
        pytest.skip("this release does not have the version")
    group = await described(leader, version)
    assert (group.group_state, group.protocol_type, group.members) == ("Dead", "", [])
    assert group.error_code == (69 if version >= 6 else 0)
    assert group.error_message == (f"Group {leader.group_id} not found." if version >= 6 else None)
    await leader.join_alone()
    group = await described(leader, version)
    assert (group.error_code, group.error_message) == (0, None)
    assert (group.group_state, group.protocol_type, group.protocol_data) == (
        "Stable",
        "consumer",
        "range",
    )
    (member,) = group.members
    assert (member.member_id, member.client_host) == (leader.member_id, "/127.0.0.1")
    assert member.group_instance_id == ("one" if version >= 4 else None)
    assert (member.member_metadata, member.member_assignment) == (TOPICS, b"mine")
    await follower.get_id()
    follower.send_join()
    assert await peers.is_rebalancing(leader)
    group = await described(leader, version)
    assert (group.group_state, group.protocol_data) == ("PreparingRebalance", "")
    assert [(each.member_metadata, each.member_assignment) for each in group.members] in (
        [(b"", b"mine"), (b"", b"")],
        [(b"", b""), (b"", b"mine")],
        [(b"", b""), (b"", b"")],  # before Kafka 4.0
    )


async def test_the_operations_of_a_group(peers: Peers) -> None:
    peer = await peers.peer()
    assert (await described(peer, 5)).authorized_operations == -(2**31)
    # READ, DELETE, DESCRIBE; since Kafka 4.0 a group has configs, too.
    is_old = await newest(peer, DescribeGroupsRequest) < 6
    expected = 0b000101001000 if is_old else 0b110101001000
    assert (await described(peer, 5, operations=True)).authorized_operations == expected
    await peer.join_alone()
    assert (await described(peer, 5, operations=True)).authorized_operations == expected


async def test_groups_of_the_newer_kinds_are_not_found(peers: Peers) -> None:
    peer = await peers.peer()
    await peer.join_alone()
    unknown = f"{peer.group_id}-2"
    group_ids = [peer.group_id, unknown]
    kinds: list[tuple[Request[Any], str]] = [
        (ConsumerGroupDescribeRequest(group_ids=group_ids), "consumer"),
        (ShareGroupDescribeRequest(group_ids=group_ids), "share"),
        (StreamsGroupDescribeRequest(group_ids=group_ids), "streams"),
    ]
    for request, kind in kinds:
        answer = await ask(peer, request)
        if answer.groups[0].error_code == 35:
            pytest.skip("this release does not have groups of the newer kinds")
        assert {each.group_id: (each.error_code, each.error_message) for each in answer.groups} == {
            peer.group_id: (69, f"Group {peer.group_id} is not a {kind} group."),
            unknown: (69, f"Group {unknown} not found."),
        }


async def test_offsets_of_share_groups_that_do_not_exist(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    await peer.join_alone()
    mine, unknown = peer.group_id, f"{peer.group_id}-2"
    asked = DescribeShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[0])
    groups = [
        DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=topics)
        for group_id, topics in ((mine, None), (mine, [asked]), (unknown, None), ("", None))
    ]
    answer = await ask(peer, DescribeShareGroupOffsetsRequest(groups=groups))
    assert [(each.error_code, each.error_message) for each in answer.groups] == [(0, None)] * 4
    assert [len(each.topics) for each in answer.groups] == [0, 1, 0, 0]
    (partition,) = answer.groups[1].topics[0].partitions
    assert (partition.start_offset, partition.leader_epoch, partition.lag) == (-1, 0, -1)


@pytest.mark.parametrize("does", ["alter", "delete"])
async def test_changing_offsets_of_share_groups_that_do_not_exist(
    peers: Peers, topic: str, does: str
) -> None:
    peer = await peers.peer()
    await peer.join_alone()

    async def change(group_id: str) -> tuple[int, str]:
        request: Request[Any]
        if does == "alter":
            offset = AlterShareGroupOffsetsRequestPartition(partition_index=0, start_offset=0)
            asked = AlterShareGroupOffsetsRequestTopic(topic_name=topic, partitions=[offset])
            request = AlterShareGroupOffsetsRequest(group_id=group_id, topics=[asked])
        else:
            request = DeleteShareGroupOffsetsRequest(
                group_id=group_id, topics=[DeleteShareGroupOffsetsRequestTopic(topic_name=topic)]
            )
        answer = await ask(peer, request)
        assert answer.responses == []
        return answer.error_code, answer.error_message

    is_other = f"Group {peer.group_id} is not a share group."
    assert await change(peer.group_id) == (69, is_other)
    assert (await change(""))[0] == 24
    if does == "delete":
        unknown = f"{peer.group_id}-2"
        assert await change(unknown) == (69, f"Group {unknown} not found.")


async def test_a_share_group_that_an_administrator_makes(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    group_id = peer.group_id

    async def alter(name: str, offsets: dict[int, int]) -> list[tuple[int, int]]:
        rows = [
            AlterShareGroupOffsetsRequestPartition(partition_index=index, start_offset=offset)
            for index, offset in offsets.items()
        ]
        asked = AlterShareGroupOffsetsRequestTopic(topic_name=name, partitions=rows)
        request = AlterShareGroupOffsetsRequest(group_id=group_id, topics=[asked])
        answer = await ask(peer, request)
        while answer.error_code in NOT_THERE_YET:  # a real broker loads its first group of a kind
            await asyncio.sleep(0.05)
            answer = await ask(peer, request)
        assert (answer.error_code, answer.error_message) == (0, None)
        (told,) = answer.responses
        assert bool(told.topic_id.int) == (name == topic)
        return [(each.partition_index, each.error_code) for each in told.partitions]

    async def begins() -> dict[int, tuple[int, int]]:
        group = DescribeShareGroupOffsetsRequestGroup(group_id=group_id, topics=None)
        (told,) = (await ask(peer, DescribeShareGroupOffsetsRequest(groups=[group]))).groups
        assert (told.error_code, told.error_message) == (0, None)
        return {
            each.partition_index: (each.start_offset, each.lag)
            for found in told.topics
            for each in found.partitions
        }

    async def forgotten(name: str) -> list[int]:
        asked = DeleteShareGroupOffsetsRequestTopic(topic_name=name)
        request = DeleteShareGroupOffsetsRequest(group_id=group_id, topics=[asked])
        answer = await ask(peer, request)
        assert (answer.error_code, answer.error_message) == (0, None)
        return [each.error_code for each in answer.responses]

    assert await alter("nowhere", {0: 1}) == [(0, 3)]
    assert await listed(peer) == []
    while (altered := await alter(topic, {0: 0, 1: 2, 9: 1})) == [(0, 3), (1, 3), (9, 3)]:
        await asyncio.sleep(0.05)  # a real coordinator hears of a new topic a moment later
    assert altered == [(0, 0), (1, 0), (9, 3)]
    assert await listed(peer) == [("share", "Empty", "share")]
    assert await listed(peer, types_filter=["SHARE"]) == [("share", "Empty", "share")]
    assert await listed(peer, types_filter=["classic"]) == []
    assert await begins() == {0: (0, 0), 1: (2, -2)}
    (group,) = (await ask(peer, ShareGroupDescribeRequest(group_ids=[group_id]))).groups
    assert (group.error_code, group.group_state, group.members) == (0, "Empty", [])
    assert (group.group_epoch, group.assignment_epoch, group.assignor_name) == (1, 1, "simple")
    (consumer,) = (await ask(peer, ConsumerGroupDescribeRequest(group_ids=[group_id]))).groups
    assert (consumer.error_code, consumer.error_message) == (
        69,
        f"Group {group_id} is not a consumer group.",
    )
    assert (await described(peer, 6)).error_message == f"Group {group_id} is not a classic group."
    assert await peer.commit(topic, {0: 5}, version=8) == [69]
    assert (await peer.join()).error_code == 23
    assert await peer.heartbeat(member_id="somebody", generation_id=1) == 25
    assert await offsets_deleted(peer, {topic: [0]}) == (69, {})
    assert await forgotten("nowhere") == [3]
    assert await forgotten(topic) == [0]
    assert await begins() == {}
    assert await listed(peer) == [("share", "Empty", "share")]
    assert await deleted(peer, group_id) == {group_id: (0, None)}
    assert await listed(peer) == []


# DeleteGroups…


async def deleted(peer: Peer, *group_ids: str) -> dict[str, tuple[int, str | None]]:
    answer = await ask(peer, DeleteGroupsRequest(groups_names=list(group_ids)))
    return {each.group_id: (each.error_code, each.error_message) for each in answer.results}


async def test_deleting(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    await deleted(peer, "")  # other tests commit offsets for it on the same real broker
    assert await deleted(peer, peer.group_id) == {peer.group_id: (69, None)}
    assert await peer.commit(topic, {0: 5}) == [0]
    await peer.join_alone()
    assert await deleted(peer, peer.group_id, f"{peer.group_id}-2", "") == {
        peer.group_id: (68, None),
        f"{peer.group_id}-2": (69, None),
        "": (69, None),
    }
    await peer.leave()
    assert await deleted(peer, peer.group_id) == {peer.group_id: (0, None)}
    assert await listed(peer) == []
    assert offsets_in(await peer.fetch(topic, 0))[0][1] == -1
    assert await peer.heartbeat(member_id="somebody", generation_id=1) == 25


# OffsetDelete…


async def offsets_deleted(
    peer: Peer, partitions: dict[str, list[int]], group_id: str | None = None
) -> tuple[int, dict[str, list[int]]]:
    request = OffsetDeleteRequest(
        group_id=peer.group_id if group_id is None else group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=name,
                partitions=[OffsetDeleteRequestPartition(partition_index=each) for each in indexes],
            )
            for name, indexes in partitions.items()
        ],
    )
    answer = await peer.ask(request, 0)
    return answer.error_code, {
        each.name: [
            part.error_code for part in sorted(each.partitions, key=lambda p: p.partition_index)
        ]
        for each in answer.topics
    }


async def test_deleting_offsets(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    assert await offsets_deleted(peer, {topic: [0]}) == (69, {})
    assert await offsets_deleted(peer, {topic: [0]}, "") == (24, {})
    assert await offsets_deleted(peer, {"nowhere": [0]}) == (69, {})
    assert await peer.commit(topic, {0: 5, 1: 6}) == [0, 0]
    assert await offsets_deleted(peer, {"nowhere": [0]}) == (0, {"nowhere": [3]})
    assert await offsets_deleted(peer, {topic: [0, 7], "nowhere": [0]}) == (
        0,
        {topic: [0, 3], "nowhere": [3]},
    )
    assert [each[:2] for each in offsets_in(await peer.fetch(None))] == [(1, 6)]
    assert await offsets_deleted(peer, {topic: [0]}) == (0, {topic: [0]})


async def test_deleting_offsets_of_a_group_with_members(peers: Peers, topic: str) -> None:
    peer = await peers.peer()
    assert await peer.commit(topic, {0: 5}) == [0]
    await peer.join_alone({"range": ConsumerProtocolMemberMetadata(0, ["x"], b"").encode()})
    assert await offsets_deleted(peer, {topic: [0]}) == (0, {topic: [0]})
    await peer.join_alone({"range": ConsumerProtocolMemberMetadata(0, [topic], b"").encode()})
    assert await peer.commit(topic, {0: 5, 1: 6}) == [0, 0]
    assert await offsets_deleted(peer, {topic: [0, 1]}) == (0, {topic: [86, 86]})
    await peer.leave()
    assert await offsets_deleted(peer, {topic: [0, 1]}) == (0, {topic: [0, 0]})


async def test_deleting_offsets_of_a_group_that_is_not_of_consumers(
    peers: Peers, topic: str
) -> None:
    peer = await peers.peer()
    assert await peer.commit(topic, {0: 5}) == [0]
    assert (await peer.join({"default": OTHER_TOPICS}, protocol_type="connect")).error_code == 0
    share = {peer.member_id: b"mine"}
    assert (await peer.sync(share, protocol_type="connect", protocol_name="default"))[0] == 0
    assert await offsets_deleted(peer, {topic: [0]}) == (68, {})
    await peer.leave()
    assert await offsets_deleted(peer, {topic: [0]}) == (0, {topic: [0]})
