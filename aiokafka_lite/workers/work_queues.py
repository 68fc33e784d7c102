"""Orders the records that wait for a handler. Does not wait.

The records of one key form a chain: only the first of them is ready or running. The next one gets
ready when the one before it is finished. A record that waits for its next attempt keeps its chain.
"""

from collections import deque
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from aiokafka_lite.checks.quoted import TraceOf, said, trace_of
from aiokafka_lite.errors import HandlerFailedError
from aiokafka_lite.model import ConsumerRecord, TopicPartition
from aiokafka_lite.workers.offset_tracker import OffsetTracker
from aiokafka_lite.workers.workers_config import KeyOf


class PartitionWork:
    """What is to be done of one assigned partition, until it is revoked."""

    __slots__ = (
        "byte_count",
        "chains",
        "cuts",
        "held",
        "is_leaving",
        "is_lost",
        "is_paused",
        "offsets",
        "records",
        "resume_at",
        "running",
        "stored",
        "tp",
    )

    def __init__(self, tp: TopicPartition) -> None:
        self.tp = tp
        self.offsets = OffsetTracker()
        self.chains: dict[Hashable, deque[WorkItem] | None] = {}
        """The items behind the first one of each chain; None: there are none."""
        self.cuts: tuple[int, ...] = ()
        """Each time the log has changed: the offset from which on it is another one."""
        self.held: deque[WorkItem] | None = None
        """Records that would be ready, but that handlers of an earlier ownership still run."""
        self.records = 0
        """The records that are not finished: queued, running, or waiting for another attempt."""
        self.byte_count = 0
        """The bytes of their keys and values."""
        self.running = 0
        """How many handlers work on the partition."""
        self.stored: int | None = None
        """The offset that the group has, as far as is known."""
        self.is_paused = False
        self.resume_at = 0
        """With so many records, a paused partition may be resumed; with more it is not."""
        self.is_leaving = False
        """No further record is started: the partition is being given back."""
        self.is_lost = False
        """Nothing counts any more: the partition is gone."""


class WorkItem:
    """One record on its way through the workers."""

    __slots__ = ("byte_count", "chain", "failures", "log_number", "partition", "record")

    def __init__(
        self, record: ConsumerRecord[Any, Any], partition: PartitionWork, chain: Hashable, size: int
    ) -> None:
        self.record = record
        self.partition = partition
        self.chain = chain
        self.byte_count = size
        self.log_number = len(partition.cuts)
        """How often the log had changed when the record was returned."""
        self.failures = 0
        """How many attempts have failed."""

    @property
    def is_void(self) -> bool:
        """Whether the record is not in the log any more: its outcome does not count."""
        cuts = self.partition.cuts
        if len(cuts) == self.log_number:
            return False
        return self.record.offset >= min(cuts[self.log_number :])

    def why(self, error: BaseException) -> str:
        """Return the error of the handler as logs show it, without parts of the record."""
        return said(error, self.record.key, self.record.value)

    def trace(self, error: BaseException) -> TraceOf:
        """Return the traceback of the error for a log, without parts of the record."""
        return trace_of(error, self.record.key, self.record.value)

    def __str__(self) -> str:
        tp = self.partition.tp
        return f"{tp.topic}-{tp.partition} offset {self.record.offset}"


