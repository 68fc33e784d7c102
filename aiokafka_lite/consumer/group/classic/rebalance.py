"""Decides what a member tells its group, what the leader assigns, and whether an assignment fits.

Plain functions over values. Does not wait. Source: 2e-6 to 2e-10, ConsumerCoordinator.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from aiokafka_lite.checks.quoted import quoted, said
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.assignors.assignment_strategy import is_built_in
from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.errors import (
    IllegalStateError,
    InconsistentGroupProtocolError,
    KafkaError,
)
from aiokafka_lite.light_dataclass import dataclass, replace
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition, by_topic, names_of
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupRequestProtocol,
    JoinGroupResponseMember,
)

logger = logging.getLogger(__name__)

COOPERATIVE_STICKY = "cooperative-sticky"
"""The built-in cooperative assignor: it holds moving partitions back by itself (KIP-429)."""

_NEWEST_METADATA = 3

Assignors = Sequence[AbstractPartitionAssignor]


def rebalance_protocol(assignors: Assignors) -> RebalanceProtocol:
    """Return the highest protocol that all listed assignors support (2e-7)."""
    is_cooperative = all(
        RebalanceProtocol.COOPERATIVE in assignor.supported_protocols for assignor in assignors
    )
    return RebalanceProtocol.COOPERATIVE if is_cooperative else RebalanceProtocol.EAGER


def find_assignor(assignors: Assignors, name: str | None) -> AbstractPartitionAssignor:
    """Return the assignor the group agreed on. Raises: InconsistentGroupProtocolError."""
    for assignor in assignors:
        if assignor.name == name:
            return assignor
    ours = ", ".join(repr(assignor.name) for assignor in assignors)
    raise InconsistentGroupProtocolError(
        f"the group chose the assignor {quoted(name)}; this member has {ours}. Give all members a "
        "common partition_assignment_strategy"
    )


@contextmanager
def assignor_faults(assignor: AbstractPartitionAssignor) -> Iterator[None]:
    """Turn an error of the assignor into a KafkaError that names it. KafkaErrors pass."""
    try:
        yield
    except KafkaError:
        raise
    except Exception as error:
        raise KafkaError(f"the assignor {quoted(assignor.name)} raised {said(error)}") from error


class MemberPosition(NamedTuple):
    """What a member tells the leader besides its topics."""

    owned: Collection[TopicPartition]
    generation_id: int
    rack_id: str | None


def join_protocols(
    assignors: Assignors, topics: Collection[str], position: MemberPosition
) -> list[JoinGroupRequestProtocol]:
    """Return the member's metadata for each assignor, the preferred assignor first."""
    owned = list(by_topic(sorted(position.owned)).items())
    protocols = []
    for assignor in assignors:
        with assignor_faults(assignor):
            told = assignor.metadata(sorted(topics))
        metadata = replace(
            told,
            version=_NEWEST_METADATA,
            owned_partitions=owned,
            generation_id=position.generation_id,
            rack_id=position.rack_id,
        )
        protocols.append(JoinGroupRequestProtocol(name=assignor.name, metadata=metadata.encode()))
    return protocols


# What the leader does…


def read_members(
    members: Iterable[JoinGroupResponseMember],
) -> dict[str, ConsumerProtocolMemberMetadata]:
    """Return each member's metadata with its instance id, as assignors take it.

    Members share lists of topics (`ConsumerProtocolMemberMetadata.decode_all`).
    """
    joined = tuple(members)
    told = ConsumerProtocolMemberMetadata.decode_all(member.metadata for member in joined)
    found: dict[str, ConsumerProtocolMemberMetadata] = {}
    for member, metadata in zip(joined, told, strict=True):
        metadata.group_instance_id = member.group_instance_id
        found[member.member_id] = metadata
    return found


def topics_of(members: Mapping[str, ConsumerProtocolMemberMetadata]) -> frozenset[str]:
    """Return every topic that some member subscribes to."""
    lists = {id(member.subscription): member.subscription for member in members.values()}
    return frozenset().union(*lists.values())


