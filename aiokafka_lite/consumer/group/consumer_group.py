"""A consumer's group as polls, positions and the facade see it. It puts the parts of this folder
together.

Only `choose_protocol`, `commit_before_revocation`, `wait_for_assignment` and `close` wait.
"""

import logging
from collections.abc import Callable, Collection
from contextlib import AbstractContextManager

from aiokafka_lite.checks.offset_arguments import CommitListener
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.concurrency.anyio_shield import anyio_shield
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.task_owner import OwnedTask
from aiokafka_lite.consumer.consumer_config import (
    ConsumerConfig,
    GroupMembershipOperation,
    GroupProtocol,
)
from aiokafka_lite.consumer.fetch.fetch_collector import Processed
from aiokafka_lite.consumer.group.classic.membership import ClassicMembership
from aiokafka_lite.consumer.group.departure import throttle_of
from aiokafka_lite.consumer.group.membership_protocol import GroupParts, Membership
from aiokafka_lite.consumer.group.offsets.auto_commit import AutoCommit
from aiokafka_lite.consumer.group.offsets.offset_committer import (
    CommitCallback,
    OffsetCommitter,
    Offsets,
)
from aiokafka_lite.consumer.group.offsets.offset_lookup import OffsetLookup
from aiokafka_lite.consumer.group.poll_watch import PollWatch
from aiokafka_lite.consumer.group.processing_hold import ProcessingHold
from aiokafka_lite.consumer.group.rebalance_listener import (
    ConsumerRebalanceListener,
    ListenerCalls,
)
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.partition_state import NO_OFFSET, PartitionState
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.consumer.stop_bounds import StopBounds
from aiokafka_lite.errors import (
    ConsumerStoppedError,
    KafkaError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from aiokafka_lite.model import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.join_group import JoinGroupRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.sync_group import SyncGroupRequest
from aiokafka_lite.schema.compiled_functions import load_functions

logger = logging.getLogger(__name__)

load_functions(FindCoordinatorRequest, JoinGroupRequest, SyncGroupRequest, OffsetFetchRequest)

GROUP_VERSION = "group.version"
"""The feature of a cluster whose coordinators assign (KIP-848)."""


class ConsumerGroup:
    """Membership, commits and committed offsets of one consumer."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
        processed: Processed,
        on_assignment_changed: Callable[[], object],
        listener: ConsumerRebalanceListener | None = None,
    ) -> None:
        """`listener`: that of the subscription; `subscribed` changes it."""
        assert config.group_id is not None
        self._config = config
        self._client = client
        self._subscription = subscription
        subscription.goes_by_polls = True
        subscription.has_commits = not config.enable_auto_offset_store
        self._signal = signal
        self._processed = processed
        self._on_assignment_changed = on_assignment_changed
        self.listeners = ListenerCalls(client.waits)
        self.listeners.listener = listener
        self.coordinators = cache = CoordinatorCache(client)
        parts = GroupParts(config, client, cache, subscription, self.listeners, signal, self)
        self._parts = parts
        self.membership = self._membership_by(config.group_protocol)
        """By "classic" before the start, if the brokers are to be asked."""
        self.offsets = OffsetCommitter(
            client, cache, config.group_id, self.membership, subscription, signal
        )
        self.committed = OffsetLookup(client, cache, config.group_id, self._identity_to_fetch)
        """Where positions are asked for that the group has committed."""
        self._once_assigned: set[TopicPartition] = set()
        self._gone: set[TopicPartition] = set()
        """Whose positions went since the last poll, and were not stored as they were then."""
        self._watch = PollWatch(config.max_poll_interval_ms / 1000)
        self._watch_task: OwnedTask | None = None
        self._auto_commit: AutoCommit | None = None
        self._is_stopped = False
        self._hold = ProcessingHold(
            client.name, config.rebalance_timeout_or_default_ms / 1000, client.clock
        )
        if config.commits_by_itself:
            self._auto_commit = AutoCommit(
                config.auto_commit_interval_ms / 1000,
                client.clock,
                client.retry_backoff,
                self.offsets,
                config.client_id,
                lambda since: self.processed(since=since),
                lambda: self._subscription.poll_number,
                self._look_again,
            )

    # Life…

    def _identity_to_fetch(self) -> ConsumerGroupMetadata | None:
        return self.membership.identity_to_fetch()

    def _membership_by(self, protocol: GroupProtocol) -> Membership:
        """Choose a group protocol. This is the only place that does.

        Most members are classic ones, so the modules of the other protocol wait for their use.
        """
        if protocol == "consumer":
            from aiokafka_lite.consumer.group.consumer_rebalance import heartbeat_membership  # noqa: PLC0415

            return heartbeat_membership.HeartbeatMembership(self._parts)
        return ClassicMembership(self._parts)

    async def choose_protocol(self, timeout_s: float) -> None:
        """With "auto", ask the brokers which protocols they have. Call it before `start`.

        Raises: as `CoordinatorCache.find`; UnsupportedVersionError for a pattern that no broker
        matches, and for a static member that none knows. Cancelled: nothing is chosen.
        """
        if self._config.group_protocol != "auto":
            self._check_static_member()
            return
        assert self._config.group_id is not None
        node_id = await self.coordinators.find(
            CoordinatorType.GROUP, self._config.group_id, timeout_s
        )
        if await self._assigns(node_id, self._config.group_id):
            self.membership = self.offsets.membership = self._membership_by("consumer")
            return
        self._check_static_member()
        if self._subscription.server_pattern:
            raise UnsupportedVersionError(
                f"the brokers match no SubscriptionPattern({self._subscription.server_pattern!r}): "
                f"their feature group.version is at level 0, or 'consumer' is not in "
                f"group.coordinator.rebalance.protocols; give the pattern as a str, which the "
                f"client matches"
            )

    def _check_static_member(self) -> None:
        """Raise UnsupportedVersionError if no broker, of those connected so far, knows static
        members of classic groups.
        """
        version = self._client.network.highest_version(JoinGroupRequest)
        is_classic = isinstance(self.membership, ClassicMembership)
        is_static = self._config.group_instance_id is not None
        if (
            is_static
            and is_classic
            and version is not None
            and version < JoinGroupRequest.static_members_since
        ):
            raise UnsupportedVersionError(
                f"group_instance_id={self._config.group_instance_id!r} makes a static member, which"
                " needs Kafka 2.3 (KIP-345); leave it out, or use newer brokers"
            )

    async def _assigns(self, node_id: int, group_id: str) -> bool:
        """Say whether the coordinator assigns. Its settings may lack the protocol though the
        cluster has the feature; any other answer than that leaves the rest to heartbeats.
        """
        if self._client.network.finalized_level(GROUP_VERSION) < 1:
            return False
        from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_coordinator import (  # noqa: PLC0415  "auto"
            lacks_topic_ids,
        )
        from aiokafka_lite.protocol.messages import consumer_group_describe  # noqa: PLC0415  "auto"

        if lacks_topic_ids(self._client.network):
            return False
        request = consumer_group_describe.ConsumerGroupDescribeRequest(group_ids=[group_id])
        try:
            answer = await self._client.network.request(node_id, request, lane=Lane.COORDINATOR)
        except UnsupportedVersionError:
            return False
        except KafkaError as error:
            logger.debug("asking for the protocols of node %d: %s", node_id, error)
            return True
        unsupported = UnsupportedVersionError.errno
        return all(group.error_code != unsupported for group in answer.groups)

    def start(self) -> None:
        """Start the group's tasks. They join once there is a subscription."""
        self.membership.start()
        self._watch_task = self._client.owner.spawn(
            "poll_watch",
            self._watch.run,
            self.membership,
            self._client.clock,
            lambda: self._processed.handed_out,
        )
        if self._auto_commit is not None:
            self._auto_commit.restart()
        if self._subscription.is_subscribed:
            self.membership.request_rejoin("the consumer starts")

    @property
    def join_timeout_s(self) -> float:
        """How long the group may take until the member has its assignment, in seconds."""
        return self.membership.join_timeout_s

    async def wait_for_assignment(self, timeout_s: float) -> None:
        """Return when the first assignment is there.

        Raises: the errors of joining, but not those of a listener; KafkaTimeoutError;
        ConsumerStoppedError. Cancelled: joining goes on.
        """
        try:
            async with deadline(self._client.clock, timeout_s):
                while not self.membership.completed_joins:
                    if self._is_stopped:
                        raise ConsumerStoppedError("stopped before there was an assignment")
                    self.membership.raise_error()
                    self._client.check()
                    await self._signal.wait()
        except TimeoutError as error:
            if isinstance(error, KafkaError):
                raise
            if name := self.listeners.running:
                raise KafkaTimeoutError(
                    f"no assignment in group {quoted(self._config.group_id)} within {timeout_s:g} s"
                    f": {name}() of the rebalance listener has not returned; await less in it, or "
                    f"raise default_api_timeout_ms"
                ) from error
            raise KafkaTimeoutError(
                f"no assignment in group {quoted(self._config.group_id)} within {timeout_s:g} s "
                f"({self.membership!r}); check the coordinator and the other members, or raise "
                f"default_api_timeout_ms"
            ) from error

    def stop(self) -> None:
        """Let `wait_for_assignment` raise ConsumerStoppedError when the signal wakes it next."""
        self._is_stopped = True

    async def close(
        self,
        bounds: StopBounds,
        *,
        processed_all: bool,
        operation: GroupMembershipOperation = "default",
    ) -> None:
        """Commit if commits are automatic, call the listener, leave the group, all within `bounds`.

        Requests are given up once no broker has answered for `bounds.silence_s`. `processed_all`:
        the records of the newest poll count as processed, too (B7). `operation`: as
        `Membership.leave`.

        Cancelled: offsets may not be stored, nor the listener be told. The group is left first.
        """
        began_s = self._client.clock.monotonic()
        try:
            await self._end(bounds, began_s, processed_all=processed_all)
        finally:
            elapsed_s = self._client.clock.monotonic() - began_s
            node_id = self.coordinators.known(CoordinatorType.GROUP, self._config.group_id or "")
            throttle_s = throttle_of(self._client.network, node_id)
            leave_s = bounds.leave_s(elapsed_s, self.offsets.unheard_s(began_s), throttle_s)
            with anyio_shield():
                await self.membership.leave("the consumer is being closed", leave_s, operation)

    async def _end(self, bounds: StopBounds, began_s: float, *, processed_all: bool) -> None:
        """Do all that comes before the group is left."""
        clock = self._client.clock
        if self._watch_task is not None:
            self._watch_task.cancel()
        await self.membership.close()
        if processed_all:
            self._processed.begin_poll()
        owned = self._subscription.assignment
        self._subscription.revoke_soon(owned)
        self.offsets.give_up_in_silence(bounds.silence_s, since_s=began_s)
        if self._auto_commit is not None:
            self._auto_commit.stop()
            await self._commit_processed(owned, began_s + bounds.commit_s - clock.monotonic())
        await self.offsets.settle((began_s + bounds.group_s - clock.monotonic()) / 2)
        try:
            async with deadline(clock, max(began_s + bounds.group_s - clock.monotonic(), 0.1)):
                await self.membership.tell_listener(owned)
        except TimeoutError:
            logger.warning(
                "%s: the listener took too long while group %r was left",
                *(self._config.client_id, self._config.group_id),
            )

    # For polls; nothing here waits…

    def poll_began(self) -> None:
        """Note that a poll begins. Raises: the errors of the group and of its listener."""
        self._watch.poll_began()
        if self._gone:
            self._gone.clear()
        try:
            self._raise_error()
        except BaseException:
            self.poll_ended()
            raise
        self.membership.poll_began()

    def poll_ended(self) -> None:
        """Note that a poll is over, with or without an error."""
        self._watch.poll_ended(self._client.clock.monotonic(), mark=self._processed.handed_out)

    def tick(self) -> None:
        """Commit if an automatic commit is due. Raises: as `poll_began`."""
        if self._auto_commit is not None:
            self._auto_commit.polled()
        self._raise_error()

    def _raise_error(self) -> None:
        """Raise what a listener raised, else what the group refuses."""
        error = self.listeners.take_error()
        if error is not None:
            raise error.with_traceback(None)
        self.membership.raise_error()

    def metadata_changed(self, snapshot: MetadataSnapshot, *, topics_changed: bool) -> None:
        """Join again if topics of this member, or of the group, have changed."""
        if topics_changed:
            self.membership.request_rejoin("the topics that match the pattern have changed")
        self.membership.metadata_changed(snapshot)

    @property
    def metadata(self) -> ConsumerGroupMetadata:
        """Who the consumer is in its group, for transactions that store its offsets (KIP-447)."""
        self.goes_by_commits()
        self._subscription.is_of_transactions = True
        return self.offsets.identity()

    @property
    def since_poll_s(self) -> float | None:
        """Seconds since the last poll ended; 0 while one runs, None while no poll is due."""
        return self._watch.waited_s(self._client.clock.monotonic(), mark=self._processed.handed_out)

    # Commits…

    def check_is_member(self) -> None:
        """Raise CommitFailedError, with the reason, if a join failed: without partitions, because
        the member gave them up to join. So their records do not count, and are read again.
        """
        if not self.membership.is_stable:
            self._subscription.take_aside()
            raise self.membership.commit_failed()

    def had(self, tp: TopicPartition) -> bool:
        """Return whether the partition was assigned to this member since it subscribed."""
        return tp in self._once_assigned

    @property
    def was_assigned(self) -> bool:
        """Whether any partition was assigned to this member since it subscribed."""
        return bool(self._once_assigned)

    def may_get(self, tp: TopicPartition) -> bool:
        """Return whether an assignment that is being made may have the partition."""
        return (
            self.membership.awaits_assignment
            and self._subscription.is_subscribed
            and tp.topic in self._subscription.topics
            and not self.listeners.is_caller
        )

    def goes_by_commits(self) -> None:
        """Note that the application says itself what it has processed."""
        if not self._config.commits_by_itself:
            self._subscription.has_commits = True

    def commit_async(self, offsets: Offsets, callback: CommitListener | None) -> None:
        """Store offsets in the background; see `OffsetCommitter.commit_async`."""
        self.offsets.commit_async(offsets, _reporter(callback, self._client.config.client_id))

    def processed(
        self, partitions: Collection[TopicPartition] | None = None, since: int = 0
    ) -> Offsets:
        """Return the offsets that auto-commit may commit (B7), of partitions that moved in poll
        `since` or later.
        """
        if not self._config.enable_auto_offset_store:
            return self._subscription.stored(partitions)
        self._processed.settle()
        return {
            tp: CommittedOffset(offset, epoch, topic_id=self._subscription.assigned(tp).topic_id)
            for tp, (offset, epoch) in self._subscription.processed(partitions, since).items()
        }

    def consumed(self) -> Offsets:
        """Return the positions, behind the records that the newest poll returned."""
        return {
            state.topic_partition: CommittedOffset(
                state.offset, state.offset_epoch, topic_id=state.topic_id
            )
            for state in self._subscription.all_in_hand()
            if state.position is not None
        }

    def done(self) -> Offsets:
        """Return what a commit without offsets stores: the marks of the application, or the
        positions.
        """
        if not self._config.enable_auto_offset_store:
            return self._subscription.stored()
        return self.consumed()

    @property
    def gone(self) -> TopicPartition | None:
        """A partition whose position was lost in a rebalance since the last poll, before it was
        stored; None: there is none.
        """
        return min(list(self._gone), default=None)

    def positions_go(self, states: Collection[PartitionState]) -> None:
        """Note what a commit cannot store any more: records that were returned, or marked as done,
        and whose offsets are not stored.
        """
        self._processed.settle()
        stored = self.offsets.stored
        for state in states:
            tp, offset = state.topic_partition, state.offset
            if not self._config.enable_auto_offset_store:
                offset = NO_OFFSET if state.stored is None else state.stored.offset
            if state.returned_in_poll and offset not in (NO_OFFSET, stored.get(tp)):
                self._gone.add(tp)

    def store(self, offsets: Offsets) -> None:
        """Mark what comes before these offsets as done; the next automatic commit stores it.

        Raises: IllegalStateError for a partition that is not assigned.
        """
        self._subscription.store(offsets)
        if self._auto_commit is not None:
            self._auto_commit.stored()

    def processing(self) -> AbstractContextManager[None]:
        """See `AIOKafkaConsumer.processing`."""
        return self._hold.block(self._processed.begin_poll)

    async def commit_before_revocation(self, partitions: Collection[TopicPartition]) -> None:
        """Wait for the end of `processing()`, then commit the processed offsets of `partitions` if
        commits are automatic (2e-11).

        Each takes no longer than the rebalance timeout. A failure is logged.
        """
        await self._hold.released()
        self._processed.settle()
        if self._auto_commit is not None:
            timeout_s = self._config.rebalance_timeout_or_default_ms / 1000
            await self._commit_processed(partitions, timeout_s)

    async def _commit_processed(
        self, partitions: Collection[TopicPartition], timeout_s: float
    ) -> None:
        offsets = self.processed(partitions)
        if not offsets:
            return
        try:
            await self.offsets.commit(offsets, timeout_s, is_automatic=True)
        except KafkaError as error:
            client_id = self._config.client_id
            logger.warning("%s: auto-commit of %s failed: %s", client_id, sorted(offsets), error)

    @property
    def is_calling_listener(self) -> bool:
        """Whether the caller is a rebalance listener, or a task that one has created."""
        return self.listeners.is_caller

    def subscribed(self, listener: ConsumerRebalanceListener | None, *, has_changed: bool) -> None:
        """Call `listener` from now on, and rejoin if topics, pattern or listener have changed."""
        self.listeners.listener = listener
        if has_changed:
            self.membership.request_rejoin("the subscription has changed")

    def unsubscribed(self, owned: Collection[TopicPartition]) -> None:
        """Leave the group in the background: the consumer has unsubscribed from `owned`."""
        self._once_assigned.clear()
        self._gone.clear()
        self._watch.assigned(self._client.clock.monotonic(), owns_partitions=False)
        self._hold.give_up()
        self.membership.leave_soon(owned)

    def assigned_by_user(self) -> None:
        """Commit all offsets the next time: others may have had the partitions assigned now."""
        if self._auto_commit is not None:
            self._auto_commit.forget()

    def assignment_lost(self) -> None:
        """Let the listener hear at once of partitions that others have by now."""
        self._hold.give_up()

    def assignment_changed(self) -> None:
        """Adapt automatic commits and the rest of the consumer to the new assignment."""
        self._once_assigned |= self._subscription.assignment
        if self._auto_commit is not None:
            self._auto_commit.restart()
        self._on_assignment_changed()

    def assignment_taken(self) -> None:
        """Watch the polls of a member that owns partitions."""
        self._watch.assigned(
            self._client.clock.monotonic(), owns_partitions=bool(self._subscription.assignment)
        )

    def _look_again(self) -> None:
        self._subscription.revision.number += 1
        self._signal.notify()


def _reporter(callback: CommitListener | None, client_id: str) -> CommitCallback:
    def report(offsets: Offsets, error: Exception | None, left: Offsets) -> None:
        if callback is not None:
            told = {
                tp: OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
                for tp, each in offsets.items()
            }
            callback(told, error)
        elif error is not None:
            logger.warning("%s: commit of %s failed: %s", client_id, sorted(left), error)

    return report


__all__ = ["ConsumerGroup"]
