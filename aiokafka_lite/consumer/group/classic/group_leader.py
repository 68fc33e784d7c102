"""What only the leader of a group does: it assigns partitions, and watches the topics of all
members.

Only `assign` waits, for metadata of topics that other members subscribe to. Source: 2e-9, KIP-814.
"""

import logging

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.consumer.group.classic.rebalance import (
    ClusterView,
    assign,
    picture,
    read_members,
    topics_of,
)
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponse

logger = logging.getLogger(__name__)


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
        assignor. Cancelled: the topics are known, their metadata may not be.
        """
        if joined.leader != joined.member_id:
            self.step_down()
            return {}
        members = read_members(joined.members)
        self.topics = topics_of(members)
        self._with_racks = any(member.rack_id for member in members.values())
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
        given = assign(assignor, cluster, members, protocol)
        logger.info(
            "%s: this member leads; %s assigned %s",
            self._client.config.client_id,
            assignor.name,
            {member_id: len(each.partitions()) for member_id, each in given.items()},
        )
        return {member_id: each.encode() for member_id, each in given.items()}

    def has_changed(self, snapshot: MetadataSnapshot) -> bool:
        """Return whether topics came, went, grew or moved since the assignment was made (2e-9)."""
        if self._picture is None:
            return False
        cluster = ClusterView(snapshot)
        return picture(self.topics, cluster, with_racks=self._with_racks) != self._picture


__all__ = ["GroupLeader"]
