"""The assignor "sticky", and what "cooperative-sticky" shares with it: the claims of members.

The assignment is balanced first; then as many partitions as possible keep their owner. This file
settles the claims; `constrained_assignment` and `general_assignment` deal partitions out.
A member tells its former partitions in its subscription. An assignor keeps only those of its own.
Does not wait.
"""

import logging
import struct
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping

from aiokafka_lite.codec.reader import Reader
from aiokafka_lite.codec.writer import Writer
from aiokafka_lite.consumer.assignors.assignor import (
    AbstractPartitionAssignor,
    AssignmentCluster,
    Assignments,
    Members,
    by_subscription,
    to_assignments,
    topic_partitions,
)
from aiokafka_lite.consumer.assignors.on_class_too import on_class_too
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition, by_topic
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)

logger = logging.getLogger(__name__)

UNKNOWN_GENERATION = -1


class Claim(NamedTuple):
    """What a member says it had, and in which generation (-1: it does not say)."""

    partitions: list[TopicPartition]
    generation: int


class StickyAssignments(NamedTuple):
    """A balanced assignment, and where it takes a partition from one member for another."""

    assigned: Mapping[str, Collection[TopicPartition]]
    moved: Mapping[TopicPartition, str] | None
    """The new owner of each partition that another claims; None if that was not noted."""


class AbstractStickyAssignor(AbstractPartitionAssignor):
    """An assignor that keeps partitions where they are; a subclass reads the members' claims.

    Java's assignor can give a member a topic that it has not subscribed to. It can also give a
    partition to no member, or to two. That happens after a claim to a deleted partition, an
    outdated claim to an unsubscribed topic, or with a member without topics. This assignor does
    not do so. Source: AbstractStickyAssignor, KIP-54, KIP-881.
    """

    @abstractmethod
    def claim(self, member: ConsumerProtocolMemberMetadata) -> Claim:
        """Return the partitions that the member says it owned."""

    def balance(self, cluster: AssignmentCluster, members: Members) -> StickyAssignments:
        """Return the assignment, without regard to partitions that must be given up first."""
        # Most members never assign by it, and the first one of a group has "range" preferred.
        from aiokafka_lite.consumer.assignors.constrained_assignment import (  # noqa: PLC0415
            ConstrainedAssignment,
        )
        from aiokafka_lite.consumer.assignors.general_assignment import (  # noqa: PLC0415
            GeneralAssignment,
        )
        from aiokafka_lite.consumer.assignors.java_order import hash_map_order  # noqa: PLC0415
        from aiokafka_lite.consumer.assignors.rack_info import RackInfo  # noqa: PLC0415

        topics = topic_partitions(cluster, members)
        partitions = [partition for numbers in topics.values() for partition in numbers]
        racks = RackInfo(cluster, partitions, members)
        claims = _Claims({key: self.claim(members[key]) for key in hash_map_order(members)})
        owned = claims.owned(partitions)
        if len({frozenset(topics) for topics in by_subscription(members)}) == 1:
            equal = ConstrainedAssignment(partitions, owned, claims.contested, racks)
            return StickyAssignments(equal.assigned, equal.moved)
        general = GeneralAssignment(topics, members, owned, claims.outdated(), racks)
        return StickyAssignments(general.assigned, None)


