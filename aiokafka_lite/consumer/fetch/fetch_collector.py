"""Owns what a poll hands out: takes records from the oldest fetches and moves the positions along.

Nothing here waits: from the first record taken to the return of the poll there is no await, so a
cancelled poll has taken nothing. Source: A5, A6, A8, A9, FetchCollector.
"""

from collections.abc import Callable, Collection, Sized
from typing import Protocol, TypeVar

from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch, Record
from aiokafka_lite.consumer.fetch.decoded_records import DecodedRecords
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.position.subscription_state import PartitionState, SubscriptionState
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.record.columns_builder import ColumnsBuilder

_T = TypeVar("_T")
_NOBODYS = TopicPartition("", -1)


class Processed(Protocol):
    """What a group has to know of the records that polls have returned."""

    @property
    def handed_out(self) -> int:
        """How many records were returned without a poll. It changes while the application reads."""

    def begin_poll(self) -> None:
        """Count a poll: what the earlier ones returned is processed from now on (B7)."""

    def settle(self) -> None:
        """Bring the processed offsets up to date with the records returned without a poll (B7)."""


class FetchCollector:
    """Drains the buffer into polls, oldest fetch first. Both share one `Revision`."""

    def __init__(self, subscription: SubscriptionState, buffer: FetchBuffer) -> None:
        assert subscription.revision is buffer.revision
        self._subscription = subscription
        self._buffer = buffer
        self._revision = subscription.revision
        self.decoded = DecodedRecords(self._revision)
        """What `collect_one` has decoded ahead; taking from it is a poll each."""
        self._returned = 0
        self._settled = 0  # how many of those it has handed out are accounted for
        # The fetch they are of.
        self._chunk_fetch = CompletedFetch(_NOBODYS, 0, node_id=-1)
        self._chunk_state = PartitionState(_NOBODYS)

    def collect(
        self, max_records: int, partitions: Collection[TopicPartition] = ()
    ) -> dict[TopicPartition, list[Record]]:
        """Take up to `max_records` records, of `partitions` only if any are named.

        Records of one partition are in offset order. Empty when nothing is buffered that may be
        returned. Raises: the error at the head of the queue, when nothing was collected before it;
        otherwise that error waits for the next call. A fetch that cannot be read on stands aside
        afterwards, a failure without bytes is removed.
        """
        collected: dict[TopicPartition, list[Record]] = {}
        budget = max_records

        def take(fetch: CompletedFetch) -> bool:
            nonlocal budget
            records = fetch.take(budget)
            if records:
                tp = fetch.topic_partition
                if tp in collected:
                    collected[tp] += records
                else:
                    collected[tp] = records
                budget -= len(records)
            return budget > 0

        self._drain(take, collected, partitions)
        self._returned += max_records - budget
        return collected

    def collect_columns(
        self, columns: ColumnsBuilder, partitions: Collection[TopicPartition] = ()
    ) -> int:
        """Append records to the empty `columns` until those are full; return how many.

        Otherwise, and in what it raises, as `collect`.
        """

        def take(fetch: CompletedFetch) -> bool:
            fetch.take_columns(columns)
            return not columns.is_full

        self._drain(take, columns, partitions)
        self._returned += len(columns)
        return len(columns)

    def _drain(
        self,
        take: Callable[[CompletedFetch], bool],
        taken: Sized,
        partitions: Collection[TopicPartition],
    ) -> None:
        """Let `take` have the fetches in the order they are served, until it wants no more.

        `taken` is what it has so far. Raises: as `collect`.
        """
        self.settle()
        for fetch in self._buffer:
            state = self._usable(fetch, partitions)
            if state is None or _stands_aside(fetch):
                continue
            if fetch.is_failure and taken:
                break
            try:
                wants_more = self._take(take, fetch, state)
            except Exception as error:
                if taken:
                    break  # sticky: the next poll meets it with nothing before it
                self._set_aside(fetch, error)
                raise
            if not wants_more:
                break

    def collect_one(self, partitions: Collection[TopicPartition] = ()) -> Record | None:
        """Take one record; None when nothing is buffered that may be returned.

        Raises: as `collect`. Records decoded ahead can afterwards be taken from `decoded`, unless
        `partitions` are named: others may be older.
        """
        self.settle()
        self.decoded.forget()
        for fetch in self._buffer:
            state = self._usable(fetch, partitions)
            if state is None or _stands_aside(fetch):
                continue
            try:
                record = self._take(CompletedFetch.take_one, fetch, state)
            except Exception as error:
                self._set_aside(fetch, error)
                raise
            if record is not None:
                self._returned += 1
                if fetch.decoded and not partitions:
                    self.decoded.follow(fetch.decoded, fetch, state)
                    self._chunk_fetch, self._chunk_state = fetch, state
                return record
        return None

    @property
    def returned_records(self) -> int:
        """How many records polls have returned so far."""
        return self._returned + self.decoded.handed_out

    @property
    def handed_out(self) -> int:
        """How many records were taken from `decoded` so far."""
        return self.decoded.handed_out

    def begin_poll(self) -> None:
        """Count a poll: what the earlier ones returned is processed from now on (B7)."""
        self.settle()
        self._subscription.poll_number += 1

    def settle(self) -> None:
        """Catch up on the polls that taking from `decoded` was: only the newest one's record is not
        processed yet (B7).

        Called before anything else moves the fetch they are of, so that its offset is theirs.
        """
        handed_out = self.decoded.handed_out
        if handed_out == self._settled:
            return
        self._settled = handed_out
        self._subscription.poll_number += 1
        fetch, state = self._chunk_fetch, self._chunk_state
        if fetch.incarnation == state.incarnation:  # else its offsets are a deleted topic's
            state.moved_in_poll = self._subscription.poll_number
            # Not the state's own offset: a seek may have moved it since.
            state.processed_offset = fetch.next_offset - 1
            state.processed_epoch = state.offset_epoch

    def standing_error(self, partitions: Collection[TopicPartition] = ()) -> Exception | None:
        """Return the error of the oldest fetch that stands aside and is asked for (A9)."""
        for fetch in self._buffer:
            if self._usable(fetch, partitions) is not None and _stands_aside(fetch):
                assert fetch.error is not None
                return fetch.error.with_traceback(None)
        return None

    def _usable(
        self, fetch: CompletedFetch, partitions: Collection[TopicPartition]
    ) -> PartitionState | None:
        """Return the state of a fetch to be taken from; drop one that does not fit the position."""
        tp = fetch.topic_partition
        state = self._subscription.get(tp)
        if state is None:
            self._buffer.remove(fetch)
            return None
        if not fetch.fits(state):
            if self._buffer.is_next(fetch):  # else it was fetched ahead, and its turn may come
                self._buffer.remove(fetch)
            return None
        if state.is_held or (partitions and tp not in partitions):
            return None  # it keeps its place (KAFKA-7548)
        return state

    def _take(
        self, take: Callable[[CompletedFetch], _T], fetch: CompletedFetch, state: PartitionState
    ) -> _T:
        """Take from a fetch, which moves the position along."""
        if fetch.is_failure:
            self._raise_failure(fetch)
        self._subscription.note_move(state)
        try:
            taken = take(fetch)
        finally:
            _follow(state, fetch)
        self._finish_if_drained(fetch)
        return taken

    def _finish_if_drained(self, fetch: CompletedFetch) -> None:
        if fetch.is_drained:
            self._buffer.remove(fetch)
            self._subscription.move_to_end(fetch.topic_partition)

    def _set_aside(self, fetch: CompletedFetch, error: Exception) -> None:
        if not fetch.is_failure:
            self._buffer.set_aside(fetch, error)
            # A partition that failed goes to the end of the queue (2b-16).
            self._subscription.move_to_end(fetch.topic_partition)

    def _raise_failure(self, fetch: CompletedFetch) -> None:
        # Out of the queue first: a failure must not block it for ever.
        self._buffer.remove(fetch)
        assert fetch.error is not None
        raise fetch.error


def _stands_aside(fetch: CompletedFetch) -> bool:
    return fetch.error is not None and not fetch.is_failure


def _follow(state: PartitionState, fetch: CompletedFetch) -> None:
    """Position and fetch move together (A6)."""
    state.offset = fetch.next_offset
    state.offset_epoch = fetch.leader_epoch


__all__ = ["FetchCollector", "Processed"]
