"""A share consumer's membership in its group. Background tasks send heartbeats and leave; neither
waits for polls.

`EpochMember` has state and epoch, `EpochHeartbeats` sends. Partitions are taken over at once: they
have no single owner, so nothing is revoked, and no listener is asked. Source: KIP-932,
ShareMembershipManager.
"""

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_heartbeats import EpochHeartbeats
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import (
    LEAVE_EPOCH,
    EpochMember,
    EpochState,
)
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import MemberWishes
from aiokafka_lite.consumer.group.consumer_rebalance.target_names import NamedTarget, named_target
from aiokafka_lite.consumer.group.group_errors import Action
from aiokafka_lite.consumer.group.loop_watch import LoopWatch
from aiokafka_lite.consumer.group.poll_watch import overdue_reason
from aiokafka_lite.errors import BrokerResponseError, KafkaError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.share.share_config import ShareConsumerConfig
from aiokafka_lite.share.share_coordinator import ShareCoordinator, make_member_id

if TYPE_CHECKING:
    from aiokafka_lite.metrics.explanation import Explanation

logger = logging.getLogger(__name__)

_LEAVE_S = 2.0
_LOOP_BLOCK_S = 3.0
"""Longer blocks of the loop are logged: brokers ask for a heartbeat every five seconds."""
_NOTHING = NamedTarget(frozenset(), frozenset(), frozenset(), {})