class StickyPartitionAssignor(AbstractStickyAssignor):
    """Balanced, and sticky, for members that revoke everything before they join.

    A member sends what it had, and the generation, as user data. Source: StickyAssignor, KIP-54.
    """

    name = "sticky"
    version = 0
    """That of the metadata and assignments, which a class derived from it may read."""

    def __init__(self) -> None:
        self._assignment: list[TopicPartition] | None = None
        self._generation = UNKNOWN_GENERATION

    @on_class_too
    def assign(self, cluster: AssignmentCluster, members: Members) -> Assignments:
        """Return the assignment of each member."""
        return to_assignments(self.balance(cluster, members).assigned)

    def claim(self, member: ConsumerProtocolMemberMetadata) -> Claim:
        """Return the claim in the member's user data; none, if that cannot be read."""
        try:
            return _read_user_data(member.user_data) if member.user_data else Claim([], -1)
        except ProtocolDecodeError:
            return Claim([], UNKNOWN_GENERATION)

    @on_class_too
    def metadata(self, topics: Collection[str]) -> ConsumerProtocolMemberMetadata:
        """Return the topics, with the newest assignment and its generation as user data."""
        user_data = b""
        if self._assignment is not None:
            user_data = _write_user_data(Claim(self._assignment, self._generation))
        return ConsumerProtocolMemberMetadata(0, list(topics), user_data)

    @on_class_too
    def on_assignment(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Remember it, to claim it at the next join."""
        self._assignment = assignment.partitions()

    def on_generation(self, generation_id: int) -> None:
        """Remember it, to say how old the claim is."""
        self._generation = generation_id


class _Claims:
    """All members' claims: to each partition the newest counts.

    Two claims of one generation cancel each other, because one of them must be wrong.
    """

    def __init__(self, claims: Mapping[str, Claim]) -> None:
        self._claims = claims
        self.contested: set[TopicPartition] = set()
        self._newest: dict[TopicPartition, tuple[int, str]] = {}
        for member_id, claim in claims.items():
            if claim.generation >= UNKNOWN_GENERATION:
                self._hear(claim.partitions, (claim.generation, member_id))
        if self.contested:
            logger.warning(
                "%d partitions, %s-%d among them, are claimed by several members of one "
                "generation; they are given out anew",
                len(self.contested),
                *min(self.contested),
            )

    def _hear(self, partitions: Iterable[TopicPartition], claim: tuple[int, str]) -> None:
        newest = self._newest
        generation = claim[0]
        for partition in partitions:
            known = newest.get(partition)
            if known is None:
                newest[partition] = claim
            elif generation > known[0]:
                newest[partition] = claim
                self.contested.discard(partition)
            elif generation == known[0] and known is not claim:
                self.contested.add(partition)

    def owned(self, existing: Iterable[TopicPartition]) -> dict[str, list[TopicPartition]]:
        """Return what each member rightly claims, of the partitions that exist."""
        owned: dict[str, list[TopicPartition]] = {member_id: [] for member_id in self._claims}
        for partition in existing:
            newest = self._newest.get(partition)
            if newest is not None and partition not in self.contested:
                owned[newest[1]].append(partition)
        return owned

    def outdated(self) -> dict[TopicPartition, str]:
        """Return each partition's owner in the newest generation before the group's newest."""
        newest = max(claim.generation for claim in self._claims.values())
        found: dict[TopicPartition, tuple[int, str]] = {}
        for member_id, claim in self._claims.items():
            if claim.generation < newest:
                for partition in claim.partitions:
                    known, _ = found.get(partition, (UNKNOWN_GENERATION - 1, ""))
                    if claim.generation > known:
                        found[partition] = claim.generation, member_id
        return {partition: member_id for partition, (_, member_id) in found.items()}


def _write_user_data(claim: Claim) -> bytes:
    """Return a claim as Java's StickyAssignor sends it: by topic, then the generation."""
    topics = by_topic(claim.partitions)
    writer = Writer()
    writer.array_count(len(topics))
    for topic, numbers in topics.items():
        writer.string(topic)
        writer.array_count(len(numbers))
        for number in numbers:
            writer.int32(number)
    writer.int32(claim.generation)
    return bytes(writer.buffer)


def _read_user_data(data: bytes) -> Claim:
    """Return the claim; version 0 of the format ends before the generation."""
    reader = Reader(data)
    partitions: list[TopicPartition] = []
    for _ in range(reader.array_count(min_element_size=6)):
        topic = reader.string()
        count = max(0, reader.array_count(min_element_size=4))
        numbers = struct.unpack(f">{count}i", reader.raw(4 * count))
        partitions += [TopicPartition(topic, number) for number in numbers]
    return Claim(partitions, reader.int32() if reader.remaining >= 4 else UNKNOWN_GENERATION)


__all__ = [
    "UNKNOWN_GENERATION",
    "AbstractStickyAssignor",
    "Claim",
    "StickyAssignments",
    "StickyPartitionAssignor",
]
