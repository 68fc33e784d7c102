"""A consumer group of KIP-848 as data: members, epochs, the target assignment, who has what.

Knows no time and sends no responses. Source: ConsumerGroup, ModernGroup, TargetAssignmentBuilder.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from math import inf
from uuid import UUID

from aiokafka_lite.errors import (
    FencedInstanceIdError,
    UnknownMemberIdError,
)
from aiokafka_lite.testing.broker.state.cluster_state import TopicState
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    ConsumerGroupMember,
    TopicIdPartition,
)
from aiokafka_lite.testing.broker.state.groups.server_assignors import (
    SERVER_ASSIGNORS,
    AssignedMember,
)

Topics = Mapping[str, TopicState]


class ModernGroup:
    """The members of a group in order of arrival, and what they shall have."""

    def __init__(self, group_id: str, assignors: Iterable[str]) -> None:
        """`assignors` are names of the broker's; the first one is the default."""
        self.group_id = group_id
        self.group_epoch = 1
        """Grows when the members, their topics or these topics change."""
        self.target_epoch = 0
        """The group epoch for which the target assignment was made."""
        self.assigned_at = -inf
        """When it was made, by the clock of sessions."""
        self.target: dict[str, frozenset[TopicIdPartition]] = {}
        self.members: dict[str, ConsumerGroupMember] = {}
        self.matched: dict[str, frozenset[str]] = {}
        """Pattern of topics -> the topics found for it. A new pattern is not there yet."""
        self.seen_topics: frozenset[tuple[UUID, int]] = frozenset()
        """The topics that members subscribe to, with their number of partitions, as last seen."""
        self._default_assignor = next(iter(assignors))

    def __repr__(self) -> str:
        return (
            f"<ModernGroup {self.group_id} {self.state.value} epoch {self.group_epoch} "
            f"{len(self.members)} members>"
        )

    @property
    def state(self) -> GroupState:
        """The state, which follows from the epochs."""
        if not self.members:
            return GroupState.EMPTY
        if self.group_epoch > self.target_epoch:
            return GroupState.ASSIGNING
        if all(each.is_reconciled_to(self.target_epoch) for each in self.members.values()):
            return GroupState.STABLE
        return GroupState.RECONCILING

    # Members…

    def member(self, member_id: str) -> ConsumerGroupMember:
        """Return a member. Raises: UnknownMemberIdError."""
        found = self.members.get(member_id)
        if found is None:
            raise UnknownMemberIdError(
                f"Member {member_id} is not a member of group {self.group_id}."
            )
        return found

    def static_member(self, instance_id: str) -> ConsumerGroupMember | None:
        """Return the member with this name of the user's; None if it is unknown."""
        for member in self.members.values():
            if member.instance_id == instance_id:
                return member
        return None

    def known_static_member(self, instance_id: str, member_id: str) -> ConsumerGroupMember:
        """Return a static member that uses its present id.

        Raises: UnknownMemberIdError; FencedInstanceIdError if another one has replaced it.
        """
        found = self.static_member(instance_id)
        if found is None:
            raise UnknownMemberIdError(f"Instance id {instance_id} is unknown.")
        if found.member_id != member_id:
            raise FencedInstanceIdError(
                f"Static member {member_id} with instance id {instance_id} was fenced by member "
                f"{found.member_id}."
            )
        return found

    def put(self, member: ConsumerGroupMember) -> None:
        """Add a member, or replace the one with its id."""
        self.members[member.member_id] = member

    def replace(self, old_id: str, new: ConsumerGroupMember) -> None:
        """Give a static member its new id; what it shall have stays the same."""
        del self.members[old_id]
        self.put(new)
        if old_id in self.target:
            self.target[new.member_id] = self.target.pop(old_id)

    def remove(self, member_id: str) -> None:
        """Remove a member. Call `lost` after the last one."""
        del self.members[member_id]
        self.target.pop(member_id, None)

    def lost(self) -> None:
        """Begin another epoch, for members are gone. An empty group has nothing to assign."""
        self.group_epoch += 1
        if not self.members:
            self.target_epoch = self.group_epoch

    def is_taken(self, partition: TopicIdPartition) -> bool:
        """Return whether a member has the partition, or has not given it up yet."""
        return any(
            partition in member.assigned or partition in member.revoking
            for member in self.members.values()
        )

    # Topics…

    def topics_of(self, member: ConsumerGroupMember) -> frozenset[str]:
        """Return the names to which a member subscribes. A new pattern matches nothing yet."""
        return member.topics | self.matched.get(member.pattern or "", frozenset())

    def subscribes_to(self, topic: str) -> bool:
        """Return whether a member subscribes to the topic."""
        return any(topic in self.topics_of(member) for member in self.members.values())

    def topic_ids_of(self, member: ConsumerGroupMember, topics: Topics) -> frozenset[UUID]:
        """Return the ids of the existing topics to which a member subscribes."""
        return frozenset(topics[name].topic_id for name in self.topics_of(member) if name in topics)

    def look_at_topics(self, topics: Topics) -> bool:
        """Note the topics that members subscribe to; return whether they are others now."""
        names = {name for each in self.members.values() for name in self.topics_of(each)}
        seen = frozenset(
            (topics[name].topic_id, len(topics[name].partitions))
            for name in names
            if name in topics
        )
        is_other, self.seen_topics = seen != self.seen_topics, seen
        return is_other

    # The target assignment…

    @property
    def assignor(self) -> str:
        """The name of the assignor that most members want."""
        votes = Counter(
            each.server_assignor for each in self.members.values() if each.server_assignor
        )
        return votes.most_common(1)[0][0] if votes else self._default_assignor

    def assign(self, topics: Topics, now: float) -> None:
        """Make the target assignment of the present epoch."""
        members = {
            member_id: AssignedMember(
                self.topic_ids_of(member, topics), self.target.get(member_id, frozenset())
            )
            for member_id, member in self.members.items()
        }
        counts = {topic.topic_id: len(topic.partitions) for topic in topics.values()}
        self.target = SERVER_ASSIGNORS[self.assignor](members, counts)
        self.target_epoch, self.assigned_at = self.group_epoch, now


__all__ = ["ModernGroup", "Topics"]
