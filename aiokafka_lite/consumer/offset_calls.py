"""Owns what the public consumer does about offsets once it is started: committing them, asking for
them, and going to them.

The public methods, and what they raise, are documented in `consumer.py`.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from aiokafka_lite.checks.offset_arguments import CommitListener, OffsetsToCommit, checked_offsets
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.checks.value_checks import check_callback
from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata.refresh_failures import why_leaderless
from aiokafka_lite.concurrency.waiting_calls import WaitingCalls
from aiokafka_lite.consumer.consumer_arguments import (
    checked_partitions,
    checked_specs,
    checked_timestamps,
)
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.offset_reset import OffsetReset
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.consumer.position.offset_lister import OffsetLister
from aiokafka_lite.consumer.position.offset_questions import ListedOffset
from aiokafka_lite.consumer.position.partition_state import FetchState, PartitionState
from aiokafka_lite.consumer.position.subscription_state import (
    SubscriptionState,
)
from aiokafka_lite.consumer.record_poller import RecordPoller
from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalStateError,
    KafkaTimeoutError,
    PartitionRevokedError,
    UnknownTopicIdError,
)
from aiokafka_lite.model import (
    ConsumerGroupMetadata,
    OffsetAndMetadata,
    OffsetAndTimestamp,
    OffsetSpec,
    TopicPartition,
)

if TYPE_CHECKING:
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup

Tenures = Mapping[TopicPartition, tuple[PartitionState | None, int]]
"""By partition: what stays the same for as long as the consumer has it, and the number of its
log."""

EARLIEST = -2
LATEST = -1
"""The timestamps by which ListOffsets names the ends of a log."""


class OffsetCalls:
    """Commits, committed offsets, positions and the offsets that leaders list."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        waiting_calls: WaitingCalls,
        group: "ConsumerGroup | None",
        lister: OffsetLister,
        poller: RecordPoller,
    ) -> None:
        self._config = config
        self._client = client
        self._subscription = subscription
        self._waiting_calls = waiting_calls
        self._of_group = group
        self._lister = lister
        self._poller = poller
        self._api_timeout_s = config.default_api_timeout_ms / 1000

    @property
    def _group(self) -> "ConsumerGroup":
        assert self._of_group is not None, "the public consumer looks at group_id first"
        return self._of_group

    # Committing…

    async def commit(self, offsets: OffsetsToCommit | None) -> None:
        """See `AIOKafkaConsumer.commit`."""
        to_commit = self._to_commit(self._group, offsets)
        async with self._waiting_calls.one():
            await self._group.offsets.commit(to_commit, self._api_timeout_s)
        if moved := self._subscription.go_on_behind(to_commit):
            self._poller.drop_buffered(moved)

    def commit_async(
        self, offsets: OffsetsToCommit | None, callback: CommitListener | None
    ) -> None:
        """See `AIOKafkaConsumer.commit_async`."""
        check_callback("callback", callback)
        self._group.commit_async(self._to_commit(self._group, offsets), callback)

    def consumed(self) -> dict[TopicPartition, OffsetAndMetadata]:
        """See `AIOKafkaConsumer.consumed_offsets`."""
        return {
            tp: OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
            for tp, each in self._group.consumed().items()
        }

    def _to_commit(
        self, group: "ConsumerGroup", offsets: OffsetsToCommit | None
    ) -> Mapping[TopicPartition, CommittedOffset]:
        checked = None if offsets is None else _committed(checked_offsets(offsets))
        group.goes_by_commits()
        assigned = self._subscription.assignment
        if not assigned and not self._subscription.is_subscribed:
            raise IllegalStateError("Not subscribed to any topics")
        if not assigned and checked is None and group.is_calling_listener:
            return {}  # revoked of nothing, or lost: there is nothing to store
        if not assigned and not group.was_assigned:
            raise IllegalStateError(
                "No partitions assigned: commit after a poll has returned records"
            )
        missing = [] if checked is None else self._missing(group, checked)
        group.offsets.check_may_commit()
        if (missing or not assigned) and self._subscription.is_subscribed:
            group.check_is_member()
        if missing:
            raise _revoked(missing[0])
        if checked is not None:
            self._check_still_its_own(group, checked)
            return self._identified(checked)
        if not assigned:
            raise PartitionRevokedError("No partitions assigned: another member has all of them")
        if group.gone is not None and not group.is_calling_listener:
            raise PartitionRevokedError(
                f"Partition {group.gone} was taken away by a rebalance since its records were "
                f"returned, and the position with it, so that nothing is stored: the records come "
                f"again, here or at another member; commit before on_partitions_revoked() returns, "
                f"or hold rebalances back with processing()"
            )
        return group.done()

    def processing(self) -> AbstractContextManager[None]:
        """See `AIOKafkaConsumer.processing`."""
        return self._group.processing()

    def store(self, offsets: OffsetsToCommit) -> None:
        """See `AIOKafkaConsumer.store_offsets`."""
        checked = _committed(checked_offsets(offsets))
        if self._config.enable_auto_offset_store:
            raise IllegalStateError(
                "store_offsets() needs enable_auto_offset_store=False: with True the polls "
                "themselves mark what they returned as done"
            )
        for tp in self._missing(self._group, checked):
            raise _revoked(tp)
        self._check_still_its_own(self._group, checked)
        self._group.store(self._identified(checked))

    def _identified(
        self, offsets: Mapping[TopicPartition, CommittedOffset]
    ) -> dict[TopicPartition, CommittedOffset]:
        """Return offsets that the user names with what tells their log from another one."""
        found = {}
        for tp, each in offsets.items():
            state, epoch = self._subscription.assigned(tp), each.leader_epoch
            if epoch < 0:
                epoch = state.epoch_at(each.offset)
            found[tp] = each._replace(topic_id=state.topic_id, leader_epoch=epoch)
        return found

    def _check_still_its_own(
        self, group: "ConsumerGroup", partitions: Iterable[TopicPartition]
    ) -> None:
        """Raise for a partition whose records in the user's hands are those of an earlier tenure,
        or of an earlier topic.

        The coordinator would accept the commit, for the member has the partition again. It would
        undo what other members have committed meanwhile. With the Java client no rebalance comes
        between a poll and the commit of its records.
        """
        for tp in partitions:
            if self._subscription.assigned(tp).is_returned_void:
                raise UnknownTopicIdError(
                    f"topic {quoted(tp.topic)} was deleted and created again since its records "
                    "were returned: commit what the next poll returns"
                )
        if not self._subscription.is_subscribed or group.is_calling_listener:
            return
        for tp in partitions:
            if self._subscription.has_come_back(tp):
                raise PartitionRevokedError(
                    f"Partition {tp} was taken away and given back since its records were "
                    f"returned: they come again; commit what the next poll returns, or commit "
                    f"before on_partitions_revoked() returns"
                )

    def _missing(
        self, group: "ConsumerGroup", partitions: Iterable[TopicPartition]
    ) -> list[TopicPartition]:
        """Return those that the group has taken away.

        Raises: IllegalStateError for one that was never assigned.
        """
        missing = [tp for tp in partitions if tp not in self._subscription.assignment]
        for tp in missing:
            if not group.had(tp):
                self._subscription.assigned(tp)  # raises
        return missing

    async def committed(
        self, partition: TopicPartition, *, metadata: bool
    ) -> int | OffsetAndMetadata | None:
        """See `AIOKafkaConsumer.committed`."""
        found = (await self.committed_of([partition]))[partition]
        return found if found is None or metadata else found.offset

    async def committed_of(
        self, partitions: Iterable[TopicPartition]
    ) -> dict[TopicPartition, OffsetAndMetadata | None]:
        """Return what the group has stored for each partition. As `AIOKafkaConsumer.committed`."""
        found = await self._fetch_committed(list(partitions))
        return {
            tp: each and OffsetAndMetadata(each.offset, each.metadata, each.leader_epoch)
            for tp, each in found.items()
        }

    async def _fetch_committed(
        self, partitions: list[TopicPartition]
    ) -> Mapping[TopicPartition, CommittedOffset | None]:
        group = self._group
        async with self._waiting_calls.one():
            return await self._client.ask_until_answered(
                lambda: group.committed.fetch_committed(partitions),
                self._api_timeout_s,
                what=f"committed offsets of {sorted(partitions)}",
                api="OffsetFetch",
                remedy=(
                    f"check the connection to the coordinator of group "
                    f"{quoted(self._config.group_id)}, or raise default_api_timeout_ms"
                ),
            )

    def metadata(self) -> ConsumerGroupMetadata:
        """See `AIOKafkaConsumer.group_metadata`."""
        return self._group.metadata

    def tenures(self, partitions: Iterable[TopicPartition]) -> Tenures:
        """Return what tells later whether the consumer has had the partitions all the time, and
        whether their logs are still the same.
        """
        found = {tp: self._subscription.get(tp) for tp in partitions}
        return {tp: (state, state.incarnation if state else 0) for tp, state in found.items()}

    def log_changes(self, tenures: Tenures) -> dict[TopicPartition, int]:
        """Return the partitions whose log has changed since `tenures`, and from which offset on."""
        changes = {
            tp: state.changed_from(incarnation)
            for tp, (state, incarnation) in tenures.items()
            if state is not None
        }
        return {tp: offset for tp, offset in changes.items() if offset is not None}

    def goes_on(
        self, committer: ConsumerGroupMetadata, tenures: Tenures
    ) -> ConsumerGroupMetadata | None:
        """Return the newest ids of the member that was `committer`, for offsets of partitions that
        it has had all the time since `tenures`. None: others may have had them meanwhile.
        """
        states = self._subscription.get
        if any(state is None or states(tp) is not state for tp, (state, _) in tenures.items()):
            return None
        return self._group.membership.go_on(committer, tenures.keys())

    def refused(self, committer: ConsumerGroupMetadata, refusal: BaseException | None) -> None:
        """Take over the answer to offsets that a producer sent in the name of `committer`."""
        if isinstance(refusal, BrokerResponseError):
            self._group.offsets.refused_to_producer(committer, refusal)

    def request_rejoin(self, reason: str) -> None:
        """See `AIOKafkaConsumer.enforce_rebalance`."""
        self._group.membership.request_rejoin(reason)

    # Positions…

    async def position(self, partition: TopicPartition) -> int:
        """See `AIOKafkaConsumer.position`."""
        timeout_s = self._api_timeout_s
        known = await self._poller.wait_for_positions(
            lambda: self._has_position(partition), timeout_s, reset_missing=(partition,)
        )
        if not known:
            snapshot = self._client.metadata.snapshot
            reason = "its leader has not answered"
            if snapshot.leader(partition).node_id is None:
                reason = why_leaderless(partition, snapshot)
            raise KafkaTimeoutError(
                f"no position for {partition.topic}-{partition.partition} within {timeout_s:g} s: "
                f"{reason}; check the partition and its leader, or raise default_api_timeout_ms"
            )
        return self._subscription.assigned(partition).offset

    def _has_position(self, partition: TopicPartition) -> bool:
        """Say whether the partition has a valid position.

        Raises: IllegalStateError if it is not assigned, and the group will not assign it soon.
        """
        state = self._subscription.get(partition)
        group = self._of_group
        if state is None and group is not None and group.may_get(partition):
            return False
        return self._subscription.assigned(partition).position is not None

    async def seek_by_reset(
        self, partitions: Iterable[TopicPartition], strategy: OffsetReset
    ) -> bool:
        """See `AIOKafkaConsumer.seek_to_beginning`."""
        wanted = set(self._assigned_or_all(partitions))
        for tp in wanted:
            self._subscription.await_reset(tp, strategy)
        self._subscription.leave_missing()
        self._poller.drop_buffered(wanted)
        return await self._poller.wait_for_positions(
            lambda: not any(_awaits_reset(self._subscription.get(tp)) for tp in wanted),
            self._config.request_timeout_ms / 1000,
            reset_missing=(),
        )

    async def seek_to_committed(
        self,
        partitions: Iterable[TopicPartition],
        seek: Callable[[TopicPartition, OffsetAndMetadata], None],
    ) -> dict[TopicPartition, int | None]:
        """See `AIOKafkaConsumer.seek_to_committed`; `seek` is that of the public consumer."""
        wanted = self._assigned_or_all(partitions)
        found = await self._fetch_committed(wanted)
        for tp, committed in found.items():
            if committed is not None and tp in self._subscription.assignment:
                epoch = committed.leader_epoch
                seek(tp, OffsetAndMetadata(committed.offset, committed.metadata, epoch))
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

    # Asking the leaders…

    async def for_times(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """See `AIOKafkaConsumer.offsets_for_times`."""
        checked = checked_timestamps(timestamps)
        if not checked:
            return {}
        listed = await self._ask_leaders(checked)
        return {
            tp: None if found.offset < 0 else OffsetAndTimestamp(found.offset, found.timestamp)
            for tp, found in listed.items()
        }

    async def by_spec(
        self, offsets: Mapping[TopicPartition, OffsetSpec | int]
    ) -> dict[TopicPartition, OffsetAndTimestamp | None]:
        """See `AIOKafkaConsumer.list_offsets`."""
        checked = checked_specs(offsets)
        if not checked:
            return {}
        listed = await self._ask_leaders(checked)
        return {
            tp: None if found.offset < 0 else OffsetAndTimestamp(found.offset, found.time_or_none)
            for tp, found in listed.items()
        }

    async def at_end(
        self, partitions: Iterable[TopicPartition], end: int
    ) -> dict[TopicPartition, int]:
        """Return the offset of each partition at one end of its log, EARLIEST or LATEST."""
        wanted = checked_partitions(partitions)
        if not wanted:
            return {}
        listed = await self._ask_leaders(dict.fromkeys(wanted, end))
        return {tp: answer.offset for tp, answer in listed.items()}

    async def _ask_leaders(
        self, timestamps: Mapping[TopicPartition, int]
    ) -> Mapping[TopicPartition, ListedOffset]:
        async with self._waiting_calls.one():
            return await self._lister.list_offsets(timestamps, self._api_timeout_s)


def _committed(
    offsets: Mapping[TopicPartition, OffsetAndMetadata],
) -> dict[TopicPartition, CommittedOffset]:
    return {
        tp: CommittedOffset(each.offset, each.leader_epoch, each.metadata)
        for tp, each in offsets.items()
    }


def _revoked(tp: TopicPartition) -> PartitionRevokedError:
    return PartitionRevokedError(
        f"Partition {tp} is not assigned any more: the group has given it to another "
        f"member; commit before on_partitions_revoked() returns"
    )


def _awaits_reset(state: PartitionState | None) -> bool:
    return state is not None and state.fetch_state is FetchState.AWAIT_RESET


__all__ = ["EARLIEST", "LATEST", "OffsetCalls", "Tenures"]
