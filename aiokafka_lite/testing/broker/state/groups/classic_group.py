"""A classic consumer group as data: its state, generation, members, leader and common protocols.

Knows no time and sends no responses; `group_rebalance.py` decides when things happen. Source:
ClassicGroup, ClassicGroupState.
"""

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from aiokafka_lite.errors import (
    FencedInstanceIdError,
    IllegalStateError,
    ProtocolDecodeError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocol,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.testing.broker.state.groups.group_member import (
    NO_MEMBER,
    GroupMember,
    JoinedMember,
)


class GroupState(StrEnum):
    """The states of a group, in Kafka's words."""

    EMPTY = "Empty"
    """Without members, possibly with offsets."""
    PREPARING_REBALANCE = "PreparingRebalance"
    """Waits for the members to join."""
    COMPLETING_REBALANCE = "CompletingRebalance"
    """Waits for the leader's assignment."""
    STABLE = "Stable"
    """Every member has its assignment, or gets it as soon as it asks."""
    DEAD = "Dead"
    """The group does not exist."""
    ASSIGNING = "Assigning"
    """Only of the protocol of KIP-848: waits for a new target assignment."""
    RECONCILING = "Reconciling"
    """Only of the protocol of KIP-848: not every member has what it shall have."""


TRANSITIONS: dict[GroupState, frozenset[GroupState]] = {
    GroupState.EMPTY: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.PREPARING_REBALANCE: frozenset({GroupState.COMPLETING_REBALANCE, GroupState.EMPTY}),
    GroupState.COMPLETING_REBALANCE: frozenset({GroupState.STABLE, GroupState.PREPARING_REBALANCE}),
    GroupState.STABLE: frozenset({GroupState.PREPARING_REBALANCE}),
    GroupState.DEAD: frozenset(),
    GroupState.ASSIGNING: frozenset(),
    GroupState.RECONCILING: frozenset(),
}
"""Of the classic protocol; with the newer one the state follows from the epochs."""


class ClassicGroup:
    """The members of a group in order of arrival, and what they have agreed on."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.state = GroupState.EMPTY
        self.previous_state = GroupState.EMPTY
        self.generation_id = 0
        self.protocol_type: str | None = None
        self.protocol_name: str | None = None
        self.leader: str | None = None
        self.members: dict[str, GroupMember] = {}
        self.pending_members: set[str] = set()
        """Assigned ids with which no member has joined yet."""
        self.pending_sync: set[str] = set()
        """Members that have not asked for the assignment of this generation yet."""
        self.has_new_member = False
        """Whether a member came during the initial rebalance, which then lasts longer."""
        self._static: dict[str, str] = {}

    def __repr__(self) -> str:
        return (
            f"<ClassicGroup {self.group_id} {self.state.value} generation {self.generation_id} "
            f"{len(self.members)} members>"
        )

    def transition_to(self, state: GroupState) -> None:
        """Change the state. Raises: IllegalStateError for a step that the table lacks."""
        if state not in TRANSITIONS[self.state]:
            raise IllegalStateError(f"a group cannot become {state.value} while {self.state.value}")
        self.previous_state, self.state = self.state, state

    # Members…

    def add(self, member: GroupMember) -> None:
        """Add a member whose protocols fit. The first one leads and sets the type."""
        if not self.members:
            self.protocol_type = member.protocol_type
        if member.group_instance_id is not None:
            self._static[member.group_instance_id] = member.member_id
        self.leader = self.leader or member.member_id
        self.members[member.member_id] = member
        self.pending_members.discard(member.member_id)

    def remove(self, member_id: str) -> None:
        """Remove a member, or an assigned id.

        The oldest remaining member replaces a removed leader.
        """
        member = self.members.pop(member_id, None)
        if member is not None and member.group_instance_id is not None:
            self._static.pop(member.group_instance_id, None)
        if self.leader == member_id:
            self.leader = next(iter(self.members), None)
        self.pending_members.discard(member_id)
        self.pending_sync.discard(member_id)

    def replace_static(
        self, group_instance_id: str, new_id: str
    ) -> tuple[GroupMember, GroupMember]:
        """Give a static member another id; return the member before and after. Source: KIP-345."""
        old = self.members.pop(self._static[group_instance_id])
        new = old.renamed(new_id)
        self.members[new_id] = new
        self._static[group_instance_id] = new_id
        if self.leader == old.member_id:
            self.leader = new_id
        return old, new

    def static_member_id(self, group_instance_id: str) -> str | None:
        """Return the id of the static member; None if it is unknown."""
        return self._static.get(group_instance_id)

    def check_member(self, member_id: str, group_instance_id: str | None) -> GroupMember:
        """Return the member. Raises: UnknownMemberIdError or FencedInstanceIdError."""
        if group_instance_id is not None:
            present = self._static.get(group_instance_id)
            if present is None:
                raise UnknownMemberIdError(f"no static member {group_instance_id!r}")
            if present != member_id:
                raise FencedInstanceIdError(
                    f"static member {group_instance_id!r} is {present!r} now, not {member_id!r}"
                )
        member = self.members.get(member_id)
        if member is None:
            raise UnknownMemberIdError(f"{self.group_id!r} has no member {member_id!r}")
        return member

    @property
    def rebalance_timeout_ms(self) -> int:
        """The longest rebalance timeout of the members."""
        return max((member.rebalance_timeout_ms for member in self.members.values()), default=0)

    @property
    def awaiting_join(self) -> list[GroupMember]:
        return [member for member in self.members.values() if member.is_awaiting_join]

    @property
    def has_all_joined(self) -> bool:
        return not self.pending_members and len(self.awaiting_join) == len(self.members)

    def joined_members(self) -> list[JoinedMember]:
        """Return the members as the leader needs them, with their metadata for the protocol."""
        assert self.protocol_name is not None
        return [
            JoinedMember(
                member.member_id, member.group_instance_id, member.protocols[self.protocol_name]
            )
            for member in self.members.values()
        ]

    # Consumers…

    @property
    def is_of_consumers(self) -> bool:
        """Whether the members, if there are any, are consumers."""
        return self.protocol_type == ConsumerProtocol.PROTOCOL_TYPE

    def subscribes_to(self, topic: str) -> bool:
        """Return whether a consumer of the group may read the topic. Bytes that are no
        subscription count as one to each topic. Source: ClassicGroup.computeSubscribedTopics.
        """
        if not self.is_of_consumers or not self.members:
            return False
        name = self.protocol_name or ""
        try:
            return any(
                topic in ConsumerProtocolMemberMetadata.decode(member.protocols[name]).subscription
                for member in self.members.values()
            )
        except (ProtocolDecodeError, KeyError):
            return True

    # What the members agree on…

    def supports(self, protocol_type: str, names: Iterable[str]) -> bool:
        """Return whether a member with these protocols has one in common with all the others."""
        offered = set(names)
        if self.state is GroupState.EMPTY:
            return bool(protocol_type and offered)
        if protocol_type != self.protocol_type:
            return False
        # The last member may have left while the first rebalance was still open.
        return bool(offered & self._common_protocols() if self.members else offered)

    def select_protocol(self) -> str:
        """Return the common protocol that most members prefer; the oldest member breaks a tie."""
        candidates = self._common_protocols()
        votes = Counter(member.vote(candidates) for member in self.members.values())
        return votes.most_common(1)[0][0]

    def _common_protocols(self) -> set[str]:
        offers = [set(member.protocols) for member in self.members.values()]
        return set.intersection(*offers) if offers else set()

    def elect_joined_leader(self) -> bool:
        """Make a member that has rejoined the leader; return False if none has rejoined."""
        if self.leader is None:
            return False
        if not self.members[self.leader].is_awaiting_join:
            joined = self.awaiting_join
            if not joined:
                return False
            self.leader = joined[0].member_id
        return True

    def start_generation(self) -> None:
        """Begin the next generation with the present members."""
        self.generation_id += 1
        self.pending_sync.clear()
        if self.members:
            self.protocol_name = self.select_protocol()
            self.transition_to(GroupState.COMPLETING_REBALANCE)
        else:
            self.protocol_name = None
            self.transition_to(GroupState.EMPTY)

    # Another node takes over…

    def persisted(self) -> "ClassicGroup":
        """Return a copy with what __consumer_offsets would store of the present group."""
        copy = ClassicGroup(self.group_id)
        copy.generation_id = self.generation_id
        copy.protocol_type = self.protocol_type
        copy.protocol_name = self.protocol_name
        for member in self.members.values():
            copy.add(member.persisted(self.protocol_name))
        copy.leader = self.leader
        if copy.members:
            copy.state = GroupState.STABLE
        return copy

    def leader_or_empty(self) -> str:
        """Return the leader's id, "" without one."""
        return self.leader or NO_MEMBER


__all__ = ["ClassicGroup", "GroupState"]
