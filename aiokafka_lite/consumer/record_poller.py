"""Owns the poll: what getmany, getone and the waits for positions do between call and return.

The parts decide; the poller asks them in order, and waits. `poll_for` is the only loop of polls.
"""

import asyncio
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.consumer.fetch.completed_fetch import Record
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector import FetchCollector
from aiokafka_lite.consumer.fetch.fetch_preparations import FetchPreparations
from aiokafka_lite.consumer.fetch.fetcher import Fetcher
from aiokafka_lite.consumer.fetch.planned_fetch import PlannedFetch
from aiokafka_lite.consumer.poll_signal import PollSignal
from aiokafka_lite.consumer.position.leader_watch import LeaderWatch
from aiokafka_lite.consumer.position.offset_fetcher import OffsetFetcher
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.consumer.position.subscription_state import SubscriptionState
from aiokafka_lite.errors import ConsumerStoppedError, KafkaError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.consumer.group.consumer_group import ConsumerGroup
    from aiokafka_lite.record.cursor.columns_builder import ColumnsBuilder

_T = TypeVar("_T")

_POLLS_A_TURN = 8
_TURN_S = 0.002
"""How many polls that find records run in a row, and for how long, until other tasks run."""


@dataclass(slots=True, eq=False)
class _FetchesOnTheirWay:
    """The fetches one poll awaits before it raises the error of a fetch that was set aside."""

    awaited: frozenset[PlannedFetch] | None = None

    def are_over(self, pending: frozenset[PlannedFetch]) -> bool:
        """Say whether every fetch that was pending at the first call has been answered."""
        self.awaited = pending if self.awaited is None else self.awaited & pending
        return not self.awaited


