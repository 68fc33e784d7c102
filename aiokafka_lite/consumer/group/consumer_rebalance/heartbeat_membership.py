"""A consumer's membership in a group whose coordinator assigns. A background task takes
assignments over and leaves; another one sends heartbeats. Neither waits for polls (F2).

`epoch_member` holds epoch and state, `epoch_heartbeats` talks to the coordinator, and
`assignment_handover` moves partitions. Only partitions that move are given up: they are committed,
the listener hears of them, and the next heartbeat says so. The others are read all the time.

An error may end the membership until the next poll, which then rejoins. A static member whose place
another consumer has taken never rejoins by itself. Source: KIP-848, AbstractMembershipManager.
"""

import logging
from collections.abc import Collection
from typing import TYPE_CHECKING

from aiokafka_lite.checks.quoted import cut
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.consumer_config import GroupMembershipOperation
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover, changes
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_heartbeats import EpochHeartbeats
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import EpochMember, EpochState
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_coordinator import (
    HeartbeatCoordinator,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import (
    NOTHING,
    MemberWishes,
    TopicIdPartitions,
)
from aiokafka_lite.consumer.group.consumer_rebalance.target_names import NamedTarget, named_target
from aiokafka_lite.consumer.group.departure import UNSUBSCRIBED, Departure
from aiokafka_lite.consumer.group.group_errors import (
    EPOCH_COMMIT_ACTIONS,
    Action,
    is_for_good,
    rebalanced_meanwhile,
)
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.consumer.group.membership_protocol import GroupParts
from aiokafka_lite.consumer.group.poll_watch import overdue_reason
from aiokafka_lite.consumer.stop_bounds import LEAVE_S
from aiokafka_lite.errors import BrokerResponseError, CommitFailedError, KafkaError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.metrics.explanation import Explanation

logger = logging.getLogger(__name__)

_JOIN_S = 60.0
"""How long a start waits at least: the coordinator answers a member that joins at once."""

_LOOP_BLOCK_S = 3.0
"""Longer blocks of the loop are logged: brokers ask for a heartbeat every five seconds."""


class HeartbeatMembership:
    """Keeps a subscribed consumer in its group."""

    def __init__(self, parts: GroupParts) -> None:
        config, client = parts.config, parts.client
        assert config.group_id is not None
        member = EpochMember(config.group_id, config.group_instance_id, config.client_id)
        self._config = config
        self._client = client
        self._member = member
        self._subscription = parts.subscription
        self._signal = parts.signal
        self._coordinator = HeartbeatCoordinator(config, client, parts.coordinators, member)
        self._loop_watch = LoopWatch(
            client.clock, repr(config.client_id), _LOOP_BLOCK_S, lambda: member.sends_heartbeats
        )
        self._heartbeats = EpochHeartbeats(
            client,
            self._coordinator,
            member,
            self._loop_watch,
            self._wishes,
            self._answered,
            self._heartbeat_refused,
            self._fail,
        )
        self._handover = AssignmentHandover(
            parts.subscription,
            RebalanceProtocol.COOPERATIVE,
            parts.listeners,
            parts.user,
            member,
        )
        self._wakeup = Wakeup()
        self._task: OwnedTask | None = None
        self._heartbeat_task: OwnedTask | None = None
        self._is_closed = False
        self._departure = Departure(self._handover, parts.listeners)
        self._error: KafkaError | None = None
        self._rebalance_began_s: float | None = None
        self._is_reconciling = False
        self._first_epoch = 0
        self.completed_joins = 0
        """How many assignments were taken over."""

    def __repr__(self) -> str:
        return repr(self._member)

    # What commits ask…

    @property
    def commit_actions(self) -> ErrorActions[Action]:
        """What each error code of OffsetCommit calls for."""
        return EPOCH_COMMIT_ACTIONS

    @property
    def is_rebalancing(self) -> bool:
        """Whether the member has no membership, and is about to get one."""
        return self._member.state in (EpochState.JOINING, EpochState.FENCED)

    def identity(self) -> ConsumerGroupMetadata:
        """As `EpochMember.identity`."""
        return self._member.identity()

    def identity_to_fetch(self) -> ConsumerGroupMetadata | None:
        """Return the ids with which committed offsets are asked for; None: from outside."""
        return self._member.identity() if self._member.is_member else None

    def go_on(
        self, committer: ConsumerGroupMetadata, had: Collection[TopicPartition]
    ) -> ConsumerGroupMetadata | None:
        """Return the ids with the newest epoch, if the member is the same and has kept `had`."""
        has_all = self._subscription.assignment.issuperset(had)
        return self._member.identity() if has_all and self._is_still(committer) else None

    def overtaken(self, committer: ConsumerGroupMetadata) -> KafkaError:
        """Return CommitFailedError if the membership was lost, also if there is another one."""
        if self._is_still(committer):
            return rebalanced_meanwhile(self._member.group_id)
        return self._member.commit_failed()

    def _is_still(self, committer: ConsumerGroupMetadata) -> bool:
        """Say whether the membership is that in which `committer` was the identity."""
        member = self._member
        return (
            member.is_member
            and committer.member_id == member.member_id
            and committer.generation_id >= self._first_epoch
        )

    def check_may_commit(self) -> None:
        """Raise CommitFailedError without a membership. A rebalance does not hinder commits."""
        if not self._member.is_member:
            raise self._member.commit_failed()

    def commit_failed(self) -> CommitFailedError:
        """As `EpochMember.commit_failed`."""
        return self._member.commit_failed()

    def commit_refused(self, action: Action, error: BrokerResponseError) -> None:
        """Act on an error of OffsetCommit that concerns the membership."""
        if action is Action.NEW_EPOCH:
            self._heartbeats.ask_soon()
        else:
            self._heartbeat_refused(action, error)

    # Called by the consumer; nothing here waits…

    @property
    def join_timeout_s(self) -> float:
        """How long joining may take."""
        return _JOIN_S

    @property
    def awaits_assignment(self) -> bool:
        """Whether an assignment is being made, or will be asked for."""
        return self._member.state in (
            EpochState.JOINING,
            EpochState.FENCED,
            EpochState.RECONCILING,
        )

    @property
    def is_stable(self) -> bool:
        """Whether the member is in its group: the coordinator takes its commits."""
        return self._member.is_member

    def explain(self) -> "Explanation | None":
        """As `explain_membership`."""
        from aiokafka_lite.consumer.group.consumer_rebalance.membership_explanation import (  # noqa: PLC0415 - few ask
            explain_membership,
        )

        return explain_membership(self._member, self._error, self._coordinator.why_unknown)

    @property
    def topics(self) -> frozenset[str]:
        """No topics but those of the subscription: the coordinator knows the others."""
        return frozenset()

    def start(self) -> None:
        """Start the background tasks. They join once the consumer subscribes."""
        owner = self._client.owner
        self._task = owner.spawn("coordinator.membership", self._run)
        self._heartbeat_task = owner.spawn("coordinator.heartbeats", self._heartbeats.run)

    def request_rejoin(self, reason: str) -> None:
        """Join, or tell the coordinator of another subscription."""
        if self._member.join():
            logger.debug("%r joins: %s", self._member, cut(reason))
        self._lift_holds()
        self._heartbeats.look()
        self._wakeup.set()

    def leave_soon(self, owned: Collection[TopicPartition]) -> None:
        """Tell the present listener and the coordinator that the consumer has unsubscribed, and has
        let go of `owned`. The background task does it.
        """
        self._departure.intend(owned)
        self._error = None
        self._wakeup.set()

    def metadata_changed(self, snapshot: MetadataSnapshot) -> None:  # noqa: ARG002
        """Take over what waits for the names of its topics."""
        if self._member.state is EpochState.RECONCILING:
            self._wakeup.set()

    def raise_error(self) -> None:
        """Raise the error that keeps the member out of its group; a later poll tries anew.

        An error for good (FENCED_INSTANCE_ID) is raised each time until unsubscribe().
        """
        error = self._error
        if error is None:
            return
        if not is_for_good(error):
            self._error = None
        raise error.with_traceback(None)

    def poll_began(self) -> None:
        """Join again if the membership waits for a poll and no error is left to be raised."""
        if self._error is None and self._member.polled():
            self._wakeup.set()

    async def poll_overdue(self, since_s: float) -> None:
        """Leave the group until the next poll: there was none since `since_s` (monotonic).

        Cancelled: the member has left; the coordinator may not know it.
        """
        reason = overdue_reason(
            self._config.max_poll_interval_ms, self._loop_watch.blocked_s(since_s)
        )
        logger.warning("%s leaves the group until the next poll: %s", self._member, reason)
        member = self._member
        is_known = member.leave_unpolled(reason)
        self._lose_partitions()
        if is_known:
            await self._coordinator.leave(member.leave_epoch(), reason, LEAVE_S)

    async def close(self) -> None:
        """Take over nothing more, and end a listener that runs. Does not leave the group: `leave`
        does. Heartbeats go on until then, for the last commit may need the newest epoch.

        Cancelled: as if it had returned.
        """
        self._is_closed = True
        if self._task is not None:
            self._task.cancel()
            await self._task.wait()

    async def tell_listener(self, owned: Collection[TopicPartition]) -> None:
        """As `Membership.tell_listener`."""
        if self._subscription.is_subscribed:
            self._departure.intend(owned)
        await self._departure.tell_listener(is_lost=not self._member.is_member)

    async def leave(
        self, reason: str, timeout_s: float, operation: GroupMembershipOperation = "default"
    ) -> None:
        """As `Membership.leave`. A static member leaves for a while by default (KIP-1092)."""
        member = self._member
        self._rebalance_began_s = None
        if self._is_closed and self._heartbeat_task is not None:
            self._heartbeat_task.cancel()
        if member.state is EpochState.UNSUBSCRIBED:
            return
        is_known = member.leave(reason)
        member.left()
        if is_known and member.tells_that_it_leaves(operation):
            await self._coordinator.leave(member.leave_epoch(operation), reason, timeout_s)

    # The task…

    async def _run(self) -> None:
        member = self._member
        while True:
            if self._departure.is_intended:
                await self.tell_listener(())  # as was intended
                await self.leave(UNSUBSCRIBED, self._config.request_timeout_ms / 1000)
                if self._subscription.is_subscribed:
                    self.request_rejoin("the consumer has subscribed again")
                self._signal.notify()
            elif member.state is EpochState.FENCED:
                await self._handover.lose(member.why_lost)
                member.told_lost()
                self._heartbeats.look()
            elif member.state is EpochState.FATAL and self._subscription.assignment:
                await self._handover.lose(member.why_lost)
            elif member.state is EpochState.RECONCILING and (target := self._unreconciled()):
                self._is_reconciling = True
                await self._reconcile(target)
                self._is_reconciling = False
            else:
                await self._wakeup.wait()

    def _named_target(self) -> NamedTarget:
        return named_target(self._member.target, self._client.metadata.snapshot.topic_name)

    def _unreconciled(self) -> NamedTarget | None:
        """Return what is to be taken over, or only to be acknowledged; None: nothing that has a
        name is missing.
        """
        member, named = self._member, self._named_target()
        is_due = member.has_new_target or member.owned is None or named.ids != member.owned
        return named if is_due else None

    async def _reconcile(self, target: NamedTarget) -> None:
        """Give up what goes, say so, then take what comes by the target that is the newest then."""
        member, subscription = self._member, self._subscription
        membership, epoch = member.membership, subscription.ownership_epoch
        if member.owned is None:
            self._first_epoch = member.epoch
        kept, has_revoked = member.owned or NOTHING, False
        while True:
            subscription.match_assigned({tp.topic for tp in target.partitions})
            revoked, added = changes(subscription.assignment, target.partitions)
            if not revoked:
                break
            await self._handover.revoke(revoked)
            if epoch != subscription.ownership_epoch:
                return
            kept, has_revoked = kept & target.ids, True
            target = self._named_target()
        if has_revoked and added:
            self._took(kept, membership)
        if has_revoked or added or member.owned is None:
            member.takes(target.ids)
            await self._handover.take(target.partitions, target.topic_ids)
            if epoch != subscription.ownership_epoch:
                return
        if not self._took(target.ids, membership):
            return
        self.completed_joins += 1
        now_s = self._client.clock.monotonic()
        began_s, self._rebalance_began_s = self._rebalance_began_s, None
        self._client.observer.rebalanced(
            member.epoch,
            len(subscription.assignment),
            0.0 if began_s is None else now_s - began_s,
        )
        self._signal.notify()

    def _took(self, owned: TopicIdPartitions, membership: int) -> bool:
        is_same = self._member.took(owned, membership)
        self._heartbeats.look()
        return is_same

    def _lift_holds(self) -> None:
        """Read on what was subscribed anew before the coordinator heard that it was not."""
        subscription = self._subscription
        is_at_rest = self._member.is_member and not self._is_reconciling
        if is_at_rest and subscription.is_subscribed and not self._departure.is_intended:
            subscription.assign_from_group(subscription.queue())

    # What heartbeats and commits say…

    def _wishes(self) -> MemberWishes:
        config, subscription = self._config, self._subscription
        regex = subscription.server_pattern
        return MemberWishes(
            rebalance_timeout_ms=config.rebalance_timeout_or_default_ms,
            topics=frozenset() if regex else subscription.topics,
            regex=regex,
            assignor=config.group_remote_assignor,
            rack_id=config.member_rack,
        )

    def _answered(self) -> None:
        member = self._member
        if member.state is not EpochState.RECONCILING:
            return
        if self._rebalance_began_s is None:
            self._rebalance_began_s = self._client.clock.monotonic()
        if self._named_target().unknown:
            self._client.metadata.request_update()
        self._wakeup.set()

    def _heartbeat_refused(self, action: Action, error: BrokerResponseError) -> None:
        if action is Action.RAISE:
            self._fail(error)
        elif action is Action.TELL:
            self._client.observer.failed("join", error)
            self._error = error
            self._signal.notify()
        elif self._member.fence(""):
            self._lose_partitions()

    def _fail(self, error: KafkaError) -> None:
        """Join no more until a poll has raised the error. An error of a membership that the
        consumer has left is not kept.
        """
        self._client.observer.failed("join", error)
        if not self._member.fail(reason_of(error)):
            return
        logger.error("%r cannot go on: %s", self._member, error)
        self._error = error
        self._lose_partitions()

    def _lose_partitions(self) -> None:
        """Return no more records: the partitions may have another owner by now."""
        self._handover.lose_soon()
        self._wakeup.set()
        self._signal.notify()


__all__ = ["HeartbeatMembership"]
