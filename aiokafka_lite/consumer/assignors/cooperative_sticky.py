"""The assignor "cooperative-sticky": sticky, for members that keep reading while they rebalance.

A partition that moves from one member to another is assigned to no member at first. Its owner
revokes it and joins again; the second rebalance assigns it (KIP-429). Does not wait.
"""

from collections.abc import Collection, Mapping

from aiokafka_lite.codec.reader import Reader
from aiokafka_lite.codec.writer import Writer
from aiokafka_lite.consumer.assignors.assignor import (
    AssignmentCluster,
    Assignments,
    Members,
    RebalanceProtocol,
    to_assignments,
)
from aiokafka_lite.consumer.assignors.sticky import (
    UNKNOWN_GENERATION,
    AbstractStickyAssignor,
    Claim,
)
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberMetadata


class CooperativeStickyAssignor(AbstractStickyAssignor):
    """Balanced, and sticky; takes a partition from a member only after the member revoked it.

    A member claims with the owned partitions and the generation of its subscription; one older
    than v2 of that (KIP-792) sends the generation as user data.
    Source: CooperativeStickyAssignor, KIP-429.
    """

    name = "cooperative-sticky"
    supported_protocols = (RebalanceProtocol.COOPERATIVE, RebalanceProtocol.EAGER)

    def __init__(self) -> None:
        self._generation = UNKNOWN_GENERATION

    def assign(self, cluster: AssignmentCluster, members: Members) -> Assignments:
        """Return the assignment of each member, without what another still has to revoke."""
        balanced = self.balance(cluster, members)
        assigned = balanced.assigned
        moved = balanced.moved
        if moved is None:
            moved = _moved(members, assigned)
        if moved:
            assigned = {
                member_id: [p for p in partitions if moved.get(p) != member_id]
                for member_id, partitions in assigned.items()
            }
        return to_assignments(assigned)

    def claim(self, member: ConsumerProtocolMemberMetadata) -> Claim:
        """Return what the member owns, with the generation it names in either way."""
        if member.generation_id >= 0:
            return Claim(member.owned(), member.generation_id)
        try:
            generation = Reader(member.user_data or b"").int32()
        except ProtocolDecodeError:
            generation = UNKNOWN_GENERATION
        return Claim(member.owned(), generation)

    def metadata(self, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """Return the topics, with the newest generation as user data.

        v1, the first with room for owned partitions, which the caller fills in.
        """
        user_data = Writer()
        user_data.int32(self._generation)
        return ConsumerProtocolMemberMetadata(1, list(topics), bytes(user_data.buffer))

    def on_generation(self, generation_id: int) -> None:
        """Remember it, to say how old the claim is."""
        self._generation = generation_id


def _moved(
    members: Members, assigned: Mapping[str, Collection[TopicPartition]]
) -> dict[TopicPartition, str]:
    """Return the new owner of each partition that some other member owns."""
    added: dict[TopicPartition, str] = {}
    revoked: set[TopicPartition] = set()
    for member_id, partitions in assigned.items():
        owned = set(members[member_id].owned())
        added.update((partition, member_id) for partition in partitions if partition not in owned)
        revoked |= owned.difference(partitions)
    return {partition: member_id for partition, member_id in added.items() if partition in revoked}


__all__ = ["CooperativeStickyAssignor"]
