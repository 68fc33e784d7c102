"""Members of groups as bare connections, to the embedded broker or to a real one."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping
from typing import Any
from uuid import UUID

from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
    JoinGroupResponse,
)
from aiokafka_lite.protocol.messages.leave_group import LeaveGroupRequest, MemberIdentity
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)
from aiokafka_lite.protocol.messages.sync_group import (
    SyncGroupRequest,
    SyncGroupRequestAssignment,
    SyncGroupResponse,
)
from tests.testing.broker.bench import WireClient

MEMBER_ID_REQUIRED = 79
NOT_THERE_YET = (14, 15, 16)
TOPICS = ConsumerProtocolMemberMetadata(0, ["t"], b"").encode()
OTHER_TOPICS = ConsumerProtocolMemberMetadata(0, ["t", "u"], b"").encode()
"""Real subscriptions: Kafka 4 looks for the topics in them, and stumbles over other bytes."""
RANGE = {"range": TOPICS}


class Peer(WireClient):
    """A connection, and what the member behind it remembers of its group."""

    group_id = ""
    instance_id: str | None = None
    member_id = ""
    generation_id = -1

    # JoinGroup…

    def send_join(
        self,
        protocols: Mapping[str, bytes] = RANGE,
        *,
        version: int = 9,
        session_timeout_ms: int = 30_000,
        rebalance_timeout_ms: int = 30_000,
        protocol_type: str = "consumer",
        member_id: str | None = None,
    ) -> None:
        """Ask to join and go on; `joined` reads the answer."""
        request = JoinGroupRequest(
            group_id=self.group_id,
            member_id=self.member_id if member_id is None else member_id,
            group_instance_id=self.instance_id,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms if version >= 1 else -1,
            protocol_type=protocol_type,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=metadata)
                for name, metadata in protocols.items()
            ],
        )
        self.join_version = version
        self.send(request, version)

    async def joined(self) -> JoinGroupResponse:
        """Read the answer to JoinGroup, and remember the id and the generation it gives."""
        _, answer = await self.receive(JoinGroupResponse, self.join_version)
        if answer.error_code in (0, MEMBER_ID_REQUIRED):
            self.member_id = answer.member_id
        if answer.error_code == 0:
            self.generation_id = answer.generation_id
        return answer

    async def join(self, protocols: Mapping[str, bytes] = RANGE, **more: Any) -> JoinGroupResponse:
        """Join, by two requests where a new dynamic member needs them (KIP-394)."""
        self.send_join(protocols, **more)
        answer = await self.joined()
        if answer.error_code == MEMBER_ID_REQUIRED:
            self.send_join(protocols, **more)
            answer = await self.joined()
        return answer

    async def get_id(self, protocols: Mapping[str, bytes] = RANGE, **more: Any) -> str:
        """Ask for a member id, and do not join with it."""
        self.send_join(protocols, **more)
        assert (await self.joined()).error_code == MEMBER_ID_REQUIRED
        return self.member_id

    async def join_alone(self, protocols: Mapping[str, bytes] = RANGE, **more: Any) -> None:
        """Be the one member of a stable group, with the assignment b"mine"."""
        answer = await self.join(protocols, **more)
        assert (answer.error_code, answer.leader) == (0, self.member_id)
        assert await self.sync({self.member_id: b"mine"}) == (0, b"mine")

    # SyncGroup…

    def send_sync(
        self,
        assignments: Mapping[str, bytes] | None = None,
        *,
        version: int = 5,
        protocol_type: str | None = "consumer",
        protocol_name: str | None = "range",
    ) -> None:
        """Ask for the assignment and go on; `synced` reads the answer."""
        request = SyncGroupRequest(
            group_id=self.group_id,
            generation_id=self.generation_id,
            member_id=self.member_id,
            group_instance_id=self.instance_id,
            assignments=[
                SyncGroupRequestAssignment(member_id=member_id, assignment=assignment)
                for member_id, assignment in (assignments or {}).items()
            ],
        )
        if version >= 5:
            request.protocol_type, request.protocol_name = protocol_type, protocol_name
        self.sync_version = version
        self.send(request, version)

    async def synced(self) -> tuple[int, bytes]:
        """(error, assignment)"""
        _, answer = await self.receive(SyncGroupResponse, self.sync_version)
        return answer.error_code, answer.assignment

    async def sync(
        self, assignments: Mapping[str, bytes] | None = None, **more: Any
    ) -> tuple[int, bytes]:
        self.send_sync(assignments, **more)
        return await self.synced()

    # Heartbeat, LeaveGroup…

    async def heartbeat(self, **fields: Any) -> int:
        """The error of a heartbeat."""
        request = HeartbeatRequest(
            **{
                "group_id": self.group_id,
                "generation_id": self.generation_id,
                "member_id": self.member_id,
                "group_instance_id": self.instance_id,
                **fields,
            }
        )
        return (await self.ask(request, 4)).error_code

    async def leave(self, *members: MemberIdentity) -> list[int]:
        """The error of the whole, and that of each member: this one unless others are given."""
        me = MemberIdentity(member_id=self.member_id, group_instance_id=self.instance_id)
        request = LeaveGroupRequest(group_id=self.group_id, members=list(members) or [me])
        answer = await self.ask(request, 5)
        return [answer.error_code, *(member.error_code for member in answer.members)]

    # Offsets…

    async def commit(
        self,
        topic: str | UUID,
        offsets: Mapping[int, int],
        *,
        version: int = 9,
        epoch: int = -1,
        metadata: str | None = None,
        **fields: Any,
    ) -> list[int]:
        """The error of each partition."""
        answer = await self.ask(
            self.commit_request(topic, offsets, epoch=epoch, metadata=metadata, **fields), version
        )
        return codes(answer)

    def commit_request(
        self,
        topic: str | UUID,
        offsets: Mapping[int, int],
        *,
        epoch: int = -1,
        metadata: str | None = None,
        **fields: Any,
    ) -> OffsetCommitRequest:
        partitions = [
            OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=offset,
                committed_leader_epoch=epoch,
                committed_metadata=metadata,
            )
            for partition, offset in offsets.items()
        ]
        return OffsetCommitRequest(
            **{
                "group_id": self.group_id,
                "generation_id_or_member_epoch": self.generation_id,
                "member_id": self.member_id,
                "group_instance_id": self.instance_id,
                **fields,
            },
            topics=[OffsetCommitRequestTopic(**named(topic), partitions=partitions)],
        )

    async def fetch_old(
        self, topic: str | None, *partitions: int, version: int = 7
    ) -> OffsetFetchResponse:
        """The answer about one group, as versions 1 to 7 give it; None is for all topics."""
        asked = OffsetFetchRequestTopic(name=topic or "", partition_indexes=list(partitions))
        request = OffsetFetchRequest(
            group_id=self.group_id, topics=None if topic is None else [asked]
        )
        return await self.ask(request, version)

    async def fetch(
        self, topic: str | UUID | None, *partitions: int, version: int = 9, stable: bool = True
    ) -> OffsetFetchResponse:
        """The answer about one group, as versions 8 and newer give it."""
        asked = OffsetFetchRequestTopics(
            **({} if topic is None else named(topic)), partition_indexes=list(partitions)
        )
        group = OffsetFetchRequestGroup(
            group_id=self.group_id, topics=None if topic is None else [asked]
        )
        return await self.ask(OffsetFetchRequest(groups=[group], require_stable=stable), version)


class Peers:
    """Opens members of one group on one broker."""

    def __init__(self, address: str, group_id: str, stack: contextlib.AsyncExitStack) -> None:
        self.address = address
        self.group_id = group_id
        self._stack = stack

    async def peer(self, instance_id: str | None = None) -> Peer:
        peer = await self._stack.enter_async_context(await Peer.connect(self.address))
        peer.group_id = self.group_id
        peer.instance_id = instance_id
        return peer

    async def pair(self, **more: Any) -> tuple[Peer, Peer]:
        """The leader and the follower of a stable group, assigned b"first" and b"second"."""
        leader, follower = await self.peer(), await self.peer()
        await leader.join_alone(**more)
        await follower.get_id(**more)
        follower.send_join(**more)
        assert await self.is_rebalancing(leader)
        leader.send_join(**more)
        await leader.joined()
        await follower.joined()
        follower.send_sync()
        given = {leader.member_id: b"first", follower.member_id: b"second"}
        assert await leader.sync(given) == (0, b"first")
        assert await follower.synced() == (0, b"second")
        return leader, follower

    async def is_rebalancing(self, peer: Peer) -> bool:
        """Return True once the coordinator has seen the JoinGroup of another connection."""
        async with asyncio.timeout(30):
            while await peer.heartbeat() != 27:
                await asyncio.sleep(0.01)
        return True


@contextlib.asynccontextmanager
async def peers_of(address: str, group_id: str) -> AsyncIterator[Peers]:
    """Members of a group, once the broker at `address` coordinates it."""
    async with contextlib.AsyncExitStack() as stack:
        peers = Peers(address, group_id, stack)
        first = await peers.peer()
        request = FindCoordinatorRequest(coordinator_keys=[group_id])
        # A fresh broker has to make its topic of offsets, and has no event to wait for.
        async with asyncio.timeout(30):
            while (await first.ask(request, 4)).coordinators[0].error_code in NOT_THERE_YET:
                await asyncio.sleep(0.05)
            while await first.heartbeat(member_id="nobody", generation_id=1) in NOT_THERE_YET:
                await asyncio.sleep(0.05)
        yield peers


def named(topic: str | UUID) -> dict[str, Any]:
    return {"topic_id": topic} if isinstance(topic, UUID) else {"name": topic}


def codes(answer: OffsetCommitResponse) -> list[int]:
    """The errors of all partitions, in the answer's order."""
    return [p.error_code for topic in answer.topics for p in topic.partitions]


