"""Members of both protocols in one group, and groups that change their protocol (KIP-848).

The same bare requests to the embedded broker and to a real Apache Kafka get the same answers.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.protocol.messages.describe_groups import DescribeGroupsRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponse
from tests.support.topics import create_topic
from tests.testing.broker.apache.consumer_peers import (
    ConsumerPeer,
    ConsumerPeers,
    consumer_peers_of,
)
from tests.testing.broker.apache.group_peers import MemberIdentity, Peer

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

ILLEGAL_GENERATION, INCONSISTENT, UNKNOWN, REBALANCE = 22, 23, 25, 27
NOT_FOUND, UNRELEASED, FENCED_INSTANCE = 69, 111, 82


class Mixed:
    """One group with a topic of four partitions, and members of both protocols."""

    def __init__(self, peers: ConsumerPeers) -> None:
        self.peers = peers
        self.topic = peers.topic

    async def consumer(self, member_id: str) -> ConsumerPeer:
        return await self.peers.member(member_id)

    async def classic(self, instance_id: str | None = None) -> Peer:
        peer = (await self.peers.member("-")).peer
        peer.instance_id = instance_id
        return peer

    def offer(self, *owned: int, version: int = 3, name: str = "range") -> dict[str, bytes]:
        """What a member says in its JoinGroup about topic and owned partitions."""
        partitions = [(self.topic, [*owned])] if owned else []
        return {
            name: ConsumerProtocolMemberMetadata(version, [self.topic], b"", partitions, 1).encode()
        }

    async def join(self, peer: Peer, *owned: int, **more: Any) -> tuple[int, int, str | None]:
        """(error, generation, protocol)"""
        answer: JoinGroupResponse = await peer.join(self.offer(*owned), **more)
        assert (answer.leader, answer.members, answer.skip_assignment) == ("", [], False)
        return answer.error_code, answer.generation_id, answer.protocol_name

    async def sync(self, peer: Peer) -> tuple[int, list[int]]:
        """(error, partitions)"""
        error, assignment = await peer.sync()
        return error, self.read(assignment)

    def read(self, assignment: bytes) -> list[int]:
        if not assignment:
            return []
        decoded = ConsumerProtocolMemberAssignment.decode(assignment)
        return [tp.partition for tp in decoded.partitions()]

    def given(self, *partitions: int) -> bytes:
        """What a leader gives."""
        told = [(self.topic, [*partitions])] if partitions else []
        return ConsumerProtocolMemberAssignment(1, told, None).encode()

    async def alone(self, *partitions: int, instance_id: str | None = None) -> Peer:
        """The one member of a classic group, which has these partitions."""
        peer = await self.classic(instance_id)
        assert (await peer.join(self.offer())).error_code == 0
        assert (await peer.sync({peer.member_id: self.given(*partitions)}))[0] == 0
        return peer

    async def upgraded(self) -> tuple[Peer, ConsumerPeer]:
        """A classic member with everything, and a new one by the newer protocol with nothing."""
        old, new = await self.alone(0, 1, 2, 3), await self.consumer("n")
        assert (await new.join()).short == (0, 2, [])
        return old, new


@pytest_asyncio.fixture
async def mixed(any_kafka: str, topic_name: str) -> AsyncIterator[Mixed]:
    topic = topic_name.replace("[", "-").replace("]", "-")
    await create_topic(any_kafka, topic, partitions=4)
    async with consumer_peers_of(any_kafka, topic_name, topic) as peers:
        yield Mixed(peers)


async def test_a_group_is_upgraded_and_a_cooperative_member_gives_up_what_moves(
    mixed: Mixed,
) -> None:
    old, new = await mixed.upgraded()
    group = await mixed.peers.describe()
    types = {member.member_id: member.member_type for member in group.members}
    assert types == {old.member_id: 0, "n": 1}
    assert await mixed.peers.epochs() == ("Reconciling", 2, 2, {old.member_id: 1, "n": 2})
    assert await old.heartbeat() == REBALANCE
    assert await mixed.join(old, 0, 1, 2, 3) == (0, 1, "range")
    assert await old.heartbeat() == REBALANCE
    assert await mixed.sync(old) == (0, [0, 1])
    assert await old.heartbeat() == REBALANCE
    assert (await new.beat()).short == (0, 2, None)
    assert await mixed.join(old, 0, 1) == (0, 2, "range")
    assert await mixed.sync(old) == (0, [0, 1])
    assert await old.heartbeat() == 0
    assert (await new.beat()).short == (0, 2, [2, 3])
    assert (await mixed.peers.epochs())[0] == "Stable"


async def test_an_eager_member_has_given_up_everything_when_it_joins(mixed: Mixed) -> None:
    old, new = await mixed.upgraded()
    assert await mixed.join(old) == (0, 2, "range")
    assert (await new.beat()).short == (0, 2, [2, 3])
    assert await mixed.sync(old) == (0, [0, 1])


async def test_a_classic_member_joins_a_consumer_group(mixed: Mixed) -> None:
    first, late = await mixed.consumer("a"), await mixed.classic()
    await first.join()
    assert len(await late.get_id(mixed.offer())) == 22
    assert await mixed.join(late) == (0, 3, "range")
    assert await mixed.sync(late) == (0, [])
    assert await late.heartbeat() == 0, "others have not given up its partitions yet"
    assert (await first.beat()).short == (0, 2, [0, 1])
    assert (await first.owns(0, 1)).short == (0, 3, None)
    assert await late.heartbeat() == REBALANCE
    assert await mixed.join(late) == (0, 3, "range")
    assert await mixed.sync(late) == (0, [2, 3])
    assert await late.heartbeat() == 0
    described = await late.ask(DescribeGroupsRequest(groups=[late.group_id]), 6)
    assert described.groups[0].error_code == NOT_FOUND


async def test_the_last_member_by_the_newer_protocol_leaves(mixed: Mixed) -> None:
    first, other = await mixed.consumer("a"), await mixed.classic()
    await first.join()
    await mixed.join(other)
    assert (await first.beat(member_epoch=-1)).short == (0, -1, None)
    assert (await mixed.peers.describe()).error_code == NOT_FOUND
    described = await other.ask(DescribeGroupsRequest(groups=[other.group_id]), 6)
    assert described.groups[0].group_state == "PreparingRebalance"
    assert await other.heartbeat() == REBALANCE
    answer = await other.join(mixed.offer())
    assert (answer.error_code, answer.generation_id, answer.leader) == (0, 4, other.member_id)
    assert len(answer.members) == 1
    assert await other.sync({other.member_id: mixed.given(0, 1)}) == (0, mixed.given(0, 1))


async def test_without_the_classic_members_the_group_stays(mixed: Mixed) -> None:
    old, new = await mixed.upgraded()
    assert await old.leave() == [0, 0]
    assert (await new.beat()).short == (0, 3, [0, 1, 2, 3])
    assert await old.heartbeat() == UNKNOWN


@pytest.mark.parametrize("fields", [{"protocol_type": "connect"}, {"protocols": {"other": b""}}])
async def test_a_classic_member_has_to_fit(mixed: Mixed, fields: dict[str, Any]) -> None:
    await mixed.upgraded()
    late = await mixed.classic()
    late.send_join(**{"protocols": mixed.offer(), **fields})
    assert (await late.joined()).error_code == INCONSISTENT


async def test_requests_of_a_classic_member_are_checked(mixed: Mixed) -> None:
    old, new = await mixed.upgraded()
    assert await old.heartbeat(generation_id=7) == ILLEGAL_GENERATION
    assert await old.heartbeat(member_id="n", generation_id=2) == UNKNOWN
    assert await mixed.sync(old) == (REBALANCE, [])
    assert await old.commit(mixed.topic, {0: 5}) == [0]
    assert await old.commit(mixed.topic, {0: 5}, version=8) == [0]
    await mixed.join(old)
    assert (await old.sync(protocol_name="roundrobin"))[0] == INCONSISTENT
    assert (await old.sync(protocol_type="connect"))[0] == INCONSISTENT
    late: dict[str, Any] = {"generation_id_or_member_epoch": 1}
    assert await old.commit(mixed.topic, {0: 6}, **late) == [0], "it has kept the partition"
    assert await old.commit(mixed.topic, {3: 5}, **late) == [ILLEGAL_GENERATION]
    early: dict[str, Any] = {"generation_id_or_member_epoch": 9}
    assert await old.commit(mixed.topic, {0: 5}, **early) == [ILLEGAL_GENERATION]
    old.generation_id = 1
    assert await mixed.sync(old) == (ILLEGAL_GENERATION, [])
    assert (await new.beat()).error == 0


async def test_a_waiting_member_is_sent_back_when_its_group_is_upgraded(mixed: Mixed) -> None:
    old, late = await mixed.alone(0, 1, 2, 3), await mixed.classic()
    await late.get_id(mixed.offer())
    late.send_join(mixed.offer())
    async with asyncio.timeout(30):
        while await old.heartbeat() != REBALANCE:
            await asyncio.sleep(0.01)
    new = await mixed.consumer("n")
    assert (await new.join()).error == 0
    assert (await late.joined()).error_code == REBALANCE
    assert len((await mixed.peers.epochs())[3]) == 3


@pytest.mark.parametrize(
    ("protocol_type", "protocols", "given"),
    [
        ("connect", {"range": b"x"}, b"mine"),
        ("consumer", None, "data"),
    ],
)
async def test_a_group_that_no_coordinator_understands_is_not_upgraded(
    mixed: Mixed, protocol_type: str, protocols: Any, given: Any
) -> None:
    old, new = await mixed.classic(), await mixed.consumer("n")
    await old.join(protocols or mixed.offer(), protocol_type=protocol_type)
    if given == "data":
        given = ConsumerProtocolMemberAssignment(1, [(mixed.topic, [0])], b"data").encode()
    assert (await old.sync({old.member_id: given}, protocol_type=protocol_type))[0] == 0
    refused = await new.join()
    assert refused.error == NOT_FOUND
    assert refused.message is not None
    reasons = {"connect": "does not use the consumer embedded", "consumer": "custom assignor"}
    assert f"Cannot upgrade classic group {new.peer.group_id} to" in refused.message
    assert reasons[protocol_type] in refused.message
    assert await old.heartbeat() == 0


async def test_a_static_member_is_upgraded_and_comes_back(mixed: Mixed) -> None:
    """The place of a classic member needs no release; that of a newer one does."""
    await mixed.alone(0, 1, 2, 3, instance_id="i")
    new = await mixed.consumer("n")
    assert (await new.join(instance_id="i")).short == (0, 1, [0, 1, 2, 3])
    assert await mixed.peers.epochs() == ("Stable", 1, 1, {"n": 1})
    thief = await mixed.consumer("t")
    assert (await thief.join(instance_id="i")).error == UNRELEASED
    back = await mixed.classic("i")
    assert await mixed.join(back, 0, 1, 2, 3) == (0, 1, "range")
    assert (await mixed.peers.describe()).error_code == NOT_FOUND
    assert await mixed.sync(back) == (0, [0, 1, 2, 3])
    assert await back.heartbeat() == 0
    assert (await new.beat(instance_id="i")).error in (NOT_FOUND, UNKNOWN)


async def test_a_static_classic_member_takes_the_place_of_its_former_self(mixed: Mixed) -> None:
    first, static = await mixed.consumer("a"), await mixed.classic("i")
    await first.join()
    assert await mixed.join(static) == (0, 3, "range")
    again = await mixed.classic("i")
    assert await mixed.join(again) == (0, 3, "range")
    assert again.member_id != static.member_id
    assert await static.heartbeat() == FENCED_INSTANCE
    assert await again.leave(MemberIdentity(member_id="", group_instance_id="i")) == [0, 0]
    assert list((await mixed.peers.epochs())[3]) == ["a"]
