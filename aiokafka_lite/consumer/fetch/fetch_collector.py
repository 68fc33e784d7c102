"""Owns what a poll returns: takes records from the oldest fetches and moves the positions.

Does not wait. From the first record taken to the return of the poll there is no await, so a
cancelled poll has taken nothing. Source: A5, A6, A8, A9, FetchCollector.
"""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Protocol

from aiokafka_lite.consumer.fetch import decoded_records
from aiokafka_lite.consumer.fetch.completed_fetch import CompletedFetch, Record
from aiokafka_lite.consumer.fetch.fetch_buffer import FetchBuffer
from aiokafka_lite.consumer.position.subscription_state import PartitionState, SubscriptionState
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.serialization import NotPreparedError

if TYPE_CHECKING:
    from aiokafka_lite.record.cursor.columns_builder import ColumnsBuilder

_NOBODYS = TopicPartition("", -1)


class Processed(Protocol):
    """What a group must know about the records that polls have returned."""

    @property
    def handed_out(self) -> int:
        """How many records were returned without a poll. It changes while the application reads."""

    def begin_poll(self) -> None:
        """Count a poll. The records of earlier polls count as processed from now on (B7)."""

    def settle(self) -> None:
        """Bring the processed offsets up to date with the records returned without a poll (B7)."""


