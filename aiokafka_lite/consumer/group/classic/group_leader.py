"""What only the leader of a group does: it assigns partitions, and watches the topics of all
members.

Only `lead` waits, for metadata of topics that other members subscribe to. Source: 2e-9, KIP-814.
"""

import logging
from collections.abc import Sequence

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.consumer.group.classic.rebalance import (
    ClusterView,
    assign,
    picture,
    read_members,
    topics_of,
)
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponseMember

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

    async def lead(self, members: Sequence[JoinGroupResponseMember]) -> None:
        """Read the topics of all members. Refreshes the metadata if it lacks one of them.

        Cancelled: the topics are known, their metadata may not be.
        """
        told = read_members(members)
        self.topics = topics_of(told)
        self._with_racks = any(member.rack_id for member in told.values())
        snapshot = self._client.metadata.snapshot
        if not all(snapshot.partition_ids(topic) for topic in self.topics):
            for topic in self.topics:
                self._client.metadata.add_topic(topic)
            try:
                await self._client.metadata.refresh(self._client.config.request_timeout_ms / 1000)
            except KafkaError as error:
                logger.warning("assigning with the metadata at hand: %s", error)
        self._picture = self._look(self._client.metadata.snapshot)

    def assign(
        self,
        assignor: AbstractPartitionAssignor,
        members: Sequence[JoinGroupResponseMember],
        protocol: RebalanceProtocol,
    ) -> dict[str, bytes]:
        """Return each member's assignment, encoded. Raises: the errors of the assignor."""
        cluster = ClusterView(self._client.metadata.snapshot)
        given = assign(assignor, cluster, read_members(members), protocol)
        logger.info(
            "this member leads; %s assigned %s",
            assignor.name,
            {member_id: len(each.partitions()) for member_id, each in given.items()},
        )
        return {member_id: each.encode() for member_id, each in given.items()}

    def has_changed(self, snapshot: MetadataSnapshot) -> bool:
        """Return whether topics came, went, grew or moved since the assignment was made (2e-9)."""
        return self._picture is not None and self._look(snapshot) != self._picture

    def _look(self, snapshot: MetadataSnapshot) -> dict[str, tuple[object, ...]]:
        return picture(self.topics, ClusterView(snapshot), with_racks=self._with_racks)


__all__ = ["GroupLeader"]
