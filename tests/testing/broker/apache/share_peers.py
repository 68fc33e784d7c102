"""Members of share groups as bare connections, to any broker."""

import asyncio
import base64
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import pytest

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages._share import AcknowledgementBatch
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from aiokafka_lite.protocol.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from aiokafka_lite.protocol.messages.share_acknowledge import (
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from aiokafka_lite.protocol.messages.share_fetch import (
    FetchPartition,
    FetchTopic,
    ForgottenTopic,
    ShareFetchRequest,
)
from aiokafka_lite.protocol.messages.share_group_describe import (
    DescribedGroup,
    ShareGroupDescribeRequest,
)
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.testing.broker.apache.group_peers import Peer, peers_of
from tests.testing.broker.bench import batch

GROUP_RESOURCE = 32
INVALID_CONFIG = 40
KNOWN_MS = 5001
"""A heartbeat interval that shows that a broker knows the settings of a group."""
GAP, ACCEPT, RELEASE, REJECT, RENEW = range(5)

Acks = Mapping[int, Sequence[tuple[int, int, Sequence[int]]]]
"""Partition -> what is acknowledged of it: first offset, last offset, types."""


@dataclass
class Beat:
    """What a heartbeat was answered."""

    error: int
    epoch: int
    assignment: list[int] | None
    message: str | None
    member_id: str | None
    interval_ms: int

    @property
    def short(self) -> tuple[int, int, list[int] | None]:
        return self.error, self.epoch, self.assignment


@dataclass
class Got:
    """What one partition of a ShareFetch was answered."""

    acquired: list[tuple[int, int, int]]
    """First offset, last offset, delivery count."""
    offsets: list[int] = field(default_factory=list)
    """The records that came, also those that were not acquired."""
    error: int = 0
    ack_error: int = 0


@dataclass
class Fetched:
    """What a ShareFetch was answered."""

    error: int
    message: str | None
    lock_ms: int
    partitions: dict[int, Got]

    @property
    def acquired(self) -> dict[int, list[tuple[int, int, int]]]:
        return {index: got.acquired for index, got in self.partitions.items()}


@dataclass
class Acknowledged:
    """What a ShareAcknowledge was answered."""

    error: int
    message: str | None
    lock_ms: int
    errors: dict[int, int]


class SharePeer:
    """A member: its connection, and what it remembers."""

    def __init__(self, peer: Peer, topic: str, topic_id: UUID, version: int) -> None:
        self.peer = peer
        self.member_id = java_uuid()
        self.topic = topic
        self.topic_id = topic_id
        self.version = version
        self.epoch = 0
        self.session_epoch = 0

    async def beat(self, **fields: Any) -> Beat:
        """Send a heartbeat with only what is named, and remember the epoch."""
        request = ShareGroupHeartbeatRequest(
            **{
                "group_id": self.peer.group_id,
                "member_id": self.member_id,
                "member_epoch": self.epoch,
                **fields,
            }
        )
        answer = await self.peer.ask(request, 1)
        if not answer.error_code:
            self.epoch = answer.member_epoch
        given = answer.assignment
        return Beat(
            answer.error_code,
            answer.member_epoch,
            None
            if given is None
            else sorted(index for topic in given.topic_partitions for index in topic.partitions),
            answer.error_message,
            answer.member_id,
            answer.heartbeat_interval_ms,
        )

    async def join(self, **fields: Any) -> Beat:
        """Join with everything that a first heartbeat needs."""
        return await self.beat(
            **{"member_epoch": 0, "subscribed_topic_names": [self.topic], **fields}
        )

    async def until_assigned(self) -> list[int]:
        """Join, and send heartbeats until there is a whole assignment; return it."""
        beat = await self.join()
        async with asyncio.timeout(30):
            while not (beat.assignment or beat.error):
                await asyncio.sleep(0.01)
                beat = await self.beat()
        assert not beat.error, beat
        return beat.assignment or []

    def send_fetch(
        self, partitions: Sequence[int] = (0,), acks: Acks | None = None, **fields: Any
    ) -> None:
        """Ask for records and go on; `fetched` reads the answer."""
        acks = acks or {}
        indexes = sorted({*partitions, *acks})
        asked = [
            FetchPartition(
                partition_index=index, acknowledgement_batches=_batches(acks.get(index, ()))
            )
            for index in indexes
        ]
        forget = fields.pop("forget", ())
        topic_id = fields.pop("topic_id", self.topic_id)
        request = ShareFetchRequest(
            **{
                "group_id": self.peer.group_id,
                "member_id": self.member_id,
                "share_session_epoch": self.session_epoch,
                "max_wait_ms": 0,
                "min_bytes": 1,
                "max_records": 500,
                "batch_size": 500,
                "topics": [FetchTopic(topic_id=topic_id, partitions=asked)] if asked else [],
                "forgotten_topics_data": [ForgottenTopic(topic_id=topic_id, partitions=[*forget])]
                if forget
                else [],
                **fields,
            }
        )
        self.peer.send(request, self.version)

    async def fetched(self) -> Fetched:
        _, answer = await self.peer.receive(ShareFetchRequest.response_type, self.version)
        if not answer.error_code:
            self.session_epoch += 1
        partitions = {}
        for topic in answer.responses:
            for data in topic.partitions:
                partitions[data.partition_index] = Got(
                    [
                        (a.first_offset, a.last_offset, a.delivery_count)
                        for a in data.acquired_records
                    ],
                    offsets_of(data.records),
                    data.error_code,
                    data.acknowledge_error_code,
                )
        return Fetched(
            answer.error_code, answer.error_message, answer.acquisition_lock_timeout_ms, partitions
        )

    async def fetch(
        self, partitions: Sequence[int] = (0,), acks: Acks | None = None, **fields: Any
    ) -> Fetched:
        """Ask for records. A request that opens a session is repeated until it finds a leader that
        has loaded the state of the partitions.
        """
        opens = fields.get("share_session_epoch", self.session_epoch) == 0
        async with asyncio.timeout(30):
            while True:
                self.send_fetch(partitions, acks, **fields)
                answer = await self.fetched()
                is_loaded = {*partitions} <= answer.partitions.keys() or any(
                    answer.acquired.values()
                )
                if answer.error or is_loaded or not opens:
                    return answer
                self.session_epoch -= 1
                await asyncio.sleep(0.01)

    async def acknowledge(self, acks: Acks, **fields: Any) -> Acknowledged:
        parts = [
            AcknowledgePartition(partition_index=index, acknowledgement_batches=_batches(each))
            for index, each in acks.items()
        ]
        topic_id = fields.pop("topic_id", self.topic_id)
        request = ShareAcknowledgeRequest(
            **{
                "group_id": self.peer.group_id,
                "member_id": self.member_id,
                "share_session_epoch": self.session_epoch,
                "topics": [AcknowledgeTopic(topic_id=topic_id, partitions=parts)] if parts else [],
                **fields,
            }
        )
        answer = await self.peer.ask(request, self.version)
        if not answer.error_code:
            self.session_epoch += 1
        return Acknowledged(
            answer.error_code,
            answer.error_message,
            answer.acquisition_lock_timeout_ms,
            {p.partition_index: p.error_code for t in answer.responses for p in t.partitions},
        )

    async def until_acquired(self, **fields: Any) -> list[tuple[int, int, int]]:
        """Fetch until records of partition 0 come."""
        async with asyncio.timeout(30):
            while not (got := (await self.fetch(**fields)).acquired.get(0)):
                await asyncio.sleep(0.01)
        return got


class SharePeers:
    """Opens members of one group on one broker, writes records and looks at the group."""

    def __init__(
        self, address: str, first: Peer, topic: str, topic_id: UUID, version: int, opens: Any
    ) -> None:
        self.address = address
        self.first = first
        self.topic = topic
        self.topic_id = topic_id
        self.version = version
        self._opens = opens

    async def member(self) -> SharePeer:
        return SharePeer(await self._opens(), self.topic, self.topic_id, self.version)

    async def reader(self, **settings: str) -> SharePeer:
        """The one member of a group that reads from the beginning."""
        known = {"share.heartbeat.interval.ms": str(KNOWN_MS)}
        for name, value in {"share.auto.offset.reset": "earliest", **settings, **known}.items():
            assert await self.alter(name, value) == 0
        member = await self.member()
        await member.until_assigned()
        async with asyncio.timeout(30):
            while (await member.beat()).interval_ms != KNOWN_MS:
                await asyncio.sleep(0.01)
        return member

    async def is_assigned_at_once(self) -> None:
        """Let the group be assigned at each change, as before Kafka 4.4.

        A broker learns of settings in their order. So a second group shows that it knows the first.
        """
        if await self.alter("share.assignment.interval.ms", "0") == INVALID_CONFIG:
            return  # before Kafka 4.4
        scout_group = f"{self.first.group_id}-scout"
        assert await self.alter("share.heartbeat.interval.ms", str(KNOWN_MS), scout_group) == 0
        scout = await self.member()
        async with asyncio.timeout(30):
            while (await scout.join(group_id=scout_group)).interval_ms != KNOWN_MS:
                await asyncio.sleep(0.01)
        assert (await scout.beat(member_epoch=-1, group_id=scout_group)).error == 0

    async def write(self, *values: bytes, partition: int = 0, raw: bytes = b"") -> int:
        """Append a batch; return its first offset."""
        data = PartitionProduceData(index=partition, records=raw or batch(*values))
        topic = TopicProduceData(name=self.topic, partition_data=[data])
        request = ProduceRequest(acks=-1, timeout_ms=9000, topic_data=[topic])
        answer = await self.first.ask(request, 9)
        told = answer.responses[0].partition_responses[0]
        assert not told.error_code, told
        offset: int = told.base_offset
        return offset

    async def describe(self, group_id: str | None = None) -> DescribedGroup:
        request = ShareGroupDescribeRequest(group_ids=[group_id or self.first.group_id])
        group: DescribedGroup = (await self.first.ask(request, 1)).groups[0]
        return group

    async def epochs(self) -> tuple[str, int, int, list[int]]:
        """The state, the epochs of the group and of its assignment, and those of its members."""
        group = await self.describe()
        members = [member.member_epoch for member in group.members]
        return group.group_state, group.group_epoch, group.assignment_epoch, members

    async def offsets(self) -> dict[int, tuple[int, int]]:
        """Partition -> start offset and lag, as an administrator sees them."""
        group = DescribeShareGroupOffsetsRequestGroup(group_id=self.first.group_id, topics=None)
        answer = await self.first.ask(DescribeShareGroupOffsetsRequest(groups=[group]), 1)
        return {
            p.partition_index: (p.start_offset, p.lag)
            for topic in answer.groups[0].topics
            for p in topic.partitions
        }

    async def stable_end(self) -> int:
        """Where the records end before the first open transaction."""
        partition = ListOffsetsPartition(partition_index=0, timestamp=-1)
        topic = ListOffsetsTopic(name=self.topic, partitions=[partition])
        request = ListOffsetsRequest(replica_id=-1, isolation_level=1, topics=[topic])
        offset: int = (await self.first.ask(request, 7)).topics[0].partitions[0].offset
        return offset

    async def delete_topic(self) -> None:
        request = DeleteTopicsRequest(topics=[DeleteTopicState(name=self.topic)], timeout_ms=9000)
        assert not (await self.first.ask(request)).responses[0].error_code

    async def alter(self, name: str, value: str, group_id: str | None = None) -> int:
        """Change a setting of the group, or of another one; return the error."""
        config = AlterableConfig(name=name, config_operation=0, value=value)
        resource = AlterConfigsResource(
            resource_type=GROUP_RESOURCE,
            resource_name=group_id or self.first.group_id,
            configs=[config],
        )
        answer = await self.first.ask(IncrementalAlterConfigsRequest(resources=[resource]), 1)
        code: int = answer.responses[0].error_code
        return code


def java_uuid() -> str:
    """A member id, which a share session needs in the form of Java's Uuid."""
    return base64.urlsafe_b64encode(uuid4().bytes).decode().rstrip("=")


def offsets_of(records: Any) -> list[int]:
    cursor = RecordCursor(memoryview(records or b""), topic="t", partition=0, fetch_offset=0)
    found: list[int] = []
    while not cursor.exhausted:
        found += [record.offset for record in cursor.take(1000)]
    return found


def _batches(acks: Sequence[tuple[int, int, Sequence[int]]]) -> list[AcknowledgementBatch]:
    return [
        AcknowledgementBatch(first_offset=first, last_offset=last, acknowledge_types=[*types])
        for first, last, types in acks
    ]


@contextlib.asynccontextmanager
async def share_peers_of(address: str, group_id: str, topic: str) -> AsyncIterator[SharePeers]:
    """Members of a share group that is assigned at once."""
    async with peers_of(address, group_id) as peers:
        first = await peers.peer()
        about_me = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        newest = {a.api_key: a.max_version for a in (await first.ask(about_me, 3)).api_keys}
        if newest.get(ApiKey.SHARE_FETCH, 0) < 1:
            pytest.skip("this release has share groups as a preview, or not at all")
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        topic_id = (await first.ask(request, 12)).topics[0].topic_id
        found = SharePeers(address, first, topic, topic_id, newest[ApiKey.SHARE_FETCH], peers.peer)
        await found.is_assigned_at_once()
        yield found


__all__ = [
    "ACCEPT",
    "GAP",
    "REJECT",
    "RELEASE",
    "RENEW",
    "SharePeer",
    "SharePeers",
    "java_uuid",
    "share_peers_of",
]
