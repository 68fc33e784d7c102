"""Declares what a group protocol implements: the rest of the consumer knows its membership by this.

`classic/` implements it with JoinGroup and SyncGroup, `consumer_rebalance/` with heartbeats alone.
`ConsumerGroup` chooses the implementation.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Protocol

from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.consumer_config import ConsumerConfig, GroupMembershipOperation
from aiokafka_lite.consumer.group.assignment_handover import AssignmentUser
from aiokafka_lite.consumer.group.group_errors import Action
from aiokafka_lite.consumer.group.rebalance_listener import ListenerCalls
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import BrokerResponseError, CommitFailedError, KafkaError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.metrics.explanation import Explanation


@dataclass(frozen=True, slots=True)
class GroupParts:
    """The parts of a consumer that a membership is made of."""

    config: ConsumerConfig
    """With a group id."""
    client: KafkaClient
    coordinators: CoordinatorCache
    subscription: SubscriptionState
    listeners: ListenerCalls
    signal: PollSignal
    user: AssignmentUser


class CommitMembership(Protocol):
    """What committing offsets needs of a membership."""

    @property
    def commit_actions(self) -> ErrorActions[Action]:
        """What each error code of OffsetCommit calls for."""

    @property
    def is_rebalancing(self) -> bool:
        """Whether the member is between two assignments."""

    def identity(self) -> ConsumerGroupMetadata:
        """Return the ids in whose name the member commits.

        After the membership was lost: the former member id without a generation, which a
        coordinator refuses.
        """

    def identity_to_fetch(self) -> ConsumerGroupMetadata | None:
        """Return the ids in whose name committed offsets are asked for; None: as from outside."""

    def go_on(
        self, committer: ConsumerGroupMetadata, had: Collection[TopicPartition]
    ) -> ConsumerGroupMetadata | None:
        """Return the ids with which a commit goes on that began as `committer`. `had`: its
        partitions that were assigned then. None: the group has moved on, and others may have them.
        """

    def overtaken(self, committer: ConsumerGroupMetadata) -> KafkaError:
        """Return the error of a commit that began as `committer`, when the group has moved on.

        It is a RebalanceInProgressError, or CommitFailedError if the membership was lost.
        """

    def check_may_commit(self) -> None:
        """Raise the error that a commit would raise at once, without asking the coordinator.

        Raises: RebalanceInProgressError between two assignments; CommitFailedError without a
        membership.
        """

    def commit_failed(self) -> CommitFailedError:
        """Return the error of a commit that comes after the membership was lost."""

    def commit_refused(self, action: Action, error: BrokerResponseError) -> None:
        """Act on an error of OffsetCommit that concerns the membership. `action` is REJOIN, RAISE,
        LOSE_GENERATION, LOSE_MEMBERSHIP or NEW_EPOCH.
        """


class Membership(CommitMembership, Protocol):
    """One consumer's membership in its group. Only coroutines wait."""

    @property
    def join_timeout_s(self) -> float:
        """How long the group may take until the member has its assignment, in seconds."""

    @property
    def completed_joins(self) -> int:
        """How many assignments the member has taken over."""

    @property
    def awaits_assignment(self) -> bool:
        """Whether an assignment is being made, or will be asked for."""

    @property
    def is_stable(self) -> bool:
        """Whether the member has its assignment and the group does not rebalance."""

    def explain(self) -> "Explanation | None":
        """Return why the group has assigned nothing yet, or no longer; None if it has."""

    @property
    def topics(self) -> frozenset[str]:
        """The topics whose metadata the membership needs besides those of the subscription."""

    def start(self) -> None:
        """Start the background tasks. They join once `request_rejoin` asks for it."""

    def request_rejoin(self, reason: str) -> None:
        """Join, or join again, as soon as possible. The broker logs `reason` (KIP-800)."""

    def leave_soon(self, owned: Collection[TopicPartition]) -> None:
        """Tell the present listener and the coordinator in the background that the consumer has
        unsubscribed, and has let go of the partitions `owned`.
        """

    def metadata_changed(self, snapshot: MetadataSnapshot) -> None:
        """Compare new metadata with the metadata that the present assignment was made from."""

    def poll_began(self) -> None:
        """Join again if the membership rests until the application polls."""

    def raise_error(self) -> None:
        """Raise the error that keeps the member out of its group, if there is one.

        An error that joining again may mend is raised once; FencedInstanceIdError is raised each
        time until `leave_soon`.
        """

    async def poll_overdue(self, since_s: float) -> None:
        """Leave the group until the next poll: there was none since `since_s` (monotonic).

        Cancelled: the member has left; the coordinator may not know it.
        """

    async def close(self) -> None:
        """Take over no more assignments, and end a listener that runs. Does not leave the group.

        Cancelled: as if it had returned.
        """

    async def tell_listener(self, owned: Collection[TopicPartition]) -> None:
        """Tell the listener that the member leaves with `owned`; call it after `close`.

        Does what `leave_soon` asked for in place of that, if it is not done yet. Cancelled: the
        listener may not know everything.
        """

    async def leave(
        self, reason: str, timeout_s: float, operation: GroupMembershipOperation = "default"
    ) -> None:
        """Leave the group, if the consumer is a member. The request takes `timeout_s` at most.

        `operation`: whether the coordinator is told of it (KIP-1092). Cancelled: the member has
        left, and the request is sent if there is a connection.
        """


__all__ = ["CommitMembership", "GroupParts", "Membership"]
