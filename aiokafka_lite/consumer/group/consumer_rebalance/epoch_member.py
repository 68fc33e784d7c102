"""A member's state, epoch and partitions in a group whose coordinator assigns, with their table.

It changes only itself. Does not wait. Source: KIP-848, AbstractMembershipManager.

A member keeps its id for its whole life, also when the coordinator has given it up. Each membership
has a number of its own, for an answer to a request of a former membership means nothing.
"""

from collections.abc import Callable
from enum import Enum
from typing import Final
from uuid import uuid4

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.consumer.consumer_config import GroupMembershipOperation
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import (
    NOTHING,
    HeartbeatFields,
    MemberWishes,
    ToldWishes,
    TopicIdPartitions,
)
from aiokafka_lite.errors import CommitFailedError, IllegalStateError
from aiokafka_lite.model import ConsumerGroupMetadata

NO_EPOCH: Final = -1
JOIN_EPOCH: Final = 0
LEAVE_EPOCH: Final = -1
STATIC_LEAVE_EPOCH: Final = -2
"""The epoch of a static member that will come back: the coordinator keeps its partitions."""


class EpochState(Enum):
    """What a member is about."""

    UNSUBSCRIBED = "not in the group, and does not want to be"
    JOINING = "asks to join with epoch 0"
    RECONCILING = "the member has not taken over the newest assignment, or all of it"
    ACKNOWLEDGING = "the member has what was assigned; the next heartbeat says so"
    STABLE = "the coordinator knows that the member has what was assigned"
    FENCED = "the coordinator has given the member up: its partitions are lost, then it joins"
    STALE = "left because the application does not poll: the next poll makes it join"
    LEAVING = "the listener is told, then the coordinator"
    FATAL = "an error that the application has to see first"


_MEMBERS: Final = (EpochState.RECONCILING, EpochState.ACKNOWLEDGING, EpochState.STABLE)
_ENDS: Final = {EpochState.FENCED, EpochState.STALE, EpochState.LEAVING, EpochState.FATAL}

NEXT_STATES: Final[dict[EpochState, set[EpochState]]] = {
    EpochState.UNSUBSCRIBED: {EpochState.JOINING, EpochState.LEAVING},
    EpochState.JOINING: {EpochState.RECONCILING, *_ENDS},
    EpochState.RECONCILING: {EpochState.ACKNOWLEDGING, *_ENDS},
    EpochState.ACKNOWLEDGING: {EpochState.RECONCILING, EpochState.STABLE, *_ENDS},
    EpochState.STABLE: {EpochState.RECONCILING, EpochState.ACKNOWLEDGING, *_ENDS},
    EpochState.FENCED: {
        EpochState.JOINING,
        EpochState.STALE,
        EpochState.LEAVING,
        EpochState.FATAL,
    },
    EpochState.STALE: {EpochState.FENCED, EpochState.LEAVING, EpochState.FATAL},
    EpochState.LEAVING: {EpochState.UNSUBSCRIBED},
    EpochState.FATAL: {EpochState.FENCED, EpochState.LEAVING},
}


