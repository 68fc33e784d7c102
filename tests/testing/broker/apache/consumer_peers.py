"""Members of consumer groups of KIP-848 as bare connections, to any broker."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.consumer_group_describe import (
    ConsumerGroupDescribeRequest,
    DescribedGroup,
)
from aiokafka_lite.protocol.messages.consumer_group_heartbeat import (
    ConsumerGroupHeartbeatRequest,
    TopicPartitions,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.testing.broker.apache.group_peers import Peer, peers_of

GROUP_RESOURCE = 32
INVALID_CONFIG = 40


@dataclass
class Beat:
    """What a heartbeat was answered."""

    error: int
    epoch: int
    assignment: list[int] | None
    """The partitions of all topics together; None for no change."""
    message: str | None
    member_id: str | None
    interval_ms: int

    @property
    def short(self) -> tuple[int, int, list[int] | None]:
        return self.error, self.epoch, self.assignment


class ConsumerPeer:
    """A member: its connection, and what it remembers."""

    def __init__(self, peer: Peer, member_id: str, topic: str, topic_id: UUID) -> None:
        self.peer = peer
        self.member_id = member_id
        self.topic = topic
        self.topic_id = topic_id
        self.epoch = 0

    async def beat(self, version: int = 1, **fields: Any) -> Beat:
        """Send a heartbeat with only what is named, and remember the epoch."""
        request = ConsumerGroupHeartbeatRequest(
            **{
                "group_id": self.peer.group_id,
                "member_id": self.member_id,
                "member_epoch": self.epoch,
                **fields,
            }
        )
        answer = await self.peer.ask(request, version)
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
            **{
                "member_epoch": 0,
                "rebalance_timeout_ms": 30_000,
                "subscribed_topic_names": [self.topic],
                "topic_partitions": [],
                **fields,
            }
        )

    async def owns(self, *partitions: int, **fields: Any) -> Beat:
        """Tell which partitions the member has."""
        return await self.beat(topic_partitions=self.told(partitions), **fields)

    def told(self, partitions: Iterable[int]) -> list[TopicPartitions]:
        indexes = [*partitions]
        return [TopicPartitions(topic_id=self.topic_id, partitions=indexes)] if indexes else []

    async def until(self, epoch: int) -> Beat:
        """Send heartbeats until the member is in an epoch; return the last answer."""
        async with asyncio.timeout(30):
            while (beat := await self.beat()).epoch != epoch:
                await asyncio.sleep(0.01)
        return beat


class ConsumerPeers:
    """Opens members of one group on one broker, and describes the group."""

    def __init__(self, first: Peer, topic: str, topic_id: UUID, open_peer: Any) -> None:
        self.first = first
        self.topic = topic
        self.topic_id = topic_id
        self._open_peer = open_peer

    async def member(self, member_id: str) -> ConsumerPeer:
        return ConsumerPeer(await self._open_peer(), member_id, self.topic, self.topic_id)

    async def describe(self) -> DescribedGroup:
        request = ConsumerGroupDescribeRequest(group_ids=[self.first.group_id])
        group: DescribedGroup = (await self.first.ask(request, 1)).groups[0]
        return group

    async def epochs(self) -> tuple[str, int, int, dict[str, int]]:
        """The state, the epochs of the group and of its assignment, and those of its members."""
        group = await self.describe()
        members = {member.member_id: member.member_epoch for member in group.members}
        return group.group_state, group.group_epoch, group.assignment_epoch, members

    async def is_assigned_at_once(self) -> None:
        """Let the group be assigned at each change, as before Kafka 4.4.

        A broker learns of settings in their order. So a second group shows that it knows the first.
        """
        if await self.alter("consumer.assignment.interval.ms", "0") == INVALID_CONFIG:
            return  # before Kafka 4.4
        scout_group = f"{self.first.group_id}-scout"
        assert await self.alter("consumer.heartbeat.interval.ms", "5001", scout_group) == 0
        scout = await self.member("scout")
        async with asyncio.timeout(30):
            while (await scout.join(group_id=scout_group)).interval_ms != 5001:
                await asyncio.sleep(0.01)
        assert (await scout.beat(member_epoch=-1, group_id=scout_group)).error == 0

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


@contextlib.asynccontextmanager
async def consumer_peers_of(
    address: str, group_id: str, topic: str
) -> AsyncIterator[ConsumerPeers]:
    """Members of a consumer group that is assigned at once, as before Kafka 4.4."""
    async with peers_of(address, group_id) as peers:
        first = await peers.peer()
        about_me = ApiVersionsRequest(client_software_name="x", client_software_version="1")
        newest = {a.api_key: a.max_version for a in (await first.ask(about_me, 3)).api_keys}
        if newest.get(ApiKey.CONSUMER_GROUP_HEARTBEAT, 0) < 1:
            pytest.skip("this release has consumer groups as a preview, or not at all")
        request = MetadataRequest(topics=[MetadataRequestTopic(name=topic)])
        topic_id = (await first.ask(request, 12)).topics[0].topic_id
        found = ConsumerPeers(first, topic, topic_id, peers.peer)
        await found.is_assigned_at_once()
        yield found


__all__ = ["Beat", "ConsumerPeer", "ConsumerPeers", "consumer_peers_of"]
