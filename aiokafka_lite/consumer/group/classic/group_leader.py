"""What only the leader of a group does: it assigns partitions, and watches the topics of all
members.

Only `assign` waits: for metadata of topics that other members subscribe to, and for a thread. The
work of a large group goes there, so that heartbeats and the rest of the program go on. The thread
computes on values alone, and nobody needs it to end. An assignor of the user's is called in the
event loop whatever the group's size, because it may touch what belongs to the loop.
Source: 2e-9, KIP-814.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import Final, TypeVar, TypeVarTuple

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.assignors.assignment_strategy import is_built_in
from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    Assignments,
    Members,
    RebalanceProtocol,
)
from aiokafka_lite.consumer.group.classic.rebalance import (
    ClusterView,
    assign,
    checked,
    encoded,
    picture,
    plan,
    read_members,
    topics_of,
)
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponse

logger = logging.getLogger(__name__)

_T = TypeVar("_T")
_Args = TypeVarTuple("_Args")

_MANY_BYTES: Final = 65_536
"""Of subscriptions: some 4,000 topics, which are read in 2 ms if no two members have the same."""
_MANY_PARTITIONS: Final = 1_000
"""Whose assignment takes up to 10 ms."""


class GroupLeader:
    """The leader's part of a membership. It is empty while another member leads."""

    def __init__(self, client: KafkaClient) -> None:
        self._client = client
        self.topics: frozenset[str] = frozenset()
        """The topics of all members; empty while another member leads."""
        self._picture: dict[str, tuple[object, ...]] | None = None
        self._with_racks = False

    def step_down(self) -> None:
        """Watch no topics: another member leads, or none."""
        self.topics = frozenset()
        self._picture = None

    async def assign(
        self,
        assignor: AbstractPartitionAssignor,
        joined: JoinGroupResponse,
        protocol: RebalanceProtocol,
    ) -> dict[str, bytes]:
        """Return each member's assignment, encoded. {} if another member leads, or if the group
        goes on with the former assignment because a static leader came back (KIP-814).

        Refreshes the metadata if it lacks a topic of some member. Raises: the errors of the
        assignor. Cancelled: the topics may be known, their metadata may not be.
        """
        if joined.leader != joined.member_id:
            self.step_down()
            return {}
        self._picture = None
        many = sum(len(member.metadata) for member in joined.members) > _MANY_BYTES
        members, self.topics, self._with_racks = await _in_thread_if(many, _read, joined)
        snapshot = self._client.metadata.snapshot
        if not all(snapshot.partition_ids(topic) for topic in self.topics):
            for topic in self.topics:
                self._client.metadata.add_topic(topic)
            try:
                await self._client.metadata.refresh(self._client.config.request_timeout_ms / 1000)
            except KafkaError as error:
                client_id = self._client.config.client_id
                logger.warning("%s: assigning with the metadata at hand: %s", client_id, error)
        cluster = ClusterView(self._client.metadata.snapshot)
        self._picture = picture(self.topics, cluster, with_racks=self._with_racks)
        if joined.skip_assignment:
            return {}
        partitions = sum(len(cluster.partition_ids(topic)) for topic in self.topics)
        many = many or partitions > _MANY_PARTITIONS
        if is_built_in(assignor):
            counts, assignments = await _in_thread_if(
                many, _assign, assignor, cluster, members, protocol
            )
        else:
            given = plan(assignor, cluster, members)
            counts, assignments = await _in_thread_if(
                many, _finish, assignor, members, given, protocol
            )
        logger.info(
            "%s: this member leads; %s assigned %s",
            self._client.config.client_id,
            assignor.name,
            counts,
        )
        return assignments

    def has_changed(self, snapshot: MetadataSnapshot) -> bool:
        """Return whether topics came, went, grew or moved since the assignment was made (2e-9)."""
        if self._picture is None:
            return False
        cluster = ClusterView(snapshot)
        return picture(self.topics, cluster, with_racks=self._with_racks) != self._picture


async def _in_thread_if(many: bool, function: Callable[[*_Args], _T], *args: *_Args) -> _T:
    """Return what a function returns, which computes on values. Cancelled: it goes on."""
    return await asyncio.to_thread(function, *args) if many else function(*args)


def _read(joined: JoinGroupResponse) -> tuple[Members, frozenset[str], bool]:
    members = read_members(joined.members)
    return members, topics_of(members), any(member.rack_id for member in members.values())


def _assign(
    assignor: AbstractPartitionAssignor,
    cluster: ClusterView,
    members: Members,
    protocol: RebalanceProtocol,
) -> tuple[dict[str, int], dict[str, bytes]]:
    return encoded(assign(assignor, cluster, members, protocol))


def _finish(
    assignor: AbstractPartitionAssignor,
    members: Members,
    given: Assignments,
    protocol: RebalanceProtocol,
) -> tuple[dict[str, int], dict[str, bytes]]:
    return encoded(checked(assignor, members, given, protocol))


__all__ = ["GroupLeader"]