class ShareMembership:
    """Keeps a subscribed share consumer in its group."""

    def __init__(
        self,
        config: ShareConsumerConfig,
        client: KafkaClient,
        topics: Callable[[], frozenset[str]],
        on_change: Callable[[], object],
        on_unpolled: Callable[[], object],
    ) -> None:
        """`topics()` returns the subscription. `on_change()` is called after the assignment or the
        error has changed, `on_unpolled()` before the member leaves because nobody polls.
        """
        self._config = config
        self._client = client
        self._topics = topics
        self._on_change = on_change
        self._on_unpolled = on_unpolled
        self._member = EpochMember(config.group_id, None, config.client_id, make_member_id)
        self._coordinator = ShareCoordinator(config, client, CoordinatorCache(client), self._member)
        self._loop_watch = LoopWatch(
            client.clock,
            repr(config.client_id),
            _LOOP_BLOCK_S,
            lambda: self._member.sends_heartbeats,
        )
        self._heartbeats = EpochHeartbeats(
            client,
            self._coordinator,
            self._member,
            self._loop_watch,
            self._wishes,
            self._answered,
            self._refused,
            self._fail,
        )
        self._wakeup = Wakeup()
        self._tasks: list[OwnedTask] = []
        self._error: KafkaError | None = None
        self.assigned = _NOTHING
        """What the member may fetch, as far as its topics have names."""
        self.has_joined = False
        """Whether the coordinator has ever let the member in."""

    def __repr__(self) -> str:
        return repr(self._member)

    @property
    def member_id(self) -> str:
        """The id of this member, for its whole life."""
        return self._member.member_id

    @property
    def is_stable(self) -> bool:
        """Whether the member is in its group."""
        return self._member.is_member

    def explain(self) -> "Explanation | None":
        """As `explain_membership`."""
        from aiokafka_lite.consumer.group.consumer_rebalance.membership_explanation import (  # noqa: PLC0415 - few ask
            explain_membership,
        )

        return explain_membership(self._member, self._error, self._coordinator.why_unknown)

    # Called by the consumer; nothing here waits…

    def start(self) -> None:
        """Start the background tasks. They join once the consumer subscribes."""
        owner = self._client.owner
        self._tasks = [
            owner.spawn("share.membership", self._run),
            owner.spawn("share.heartbeats", self._heartbeats.run),
        ]
        self.subscription_changed()

    def subscription_changed(self) -> None:
        """Join, tell the coordinator of another subscription, or leave without one."""
        if self._topics():
            self._member.join()
            self._heartbeats.look()
        elif self._member.state is not EpochState.UNSUBSCRIBED:
            self._error = None
            self._wakeup.set()

    def metadata_changed(self) -> None:
        """Take over partitions whose topics have names now."""
        if self._member.is_member and self.assigned.unknown:
            self._take_over()

    def raise_error(self) -> None:
        """Raise once the error that keeps the member out of its group; a later poll tries anew."""
        error, self._error = self._error, None
        if error is not None:
            raise error.with_traceback(None)

    def poll_began(self) -> None:
        """Join again if the membership waits for a poll."""
        if self._member.polled():
            self._rejoin()

    async def poll_overdue(self, since_s: float) -> None:
        """Leave the group until the next poll: there was none since `since_s` (monotonic).

        Cancelled: the member has left; the coordinator may not know it.
        """
        reason = overdue_reason(
            self._config.max_poll_interval_ms, self._loop_watch.blocked_s(since_s)
        )
        logger.warning("%s leaves the group until the next poll: %s", self._member, reason)
        self._on_unpolled()
        is_known = self._member.leave_unpolled(reason)
        self._lose()
        if is_known:
            await self._coordinator.leave(LEAVE_EPOCH, reason, _LEAVE_S)

    async def close(self) -> None:
        """End the tasks. Does not leave the group: `leave` does. Cancelled: the tasks still end."""
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            await task.wait()

    async def leave(self, timeout_s: float) -> None:
        """Leave the group within `timeout_s`; call it after `close`. It takes two seconds at most
        beside the time of a throttle. Cancelled: the coordinator may not know it.
        """
        reason = "the consumer is being closed"
        if self._member.state is EpochState.UNSUBSCRIBED:
            return
        is_known = self._member.state is EpochState.LEAVING or self._member.leave(reason)
        if is_known:
            leave_s = min(_LEAVE_S + self._coordinator.throttle_s, timeout_s)
            await self._coordinator.leave(LEAVE_EPOCH, reason, leave_s)

    # The task…

    async def _run(self) -> None:
        member = self._member
        while True:
            await self._wakeup.wait()
            if self._topics() or member.state is EpochState.UNSUBSCRIBED:
                continue
            reason = "the consumer has unsubscribed"
            is_known = member.leave(reason)
            self._lose()
            if is_known:
                await self._coordinator.leave(LEAVE_EPOCH, reason, _LEAVE_S)
            member.left()
            self.subscription_changed()

    # What heartbeats say…

    def _wishes(self) -> MemberWishes:
        return MemberWishes(-1, topics=self._topics(), rack_id=self._config.client_rack)

    def _answered(self) -> None:
        is_first, self.has_joined = not self.has_joined, True
        if self._member.state is EpochState.RECONCILING:
            self._take_over()
        elif is_first:
            self._on_change()

    def _take_over(self) -> None:
        member = self._member
        self.assigned = named_target(member.target, self._client.metadata.snapshot.topic_name)
        if self.assigned.unknown:
            self._client.metadata.request_update()
        member.took(member.target, member.membership)
        self._heartbeats.look()
        self._on_change()

    def _refused(self, action: Action, error: BrokerResponseError) -> None:
        if action is Action.RAISE:
            self._fail(error)
        elif action is Action.TELL:
            self._client.observer.failed("join", error)
            self._error = error
            self._on_change()
        elif self._member.fence(reason_of(error)):
            self._lose()
            self._rejoin()

    def _rejoin(self) -> None:
        self._member.told_lost()
        self._heartbeats.look()

    def _fail(self, error: KafkaError) -> None:
        """Join no more until a poll has raised the error."""
        self._client.observer.failed("join", error)
        if self._member.fail(reason_of(error)):
            logger.error("%r cannot go on: %s", self._member, error)
            self._error = error
            self._lose()

    def _lose(self) -> None:
        self.assigned = _NOTHING
        self._on_change()


__all__ = ["ShareMembership"]
