"""Owns the poll: what getmany, getone and the waits for positions do between call and return.

The decisions are made by the parts it puts together; here is the order they are asked in, and the
waiting. It does not know the facade, so that an unclosed consumer can be noticed.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, overload

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.cluster.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.consumer.fetch.completed_fetch import Record
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector import FetchCollector
from aiokafka_lite.consumer.fetch.fetch_planner import PlannedFetch
from aiokafka_lite.consumer.fetch.fetcher import Fetcher
from aiokafka_lite.consumer.matched_topics import MatchedTopics
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.leader_watch import LeaderWatch
from aiokafka_lite.consumer.position.offset_fetcher import OffsetFetcher
from aiokafka_lite.consumer.position.subscription_state import (
    PartitionState,
    SubscriptionMode,
    SubscriptionState,
)
from aiokafka_lite.errors import ConsumerStoppedError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.columns_builder import ColumnsBuilder

if TYPE_CHECKING:
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup

_T = TypeVar("_T")


_POLLS_A_TURN = 8
_TURN_S = 0.002
"""How much polls that find records do in a row before they let the rest of the program run."""


@dataclass(slots=True)
class _Patience:
    """What one poll still hopes for before it raises the error of a fetch that stands aside."""

    hopes: frozenset[PlannedFetch] | None = None

    def is_over(self, pending: frozenset[PlannedFetch]) -> bool:
        """Say whether every fetch that was on its way at the first call has been answered."""
        self.hopes = pending if self.hopes is None else self.hopes & pending
        return not self.hopes


class RecordPoller:
    """A running consumer's engine: client, positions, fetches and buffer behind one poll."""

    def __init__(
        self,
        config: ConsumerConfig,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
    ) -> None:
        self.client = client
        self.buffer = FetchBuffer(subscription.revision)
        self.collector = FetchCollector(subscription, self.buffer)
        self.group: ConsumerGroup | None = None
        if config.group_id is not None:
            self.group = _group_kind()(
                config,
                client,
                subscription,
                signal,
                self.collector,
                self.assignment_changed,
            )
        committed = None if self.group is None else self.group.offsets
        self.offset_fetcher = OffsetFetcher(config, client, subscription, signal, committed)
        self.fetcher = Fetcher(config, client, subscription, self.buffer, signal)
        self._matched = MatchedTopics(exclude_internal=config.exclude_internal_topics)
        self._subscription = subscription
        self._signal = signal
        self._leader_watch = LeaderWatch(config.default_api_timeout_ms / 1000)
        self._wanted: list[Collection[TopicPartition]] = []  # by the polls that run; empty: all
        self._is_stopped = False
        self._polls_left = 0  # of this turn
        self._turn_ends_s = 0.0

    def stop(self) -> None:
        """End every waiting poll, and every later one."""
        self._is_stopped = True
        if self.group is not None:
            self.group.stop()
        self.buffer.discard(lambda _tp: True)
        self._signal.notify()

    def look_again(self, *_: object) -> None:
        """Let waiting polls, and the next quick one, look at everything anew."""
        self._subscription.revision.number += 1
        self._signal.notify()

    def follow(self, snapshot: MetadataSnapshot) -> None:
        """Take over new metadata: topics of the subscription that came, grew or went (B1)."""
        subscription = self._subscription
        self.offset_fetcher.follow_topics()
        topics_changed = False
        if subscription.mode is SubscriptionMode.PATTERN:
            found = self._matched.update(
                snapshot, subscription.topics, self.client.clock.monotonic()
            )
            topics_changed = subscription.match_topics(found.names)
            if found.is_in_doubt:
                self.client.metadata.request_update()
        if self.group is not None:
            self.group.metadata_changed(snapshot, topics_changed=topics_changed)
        elif subscription.is_subscribed:
            self._take_all_partitions(snapshot)
        self.look_again()  # leaders may be others: records decoded ahead wait for a poll that looks

    def _take_all_partitions(self, snapshot: MetadataSnapshot) -> None:
        """Without a group, a subscription is all partitions of its topics."""
        subscription = self._subscription
        kept = [
            tp
            for tp in subscription.queue()
            if tp.topic in subscription.topics and not _has_gone(tp, snapshot)
        ]
        grown = [
            tp
            for topic in sorted(subscription.topics)
            for partition in snapshot.partition_ids(topic)
            if subscription.get(tp := TopicPartition(topic, partition)) is None
        ]
        if grown or len(kept) < len(subscription.assignment):
            subscription.assign_from_subscribed([*kept, *grown])

    def assignment_changed(self) -> None:
        """Follow another assignment or subscription: what is buffered, whose metadata is wanted."""
        assigned = self._subscription.assignment
        self.buffer.discard(lambda tp: tp not in assigned)
        self.set_topics_of_interest()
        self._signal.notify()

    def set_topics_of_interest(self) -> None:
        """Tell the client whose metadata is wanted: with a pattern that of all topics there are, of
        which only those that match are worth a question before the metadata is old.
        """
        subscription = self._subscription
        of_group = frozenset() if self.group is None else self.group.topics
        named = {*subscription.topics, *of_group, *(tp.topic for tp in subscription.assignment)}
        if subscription.mode is SubscriptionMode.PATTERN:
            self.client.metadata.set_topics(
                None, lambda topic: topic in named or subscription.matches(topic)
            )
        else:
            self.client.metadata.set_topics(named)

    # Polls…

    async def poll(
        self, partitions: Collection[TopicPartition], max_records: int, timeout_s: float
    ) -> dict[TopicPartition, list[Record]]:
        """Return up to `max_records` records as soon as there is one, {} when the time is over or
        the consumer was stopped.

        Raises: what `FetchCollector.collect` raises, position errors, background failures.
        Cancelled: nothing was taken; fetches and resets on their way go on.
        """
        collect = self.collector.collect
        taken = await self.poll_for(
            partitions, lambda named: collect(max_records, named), timeout_s
        )
        return taken or {}

    async def poll_columns(
        self,
        partitions: Collection[TopicPartition],
        columns: ColumnsBuilder,
        timeout_s: float,
        until: Mapping[TopicPartition, int],
    ) -> None:
        """Append records to the empty `columns` as soon as there is one. Otherwise as `poll`.

        Partitions that have come to their offset of `until` are paused before anything more is
        fetched; when all have, the poll is over, too. Raises, besides: IllegalStateError while one
        of them is not assigned, with nothing taken.
        """
        collect = self.collector.collect_columns

        def take(partitions: Collection[TopicPartition]) -> bool:
            # Who is not assigned is an error: before anything is taken, which would be lost by it.
            ends = {tp: (self._subscription.assigned(tp), end) for tp, end in until.items()}
            taken = collect(columns, partitions)
            return self._pause_at(ends) or taken > 0

        await self.poll_for(partitions, take, timeout_s)

    def _pause_at(self, ends: Mapping[TopicPartition, tuple[PartitionState, int]]) -> bool:
        """Pause the partitions that have come to their offset; say whether all have."""
        left = len(ends)
        for tp, (state, end) in ends.items():
            if state.position is not None and state.offset >= end:
                self._subscription.pause(tp)
                left -= 1
        return bool(ends) and not left

    @overload
    async def poll_for(
        self,
        partitions: Collection[TopicPartition],
        collect: Callable[[Collection[TopicPartition]], _T | None],
        timeout_s: None,
    ) -> _T: ...

    @overload
    async def poll_for(
        self,
        partitions: Collection[TopicPartition],
        collect: Callable[[Collection[TopicPartition]], _T | None],
        timeout_s: float,
    ) -> _T | None: ...

    async def poll_for(
        self,
        partitions: Collection[TopicPartition],
        collect: Callable[[Collection[TopicPartition]], _T | None],
        timeout_s: float | None,
    ) -> _T | None:
        """Return what `collect(partitions)` has taken as soon as that is anything.

        None when the time is over or the consumer was stopped. Without a timeout it waits without
        bound, and a consumer that was stopped is an error. Raises: as `poll`, ConsumerStoppedError.
        Cancelled: as `poll`.
        """
        clock = self.client.clock
        deadline_s = None if timeout_s is None else clock.monotonic() + timeout_s
        patience = _Patience()
        if self._is_turn_over():
            await asyncio.sleep(0)
        taken: _T | None = None
        self._begin_poll(partitions)
        try:
            while not self._is_stopped:
                positions_due_s = self._look_around()
                try:
                    taken = collect(partitions)
                finally:
                    fetches_due_s = self.fetcher.start_fetches()
                if taken:
                    return taken
                fetches_due_s = self._fetch_what_is_wanted(fetches_due_s)
                is_over = deadline_s is not None and clock.monotonic() >= deadline_s
                self._raise_for_want_of_records(partitions, patience, is_over=is_over)
                if is_over:
                    break
                await self._wait(deadline_s, positions_due_s, fetches_due_s)
        finally:
            self._end_poll(partitions)
        if timeout_s is None:
            raise ConsumerStoppedError("the consumer was stopped while a record was waited for")
        return None

    def _is_turn_over(self) -> bool:
        """Say whether a poll must let the other tasks run before it looks for records.

        Polls that find records do so only now and then, because a turn of the loop costs as much
        as a poll. A poll without buffered records does, and one behind a planned fetch that no task
        has sent yet.
        """
        now_s = self.client.clock.monotonic()
        has_turn = self._polls_left and now_s < self._turn_ends_s
        if has_turn and len(self.buffer) and not self.fetcher.unsent:
            self._polls_left -= 1
            return False
        self._polls_left, self._turn_ends_s = _POLLS_A_TURN, now_s + _TURN_S
        return True

    def _begin_poll(self, partitions: Collection[TopicPartition]) -> None:
        """Count a poll among those that run. Raises: what the group has to say."""
        if self.group is not None:
            self.group.poll_began()
        self.collector.begin_poll()
        self.fetcher.want(partitions)
        self._wanted.append(partitions)

    def _end_poll(self, partitions: Collection[TopicPartition]) -> None:
        if self.group is not None:
            self.group.poll_ended()
        self._wanted.remove(partitions)
        if self._wanted and self.fetcher.lacks_room:
            self._signal.notify()  # what this poll left may be in the way of the others

    def _fetch_what_is_wanted(self, due_s: float | None) -> float | None:
        """Fetch behind a buffer full of what no poll takes, if each of them names what it takes.

        Returns when to look again, which is `due_s` if nothing was done.
        """
        if not (self.fetcher.lacks_room and all(self._wanted)):
            return due_s
        return self.fetcher.start_fetches_for({tp for wanted in self._wanted for tp in wanted})

    async def wait_for_positions(
        self,
        are_known: Callable[[], bool],
        timeout_s: float,
        *,
        reset_missing: Collection[TopicPartition],
    ) -> bool:
        """Wait until `are_known()`; False when the time is over.

        `reset_missing`: if it names any, auto_offset_reset is applied to partitions nobody has
        asked for yet. Raises: ConsumerStoppedError, background failures, position errors, also of
        those of `reset_missing` that only a seek helps, and what `are_known` raises. Cancelled:
        resets on their way go on.
        """
        clock = self.client.clock
        deadline_s = clock.monotonic() + timeout_s
        while True:
            if self._is_stopped:
                raise ConsumerStoppedError("the consumer was stopped meanwhile")
            self.client.check()
            if are_known():
                return True
            if reset_missing:
                due_s = self.offset_fetcher.update_positions()
                if error := self.offset_fetcher.missing_position_error(reset_missing):
                    raise error
            else:
                due_s = self.offset_fetcher.start_resets()
            self._raise_errors()
            if clock.monotonic() >= deadline_s:
                return False
            await self._wait(deadline_s, due_s)

    def _look_around(self) -> float | None:
        """Bring membership, commits and positions up to date, as far as that needs no waiting."""
        self.client.check()
        if self.group is not None:
            self.group.tick()
        due_s = self.offset_fetcher.update_positions()
        self.offset_fetcher.raise_for_missing_positions()
        return due_s

    def _raise_for_want_of_records(
        self, partitions: Collection[TopicPartition], patience: _Patience, *, is_over: bool
    ) -> None:
        """Raise what a poll has to say that has nothing to return (A9)."""
        self._raise_errors()
        standing = self.collector.standing_error(partitions)
        standing = standing or self.offset_fetcher.missing_position_error(partitions)
        if standing is not None and (patience.is_over(self.fetcher.pending_fetches) or is_over):
            raise standing

    def _raise_errors(self) -> None:
        error = self.fetcher.take_error() or self.offset_fetcher.take_error()
        if error is None:
            snapshot, subscription = self.client.metadata.snapshot, self._subscription
            leaderless = (*self.offset_fetcher.leaderless, *self.fetcher.leaderless)
            error = self._leader_watch.check(
                [tp for tp in leaderless if subscription.get(tp) is not None],
                [name for name in subscription.topics if not snapshot.partition_ids(name)],
                snapshot,
                self.client.clock.monotonic(),
            )
        if error is not None:
            raise error

    async def _wait(self, *until_s: float | None) -> None:
        """Wait for news, at most until the earliest of the moments."""
        moments = [
            moment for moment in (*until_s, self._leader_watch.due_at_s) if moment is not None
        ]
        await self._signal.wait(min(moments, default=None))


def _group_kind() -> "type[ConsumerGroup]":
    """Return the class: twenty modules, for those who are in a group."""
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup  # noqa: PLC0415

    return ConsumerGroup


def _has_gone(tp: TopicPartition, snapshot: MetadataSnapshot) -> bool:
    """Say whether the topic is there without this partition: it was created anew, and smaller."""
    partitions = snapshot.partition_ids(tp.topic)
    return bool(partitions) and tp.partition not in partitions


__all__ = ["RecordPoller"]