class WorkQueues:
    """The unfinished records of all assigned partitions."""

    def __init__(self, key_of: KeyOf | None) -> None:
        """`key_of`: names the chain of a record; None: there are no chains."""
        self._key_of = key_of
        self._ready: deque[WorkItem] = deque()
        self._late: dict[TopicPartition, set[PartitionWork]] = {}  # gone, with running handlers
        self.partitions: dict[TopicPartition, PartitionWork] = {}
        self.records = 0
        """The unfinished records of all partitions."""
        self.byte_count = 0

    @property
    def ready(self) -> int:
        """How many records could be handled now."""
        return len(self._ready)

    def partition(self, tp: TopicPartition) -> PartitionWork:
        """Return the work of a partition, which may be new.

        It waits for handlers that ignored their cancellation when the partition went before.
        """
        work = self.partitions.get(tp)
        if work is None:
            work = self.partitions[tp] = PartitionWork(tp)
            if tp in self._late:
                work.held = deque()
        return work

    def add(self, work: PartitionWork, records: Iterable[ConsumerRecord[Any, Any]]) -> None:
        """Queue records of one partition, in offset order.

        Raises: HandlerFailedError for a record whose key cannot be told, or is not hashable.
        """
        key_of, chains = self._key_of, work.chains
        ready = self._ready if work.held is None else work.held
        for record in records:
            if not work.offsets.begin(record.offset):
                continue
            size = max(record.serialized_key_size, 0) + max(record.serialized_value_size, 0)
            work.records += 1
            work.byte_count += size
            self.records += 1
            self.byte_count += size
            if key_of is None:
                ready.append(WorkItem(record, work, None, size))
                continue
            try:
                chain = key_of(record)
                is_new = chain not in chains
            except Exception as error:  # a function of the user
                raise _without_chain(work.tp, record, error) from error
            item = WorkItem(record, work, chain, size)
            if is_new:
                chains[chain] = None
                ready.append(item)
            elif (behind := chains[chain]) is None:
                chains[chain] = deque((item,))
            else:
                behind.append(item)

    def refuse(self, returned: Mapping[TopicPartition, Sequence[ConsumerRecord[Any, Any]]]) -> None:
        """Note that records of a poll could not all be queued, so nothing behind them may be
        committed.
        """
        for tp, records in returned.items():
            self.partition(tp).offsets.stop_before(records[0].offset)

    def take(self) -> WorkItem | None:
        """Return the next record to handle; None if there is none. Give it back by one of the
        other methods.
        """
        if not self._ready:
            return None
        item = self._ready.popleft()
        item.partition.running += 1
        return item

    def finish(self, item: WorkItem) -> None:
        """Note that an item taken is finished; its chain goes on."""
        work = item.partition
        work.running -= 1
        if work.is_lost:
            self._ended_late(work)
            return
        if work.cuts and item.is_void:
            return
        work.offsets.finish(item.record.offset)
        self._remove(work, item)
        if self._key_of is None or work.is_leaving:
            return
        behind = work.chains[item.chain]
        if behind is None:
            del work.chains[item.chain]
            return
        self._ready.append(behind.popleft())
        if not behind:
            work.chains[item.chain] = None

    def put_off(self, item: WorkItem) -> bool:
        """Note that an item taken has failed; say whether another attempt makes sense."""
        item.partition.running -= 1
        if item.partition.is_lost:
            self._ended_late(item.partition)
        return not (item.partition.is_leaving or item.is_void)

    def _ended_late(self, work: PartitionWork) -> None:
        """Let the records of a partition that came back be ready, after the last late handler."""
        late = self._late.get(work.tp)
        if work.running or late is None:
            return
        late.discard(work)
        if late:
            return
        del self._late[work.tp]
        present = self.partitions.get(work.tp)
        if present is not None and present.held is not None:
            self._ready.extend(present.held)
            present.held = None

    def again(self, item: WorkItem) -> bool:
        """Let an item that was put off be ready; say whether it still matters."""
        if item.partition.is_leaving:
            return False
        self._ready.append(item)
        return True

    def cut(self, tp: TopicPartition, offset: int, begun: Iterable[WorkItem]) -> int:
        """Drop what was returned from `offset` on: the log is another one from there on.

        Outcomes of handlers that work on such records do not count, and no record waits for them.
        `begun`: the items of all partitions that are taken or put off. Return how many records are
        dropped, those of `begun` included.
        """
        work = self.partitions.get(tp)
        if work is None:
            return 0
        if work.stored is not None:
            work.stored = min(work.stored, offset)
        if not work.offsets.cut(offset):
            return 0
        work.cuts += (offset,)
        if work.is_leaving:
            return 0
        before = work.records
        self._ready = deque(item for item in list(self._ready) if not item.is_void)
        if work.held is not None:
            work.held = deque(item for item in work.held if not item.is_void)
        first = {
            item
            for item in (*begun, *self._ready, *(work.held or ()))
            if item.partition is work and not item.is_void
        }
        behind = {item.chain: work.chains.get(item.chain) for item in first}
        left = list(first)
        for chain, items in behind.items():
            kept = deque(item for item in items or () if not item.is_void)
            behind[chain] = kept or None
            left += kept
        if self._key_of is not None:
            work.chains = behind
        self.records -= before - len(left)
        work.records = len(left)
        self.byte_count -= work.byte_count
        work.byte_count = sum(item.byte_count for item in left)
        self.byte_count += work.byte_count
        return before - len(left)

    def give_back(self, partitions: Iterable[TopicPartition]) -> list[PartitionWork]:
        """Drop what has not been started of these partitions, and start nothing more of them."""
        leaving = [work for tp in partitions if (work := self.partitions.get(tp)) is not None]
        for work in leaving:
            work.is_leaving = True
            work.chains.clear()
            if work.held is not None:
                work.held.clear()
        self._ready = deque(item for item in list(self._ready) if not item.partition.is_leaving)
        return leaving

    def forget(self, leaving: Iterable[PartitionWork]) -> list[PartitionWork]:
        """Let nothing count any more of partitions that were given back.

        Return those that counted until now.
        """
        gone = [work for work in leaving if not work.is_lost]
        for work in gone:
            work.is_lost = True
            if work.running:
                self._late.setdefault(work.tp, set()).add(work)
            self.records -= work.records
            self.byte_count -= work.byte_count
            if self.partitions.get(work.tp) is work:
                del self.partitions[work.tp]
        return gone

    def _remove(self, work: PartitionWork, item: WorkItem) -> None:
        work.records -= 1
        work.byte_count -= item.byte_count
        self.records -= 1
        self.byte_count -= item.byte_count


def _without_chain(
    tp: TopicPartition, record: ConsumerRecord[Any, Any], error: Exception
) -> HandlerFailedError:
    place = f"{tp.topic}-{tp.partition} offset {record.offset}"
    why = said(error, record.key, record.value)
    return HandlerFailedError(
        f"order gives no key of {place}: {why}; the record is not committed: set "
        "order to a function that returns something hashable for each record",
        topic_partition=tp,
        offset=record.offset,
    )


__all__ = ["PartitionWork", "WorkItem", "WorkQueues"]