def offsets_in(answer: OffsetFetchResponse) -> list[tuple[int, int, int, str | None, int]]:
    """(partition, offset, epoch, metadata, error) of all partitions, in the answer's order."""
    topics: list[Any] = [*answer.topics, *(t for group in answer.groups for t in group.topics)]
    return [
        (
            p.partition_index,
            p.committed_offset,
            p.committed_leader_epoch,
            p.metadata,
            p.error_code,
        )
        for topic in topics
        for p in topic.partitions
    ]


def told(answer: JoinGroupResponse, *peers: Peer) -> dict[str, Any]:
    """The answer with ids replaced: by the number of the peer, by "?" where it is no peer's."""
    names = {peer.member_id: str(i) for i, peer in enumerate(peers)} | {"": ""}
    return {
        "error": answer.error_code,
        "generation": answer.generation_id,
        "protocol": (answer.protocol_type, answer.protocol_name),
        "leader": names.get(answer.leader, "?"),
        "skip": answer.skip_assignment,
        "me": names.get(answer.member_id, "?"),
        "members": sorted(
            (names.get(member.member_id, "?"), member.group_instance_id, member.metadata)
            for member in answer.members
        ),
    }


__all__ = [
    "OTHER_TOPICS",
    "RANGE",
    "TOPICS",
    "MemberIdentity",
    "Peer",
    "Peers",
    "codes",
    "offsets_in",
    "peers_of",
    "told",
]
