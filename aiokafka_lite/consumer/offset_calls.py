"""Owns the part of the consumer's public face that is about offsets: committing them, asking for
them, and going to them. Arguments are checked here, the work is done by the parts behind.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal, overload

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.consumer.consumer_arguments import (
    check_partitions,
    checked_timestamps,
)
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.offset_questions import ListedOffset
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.consumer.record_poller import RecordPoller
from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalOperation,
    IllegalStateError,
    PartitionRevokedError,
)
from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    TopicPartition,
)
from aiokafka_lite.offset_arguments import CommitListener, OffsetsToCommit, checked_offsets

if TYPE_CHECKING:
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup

_EARLIEST = -2
_LATEST = -1


class OffsetCalls:
    """What `AIOKafkaConsumer` offers about offsets."""

    _config: ConsumerConfig
    _clock: Clock
    _subscription: SubscriptionState
    _waiting_calls: WaitingCalls

    if TYPE_CHECKING:

        def _running(self) -> RecordPoller: ...

        def seek(self, partition: TopicPartition, offset: int | OffsetAndMetadata) -> None: ...

    # Committing…

    async def commit(self, offsets: OffsetsToCommit | None = None) -> None:
        """Store in the group how far was read: the positions of all assigned partitions, with what
        the newest poll returned, or the given `offsets` (the next offset to read, as an int, with a
        note as (int, str), or an OffsetAndMetadata).

        The leader epoch goes with them (KIP-320). Background commits are over before (2e-13). In a
        rebalance listener without partitions there is nothing to store, and nothing is raised.

        Raises: CommitFailedError when the group has given the partitions to others, or this member
        was not in time; RebalanceInProgressError while it assigns them anew, commit again after the
        next poll; KafkaTimeoutError after `default_api_timeout_ms`; OffsetMetadataTooLargeError,
        GroupAuthorizationFailedError, TopicAuthorizationFailedError; UnknownTopicIdError for
        offsets of a topic that was deleted and created again since. ValueError or TypeError for
        malformed offsets; IllegalOperation without group_id; IllegalStateError for partitions not
        assigned, of which PartitionRevokedError is also a CommitFailedError: the group has given
        one away; as `getone` before start and after stop, which ends a call that waits.
        Cancelled, or stopped meanwhile: the offsets may be stored or not.
        """
        group = self._group()
        to_commit = self._to_commit(group, offsets)
        async with self._waiting_calls.one():
            await group.offsets.commit(to_commit, self._config.default_api_timeout_ms / 1000)

    def commit_async(
        self, offsets: OffsetsToCommit | None = None, callback: CommitListener | None = None
    ) -> None:
        """Store offsets in the background, without waiting and without a second attempt.

        `callback(offsets, error)` is called with the outcome, error None for success; callbacks are
        called in the order of the commits, and before a later `commit()` returns (2e-13). Without
        one a failure is logged. Raises: as `commit` for what is wrong at once.
        """
        group = self._group()
        to_commit = self._to_commit(group, offsets)
        group.commit_async(to_commit, callback)

    def consumed_offsets(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """Return what `commit()` would store now, for a producer that commits it in a transaction:
        the positions of all assigned partitions, behind what the newest poll returned.

        Raises: IllegalOperation without group_id; as `getone` before start and after stop.
        """
        return {
            tp: OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
            for tp, each in self._group().consumed().items()
        }

    def _to_commit(
        self, group: "ConsumerGroup", offsets: OffsetsToCommit | None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        checked = None if offsets is None else _committed(checked_offsets(offsets))
        assigned = self._subscription.assignment
        if not assigned and not self._subscription.is_subscribed:
            raise IllegalStateError("Not subscribed to any topics")
        if not assigned and checked is None and group.listeners.is_caller:
            return {}  # revoked of nothing, or lost: there is nothing to store
        if not assigned and not group.was_assigned:
            raise IllegalStateError(
                "No partitions assigned: commit after a poll has returned records"
            )
        missing = [] if checked is None else [tp for tp in checked if tp not in assigned]
        for tp in missing:
            if not group.had(tp):
                self._subscription.assigned(tp)  # raises
        group.offsets.check_may_commit()
        if missing:
            tp = missing[0]
            raise PartitionRevokedError(
                f"Partition {tp} is not assigned any more: the group has given it to another "
                f"member; commit before on_partitions_revoked() returns"
            )
        if checked is not None:
            get = self._subscription.assigned
            return {tp: each._replace(topic_id=get(tp).topic_id) for tp, each in checked.items()}
        if not assigned:
            raise IllegalStateError("No partitions assigned: another member has all of them")
        return group.consumed()

    @overload
    async def committed(
        self, partition: TopicPartition, metadata: Literal[False] = False
    ) -> int | None: ...

    @overload
    async def committed(
        self, partition: TopicPartition, metadata: Literal[True]
    ) -> OffsetAndMetadata | None: ...

    async def committed(
        self, partition: TopicPartition, metadata: bool = False
    ) -> int | OffsetAndMetadata | None:
        """Return the offset that the group has stored for the partition, assigned or not; None if
        there is none. With `metadata=True` an OffsetAndMetadata. Asks the coordinator each time,
        and waits for transactions that hold the offset (KIP-447).

        Raises: IllegalOperation without group_id; KafkaTimeoutError after `default_api_timeout_ms`;
        GroupAuthorizationFailedError, TopicAuthorizationFailedError; as `getone` before start and
        after stop. Cancelled: nothing stays behind.
        """
        check_partitions([partition])
        found = (await self._fetch_committed([partition]))[partition]
        if found is None:
            return None
        if metadata:
            return OffsetAndMetadata(found.offset, found.metadata, found.leader_epoch)
        return found.offset

    async def seek_to_committed(
        self, *partitions: TopicPartition
    ) -> dict[TopicPartition, int | None]:
        """Go on where the group has committed, with all assigned partitions if none is named.

        Returns the offsets; a partition with None had nothing committed and stays where it was.
        Raises: TypeError, IllegalStateError for partitions not assigned; as `committed`.
        Cancelled: no position has changed.
        """
        check_partitions(partitions)
        wanted = self._assigned_or_all(partitions)
        found = await self._fetch_committed(wanted)
        for tp, committed in found.items():
            if committed is not None and tp in self._subscription.assignment:
                epoch = committed.leader_epoch
                self.seek(tp, OffsetAndMetadata(committed.offset, committed.metadata, epoch))
        return {tp: None if each is None else each.offset for tp, each in found.items()}

    def _assigned_or_all(self, partitions: Iterable[TopicPartition]) -> list[TopicPartition]:
        wanted = list(partitions) or list(self._subscription.assignment)
        if not wanted:
            raise IllegalStateError("No partitions are currently assigned")
        strangers = set(wanted) - self._subscription.assignment
        if strangers:
            raise IllegalStateError(
                f"Partitions {strangers} are not assigned; {self._subscription.assigned_names()}"
            )
        return wanted

    async def _fetch_committed(
        self, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, CommittedOffset | None]:
        group, client = self._group(), self._running().client
        async with self._waiting_calls.one():
            return await client.ask_until_answered(
                lambda: group.offsets.fetch_committed(partitions),
                self._config.default_api_timeout_ms / 1000,
                what=f"committed offsets of {sorted(partitions)}",
                remedy=(
                    f"check the connection to the coordinator of group "
                    f"{self._config.group_id!r}, or raise default_api_timeout_ms"
                ),
            )

    def group_metadata(self) -> ConsumerGroupMetadata:
        """Return who this consumer is in its group, for a producer that commits offsets in its name
        (KIP-447). The generation is -1 while it is in none; after a membership was lost the id is
        still the lost one, which the coordinator refuses.

        Raises: IllegalOperation without group_id; as `getone` before start.
        """
        return self._group().metadata

    def _offsets_refused(
        self, committer: ConsumerGroupMetadata, refusal: BaseException | None
    ) -> None:
        """Hear what became of offsets that a producer sent in the name of `committer`."""
        if isinstance(refusal, BrokerResponseError):
            self._group().offsets.refused_to_producer(committer, refusal)

    def enforce_rebalance(self, reason: str = "enforced by the application") -> None:
        """Let the group assign its partitions anew; does not wait (KIP-568, KIP-800).

        Raises: as `group_metadata`; IllegalStateError without a subscription.
        """
        group = self._group()
        if not self._subscription.is_subscribed:
            raise IllegalStateError("Not subscribed to any topics")
        group.membership.request_rejoin(reason)

    def _group(self) -> "ConsumerGroup":
        if self._config.group_id is None:
            raise IllegalOperation("Requires group_id: give the consumer one")
        group = self._running().group
        assert group is not None
        return group

    # Asking the leaders…

    async def offsets_for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """Return the first offset at or after each time (ms since the epoch); None where there is
        none, or the log's format knows no times. Partitions need not be assigned.

        Raises: ValueError for negative times, TypeError; KafkaTimeoutError naming partitions and
        reasons after `default_api_timeout_ms`, or `request_timeout_ms` for those that do not exist;
        TopicAuthorizationFailedError; as `getone` before
        start and after stop. Cancelled: nothing stays behind.
        """
        poller = self._running()
        checked = checked_timestamps(timestamps)
        if not checked:
            return {}
        listed = await self._ask_leaders(poller, checked)
        return {
            tp: None if found.offset < 0 else OffsetAndTimestamp(found.offset, found.timestamp)
            for tp, found in listed.items()
        }

    async def beginning_offsets(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, int]:
        """Return the first offset of each partition, which need not be assigned.

        Raises: KafkaTimeoutError naming partitions and reasons after `default_api_timeout_ms`, or
        `request_timeout_ms` for those that do not exist; TopicAuthorizationFailedError; as `getone`
        before start and after stop.
        Cancelled: nothing stays behind.
        """
        return await self._list_offsets(partitions, _EARLIEST)

    async def end_offsets(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """Return the offset behind the last record of each partition; with read_committed behind
        the last stable one. Raises, Cancelled: as `beginning_offsets`.
        """
        return await self._list_offsets(partitions, _LATEST)

    async def _list_offsets(
        self, partitions: Iterable[TopicPartition], timestamp: int
    ) -> dict[TopicPartition, int]:
        poller = self._running()
        wanted = list(partitions)
        check_partitions(wanted)
        if not wanted:
            return {}
        listed = await self._ask_leaders(poller, dict.fromkeys(wanted, timestamp))
        return {tp: answer.offset for tp, answer in listed.items()}

    async def _ask_leaders(
        self, poller: RecordPoller, timestamps: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, ListedOffset]:
        async with self._waiting_calls.one():
            return await poller.offset_fetcher.list_offsets(
                timestamps, self._config.default_api_timeout_ms / 1000
            )


def _committed(
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
) -> dict[TopicPartition, CommittedOffset]:
    return {
        tp: CommittedOffset(each.offset, each.leader_epoch, each.metadata)
        for tp, each in offsets.items()
    }


__all__ = ["OffsetCalls"]