class RecordPoller:
    """Runs the polls of one consumer."""

    def __init__(
        self,
        client: KafkaClient,
        subscription: SubscriptionState,
        signal: PollSignal,
        buffer: FetchBuffer,
        collector: FetchCollector,
        fetcher: Fetcher,
        group: "ConsumerGroup | None",
        offset_fetcher: OffsetFetcher,
        *,
        leader_timeout_s: float,
    ) -> None:
        """`leader_timeout_s`: how long a partition may have no leader until polls raise for it."""
        self._client = client
        self._subscription = subscription
        self._signal = signal
        self._buffer = buffer
        self._collector = collector
        self._fetcher = fetcher
        self._group = group
        self._offset_fetcher = offset_fetcher
        self._preparations = FetchPreparations(client, signal, timeout_s=leader_timeout_s)
        self._leader_watch = LeaderWatch(client.config.client_id, leader_timeout_s)
        self._wanted: list[Collection[TopicPartition]] = []  # by the polls that run; empty: all
        self._is_stopped = False
        self._idle_polls = 0
        self._idle_since_s = 0.0
        self._idle_s = 0.0
        self._polls_left = 0  # of this turn
        self._turn_ends_s = 0.0
        collector.may_decode_on = self._takes_turn

    def stop(self) -> None:
        """End every waiting poll, and every later one. Does not wait."""
        self._is_stopped = True
        self._buffer.discard(lambda _tp: True)
        self._signal.notify()

    def drop_buffered(self, partitions: Collection[TopicPartition]) -> None:
        """Drop what is buffered of partitions whose position was changed by a seek."""
        self._buffer.discard(lambda tp: tp in partitions)
        self._signal.notify()

    # Polls…

    async def poll(
        self, partitions: Collection[TopicPartition], max_records: int, timeout_s: float
    ) -> dict[TopicPartition, list[Record]]:
        """Return up to `max_records` records once at least one can be returned.

        It returns {} after `timeout_s`, or if the consumer was stopped.

        Raises: as `FetchCollector.collect`; position errors; KafkaError for a failed background
        task. Cancelled: nothing was taken; fetches and resets on their way go on.
        """
        collect = self._collector.collect
        taken = await self.poll_for(
            partitions, lambda named: collect(max_records, named), timeout_s
        )
        return taken or {}

    def poll_one(self, partitions: Collection[TopicPartition]) -> Coroutine[Any, Any, Record]:
        """Return the next record; wait for it without bound.

        Raises: as `poll_for`. Cancelled: as `poll_for`.
        """
        return self.poll_for(partitions, self._collector.collect_one, None)

    async def poll_columns(
        self,
        partitions: Collection[TopicPartition],
        columns: "ColumnsBuilder",
        timeout_s: float,
        until: Mapping[TopicPartition, int],
    ) -> None:
        """Append records to the empty `columns` once at least one can be returned.

        A partition that has come to its offset of `until` is paused before anything more is
        fetched. When all have, the poll returns. Raises: as `poll`; IllegalStateError, with nothing
        taken, while a partition of `until` is not assigned. Cancelled: as `poll`.
        """
        collect = self._collector.collect_columns

        def take(partitions: Collection[TopicPartition]) -> bool:
            # Raises for a partition that is not assigned. Records taken before would be lost.
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
        """Return what `collect(partitions)` takes, as soon as it takes anything.

        None when the time is over or the consumer was stopped. `timeout_s` None: no bound. Raises:
        as `poll`; ConsumerStoppedError when the consumer was stopped and there is no bound.
        Cancelled: as `poll`.
        """
        clock = self._client.clock
        deadline_s = None if timeout_s is None else clock.monotonic() + timeout_s
        fetches = _FetchesOnTheirWay()
        if self._is_turn_over(may_wait=timeout_s is None or timeout_s > 0):
            await asyncio.sleep(0)
        taken: _T | None = None
        self._begin_poll(partitions)
        try:
            while not self._is_stopped:
                positions_due_s = self._look_around()
                try:
                    taken = collect(partitions)
                finally:
                    fetches_due_s = self._fetcher.start_fetches()
                    if self._collector.unprepared:
                        self._preparations.start(self._collector.unprepared)
                if taken:
                    return taken
                fetches_due_s = self._fetch_what_is_wanted(fetches_due_s)
                is_over = deadline_s is not None and clock.monotonic() >= deadline_s
                self._raise_for_want_of_records(partitions, fetches, is_over=is_over)
                if is_over:
                    break
                await self._wait_for_records(deadline_s, positions_due_s, fetches_due_s)
        finally:
            self._end_poll(partitions)
        if timeout_s is None:
            raise ConsumerStoppedError("the consumer was stopped while a record was waited for")
        return None

    def _is_turn_over(self, *, may_wait: bool) -> bool:
        """Say whether a poll must let the other tasks run before it looks for records.

        Polls that find records do so only now and then, because a turn of the loop costs as much
        as a poll. So do polls that wait if they find none. Any other poll without buffered records
        does it each time.
        """
        if (may_wait or len(self._buffer)) and self._takes_turn():
            return False
        self._begin_turn()
        return True

    def _begin_turn(self) -> None:
        """Note that the other tasks run, or have run, before the next poll."""
        self._polls_left = _POLLS_A_TURN
        self._turn_ends_s = self._client.clock.monotonic() + _TURN_S

    def _takes_turn(self) -> bool:
        """Count a poll, or records that are decoded without one; False: the others must run."""
        if not self._polls_left or self._client.clock.monotonic() >= self._turn_ends_s:
            return False
        self._polls_left -= 1
        return True

    def _begin_poll(self, partitions: Collection[TopicPartition]) -> None:
        """Count a poll among those that run. Raises: the error of the group or of a listener."""
        if self._group is not None:
            self._group.poll_began()
        self._collector.begin_poll()
        self._fetcher.want(partitions)
        self._wanted.append(partitions)

    def _end_poll(self, partitions: Collection[TopicPartition]) -> None:
        if self._group is not None:
            self._group.poll_ended()
        self._wanted.remove(partitions)
        if self._wanted and self._fetcher.lacks_room:
            self._signal.notify()  # what this poll left may stop the fetches of others

    def _fetch_what_is_wanted(self, due_s: float | None) -> float | None:
        """Make room and fetch if the buffer is full of data that no running poll takes.

        Only possible if every running poll names its partitions. Returns when to look again, which
        is `due_s` if nothing was done.
        """
        if not (self._fetcher.lacks_room and all(self._wanted)):
            return due_s
        return self._fetcher.start_fetches_for({tp for wanted in self._wanted for tp in wanted})

    async def wait_for_positions(
        self,
        are_known: Callable[[], bool],
        timeout_s: float,
        *,
        reset_missing: Collection[TopicPartition],
    ) -> bool:
        """Wait until `are_known()`; False when the time is over.

        If `reset_missing` names partitions, auto_offset_reset applies to all without a position.
        Raises: ConsumerStoppedError; KafkaError for a failed background task; position errors, also
        of partitions of `reset_missing` that need a seek; as `are_known`. Cancelled: resets on
        their way go on.
        """
        clock = self._client.clock
        deadline_s = clock.monotonic() + timeout_s
        while True:
            if self._is_stopped:
                raise ConsumerStoppedError("the consumer was stopped meanwhile")
            self._client.check()
            if are_known():
                return True
            if reset_missing:
                due_s = self._offset_fetcher.update_positions()
                if error := self._offset_fetcher.missing_position_error(reset_missing):
                    raise error
            else:
                due_s = self._offset_fetcher.start_resets()
            self._raise_errors()
            if clock.monotonic() >= deadline_s:
                return False
            await self._wait(deadline_s, due_s)

    def _look_around(self) -> float | None:
        """Bring membership, commits and positions up to date. Does not wait."""
        self._client.check()
        if self._group is not None:
            self._group.tick()
        due_s = self._offset_fetcher.update_positions()
        self._offset_fetcher.raise_for_missing_positions()
        return due_s

    def _raise_for_want_of_records(
        self, partitions: Collection[TopicPartition], fetches: _FetchesOnTheirWay, *, is_over: bool
    ) -> None:
        """Raise the errors of a poll that has nothing to return (A9)."""
        self._raise_passing_errors()
        standing = self._collector.standing_error(partitions)
        standing = standing or self._offset_fetcher.missing_position_error(partitions)
        if standing is None:
            standing = self._leader_error()
            is_refusal = standing is not None and not standing.retriable
            if is_refusal and not is_over and not self._are_others_ready():
                standing = None  # a refused topic must not keep the others from being read
        if standing is not None and (fetches.are_over(self._fetcher.pending_fetches) or is_over):
            raise standing

    def _are_others_ready(self) -> bool:
        """Say whether each partition that has a leader can be fetched: the group has assigned
        them, and they have positions.
        """
        if self._group is not None and self._group.membership.awaits_assignment:
            return False
        snapshot = self._client.metadata.snapshot
        return all(
            state.position is not None or snapshot.leader(state.topic_partition).node_id is None
            for state in self._subscription.states()
        )

    def _raise_errors(self) -> None:
        self._raise_passing_errors()
        error = self._leader_error()
        if error is not None:
            raise error

    def _raise_passing_errors(self) -> None:
        error = (
            self._fetcher.take_error()
            or self._offset_fetcher.take_error()
            or self._preparations.take_error()
        )
        if error is not None:
            raise error

    def _leader_error(self) -> KafkaError | None:
        """Return the error of partitions without a leader, and of topics without partitions."""
        snapshot, subscription = self._client.metadata.snapshot, self._subscription
        leaderless = (*self._offset_fetcher.leaderless, *self._fetcher.leaderless)
        return self._leader_watch.check(
            [tp for tp in leaderless if subscription.get(tp) is not None],
            [name for name in subscription.topics if not snapshot.partition_ids(name)],
            snapshot,
            self._client.clock.monotonic(),
        )

    @property
    def idle_s(self) -> float:
        """Seconds in which a poll has waited for records, or several have, since the start."""
        running_s = self._client.clock.monotonic() - self._idle_since_s if self._idle_polls else 0.0
        return self._idle_s + running_s

    async def _wait_for_records(self, *until_s: float | None) -> None:
        if not self._idle_polls:
            self._idle_since_s = self._client.clock.monotonic()
        self._idle_polls += 1
        try:
            await self._wait(*until_s)
            self._begin_turn()
        finally:
            self._idle_polls -= 1
            if not self._idle_polls:
                self._idle_s += self._client.clock.monotonic() - self._idle_since_s

    async def _wait(self, *until_s: float | None) -> None:
        """Wait for the signal, at most until the earliest of the moments."""
        moments = [
            moment for moment in (*until_s, self._leader_watch.due_at_s) if moment is not None
        ]
        await self._signal.wait(min(moments, default=None))


__all__ = ["RecordPoller"]
