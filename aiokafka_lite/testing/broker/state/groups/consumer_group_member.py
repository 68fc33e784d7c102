"""A member of a consumer group of KIP-848, and what it tells in a heartbeat. Plain values.

Source: ConsumerGroupMember, MemberState.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

JOIN_EPOCH = 0
LEAVE_EPOCH = -1
STATIC_LEAVE_EPOCH = -2
"""The epochs by which a member joins, leaves, and leaves for a while."""


NO_PATTERN = ""
"""The pattern of a member by the classic protocol, which can have none."""


class TopicIdPartition(NamedTuple):
    """A partition, by the id of its topic."""

    topic_id: UUID
    partition: int


Epochs = Mapping[TopicIdPartition, int]
"""Partition -> the epoch in which the member got it."""


class MemberProgress(StrEnum):
    """How far a member is on its way to its target assignment."""

    STABLE = "stable"
    """It has what it shall have."""
    UNREVOKED_PARTITIONS = "unrevoked partitions"
    """It still has to give up partitions, and keeps its epoch until then."""
    UNRELEASED_PARTITIONS = "unreleased partitions"
    """It waits for partitions that others have not given up yet."""


@dataclass(frozen=True, slots=True)
class MemberHeartbeat:
    """The contents of a ConsumerGroupHeartbeat; None and -1 stand for no change."""

    member_id: str
    member_epoch: int
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    topics: Sequence[str] | None = None
    pattern: str | None = None
    server_assignor: str | None = None
    owned: frozenset[TopicIdPartition] | None = None
    client_id: str = ""
    client_host: str = ""
    may_see: Callable[[str], bool] = lambda _: True
    """Whether the client may see a topic that its pattern matches."""

    @property
    def is_full(self) -> bool:
        """Whether it tells everything, and so asks for its whole assignment."""
        return (
            self.rebalance_timeout_ms != -1
            and (self.topics is not None or self.pattern is not None)
            and self.owned is not None
        )


@dataclass(frozen=True, slots=True)
class ClassicTerms:
    """What a member that uses the classic protocol has told in its JoinGroup."""

    session_timeout_ms: int
    protocols: Mapping[str, bytes]
    """Assignment strategy -> the member's metadata for it, the preferred one first."""


@dataclass(frozen=True, slots=True)
class ConsumerGroupMember:
    """One member. A change makes a new value."""

    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: int = -1
    client_id: str = ""
    client_host: str = ""
    topics: frozenset[str] = frozenset()
    pattern: str | None = None
    server_assignor: str | None = None
    epoch: int = JOIN_EPOCH
    previous_epoch: int = -1
    state: MemberProgress = MemberProgress.STABLE
    assigned: Epochs = field(default_factory=dict)
    """What it may own."""
    revoking: Epochs = field(default_factory=dict)
    """What it still has to give up."""
    classic: ClassicTerms | None = None
    """Set for a member that uses the classic protocol."""

    def told(self, heartbeat: MemberHeartbeat) -> "ConsumerGroupMember":
        """Return the member with what its heartbeat changes."""
        topics, timeout_ms = heartbeat.topics, heartbeat.rebalance_timeout_ms
        return replace(
            self,
            instance_id=_or(heartbeat.instance_id, self.instance_id),
            rack_id=_or(heartbeat.rack_id, self.rack_id),
            rebalance_timeout_ms=self.rebalance_timeout_ms if timeout_ms == -1 else timeout_ms,
            client_id=heartbeat.client_id,
            client_host=heartbeat.client_host,
            topics=self.topics if topics is None else frozenset(topics),
            pattern=_or(heartbeat.pattern, self.pattern),
            server_assignor=_or(heartbeat.server_assignor, self.server_assignor),
            classic=None,
        )

    def at(self, epoch: int) -> "ConsumerGroupMember":
        """Return the member in an epoch; the one before is its present one, as in Kafka."""
        return replace(self, epoch=epoch, previous_epoch=self.epoch)

    def replaced_by(self, member_id: str, epoch: int = JOIN_EPOCH) -> "ConsumerGroupMember":
        """Return a static member that has come back, under its new id. Source: KIP-345."""
        return replace(self, member_id=member_id, epoch=epoch, previous_epoch=JOIN_EPOCH)

    def away(self) -> "ConsumerGroupMember":
        """Return a static member that has left for a while; what it has is kept for it."""
        kept = dict.fromkeys(self.assigned, 0)
        return replace(self, epoch=STATIC_LEAVE_EPOCH, assigned=kept, revoking={})

    def is_reconciled_to(self, epoch: int) -> bool:
        """Return whether the member has what it shall have in this epoch."""
        return self.state is MemberProgress.STABLE and self.epoch == epoch

    def epoch_of(self, partition: TopicIdPartition) -> int | None:
        """Return the epoch in which the member got a partition; None if it has not."""
        found = self.assigned.get(partition)
        return self.revoking.get(partition) if found is None else found


def _or(told: str | None, kept: str | None) -> str | None:
    return kept if told is None else told


__all__ = [
    "JOIN_EPOCH",
    "LEAVE_EPOCH",
    "NO_PATTERN",
    "STATIC_LEAVE_EPOCH",
    "ClassicTerms",
    "ConsumerGroupMember",
    "Epochs",
    "MemberHeartbeat",
    "MemberProgress",
    "TopicIdPartition",
]
