"""Owns the poll: what getmany, getone and the waits for positions do between call and return.

The parts decide; the poller asks them in order, and waits. `poll_for` is the only loop of polls.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

from aiokafka_lite.consumer.fetch.completed_fetch import Record
from aiokafka_lite.consumer.poll_steps import PollSteps, RunningPoll
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.errors import ConsumerStoppedError
from aiokafka_lite.model import TopicPartition

if TYPE_CHECKING:
    from aiokafka_lite.record.cursor.columns_builder import ColumnsBuilder

logger = logging.getLogger(__name__)

_T = TypeVar("_T")


class RecordPoller(PollSteps):
    """Runs the polls of one consumer."""

    _has_warned = False

    def stop(self) -> None:
        """End every waiting poll, and every later one. Does not wait."""
        self._is_stopped = True
        self._buffer.discard(lambda _tp: True)
        self._signal.notify()

    def drop_buffered(self, partitions: Collection[TopicPartition]) -> None:
        """Drop what is buffered of partitions whose position was changed by a seek."""
        self._buffer.drop(partitions)
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
        deadline_s = None if timeout_s is None else self._clock.monotonic() + timeout_s
        poll = RunningPoll(partitions, collect, deadline_s)
        if self._is_turn_over(timeout_s is None or timeout_s > 0):
            await asyncio.sleep(0)
        self._begin_poll(partitions)
        try:
            while not self._is_stopped:
                seen = self._signal.number
                taken: _T | None = self._look_for_records(poll)
                if taken:
                    return taken
                if poll.is_over:
                    break
                self._begin_idle()
                try:
                    await self._signal.wait(poll.look_again_s, seen)
                    self._begin_turn()
                finally:
                    self._end_idle()
        finally:
            self._end_poll(partitions)
        if timeout_s is None:
            raise ConsumerStoppedError("the consumer was stopped while a record was waited for")
        self._warn_of_no_subscription()
        return None

    def _warn_of_no_subscription(self) -> None:
        """Log, once, that polls return nothing because nothing is subscribed.

        They do not raise as `getone` does: another task may subscribe later, and the polls of
        aiokafka wait for that.
        """
        if not self._subscription.is_empty:
            self._has_warned = False
        elif not (self._has_warned or self._is_stopped):
            self._has_warned = True
            logger.warning(
                "%s: a poll has returned nothing, because nothing is subscribed or assigned: "
                "subscribe() to topics or assign() partitions",
                self._client.config.client_id,
            )

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
            seen = self._signal.number
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
            await self._signal.wait(self._earliest(deadline_s, due_s), seen)


__all__ = ["RecordPoller"]