class EpochMember:
    """This consumer as a member. The tasks that ask the coordinator change it."""

    def __init__(
        self,
        group_id: str,
        group_instance_id: str | None,
        client_id: str = "",
        make_id: Callable[[], object] = uuid4,
    ) -> None:
        self.group_id = group_id
        self.group_instance_id = group_instance_id
        self.client_id = client_id
        self.member_id = str(make_id())
        self.state = EpochState.UNSUBSCRIBED
        self.epoch = NO_EPOCH
        """The epoch by the newest answer; `NO_EPOCH` outside of the group."""
        self.membership = 0
        """The number of the present membership, or of the last one."""
        self.target = NOTHING
        """What the coordinator wants the member to have."""
        self.owned: TopicIdPartitions | None = None
        """What the member has. None: nothing was taken over in this membership."""
        self.taking = NOTHING
        """What the listener is being told of. A newer target need not name it."""
        self.has_new_target = False
        """Whether the target has changed since the member last acknowledged what it has. The
        coordinator waits for that, also when the member has what the new target names.
        """
        self.why_lost = ""
        """Why the last membership ended. "": it did not, or nobody knows."""
        self._told = ToldWishes()
        self._was_member = False

    def __repr__(self) -> str:
        return (
            f"<Member {self.member_id} of {quoted(self.group_id)}, client "
            f"{quoted(self.client_id)}, epoch {self.epoch}, {self.state.name}>"
        )

    # Questions…

    @property
    def is_static(self) -> bool:
        """Whether it has a group_instance_id: the group waits for its return (KIP-345)."""
        return self.group_instance_id is not None

    @property
    def is_member(self) -> bool:
        """Whether the coordinator has let the member in, as far as the member knows."""
        return self.state in _MEMBERS

    @property
    def sends_heartbeats(self) -> bool:
        """Whether the coordinator expects heartbeats, or an attempt to join."""
        return self.state is EpochState.JOINING or self.is_member

    def tells_that_it_leaves(self, operation: GroupMembershipOperation) -> bool:
        """Say whether a member that leaves so tells its coordinator. One that is static always
        does, for it cannot come back otherwise while its session lasts (KIP-1092).
        """
        return self.is_static or operation != "remain_in_group"

    def leave_epoch(self, operation: GroupMembershipOperation = "default") -> int:
        """Return the epoch of the heartbeat that leaves the group (KIP-1092)."""
        is_for_good = operation == "leave_group" or not self.is_static
        return LEAVE_EPOCH if is_for_good else STATIC_LEAVE_EPOCH

    def identity(self) -> ConsumerGroupMetadata:
        """Return the ids in whose name the member commits.

        After the membership was lost: the member id without an epoch, which a coordinator refuses.
        """
        if not (self.is_member or self._was_member):
            return ConsumerGroupMetadata(self.group_id, NO_EPOCH, "", self.group_instance_id)
        epoch = self.epoch if self.is_member else NO_EPOCH
        return ConsumerGroupMetadata(self.group_id, epoch, self.member_id, self.group_instance_id)

    def commit_failed(self) -> CommitFailedError:
        """Return the error of a commit without a membership. It says why, as far as is known."""
        if not self._was_member:
            return CommitFailedError(
                f"the consumer has not joined group {quoted(self.group_id)} yet"
            )
        why = self.why_lost or (
            "the coordinator gave it up; it does so after the group's session timeout without a "
            "heartbeat, and when an admin removes the member; commit again after the next poll, "
            "for what is assigned then"
        )
        return CommitFailedError(
            f"group {quoted(self.group_id)} has moved on and this member no longer owns the "
            f"partitions: {why}"
        )

    # Heartbeats…

    def has_news(self, wishes: MemberWishes) -> bool:
        """Say whether the coordinator has to hear something before the next heartbeat is due."""
        return self.state is EpochState.ACKNOWLEDGING or self._told.is_news(wishes)

    def begin_heartbeat(self, wishes: MemberWishes) -> HeartbeatFields:
        """Return the fields of the heartbeat that is sent now. It acknowledges what was taken over.

        Where it names partitions, it names those that are being taken over and those of the target,
        too. The member may take them over while the heartbeat is on its way, and the coordinator
        gives away what a member leaves out.
        """
        acknowledges = self.state is EpochState.ACKNOWLEDGING
        if acknowledges:
            self.has_new_target = False
            is_done = self.owned == self.target
            self._to(EpochState.STABLE if is_done else EpochState.RECONCILING)
        may_have = self.taking.union(self.target, self.owned or NOTHING)
        return self._told.tell(wishes, may_have, acknowledges=acknowledges)

    def heartbeat_failed(self) -> None:
        """Tell everything with the next heartbeat: nobody knows what came of this one."""
        self._told.forget()

    def answered(self, epoch: int, assignment: TopicIdPartitions | None) -> None:
        """Take over the answer to a heartbeat. `assignment` None: as before."""
        assert self.sends_heartbeats
        self.epoch = epoch
        if assignment is not None and assignment != self.target:
            self.target = assignment
            self.has_new_target = True
        self._was_member = True
        self.why_lost = ""
        is_due = self.has_new_target or self.owned is None or self.owned != self.target
        if is_due and self.state is not EpochState.ACKNOWLEDGING:
            self._to(EpochState.RECONCILING)

    # Reconciling…

    def takes(self, assigned: TopicIdPartitions) -> None:
        """Note that the member takes this over from now on, until `took`."""
        self.taking = assigned

    def took(self, owned: TopicIdPartitions, membership: int) -> bool:
        """Note what the member has now; say whether it is still the same membership."""
        if membership != self.membership or not self.is_member:
            return False
        self.owned, self.taking = owned, NOTHING
        self._to(EpochState.ACKNOWLEDGING)
        return True

    # Life…

    def join(self) -> bool:
        """Join, unless the member is in its group or on its way; say whether that is new."""
        if self.state is not EpochState.UNSUBSCRIBED:
            return False
        self._begin()
        return True

    def _begin(self) -> None:
        self.membership += 1
        self.epoch = JOIN_EPOCH
        self._forget_target()
        self._told.forget()
        self._to(EpochState.JOINING)

    def fence(self, why: str = "") -> bool:
        """Give up the membership, and join again when what was owned is told as lost.

        Say whether there was anything to give up.
        """
        return self.sends_heartbeats and self._end(EpochState.FENCED, why)

    def told_lost(self) -> None:
        """Join again: what was owned is told as lost."""
        if self.state is EpochState.FENCED:
            self._begin()

    def leave_unpolled(self, why: str) -> bool:
        """Leave until the next poll; say whether the coordinator has to hear of it."""
        is_known = self.sends_heartbeats
        if is_known or self.state is EpochState.FENCED:
            self._end(EpochState.STALE, why)
        return is_known

    def fail(self, why: str) -> bool:
        """Do nothing until the application has seen the error; say whether that matters.

        It does not to a member that leaves, or has left.
        """
        if self.state in (EpochState.UNSUBSCRIBED, EpochState.LEAVING):
            return False
        return self._end(EpochState.FATAL, why)

    def polled(self) -> bool:
        """Join again if the member waits for a poll; say whether it does."""
        if self.state not in (EpochState.STALE, EpochState.FATAL):
            return False
        self._to(EpochState.FENCED)
        return True

    def leave(self, why: str = "") -> bool:
        """Leave the group; say whether the coordinator has to hear of it."""
        is_known = self.sends_heartbeats
        self._end(EpochState.LEAVING, why)
        return is_known

    def left(self) -> None:
        """Note that listener and coordinator know that the member has left."""
        self._to(EpochState.UNSUBSCRIBED)
        self._was_member = False

    def _end(self, state: EpochState, why: str) -> bool:
        if self.sends_heartbeats:
            self.membership += 1
        self.epoch = NO_EPOCH
        self.why_lost = why
        self._forget_target()
        self._told.forget()
        self._to(state)
        return True

    def _forget_target(self) -> None:
        self.target, self.owned, self.taking = NOTHING, None, NOTHING
        self.has_new_target = False

    def _to(self, state: EpochState) -> None:
        if state is not self.state and state not in NEXT_STATES[self.state]:
            raise IllegalStateError(f"cannot go to {state.name} while {self.state.name}")
        self.state = state


__all__ = [
    "JOIN_EPOCH",
    "LEAVE_EPOCH",
    "NEXT_STATES",
    "STATIC_LEAVE_EPOCH",
    "EpochMember",
    "EpochState",
]