class FetchCollector:
    """Moves records from the buffer to polls, oldest fetch first.

    The subscription and the buffer must share one `Revision`.
    """

    def __init__(
        self,
        subscription: SubscriptionState,
        buffer: FetchBuffer,
        observer: Observer = NO_OBSERVER,
    ) -> None:
        assert subscription.revision is buffer.revision
        self._subscription = subscription
        self._buffer = buffer
        self._observer = observer
        self.decoded = decoded_records.DecodedRecords(subscription.revision)
        """The records that `collect_one` has decoded ahead. Each `take` of it counts as a poll."""
        self.may_decode_on: Callable[[], bool] = _never
        """Says whether more may be decoded for `decoded` without a poll."""
        self._budget = buffer.budget
        self.unprepared: dict[CompletedFetch, None] = {}
        """Fetches whose deserializer has to wait. Polls skip them; `FetchPreparations` waits."""
        self._returned = 0
        self._settled = 0  # how many of the handed out records `settle` has counted
        # The fetch that `decoded` takes from, and the state of its partition.
        self._chunk_fetch = CompletedFetch(_NOBODYS, 0, node_id=-1)
        self._chunk_state = PartitionState(_NOBODYS)
        self._is_taking = False

    def collect(
        self, max_records: int, partitions: Collection[TopicPartition] = ()
    ) -> dict[TopicPartition, list[Record]]:
        """Take up to `max_records` records, only of `partitions` if any are named.

        Records of one partition are in offset order. The result is empty if no buffered record may
        be returned. Raises: the error of a fetch, if no record was collected before it; otherwise
        the next call raises it. Afterwards a fetch that cannot be decoded any further stands aside.
        A failure without bytes is removed.
        """
        taking = _TakingRecords(max_records)
        self._drain(taking, partitions)
        self._returned += taking.taken
        if self._observer.is_heard:
            for tp, records in taking.collected.items():
                self._observer.records_returned(tp, len(records))
        return taking.collected

    def collect_columns(
        self, columns: "ColumnsBuilder", partitions: Collection[TopicPartition] = ()
    ) -> int:
        """Append records to the empty `columns` until those are full; return how many.

        It chooses the records as `collect` does. Raises: as `collect`.
        """
        taking = _TakingColumns(columns, self._observer)
        self._drain(taking, partitions)
        self._returned += taking.taken
        return taking.taken

    def _drain(self, taking: "_Taking", partitions: Collection[TopicPartition]) -> None:
        """Take from one fetch after the other, oldest first, until nothing more may be taken.

        Raises: as `collect`.
        """
        if self._is_taking:
            return  # a poll that a deserializer, or a finalizer, begins in the middle of another
        self.settle()
        for fetch in self._buffer.of(partitions):
            state = self._usable(fetch)
            if state is None or _stands_aside(fetch) or fetch.unprepared is not None:
                continue
            if fetch.is_failure and taking.taken:
                break
            try:
                wants_more = self._take(taking, fetch, state)
            except NotPreparedError:
                continue  # the other partitions go on
            except Exception as error:
                if taking.taken:
                    break  # the next poll takes nothing before it, and raises it again
                self._set_aside(fetch, error)
                raise
            if not wants_more or (taking.taken and self._budget.is_spent):
                break

    def collect_one(self, partitions: Collection[TopicPartition] = ()) -> Record | None:
        """Take one record; None if no buffered record may be returned.

        Afterwards the records decoded ahead can be taken from `decoded`. If `partitions` are named
        they cannot, because records of other partitions may be older. Raises: as `collect`.
        """
        self.decoded.forget()
        taking = _TakingOne()
        self._drain(taking, partitions)
        fetch = taking.fetch
        if fetch is None:
            return None
        self._returned += 1
        if self._observer.is_heard:
            self._observer.records_returned(fetch.topic_partition, 1)
        state = self._subscription.get(fetch.topic_partition)
        if fetch.decoded and not partitions and state is not None and fetch.fits(state):
            self.decoded.follow(fetch.decoded, fetch, state, self._decode_on)
            self._chunk_fetch, self._chunk_state = fetch, state
        return taking.record

    def _decode_on(self) -> bool:
        """Decode more of the fetch that `decoded` takes from; say whether any records came."""
        fetch = self._chunk_fetch
        awaited = fetch.unprepared
        fetch.is_busy = True
        try:
            has_more = self.may_decode_on() and fetch.decode_on()
        finally:
            fetch.is_busy = False
        if fetch.is_released:
            fetch.release()
            return False
        if fetch.unprepared is not awaited:
            self.unprepared[fetch] = None
        if not has_more:
            return False
        self._chunk_state.offset_epoch = fetch.leader_epoch
        return True

    @property
    def returned_records(self) -> int:
        """How many records polls have returned so far."""
        return self._returned + self.decoded.handed_out

    @property
    def handed_out(self) -> int:
        """How many records were taken from `decoded` so far."""
        return self.decoded.handed_out

    def begin_poll(self) -> None:
        """Count a poll. The records of earlier polls count as processed from now on (B7)."""
        self.settle()
        self._subscription.poll_number += 1

    def settle(self) -> None:
        """Count the records taken from `decoded`, each as a poll: only the newest one is not
        processed yet (B7).

        It is called before anything else moves the fetch of these records. So the offset of the
        fetch is still the one behind the newest of them.
        """
        handed_out = self.decoded.handed_out
        if handed_out == self._settled:
            return
        fetch, state = self._chunk_fetch, self._chunk_state
        count, self._settled = handed_out - self._settled, handed_out
        if self._observer.is_heard:
            self._observer.records_returned(fetch.topic_partition, count)
        self._tell_read_bytes(fetch)
        self._subscription.count_poll_of(state)
        # Not `state.offset`: a seek may have changed it since.
        processed_offset = fetch.next_offset - 1
        if fetch.incarnation != state.incarnation:
            cut = state.changed_from(fetch.incarnation)
            if cut is None or processed_offset > cut:
                return  # the log of this offset is gone
        state.moved_in_poll = self._subscription.poll_number
        state.processed_offset = processed_offset
        state.processed_epoch = state.offset_epoch

    def standing_error(self, partitions: Collection[TopicPartition] = ()) -> Exception | None:
        """Return the error of the oldest fetch that stands aside, only of `partitions` if any are
        named (A9).
        """
        for fetch in self._buffer.of(partitions):
            if self._usable(fetch) is not None and _stands_aside(fetch):
                assert fetch.error is not None
                return fetch.error.with_traceback(None)
        return None

    def _usable(self, fetch: CompletedFetch) -> PartitionState | None:
        """Return the state of a partition whose fetch may be taken from, else None.

        A fetch that no longer fits the position is dropped.
        """
        tp = fetch.topic_partition
        state = self._subscription.get(tp)
        if state is None:
            self._buffer.remove(fetch)
            return None
        if not fetch.fits(state):
            if self._buffer.is_next(fetch):  # else it was fetched ahead, and may fit later
                self._buffer.remove(fetch)
            return None
        if state.is_held:
            return None  # the fetch keeps its place in the buffer (KAFKA-7548)
        return state

    def _take(self, taking: "_Taking", fetch: CompletedFetch, state: PartitionState) -> bool:
        """Take from a fetch, and move the position to the fetch's next offset; say whether more may
        be taken.

        A seek in the middle of it, by a deserializer or a finalizer, wins.
        """
        if fetch.is_failure:
            self._raise_failure(fetch)
        self._subscription.note_take(state)
        before = state.offset
        self._is_taking = fetch.is_busy = True
        try:
            wants_more = taking.take_from(fetch)
        finally:
            self._is_taking = fetch.is_busy = False
            if fetch.is_released:
                fetch.release()
            elif state.offset == before:
                # Both move together (A6).
                state.offset = fetch.next_offset
                state.offset_epoch = fetch.leader_epoch
                if fetch.unprepared is not None:
                    self.unprepared[fetch] = None
        self._tell_read_bytes(fetch)
        if not fetch.is_released and fetch.is_drained():
            self._buffer.remove(fetch)
            self._subscription.move_to_end(fetch.topic_partition)
        return wants_more

    def _tell_read_bytes(self, fetch: CompletedFetch) -> None:
        size = fetch.newly_read_bytes()
        if size:
            self._observer.records_read(
                fetch.topic_partition, size, fetch.node_id, fetch.received_at_s
            )

    def _set_aside(self, fetch: CompletedFetch, error: Exception) -> None:
        if not (fetch.is_failure or fetch.is_released):
            self._buffer.set_aside(fetch, error)
            # A partition that failed goes to the end of the queue (2b-16).
            self._subscription.move_to_end(fetch.topic_partition)

    def _raise_failure(self, fetch: CompletedFetch) -> None:
        # The failure leaves the queue first, so that it cannot block the queue for ever.
        self._buffer.remove(fetch)
        assert fetch.error is not None
        raise fetch.error


