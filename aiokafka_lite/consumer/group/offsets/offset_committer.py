"""Commits offsets to the group's coordinator, at once or in the background.

The requests use the general connection: none waits behind a long fetch or a JoinGroup.
Source: B7, 2e-12, 2e-13, ConsumerCoordinator.
"""

import logging
from collections import deque
from collections.abc import Callable, Mapping

from aiokafka_lite.checks.quoted import quoted, trace_of
from aiokafka_lite.cluster.coordinator_cache import CoordinatorCache, CoordinatorType
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline, silence_deadline
from aiokafka_lite.concurrency.long_waits import LongWait
from aiokafka_lite.consumer.group.group_errors import (
    Action,
    is_for_good,
    rebalanced_meanwhile,
)
from aiokafka_lite.consumer.group.membership_protocol import CommitMembership
from aiokafka_lite.consumer.group.offsets.commit_answer import (
    gravest,
    not_worth_another_try,
    of_former_topics,
)
from aiokafka_lite.consumer.group.offsets.offset_exchange import (
    commit_errors,
    commit_request,
    names_topics_by_id,
)
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import (
    BrokerResponseError,
    CommitFailedError,
    KafkaError,
    KafkaTimeoutError,
    RebalanceInProgressError,
    UnknownTopicIdError,
    for_code,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition, names_of
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest

logger = logging.getLogger(__name__)

Offsets = Mapping[TopicPartition, CommittedOffset]
CommitCallback = Callable[[Offsets, Exception | None, Offsets], object]
"""Hears of a commit: its offsets, what went wrong, and which of the offsets were not stored."""


class _RetryLaterError(Exception):
    """The coordinator could not store `left` now; asking again may help."""

    def __init__(self, error: KafkaError, left: Offsets, *, is_stale: bool = False) -> None:
        """`is_stale`: the next heartbeat brings the epoch with which the commit succeeds."""
        super().__init__(str(error))
        self.error = error
        self.left = left
        self.is_stale = is_stale


class _Committer(NamedTuple):
    """In whose name a commit began."""

    identity: ConsumerGroupMetadata
    had: frozenset[TopicPartition]
    """The partitions of the commit that were assigned then."""


@dataclass(slots=True, eq=False)
class _PendingCommit:
    """A commit in the background, kept until its callback and all before it were called."""

    offsets: Offsets
    committer: _Committer
    callback: CommitCallback
    is_automatic: bool
    left: Offsets
    is_done: bool = False
    error: Exception | None = None


class OffsetCommitter:
    """Stores offsets in the name of the group."""

    def __init__(
        self,
        client: KafkaClient,
        cache: CoordinatorCache,
        group_id: str,
        membership: CommitMembership,
        subscription: SubscriptionState,
        signal: PollSignal,
    ) -> None:
        self._client = client
        self._cache = cache
        self._group_id = group_id
        self.membership = membership
        """In whose name offsets are committed."""
        self._subscription = subscription
        self._signal = signal
        self._pending: deque[_PendingCommit] = deque()
        self._silence_s: float | None = None
        self._silent_since_s = 0.0
        self.stored: dict[TopicPartition, int] = {}
        """The offset of each partition that was stored last by this member."""
        whose = f"the coordinator of group {quoted(group_id)}"
        self._awaited = f"{whose} to take offsets (OffsetCommit)"
        self.commits_sent = 0
        """How many requests to store offsets there were, however they went."""

    def check_may_commit(self) -> None:
        """Raise the error that a commit would raise at once, without asking the coordinator
        (2e-12).

        Raises: RebalanceInProgressError between two assignments; CommitFailedError when the member
        is in no generation. A wait for the end of the rebalance would not help: another member may
        own the partitions by then.
        """
        if not self._subscription.is_subscribed:
            return
        try:
            self.membership.check_may_commit()
        except CommitFailedError:
            # The application is told that its records do not count, so they are read again.
            self._subscription.take_aside()
            raise

    async def commit(
        self, offsets: Offsets, timeout_s: float, *, is_automatic: bool = False
    ) -> None:
        """Store offsets; what the coordinator refuses for now is tried again until it is stored.

        Commits in the background are over, and their callbacks called, before (2e-13).
        `is_automatic`: done without what belongs to a topic that was deleted.

        Raises: CommitFailedError when the group has moved on without this member,
        RebalanceInProgressError while it moves on; KafkaTimeoutError naming the last failure;
        OffsetMetadataTooLargeError, GroupAuthorizationFailedError and others that name the
        partitions; UnknownTopicIdError for offsets of a topic that was created anew since.
        Cancelled: the offsets may be stored or not.
        """
        committer, left = self._committer(offsets), offsets
        began_s = self._client.clock.monotonic()
        failure: KafkaError | None = None
        attempts = 0
        try:
            with self._wait() as wait:
                async with self._bound(timeout_s):
                    await self._pending_are_over()
                    while left:
                        try:
                            return await self._commit_once(
                                left, committer, timeout_s, is_automatic=is_automatic
                            )
                        except _RetryLaterError as refusal:
                            failure, left = refusal.error, refusal.left
                            wait.failed(failure)
                        await self._client.clock.sleep(self._client.retry_backoff.delay(attempts))
                        attempts += 1
        except TimeoutError as error:
            waited_s = self._client.clock.monotonic() - began_s
            cause = self._cache.last_failure or failure
            raise KafkaTimeoutError(
                f"offsets of {names_of(sorted(left))} were not committed within {waited_s:.3g} s; "
                f"last failure: {cause or 'the coordinator has not answered'}; check the "
                f"connection to the coordinator of group {quoted(self._group_id)}, "
                f"or raise the timeout"
            ) from (cause or error)

    def commit_async(
        self, offsets: Offsets, callback: CommitCallback, *, is_automatic: bool = False
    ) -> None:
        """Store offsets in the background, once; `callback(offsets, error, left)` hears how it
        went.

        Callbacks are called in the order of the commits. `is_automatic`: as for `commit`. Does not
        wait.
        """
        asked = dict(offsets)
        pending = _PendingCommit(asked, self._committer(asked), callback, is_automatic, left=asked)
        self._pending.append(pending)
        child = self._client.owner.spawn("offset_committer.commit", self._commit_pending, pending)
        # Reaches also a child that was cancelled before its first step.
        child.add_done_callback(lambda _: self._finish(pending))

    async def settle(self, timeout_s: float) -> bool:
        """Wait for the commits in the background; say whether they were over in time."""
        try:
            async with self._bound(timeout_s):
                await self._pending_are_over()
        except TimeoutError:
            return False
        return True

    def give_up_in_silence(self, silence_s: float, since_s: float) -> None:
        """From now on commits end after `silence_s` without any answer, counted from `since_s` at
        the earliest: the consumer is being stopped.
        """
        self._silence_s, self._silent_since_s = silence_s, since_s

    def unheard_s(self, since_s: float) -> float:
        """Return how long no broker has answered in matters of the group, since `since_s`. The time
        for which the coordinator throttles commits does not count; it may be still to come.
        """
        return self._client.clock.monotonic() - max(self._heard_s(), since_s)

    def _heard_s(self) -> float:
        node_id = self._cache.known(CoordinatorType.GROUP, self._group_id)
        throttle_s = 0.0 if node_id is None else self._client.network.throttle_left(node_id)
        if throttle_s:
            return self._client.clock.monotonic() + throttle_s
        return self._cache.last_answer_s

    def _bound(self, timeout_s: float) -> deadline:
        clock = self._client.clock
        if self._silence_s is None:
            return deadline(clock, timeout_s)
        return silence_deadline(
            clock,
            timeout_s,
            silence_s=self._silence_s,
            since_s=self._silent_since_s,
            heard_s=self._heard_s,
        )

    def _wait(self) -> LongWait:
        return self._client.waits.of(
            self._awaited,
            "check that node, and the topic __consumer_offsets",
        )

    async def _pending_are_over(self) -> None:
        newest = self._pending[-1] if self._pending else None
        while newest is not None and newest in self._pending:
            await self._signal.wait()

    async def _commit_pending(self, pending: _PendingCommit) -> None:
        pending.error = KafkaError("the consumer was closed before the offsets were committed")
        try:
            timeout_s = self._client.config.request_timeout_ms / 1000
            await self._commit_in_newest_epoch(pending, timeout_s)
            pending.error, pending.left = None, {}
        except _RetryLaterError as refusal:
            pending.error, pending.left = refusal.error, refusal.left
        except (KafkaError, TimeoutError) as error:
            pending.error = error

    async def _commit_in_newest_epoch(self, pending: _PendingCommit, timeout_s: float) -> None:
        """Store offsets once, but for a stale epoch: then again, with the next one."""
        clock = self._client.clock
        until_s = clock.monotonic() + timeout_s
        attempts, left = 0, pending.offsets
        with self._wait() as wait:
            while True:
                try:
                    await self._commit_once(
                        left, pending.committer, timeout_s, is_automatic=pending.is_automatic
                    )
                except _RetryLaterError as refusal:
                    left = refusal.left
                    if not refusal.is_stale or clock.monotonic() >= until_s:
                        raise
                    wait.failed(refusal.error)
                else:
                    return
                await clock.sleep(self._client.retry_backoff.delay(attempts))
                attempts += 1

    def _finish(self, finished: _PendingCommit) -> None:
        finished.is_done = True
        while self._pending and self._pending[0].is_done:
            pending = self._pending.popleft()
            try:
                pending.callback(pending.offsets, pending.error, pending.left)
            except Exception as error:
                logger.error(  # noqa: TRY400 - not the text of the user's error
                    "the callback of a commit raised an error", exc_info=trace_of(error)
                )
        self._signal.notify()

    async def _commit_once(
        self,
        offsets: Offsets,
        committer: _Committer,
        timeout_s: float,
        *,
        is_automatic: bool,
    ) -> None:
        self._check_may_still_commit(committer)
        try:
            node_id = await self._find(timeout_s)
        except KafkaTimeoutError as error:
            raise _RetryLaterError(error, offsets) from error
        identity = self._check_may_still_commit(committer)
        offsets = self._of_present_topics(offsets, is_automatic=is_automatic)
        if not offsets:
            return
        snapshot = self._client.metadata.snapshot
        has_ids = names_topics_by_id(offsets, snapshot)
        request = commit_request(identity, offsets, snapshot)
        self.commits_sent += 1
        began_s = self._client.clock.monotonic()
        try:
            max_version = None if has_ids else OffsetCommitRequest.topic_ids_since - 1
            response = await self._client.network.request(node_id, request, max_version=max_version)
        except KafkaError as error:
            self._client.observer.failed("commit", error)
            if not error.retriable:
                raise
            self._forget_coordinator(error, failed=node_id)
            raise _RetryLaterError(error, offsets) from error
        self._cache.note_answer()
        errors = commit_errors(response, request)
        for tp, each in list(offsets.items()):
            if tp not in errors:
                self.stored[tp] = each.offset
        if len(errors) < len(offsets):
            took_s = self._client.clock.monotonic() - began_s
            self._client.observer.committed(len(offsets) - len(errors), took_s)
        if any(for_code(code).invalid_metadata for code in errors.values()):
            self._client.metadata.request_update()
        if is_automatic:
            for tp in not_worth_another_try(errors, offsets, self._client.metadata.snapshot):
                del errors[tp]
                logger.info(
                    "%s: %s-%d: not committed, the coordinator does not know it",
                    *(self._client.config.client_id, *tp),
                )
        if errors:
            self._refused(errors, offsets, identity)

    def _of_present_topics(self, offsets: Offsets, *, is_automatic: bool) -> Offsets:
        """Return what may be stored: an offset of a deleted topic means nothing in the one that was
        created under its name. Raises: UnknownTopicIdError, unless the commit is automatic.
        """
        former = of_former_topics(offsets, self._client.metadata.snapshot)
        if not former:
            return offsets
        if not is_automatic:
            raise UnknownTopicIdError(
                f"committing offsets of {names_of(sorted(former))}: the topic was deleted and "
                f"created again since they were read; commit again for what is read from the new "
                f"one"
            )
        logger.info(
            "%s: %s: not committed, the topic was deleted and created again",
            *(self._client.config.client_id, names_of(sorted(former))),
        )
        return {tp: each for tp, each in offsets.items() if tp not in former}

    def _committer(self, offsets: Offsets) -> _Committer:
        get = self._subscription.get
        owned = frozenset([tp for tp in list(offsets) if get(tp) is not None])
        return _Committer(self.identity(), owned)

    def _check_may_still_commit(self, committer: _Committer) -> ConsumerGroupMetadata:
        """Return the ids to commit with; raise if the group has moved on since the offsets were
        collected.

        In a later generation the partitions may belong to other members. The coordinator would
        accept the commit, and overwrite theirs.
        """
        self.check_may_commit()
        if self._subscription.is_subscribed:
            identity = self.membership.go_on(*committer)
        else:
            identity = committer.identity if committer.identity == self.identity() else None
        if identity is None:
            raise self._overtaken(committer.identity)
        return identity

    def _overtaken(self, committer: ConsumerGroupMetadata) -> KafkaError:
        if self._subscription.is_subscribed:
            return self.membership.overtaken(committer)
        return rebalanced_meanwhile(self._group_id)

    def identity(self) -> ConsumerGroupMetadata:
        """Return the ids with which offsets are committed now.

        They are the member's, or the group id alone if the user assigned the partitions.
        """
        if self._subscription.is_subscribed:
            return self.membership.identity()
        return ConsumerGroupMetadata(self._group_id)

    def refused_to_producer(
        self, committer: ConsumerGroupMetadata, refusal: BrokerResponseError
    ) -> None:
        """Act on what the coordinator answered to a producer that sent offsets in a transaction.

        It concerns the membership only if the member still has the identity of `committer`, with
        which the offsets were sent.
        """
        action, _ = self.membership.commit_actions.action_for(refusal.errno)
        is_about_member = is_for_good(refusal) or action in (
            Action.LOSE_MEMBERSHIP,
            Action.LOSE_GENERATION,
            Action.NEW_EPOCH,
        )
        if not is_about_member or not self._subscription.is_subscribed:
            return
        if self._concerns(committer, refusal):
            client_id = self._client.config.client_id
            logger.info("%s: offsets in a transaction refused: %s", client_id, refusal.message)
            self.membership.commit_refused(action, refusal)

    def _refused(
        self,
        errors: Mapping[TopicPartition, int],
        offsets: Offsets,
        committer: ConsumerGroupMetadata,
    ) -> None:
        """Raise what the answer calls for, the gravest first."""
        action, error = gravest(errors, self.membership.commit_actions)
        left = {tp: offsets[tp] for tp in errors}
        refusal = error(
            f"committing offsets of {names_of(sorted(errors))} in group "
            f"{quoted(committer.group_id)}: {error.description}"
        )
        logger.info(
            "%s: commit for %s refused: %s",
            *(self._client.config.client_id, names_of(sorted(errors)), error.message),
        )
        self._client.observer.failed("commit", refusal)
        if action is Action.RETRY:
            raise _RetryLaterError(refusal, left)
        if action is Action.FIND_COORDINATOR:
            self._forget_coordinator(refusal)
            raise _RetryLaterError(refusal, left)
        if action is Action.NEW_EPOCH:
            self.membership.commit_refused(action, refusal)
            raise _RetryLaterError(refusal, left, is_stale=True)
        if action is Action.RAISE and not is_for_good(refusal):
            raise refusal
        if not self._concerns(committer, refusal):
            raise self._overtaken(committer)
        if self._subscription.is_subscribed:
            self.membership.commit_refused(action, refusal)
        if action is Action.RAISE:
            raise refusal
        if action is Action.REJOIN:
            raise RebalanceInProgressError(
                f"group {quoted(self._group_id)} is rebalancing: commit again after the next poll"
            )
        raise self.membership.commit_failed() from refusal

    def _concerns(self, committer: ConsumerGroupMetadata, refusal: BrokerResponseError) -> bool:
        """Say whether a refusal concerns the member's present identity.

        In a rebalance it is not, unless another consumer has the place: that is for good. But a
        static member that lost its membership has fenced its own former id by joining again.
        """
        is_at_rest = is_for_good(refusal) or not self.membership.is_rebalancing
        return is_at_rest and committer == self.identity()

    async def _find(self, timeout_s: float) -> int:
        return await self._cache.find(CoordinatorType.GROUP, self._group_id, timeout_s)

    def _forget_coordinator(self, why: object, failed: int | None = None) -> None:
        self._cache.forget(CoordinatorType.GROUP, self._group_id, why, failed=failed)


__all__ = ["CommitCallback", "OffsetCommitter", "Offsets"]