@dataclass(frozen=True, slots=True)
class ClusterView:
    """The cluster as assignors see it. It also has the methods of aiokafka's ClusterMetadata."""

    snapshot: MetadataSnapshot
    _racks: dict[tuple[int, ...], frozenset[str]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )
    """Of replicas on these nodes, as far as somebody asked."""

    def __getattr__(self, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        from aiokafka_lite.cluster.cluster_metadata import ClusterMetadata  # noqa: PLC0415 - rare

        return getattr(ClusterMetadata(lambda: self.snapshot), name)

    def partitions_for_topic(self, topic: str) -> set[int] | None:
        """Return the topic's partitions; None when the topic is not known."""
        partitions = self.snapshot.partition_ids(topic)
        return set(partitions) if partitions else None

    def racks(self, partition: TopicPartition) -> frozenset[str]:
        """Return the racks that hold a replica, as far as they are known."""
        topic = self.snapshot.topics.get(partition.topic)
        described = None if topic is None else topic.partitions.get(partition.partition)
        return frozenset() if described is None else self._racks_on(described.replicas)

    def partition_ids(self, topic: str) -> tuple[int, ...]:
        """Return the topic's partitions, ascending; empty when the topic is not known."""
        return self.snapshot.partition_ids(topic)

    def racks_of(self, topic: str) -> tuple[frozenset[str], ...]:
        """Return the racks of each of the topic's partitions, ascending."""
        known = self.snapshot.topics.get(topic)
        if known is None:
            return ()
        racks_on, partitions = self._racks_on, known.partitions
        return tuple([racks_on(partitions[number].replicas) for number in known.partition_ids])

    def _racks_on(self, replicas: tuple[int, ...]) -> frozenset[str]:
        racks = self._racks.get(replicas)
        if racks is None:
            nodes = (self.snapshot.nodes.get(node_id) for node_id in replicas)
            racks = frozenset(node.rack for node in nodes if node is not None and node.rack)
            self._racks[replicas] = racks
        return racks


def plan(
    assignor: AbstractPartitionAssignor,
    cluster: ClusterView,
    members: Mapping[str, ConsumerProtocolMemberMetadata],
) -> Mapping[str, ConsumerProtocolMemberAssignment]:
    """Return what the assignor gives to each member, as it gave it."""
    shown = dict(members)
    if not is_built_in(assignor):  # it may change what it gets; ours only read, and share lists
        for member_id, told in members.items():
            shown[member_id] = replace(told, subscription=list(told.subscription))
    with assignor_faults(assignor):
        return assignor.assign(cluster, shown)


def checked(
    assignor: AbstractPartitionAssignor,
    members: Mapping[str, ConsumerProtocolMemberMetadata],
    given: Mapping[str, ConsumerProtocolMemberAssignment],
    protocol: RebalanceProtocol,
) -> dict[str, ConsumerProtocolMemberAssignment]:
    """Return the assignment of each member. A member that the assignor left out gets nothing.

    Raises: IllegalStateError when a cooperative assignor gives away what another member still owns.
    """
    if protocol is RebalanceProtocol.COOPERATIVE and assignor.name != COOPERATIVE_STICKY:
        _check_nothing_moved_unrevoked(members, given)
    nothing = ConsumerProtocolMemberAssignment(0, [], b"")
    return {member_id: given.get(member_id, nothing) for member_id in members}


def assign(
    assignor: AbstractPartitionAssignor,
    cluster: ClusterView,
    members: Mapping[str, ConsumerProtocolMemberMetadata],
    protocol: RebalanceProtocol,
) -> dict[str, ConsumerProtocolMemberAssignment]:
    """Return a `plan` that is `checked`."""
    return checked(assignor, members, plan(assignor, cluster, members), protocol)


def encoded(
    given: Mapping[str, ConsumerProtocolMemberAssignment],
) -> tuple[dict[str, int], dict[str, bytes]]:
    """Return each member's count of partitions, and its assignment as it travels."""
    counts = {
        member_id: sum(len(numbers) for _, numbers in each.assignment)
        for member_id, each in given.items()
    }
    return counts, {member_id: each.encode() for member_id, each in given.items()}


def _check_nothing_moved_unrevoked(
    members: Mapping[str, ConsumerProtocolMemberMetadata],
    given: Mapping[str, ConsumerProtocolMemberAssignment],
) -> None:
    added: set[TopicPartition] = set()
    revoked: set[TopicPartition] = set()
    for member_id in {**members, **given}:
        owned = set(members[member_id].owned()) if member_id in members else set()
        assigned = set(given[member_id].partitions()) if member_id in given else set()
        added |= assigned - owned
        revoked |= owned - assigned
    moved = sorted(added & revoked)
    if moved:
        raise IllegalStateError(
            f"the assignor moved {names_of(moved)} from one member to another at once; with the "
            f"cooperative protocol they must be revoked in one rebalance and assigned in the next"
        )


def picture(
    topics: Iterable[str], cluster: ClusterView, *, with_racks: bool
) -> dict[str, tuple[object, ...]]:
    """Return the facts that an assignment of these topics depends on, to compare them later."""
    found: dict[str, tuple[object, ...]] = {}
    for topic in topics:
        found[topic] = cluster.racks_of(topic) if with_racks else cluster.partition_ids(topic)
    return found


# What every member does with its assignment…


def strangers(assigned: Iterable[TopicPartition], topics: Collection[str]) -> list[TopicPartition]:
    """Return the assigned partitions whose topics are not subscribed any more (2e-10)."""
    return [tp for tp in assigned if tp.topic not in topics]


__all__ = [
    "Assignors",
    "ClusterView",
    "MemberPosition",
    "assign",
    "assignor_faults",
    "checked",
    "encoded",
    "find_assignor",
    "join_protocols",
    "picture",
    "plan",
    "read_members",
    "rebalance_protocol",
    "strangers",
    "topics_of",
]
