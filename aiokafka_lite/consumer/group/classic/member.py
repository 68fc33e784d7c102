"""A member's state, generation and ids, with the table of states that Kafka's protocol has.

It changes only itself. Does not wait. Source: 2e-1, 2e-2, AbstractCoordinator.
"""

from enum import Enum

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import (
    CommitFailedError,
    IllegalStateError,
    RebalanceInProgressError,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import ConsumerGroupMetadata

NO_GENERATION_ID = -1
NO_MEMBER_ID = ""


class MemberState(Enum):
    """A member's state by the group's protocol (2e-1)."""

    UNJOINED = "not part of a generation"
    PREPARING_REBALANCE = "JoinGroup is on its way: the next generation forms"
    COMPLETING_REBALANCE = "part of a generation whose assignment is on its way"
    STABLE = "part of a generation, with an assignment"


NEXT_STATES = {
    MemberState.UNJOINED: {MemberState.UNJOINED, MemberState.PREPARING_REBALANCE},
    MemberState.PREPARING_REBALANCE: {
        MemberState.UNJOINED,
        MemberState.PREPARING_REBALANCE,
        MemberState.COMPLETING_REBALANCE,
    },
    MemberState.COMPLETING_REBALANCE: {
        MemberState.UNJOINED,
        MemberState.PREPARING_REBALANCE,
        MemberState.STABLE,
    },
    MemberState.STABLE: {MemberState.UNJOINED, MemberState.PREPARING_REBALANCE},
}


@dataclass(frozen=True, slots=True)
class Generation:
    """A generation of the group, with the member's id in it."""

    generation_id: int = NO_GENERATION_ID
    member_id: str = NO_MEMBER_ID
    protocol_name: str | None = None
    """The assignor all members agreed on."""

    @property
    def is_joined(self) -> bool:
        """Whether the member is part of a generation."""
        return self.generation_id != NO_GENERATION_ID


NO_GENERATION = Generation()


class Member:
    """This consumer as a member. The tasks that ask the coordinator change it."""

    def __init__(self, group_id: str, group_instance_id: str | None, client_id: str = "") -> None:
        self.group_id = group_id
        self.client_id = client_id
        self.group_instance_id = group_instance_id
        self.state = MemberState.UNJOINED
        self.generation = NO_GENERATION
        self.former_id = NO_MEMBER_ID
        """The id under which the membership was lost last. Coordinators refuse it."""
        self.why_lost = ""
        """Why the membership was lost, until the next assignment. "": not lost, or not known."""
        self.rejoin_reason: str | None = None
        """Why the member must join (again), for the broker's log (KIP-800). None: it need not."""

    def __repr__(self) -> str:
        generation = self.generation
        return (
            f"<Member {generation.member_id or '(no id)'} of {quoted(self.group_id)}, client "
            f"{quoted(self.client_id)}, generation {generation.generation_id}, {self.state.name}>"
        )

    @property
    def is_static(self) -> bool:
        """Whether it has a group_instance_id: the group waits for its return (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_rebalancing(self) -> bool:
        """Whether it is between two assignments."""
        return self.state in (MemberState.PREPARING_REBALANCE, MemberState.COMPLETING_REBALANCE)

    @property
    def sends_heartbeats(self) -> bool:
        """Whether the coordinator expects heartbeats: from COMPLETING on (2e-4)."""
        return self.state in (MemberState.COMPLETING_REBALANCE, MemberState.STABLE)

    def identity(self) -> ConsumerGroupMetadata:
        """Return the ids in whose name the member commits.

        After the membership was lost: the former member id without a generation. A coordinator
        refuses offsets in that name; without any id a transaction could store them.
        """
        generation = self.generation
        return ConsumerGroupMetadata(
            self.group_id,
            generation.generation_id,
            generation.member_id or self.former_id,
            self.group_instance_id,
        )

    def check_may_commit(self) -> None:
        """Raise the error of a commit that the coordinator would refuse (2e-12).

        Raises: RebalanceInProgressError between two assignments; CommitFailedError when the member
        is in no generation.
        """
        if self.is_rebalancing:
            raise RebalanceInProgressError(
                f"group {quoted(self.group_id)} is rebalancing: commit again after the next "
                f"poll, for what is assigned then"
            )
        if not self.generation.is_joined:
            raise self.commit_failed()

    def commit_failed(self) -> CommitFailedError:
        """Return the error of a commit without a membership. It says why, as far as is known."""
        if not (self.former_id or self.generation.member_id):
            return CommitFailedError(
                f"the consumer has not joined group {quoted(self.group_id)} yet"
            )
        why = self.why_lost or (
            "the coordinator gave it up; it does so after session_timeout_ms without a heartbeat, "
            "and when an admin removes the member; commit again after the next poll, for what is "
            "assigned then"
        )
        return CommitFailedError(
            f"group {quoted(self.group_id)} has moved on and this member no longer owns the "
            f"partitions: {why}"
        )

    def request_rejoin(self, reason: str) -> None:
        """Request another join. The first of several reasons is kept."""
        if self.rejoin_reason is None:
            self.rejoin_reason = reason

    def begin_join(self) -> str:
        """Note that JoinGroup is sent, and return why. Later requests ask for another join."""
        self._to(MemberState.PREPARING_REBALANCE)
        reason, self.rejoin_reason = self.rejoin_reason or "", None
        return reason

    def take_member_id(self, member_id: str) -> None:
        """Keep the id that the coordinator gave with MEMBER_ID_REQUIRED (KIP-394)."""
        self._to(MemberState.UNJOINED)
        self.generation = Generation(NO_GENERATION_ID, member_id)

    def joined(self, generation: Generation) -> None:
        """Enter the generation that JoinGroup's response names."""
        self._to(MemberState.COMPLETING_REBALANCE)
        self.generation = generation

    def synced(self) -> None:
        """Note that SyncGroup's response brought the assignment."""
        self._to(MemberState.STABLE)
        self.why_lost = ""

    def join_failed(self) -> None:
        """End an attempt to join. Ids and generation stay as they are."""
        if self.state is not MemberState.STABLE:
            self._to(MemberState.UNJOINED)

    def lose_generation(self) -> None:
        """Leave the generation after ILLEGAL_GENERATION. The member id stays valid (2e-3)."""
        self.generation = Generation(NO_GENERATION_ID, self.generation.member_id)
        self._to(MemberState.UNJOINED)

    def lose_membership(self) -> None:
        """Give up generation and id: after UNKNOWN_MEMBER_ID, or when the member leaves."""
        self.former_id = self.generation.member_id or self.former_id
        self.generation = NO_GENERATION
        self._to(MemberState.UNJOINED)

    def _to(self, state: MemberState) -> None:
        if state not in NEXT_STATES[self.state]:
            raise IllegalStateError(f"cannot go to {state.name} while {self.state.name}")
        self.state = state


__all__ = [
    "NEXT_STATES",
    "NO_GENERATION",
    "NO_GENERATION_ID",
    "NO_MEMBER_ID",
    "Generation",
    "Member",
    "MemberState",
]