class _Taking:
    """What one call takes, and how much of it there is so far."""

    __slots__ = ("taken",)

    def __init__(self) -> None:
        self.taken = 0
        """How many records were taken."""

    def take_from(self, fetch: CompletedFetch) -> bool:
        """Take from a fetch what may be taken; say whether more may be taken from the next."""
        raise NotImplementedError


class _TakingRecords(_Taking):
    """Records by partition."""

    __slots__ = ("collected", "max_records")

    def __init__(self, max_records: int) -> None:
        super().__init__()
        self.max_records = max_records
        self.collected: dict[TopicPartition, list[Record]] = {}

    def take_from(self, fetch: CompletedFetch) -> bool:
        records = fetch.take(self.max_records - self.taken)
        if records:
            tp = fetch.topic_partition
            if tp in self.collected:
                self.collected[tp] += records
            else:
                self.collected[tp] = records
            self.taken += len(records)
        return self.taken < self.max_records


class _TakingColumns(_Taking):
    """Records as columns."""

    __slots__ = ("columns", "observer")

    def __init__(self, columns: "ColumnsBuilder", observer: Observer) -> None:
        super().__init__()
        self.columns = columns
        self.observer = observer

    def take_from(self, fetch: CompletedFetch) -> bool:
        appended = fetch.take_columns(self.columns)
        self.taken += appended
        if appended and self.observer.is_heard:
            self.observer.records_returned(fetch.topic_partition, appended)
        return not self.columns.is_full


class _TakingOne(_Taking):
    """One record, and the fetch that it comes from."""

    __slots__ = ("fetch", "record")

    def __init__(self) -> None:
        super().__init__()
        self.record: Record | None = None
        self.fetch: CompletedFetch | None = None

    def take_from(self, fetch: CompletedFetch) -> bool:
        self.record = fetch.take_one()
        if self.record is None:
            return True
        self.taken = 1
        self.fetch = fetch
        return False


def _never() -> bool:
    return False


def _stands_aside(fetch: CompletedFetch) -> bool:
    return fetch.error is not None and not fetch.is_failure


__all__ = ["FetchCollector", "Processed"]
