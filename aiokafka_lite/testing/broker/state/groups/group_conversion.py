"""Makes a consumer group of a classic one, and the other way round, while members are in it.

Plain functions. Source: ConsumerGroup.fromClassicGroup, ClassicGroup.fromConsumerGroup; KIP-848.
"""

from collections.abc import Callable, Iterable, Iterator
from uuid import UUID

from aiokafka_lite.errors import GroupIdNotFound, ProtocolDecodeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.testing.broker.state.groups.classic_group import ClassicGroup, GroupState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    NO_PATTERN,
    ClassicTerms,
    ConsumerGroupMember,
    TopicIdPartition,
)
from aiokafka_lite.testing.broker.state.groups.group_member import GroupMember
from aiokafka_lite.testing.broker.state.groups.modern_group import ModernGroup, Topics

TopicName = Callable[[UUID], str | None]


def consumer_group_of(
    classic: ClassicGroup, assignors: Iterable[str], topics: Topics
) -> ModernGroup:
    """Return the classic group's members as members of a consumer group.

    Each has what the last leader gave it. Raises: GroupIdNotFound if the members are no consumers,
    or use an assignor with data of its own.
    """
    refused = f"Cannot upgrade classic group {classic.group_id} to consumer group because"
    if not classic.is_of_consumers:
        raise GroupIdNotFound(f"{refused} the group does not use the consumer embedded protocol.")
    group = ModernGroup(classic.group_id, assignors)
    group.group_epoch = group.target_epoch = classic.generation_id
    for member in classic.members.values():
        try:
            converted = _converted(member, classic, topics)
        except ProtocolDecodeError as error:
            raise GroupIdNotFound(
                f"{refused} the embedded consumer protocol is malformed."
            ) from error
        if converted is None:
            raise GroupIdNotFound(
                f"{refused} an unsupported custom assignor is in use. Please refer to the "
                "documentation or switch to a default assignor before re-attempting the upgrade."
            )
        group.put(converted)
        group.target[member.member_id] = frozenset(converted.assigned)
    group.look_at_topics(topics)
    return group


def _converted(
    member: GroupMember, classic: ClassicGroup, topics: Topics
) -> ConsumerGroupMember | None:
    """Return the member; None if its assignor gave it data of its own."""
    metadata = member.protocols[classic.protocol_name or next(iter(member.protocols))]
    subscription = ConsumerProtocolMemberMetadata.decode(metadata)
    given: list[TopicPartition] = []
    if member.assignment:
        assignment = ConsumerProtocolMemberAssignment.decode(member.assignment)
        if assignment.user_data:
            return None
        given = assignment.partitions()
    return ConsumerGroupMember(
        member.member_id,
        member.group_instance_id,
        subscription.rack_id,
        member.rebalance_timeout_ms,
        member.client_id,
        member.client_host,
        frozenset(subscription.subscription),
        pattern=NO_PATTERN,
        epoch=classic.generation_id,
        previous_epoch=classic.generation_id,
        assigned=dict.fromkeys(ids_of(given, topics), classic.generation_id),
        classic=ClassicTerms(member.session_timeout_ms, dict(member.protocols)),
    )


def classic_group_of(group: ModernGroup, topic_name: TopicName) -> ClassicGroup:
    """Return the members, all of them by the classic protocol, as a stable classic group.

    Each has what the coordinator meant it to have.
    """
    classic = ClassicGroup(group.group_id)
    classic.generation_id = group.group_epoch
    for member in group.members.values():
        assert member.classic is not None
        wanted = group.target.get(member.member_id, frozenset())
        classic.add(
            GroupMember(
                member.member_id,
                member.instance_id,
                member.client_id,
                ConsumerProtocol.PROTOCOL_TYPE,
                member.classic.protocols,
                member.classic.session_timeout_ms,
                member.rebalance_timeout_ms,
                member.client_host,
                encoded_assignment(wanted, member.classic, topic_name),
            )
        )
    classic.protocol_name = classic.select_protocol()
    classic.state = GroupState.STABLE
    return classic


def ids_of(partitions: Iterable[TopicPartition], topics: Topics) -> Iterator[TopicIdPartition]:
    """Yield the partitions by the ids of their topics; a topic that is gone is left out."""
    for topic, partition in partitions:
        if topic in topics:
            yield TopicIdPartition(topics[topic].topic_id, partition)


def encoded_assignment(
    partitions: Iterable[TopicIdPartition], terms: ClassicTerms, topic_name: TopicName
) -> bytes:
    """Return the partitions as a member by the classic protocol reads them, in its version."""
    by_name: dict[str, list[int]] = {}
    for topic_id, partition in sorted(partitions):
        name = topic_name(topic_id)
        if name is not None:
            by_name.setdefault(name, []).append(partition)
    metadata = ConsumerProtocolMemberMetadata.decode(next(iter(terms.protocols.values())))
    return ConsumerProtocolMemberAssignment(metadata.version, [*by_name.items()], None).encode()


__all__ = ["TopicName", "classic_group_of", "consumer_group_of", "encoded_assignment", "ids_of"]
