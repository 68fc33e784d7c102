"""A consumer's membership by JoinGroup and SyncGroup. A background task joins, hands partitions
over and leaves; it does not wait for polls (F2).

`next_step` decides what the task does next, `join_round` joins, and `assignment_handover` moves
partitions. `member` holds the ids, `group_errors` says what each error
calls for. Source: 2e-1 to 2e-12, AbstractCoordinator, ConsumerCoordinator.

An error may end the membership until the next poll, which then rejoins. A static member that was
fenced never rejoins by itself. Another consumer has its place, and a rejoin would remove that one.

The polls of a cooperative member do not wait for a rebalance: it owns the partitions that it keeps
all the time.
"""

import logging
from collections.abc import Collection
from typing import TYPE_CHECKING

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.error_actions import ErrorActions
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.concurrency.wakeup import Wakeup
from aiokafka_lite.consumer.consumer_config import GroupMembershipOperation
from aiokafka_lite.consumer.group.assignment_handover import AssignmentHandover
from aiokafka_lite.consumer.group.classic.classic_coordinator import (
    JOIN_GRACE_S,
    ClassicCoordinator,
)
from aiokafka_lite.consumer.group.classic.heartbeat_timer import HeartbeatTimer
from aiokafka_lite.consumer.group.classic.heartbeats import Heartbeats
from aiokafka_lite.consumer.group.classic.join_round import JoinRefusedError, JoinRound
from aiokafka_lite.consumer.group.classic.member import Generation, Member, MemberState
from aiokafka_lite.consumer.group.classic.next_step import (
    WAITING,
    MembershipEvent,
    NextStep,
    step_after,
)
from aiokafka_lite.consumer.group.classic.rebalance import strangers
from aiokafka_lite.consumer.group.departure import LEAVING_LANES, UNSUBSCRIBED, Departure
from aiokafka_lite.consumer.group.group_errors import (
    COMMIT_ACTIONS,
    JOIN_ACTIONS,
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
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment

if TYPE_CHECKING:
    from aiokafka_lite.metrics.explanation import Explanation

logger = logging.getLogger(__name__)


class ClassicMembership:
    """Keeps a subscribed consumer in its group."""

    def __init__(self, parts: GroupParts) -> None:
        config, client = parts.config, parts.client
        assert config.group_id is not None
        member = Member(config.group_id, config.group_instance_id, config.client_id)
        coordinator = ClassicCoordinator(config, client, parts.coordinators, member)
        self._config = config
        self._client = client
        self._coordinator = coordinator
        self._member = member
        self._subscription = parts.subscription
        self._signal = parts.signal
        heartbeat_s = config.heartbeat_interval_ms / 1000
        self._loop_watch = LoopWatch(
            client.clock, repr(config.client_id), heartbeat_s, lambda: member.sends_heartbeats
        )
        self._heartbeats = Heartbeats(
            coordinator,
            member,
            HeartbeatTimer(heartbeat_s, config.session_timeout_ms / 1000, client.retry_backoff),
            self._loop_watch,
            client.clock,
            self._heartbeat_said,
            self._fail,
            client.waits,
        )
        self._round = JoinRound(
            config, client, parts.subscription, member, coordinator, self._heartbeats
        )
        self.leader = self._round.leader
        self._handover = AssignmentHandover(
            parts.subscription, self._round.protocol, parts.listeners, parts.user, member
        )
        self._departure = Departure(self._handover, parts.listeners)
        self._wakeup = Wakeup()
        self._tasks: list[OwnedTask] = []
        self._step = NextStep.PREPARE
        self._failed_joins = 0
        self._refusals = 0
        """How often in a row the coordinator has told the member to join anew."""
        self._rebalance_began_s: float | None = None
        self._wait: LongWait | None = None
        self._error: KafkaError | None = None
        self.completed_joins = 0
        """How many assignments were taken over."""

    def __repr__(self) -> str:
        return repr(self._member)

    # What commits ask…

    @property
    def commit_actions(self) -> ErrorActions[Action]:
        """What each error code of OffsetCommit calls for (2e-12)."""
        return COMMIT_ACTIONS

    @property
    def is_rebalancing(self) -> bool:
        """Whether the member is between two assignments."""
        return self._member.is_rebalancing

    def identity(self) -> ConsumerGroupMetadata:
        """As `Member.identity`."""
        return self._member.identity()

    def identity_to_fetch(self) -> None:
        """Committed offsets are asked for as from outside."""

    def go_on(
        self,
        committer: ConsumerGroupMetadata,
        had: Collection[TopicPartition],  # noqa: ARG002 - a generation says it all
    ) -> ConsumerGroupMetadata | None:
        """Return the same ids, unless the group has another generation."""
        return committer if committer == self.identity() else None

    def overtaken(self, committer: ConsumerGroupMetadata) -> KafkaError:  # noqa: ARG002
        """As `rebalanced_meanwhile`: a new generation may be the reason as well as a loss."""
        return rebalanced_meanwhile(self._member.group_id)

    def check_may_commit(self) -> None:
        """As `Member.check_may_commit`."""
        self._member.check_may_commit()

    def commit_failed(self) -> CommitFailedError:
        """As `Member.commit_failed`."""
        return self._member.commit_failed()

    # Called by the consumer; nothing here waits…

    @property
    def join_timeout_s(self) -> float:
        """How long joining may take: the other members have the rebalance timeout to join."""
        return self._config.rebalance_timeout_or_default_ms / 1000 + JOIN_GRACE_S

    @property
    def awaits_assignment(self) -> bool:
        """Whether an assignment is being made, or will be asked for."""
        return self._member.is_rebalancing or self._member.rejoin_reason is not None

    @property
    def is_stable(self) -> bool:
        """Whether the member has its assignment and the group does not rebalance."""
        return self._member.state is MemberState.STABLE

    def explain(self) -> "Explanation | None":
        """As `explain_join`."""
        from aiokafka_lite.consumer.group.classic.join_explanation import (  # noqa: PLC0415 - few ask
            explain_join,
        )

        coordinator = self._coordinator
        return explain_join(self._member, self._step, self._error, coordinator.why_unknown)

    @property
    def topics(self) -> frozenset[str]:
        """The topics of all members, if this one leads the group."""
        return self.leader.topics

    def start(self) -> None:
        """Start the background tasks. They join once the consumer subscribes."""
        owner = self._client.owner
        self._tasks = [
            owner.spawn("coordinator.membership", self._run),
            owner.spawn("coordinator.heartbeats", self._heartbeats.run),
        ]

    def request_rejoin(self, reason: str) -> None:
        """Join, or join again, as soon as possible."""
        self._member.request_rejoin(reason)
        self._wakeup.set()

    def leave_soon(self, owned: Collection[TopicPartition]) -> None:
        """Tell the present listener and the coordinator that the consumer has unsubscribed, and has
        let go of `owned`. The background task does it.
        """
        self._member.rejoin_reason = None
        self._departure.intend(owned)
        self._error = None
        self._changes_step(MembershipEvent.UNSUBSCRIBED)
        self._wakeup.set()

    def metadata_changed(self, snapshot: MetadataSnapshot) -> None:
        """Join again if the metadata no longer fits the assignment that this leader made (2e-9)."""
        if self._member.sends_heartbeats and self.leader.has_changed(snapshot):
            self.request_rejoin("topics of the group have changed")

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
        if self._step in WAITING and self._error is None:
            self._changes_step(MembershipEvent.POLLED)
            self.request_rejoin("the application polls again")

    def leave_for_silence(self, reason: str) -> str:
        """Give up the membership because the application does not poll. The next poll joins again.

        Returns the member id to leave with. Buffered records are no longer returned.
        """
        member_id = self._member.generation.member_id
        self._member.why_lost = reason
        self._member.lose_membership()
        self._lose_partitions(MembershipEvent.NOT_POLLED)
        logger.warning("%s leaves the group until the next poll: %s", self._member, reason)
        return member_id

    async def poll_overdue(self, since_s: float) -> None:
        """Leave the group until the next poll: there was none since `since_s` (monotonic).

        Cancelled: the member has left; the coordinator may not know it.
        """
        member_id = self.leave_for_silence(
            overdue_reason(self._config.max_poll_interval_ms, self._loop_watch.blocked_s(since_s))
        )
        if member_id and not self._member.is_static:
            await self._coordinator.leave(
                member_id, "the application did not poll in time", LEAVE_S
            )

    async def close(self) -> None:
        """End the tasks, and a listener that runs in them. Does not leave the group: `leave` does.

        Cancelled: the tasks still end.
        """
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            await task.wait()

    async def tell_listener(self, owned: Collection[TopicPartition]) -> None:
        """As `Membership.tell_listener`."""
        if self._subscription.is_subscribed:
            self._departure.intend(owned)
        member = self._member
        await self._departure.tell_listener(
            is_lost=not member.generation.is_joined or member.is_rebalancing
        )

    async def leave(
        self, reason: str, timeout_s: float, operation: GroupMembershipOperation = "default"
    ) -> None:
        """As `Membership.leave`. By default, static members do not leave (2e-5, KIP-1092)."""
        member = self._member
        member_id, is_joining = member.generation.member_id, member.is_rebalancing
        member.lose_membership()
        self.leader.step_down()
        leaves = operation == "leave_group" or (operation == "default" and not member.is_static)
        if member_id and leaves:
            # A JoinGroup request that waits for other members would delay LeaveGroup behind it.
            lanes = (Lane.GENERAL,) if is_joining else LEAVING_LANES
            await self._coordinator.leave(member_id, reason, timeout_s, lanes)

    # The task…

    async def _run(self) -> None:
        member, subscription = self._member, self._subscription
        while True:
            may_join = member.rejoin_reason is not None and subscription.is_subscribed
            match self._step:
                case NextStep.LEAVE:
                    await self._leave()
                case NextStep.LOSE_FOR_GOOD:
                    await self._tell_lost()
                case NextStep.PREPARE if may_join:
                    self._note_rebalance()
                    self._changes_step(MembershipEvent.STEP_BEGAN)
                    await self._handover.prepare(member.generation.generation_id)
                case NextStep.LOSE if may_join:
                    await self._tell_lost()
                case NextStep.JOIN if may_join:
                    self._note_rebalance()
                    await self._rejoin()
                case _:
                    self._waits_no_longer()
                    await self._wakeup.wait()

    def _changes_step(self, event: MembershipEvent) -> bool:
        """Change the next step after `event`; say whether the event still matters."""
        step = step_after(event, self._step)
        self._step = step or self._step
        return step is not None

    def _note_rebalance(self) -> None:
        """Note when the rebalance began, unless it goes on."""
        if self._rebalance_began_s is None:
            self._rebalance_began_s = self._client.clock.monotonic()

    async def _tell_lost(self) -> None:
        self._changes_step(MembershipEvent.STEP_BEGAN)
        await self._handover.lose(self._member.why_lost)

    async def _leave(self) -> None:
        self._rebalance_began_s = None
        await self.tell_listener(())  # as was intended
        await self.leave(UNSUBSCRIBED, self._config.request_timeout_ms / 1000)
        self._changes_step(MembershipEvent.LEFT)
        self._signal.notify()

    def _waits_no_longer(self) -> None:
        if self._wait is not None:
            self._wait.end()
            self._wait = None

    def _present(self) -> str | None:
        explanation = self.explain()
        return None if explanation is None else explanation.text

    async def _rejoin(self) -> None:
        if self._wait is None:
            self._wait = self._client.waits.of(
                f"group {quoted(self._member.group_id)} to take this member in "
                "(JoinGroup, SyncGroup)",
                "check the other members and the coordinator; if a server or a proxy closes the "
                'connection at a request, limit its version by max_api_versions={"JoinGroup": 5}',
                self._present,
            )
        reason = self._member.begin_join()
        self._signal.notify()
        try:
            assigned = await self._round.run(reason)
        except JoinRefusedError as refusal:
            self._join_refused(refusal, reason)
        except KafkaError as error:
            self._join_failed(error, reason)
        else:
            if assigned is not None:
                await self._take(assigned)
        if self._failed_joins and not (self._step in WAITING or self._error):
            delay_s = self._client.retry_backoff.delay(self._failed_joins - 1)
            await self._client.clock.sleep(delay_s)

    def _join_failed(self, error: KafkaError, reason: str) -> None:
        """Act on a join that got no response."""
        self._client.observer.failed("join", error)
        self._member.join_failed()
        self._member.why_lost = reason_of(error)
        if not error.retriable:
            self._fail(error)
            return
        if self._wait is not None:
            self._wait.failed(error)
        logger.info("joining group %r: %s; trying again", self._member.group_id, error)
        self._try_again(reason)

    def _try_again(self, reason: str) -> None:
        self._failed_joins += 1
        self._member.request_rejoin(reason)

    def _join_anew(self, reason: str) -> None:
        """Join at once; from the second time in a row on, after a backoff."""
        self._failed_joins = max(self._failed_joins, self._refusals)
        self._refusals += 1
        self._member.request_rejoin(reason)

    def _join_refused(self, refusal: JoinRefusedError, reason: str) -> None:
        member = self._member
        action, error = JOIN_ACTIONS.action_for(refusal.error_code)
        level = logging.DEBUG if action is Action.TAKE_MEMBER_ID else logging.INFO
        logger.log(level, "%r: %s; %s", member, error.message, action.value)
        if action is not Action.TAKE_MEMBER_ID:
            if self._wait is not None:
                self._wait.failed(error())
            self._client.observer.failed("join", error())
        if action is Action.TAKE_MEMBER_ID:
            member.take_member_id(refusal.member_id)
            member.request_rejoin(reason)
            self._failed_joins = 0  # joins at once, without a backoff
        elif action is Action.REJOIN:
            member.join_failed()
            self._join_anew(reason)
        elif action in (Action.LOSE_GENERATION, Action.LOSE_MEMBERSHIP):
            self._lose(action)
            self._join_anew(f"{reason}; {error.message}")
        elif action is Action.RAISE:
            member.join_failed()
            self._fail(error(f"joining group {quoted(member.group_id)}: {error.description}"))
        else:
            if action is Action.FIND_COORDINATOR:
                self._coordinator.lost(error.message)
            member.join_failed()
            self._try_again(reason)

    async def _take(self, assignment: ConsumerProtocolMemberAssignment) -> None:
        """Take an assignment over, unless it does not fit the present subscription (2e-10)."""
        if not self._subscription.is_subscribed:
            return
        if not self._changes_step(MembershipEvent.ASSIGNED):
            return  # the consumer has unsubscribed meanwhile
        assigned = assignment.partitions()
        unwanted = strangers(assigned, self._subscription.topics)
        if unwanted:
            self._try_again("the assignment does not match the subscription")
            return
        self._failed_joins = self._refusals = 0
        self._waits_no_longer()
        began_s, self._rebalance_began_s = self._rebalance_began_s, None
        generation = self._member.generation
        takes_away = await self._handover.take(assigned, generation_id=generation.generation_id)
        if takes_away or (self._round.withheld(assigned) and self._member.generation is generation):
            self.request_rejoin("revoked partitions are free for others")
        self.completed_joins += 1
        now_s = self._client.clock.monotonic()
        self._client.observer.rebalanced(
            self._member.generation.generation_id,
            len(self._subscription.assignment),
            0.0 if began_s is None else now_s - began_s,
        )
        self._signal.notify()

    # What ends a membership…

    def _heartbeat_said(
        self, action: Action, error: BrokerResponseError, generation: Generation
    ) -> None:
        member = self._member
        assert member.generation is generation
        if action is Action.REJOIN:
            if not member.is_rebalancing:
                self.request_rejoin("the group rebalances")
        elif action is Action.RAISE:
            self._fail(error)
        else:
            self._lose(action)
            self.request_rejoin(f"heartbeat: {error.message}")

    def commit_refused(self, action: Action, error: BrokerResponseError) -> None:
        """Act on an error of OffsetCommit that concerns the membership (2e-12)."""
        self._heartbeat_said(action, error, self._member.generation)

    def _lose(self, action: Action) -> None:
        self._member.why_lost = self._heartbeats.why_lost()
        if action is Action.LOSE_GENERATION:
            self._member.lose_generation()
        else:
            self._member.lose_membership()
        self._lose_partitions(MembershipEvent.LOST)

    def _lose_partitions(self, event: MembershipEvent) -> None:
        """Return no more records: the partitions may have another owner by now."""
        self._changes_step(event)
        self._handover.lose_soon()
        self._signal.notify()

    def _fail(self, error: KafkaError) -> None:
        """Join no more until a poll has raised the error (2e-3). An error of a membership that the
        consumer has left, or that is lost for good, is not kept.
        """
        logger.error("%r cannot go on: %s", self._member, error)
        event = MembershipEvent.FENCED if is_for_good(error) else MembershipEvent.FAILED
        if not self._changes_step(event):
            return
        self._error = error
        self._member.why_lost = reason_of(error)
        if is_for_good(error):
            self._member.lose_membership()
            self._lose_partitions(MembershipEvent.LOST)
        else:
            self._member.request_rejoin("the application polls again")
        self._wakeup.set()
        self._signal.notify()


__all__ = ["ClassicMembership"]
