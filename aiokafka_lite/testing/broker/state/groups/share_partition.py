"""One partition as a share group reads it: which records are available, acquired or done.

Decides at once; the timers of the locks call back. A change is stored with the start offset from
before it, as in Kafka, so what administrators see is one change late. Source: SharePartition;
KIP-932, KIP-1206, KIP-1222.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from itertools import count
from typing import NamedTuple

from aiokafka_lite.errors import InvalidRecordStateError, InvalidRequestError
from aiokafka_lite.testing.broker.state.groups.group_timers import GroupTimers
from aiokafka_lite.testing.broker.state.groups.share_settings import ShareSettings

UNSET = -1
"""The start offset of a partition for which nothing is stored yet."""
_LEAST_THROTTLED = 2


class DeliveryState(StrEnum):
    """What has become of a record in flight. Source: RecordState."""

    AVAILABLE = "available"
    ACQUIRED = "acquired"
    ACKNOWLEDGED = "acknowledged"
    ARCHIVED = "archived"

    @property
    def is_final(self) -> bool:
        """Whether the group is done with the record."""
        return self in (DeliveryState.ACKNOWLEDGED, DeliveryState.ARCHIVED)


class AckType(IntEnum):
    """How a member acknowledges a record. Source: AcknowledgeType."""

    GAP = 0
    ACCEPT = 1
    RELEASE = 2
    REJECT = 3
    RENEW = 4


class Ack(NamedTuple):
    """Consecutive records that a member acknowledges: one type for all, or one for each."""

    first: int
    last: int
    types: Sequence[int]

    def type_of(self, offset: int) -> AckType:
        """Return how the record is acknowledged."""
        return AckType(self.types[offset - self.first if len(self.types) > 1 else 0])


class Acquired(NamedTuple):
    """Consecutive records that a member has acquired."""

    first: int
    last: int
    delivery_count: int


class LogBatch(NamedTuple):
    """A batch of the log that may be acquired."""

    base_offset: int
    last_offset: int
    is_aborted: bool = False
    """Whether its transaction was aborted and the group reads committed records only."""


@dataclass(frozen=True, slots=True)
class AcquireLimits:
    """How much a member asks for."""

    max_records: int
    batch_size: int
    by_record: bool = False
    """Whether `max_records` is exact; else whole batches may go beyond it (KIP-1206)."""


@dataclass(eq=False, slots=True)
class _Lock:
    """The right of a member to records, until its time is over."""

    member_id: str
    name: str
    held: int = 0


@dataclass(eq=False, slots=True)
class Delivery:
    """One record in flight."""

    state: DeliveryState = DeliveryState.AVAILABLE
    count: int = 0
    """How often it has been delivered."""
    lock: _Lock | None = None
    """Set while it is acquired."""

    @property
    def member_id(self) -> str | None:
        """The member that has acquired it."""
        return None if self.lock is None else self.lock.member_id


@dataclass(eq=False, slots=True)
class _InFlight:
    """Consecutive records in flight; what is acquired or released together stays together."""

    first: int
    records: list[Delivery] = field(default_factory=list)

    @property
    def last(self) -> int:
        return self.first + len(self.records) - 1


class SharePartition:
    """The records in flight of one partition, and where the group has arrived."""

    def __init__(
        self,
        timers: GroupTimers,
        settings: Callable[[], ShareSettings],
        on_available: Callable[[], object],
        on_given_up: Callable[[int, int, bool], object],
        stored_start: int = UNSET,
    ) -> None:
        """`on_available` is called when records can be acquired again. `on_given_up` is called for
        each that nobody gets again: with its offset, how often it was delivered, and whether a
        member has rejected it.
        """
        self.stored_start = stored_start
        """The start offset that administrators see."""
        self.stored_done = 0
        """The records behind it with which the group was done."""
        self.start_offset = stored_start
        """The first record with which the group is not done; unset before the first fetch."""
        self.end_offset = stored_start - 1
        """The last record in flight."""
        self._batches: list[_InFlight] = []
        self._timers = timers
        self._settings = settings
        self._on_available = on_available
        self._on_given_up = on_given_up
        self._numbers = count()

    # What there is…

    def begin(self, offset: int) -> None:
        """Set where the group begins to read; harmless once it has begun."""
        if self.start_offset == UNSET:
            self.start_offset, self.end_offset = offset, offset - 1

    @property
    def next_offset(self) -> int:
        """The first record that can be acquired."""
        return next(
            (
                offset
                for offset, record in self.deliveries()
                if record.state is DeliveryState.AVAILABLE
            ),
            self.end_offset + 1,
        )

    @property
    def is_full(self) -> bool:
        """Whether no record can be acquired before others are done."""
        room = self._settings().max_record_locks - self._in_flight
        return room <= 0 and self.next_offset > self.end_offset

    @property
    def _in_flight(self) -> int:
        return self.end_offset - self.start_offset + 1 if self._batches else 0

    def deliveries(self) -> Iterator[tuple[int, Delivery]]:
        """Iterate over offsets and states of the records in flight, in order."""
        for batch in self._batches:
            for offset, record in enumerate(batch.records, batch.first):
                if offset >= self.start_offset:
                    yield offset, record

    # Acquiring…

    def acquire(
        self, member_id: str, batches: Sequence[LogBatch], limits: AcquireLimits
    ) -> list[Acquired]:
        """Give records of these neighbouring batches of the log to a member.

        Those that were in flight before come first. A record that was delivered often comes with
        few others, and the last time alone.
        """
        acquired: list[Acquired] = []
        taken = 0
        for batch in self._batches:
            if batch.last < batches[0].base_offset:
                continue
            if batch.first > batches[-1].last_offset or taken >= limits.max_records:
                break
            got, is_throttled = self._take(batch, member_id, limits, taken)
            acquired += got
            taken += sum(each.last - each.first + 1 for each in got)
            if got and is_throttled:
                return acquired
        room = self._settings().max_record_locks - self._in_flight
        limit = min(limits.max_records - taken, room)
        if limit > 0:
            acquired += self._take_new(member_id, batches, limits, limit)
        return acquired

    def _take(
        self, batch: _InFlight, member_id: str, limits: AcquireLimits, taken: int
    ) -> tuple[list[Acquired], bool]:
        available = [
            offset
            for offset, record in enumerate(batch.records, batch.first)
            if record.state is DeliveryState.AVAILABLE and offset >= self.start_offset
        ]
        if not available:
            return [], False
        most = max(batch.records[offset - batch.first].count for offset in available)
        limit = self._settings().delivery_count_limit
        few = max(_LEAST_THROTTLED, (limit + 1) // 2)
        is_throttled = most >= few
        if is_throttled:
            size = 1 if most >= limit - 1 else len(batch.records) >> (most - few + 1)
            available = available[: max(1, size)]
        if limits.by_record:
            available = available[: limits.max_records - taken]
        lock = self._new_lock(member_id)
        for offset in available:
            _acquire(batch.records[offset - batch.first], lock)
        return _runs(batch, available), is_throttled

    def _take_new(
        self, member_id: str, batches: Sequence[LogBatch], limits: AcquireLimits, limit: int
    ) -> list[Acquired]:
        new = [batch for batch in batches if batch.last_offset > self.end_offset]
        if not new:
            return []
        first = max(new[0].base_offset, self.end_offset + 1, self.start_offset)
        end = first + limit - 1
        new = [batch for batch in new if batch.base_offset <= end]
        last = min(new[-1].last_offset, end) if limits.by_record else new[-1].last_offset
        if not self._batches:
            self.start_offset = first
        self.end_offset = last
        acquired: list[Acquired] = []
        aborted = {
            offset
            for each in new
            if each.is_aborted
            for offset in range(each.base_offset, each.last_offset + 1)
        }
        for begins, ends in _chunks(new, first, last, 1 if limits.by_record else limits.batch_size):
            lock = self._new_lock(member_id)
            batch = _InFlight(begins, [Delivery() for _ in range(begins, ends + 1)])
            taken = []
            for offset, record in enumerate(batch.records, begins):
                if offset in aborted:
                    record.state = DeliveryState.ARCHIVED
                else:
                    _acquire(record, lock)
                    taken.append(offset)
            self._batches.append(batch)
            acquired += _runs(batch, taken)
        self._advance()
        return acquired

    def _new_lock(self, member_id: str) -> _Lock:
        lock = _Lock(member_id, f"lock {next(self._numbers)} of {id(self)}")
        self._timers.schedule(
            lock.name, self._settings().lock_duration_ms, lambda: self._expire(lock)
        )
        return lock

    # Acknowledging…

    def acknowledge(self, member_id: str, acks: Sequence[Ack]) -> None:
        """Note what has become of records that a member had acquired; all of it, or nothing.

        Raises: InvalidRecordStateError for a record that the member does not have (any more);
        InvalidRequestError for one that was never in flight.
        """
        updates: dict[int, tuple[Delivery, AckType]] = {}
        known: Mapping[int, Delivery] = dict(self.deliveries())
        for ack in acks:
            if ack.last < self.start_offset != UNSET:
                continue
            if not known:
                raise InvalidRecordStateError(
                    "Batch record not found. The request batch offsets are not found in the cache."
                )
            if ack.last > self.end_offset:
                raise InvalidRequestError(
                    "Batch record not found. The last offset in request is past acquired records."
                )
            for offset in range(max(ack.first, self.start_offset), ack.last + 1):
                record = known.get(offset)
                if record is None:
                    continue
                kind = ack.type_of(offset)
                self._check(record, member_id, kind, is_first=offset not in updates)
                updates[offset] = record, kind
        self._apply(updates)

    def _check(self, record: Delivery, member_id: str, kind: AckType, *, is_first: bool) -> None:
        if record.state is not DeliveryState.ACQUIRED or not is_first:
            raise InvalidRecordStateError(
                "The batch cannot be acknowledged. The offset is not acquired."
            )
        if record.member_id != member_id:
            raise InvalidRecordStateError("Member is not the owner of offset")
        if kind is AckType.RENEW and not self._settings().may_renew:
            raise InvalidRecordStateError("Renew acknowledgement is disabled for the group.")

    def release(self, member_id: str) -> None:
        """Give back all records that a member has."""
        self._release_where(lambda lock: lock.member_id == member_id)

    def expire_locks(self) -> None:
        """Let the time of all locks be over."""
        self._release_where(lambda _: True)

    def _expire(self, expired: _Lock) -> None:
        self._release_where(lambda lock: lock is expired)

    def _release_where(self, is_over: Callable[[_Lock], bool]) -> None:
        """Give back the records whose lock fits."""
        self._apply(
            {
                offset: (record, AckType.RELEASE)
                for offset, record in self.deliveries()
                if record.lock is not None and is_over(record.lock)
            }
        )

    def _apply(self, updates: Mapping[int, tuple[Delivery, AckType]]) -> None:
        renewed: dict[str, _Lock] = {}
        is_stored = False
        limit = self._settings().delivery_count_limit
        given_up = []
        for offset, (record, kind) in updates.items():
            member_id = record.member_id or ""
            self._unlock(record)
            if kind is AckType.RENEW:
                if member_id not in renewed:
                    renewed[member_id] = self._new_lock(member_id)
                _hold(record, renewed[member_id])
                continue
            is_stored = True
            record.state = _after(kind, is_last=record.count >= limit)
            if record.state is DeliveryState.ARCHIVED and kind is not AckType.GAP:
                given_up.append((offset, record.count, kind is AckType.REJECT))
        if is_stored:
            self._store()
            self._on_available()
        for each in given_up:
            self._on_given_up(*each)

    def _unlock(self, record: Delivery) -> None:
        lock, record.lock = record.lock, None
        if lock is not None:
            lock.held -= 1
            if not lock.held:
                self._timers.cancel(lock.name)

    def _store(self) -> None:
        self.stored_start = self.start_offset
        self.stored_done = sum(record.state.is_final for _, record in self.deliveries())
        self._advance()

    def _advance(self) -> None:
        """Move the start offset behind what is done."""
        while self._batches:
            batch = self._batches[0]
            for offset in range(max(batch.first, self.start_offset), batch.last + 1):
                if not batch.records[offset - batch.first].state.is_final:
                    self.start_offset = offset
                    return
            self._batches.pop(0)
            self.start_offset = batch.last + 1
        self.start_offset = max(self.start_offset, self.end_offset + 1)

    def drop_locks(self) -> None:
        """Stop every timer, for the state is forgotten."""
        for _, record in self.deliveries():
            self._unlock(record)

    # The log and its leader change…

    def log_starts(self, offset: int) -> None:
        """Pass over records that the log has no more."""
        for at, record in self.deliveries():
            if at < offset and record.state is DeliveryState.AVAILABLE:
                record.state = DeliveryState.ARCHIVED
        self._advance()
        if not self._batches and self.start_offset < offset:
            self.start_offset, self.end_offset = offset, offset - 1

    def reload(self) -> None:
        """Be led by another node, which knows only what was stored: locks are not."""
        for _, record in self.deliveries():
            if record.lock is not None:
                self._unlock(record)
                record.state = DeliveryState.AVAILABLE
                record.count -= 1
        self._on_available()


def _acquire(record: Delivery, lock: _Lock) -> None:
    record.count += 1
    _hold(record, lock)


def _hold(record: Delivery, lock: _Lock) -> None:
    record.state, record.lock = DeliveryState.ACQUIRED, lock
    lock.held += 1


def _after(kind: AckType, *, is_last: bool) -> DeliveryState:
    if kind is AckType.ACCEPT:
        return DeliveryState.ACKNOWLEDGED
    if kind is AckType.RELEASE and not is_last:
        return DeliveryState.AVAILABLE
    return DeliveryState.ARCHIVED


def _runs(batch: _InFlight, offsets: Sequence[int]) -> list[Acquired]:
    """Return runs of consecutive offsets that were delivered equally often."""
    runs: list[Acquired] = []
    for offset in offsets:
        delivered = batch.records[offset - batch.first].count
        if runs and runs[-1].last == offset - 1 and runs[-1].delivery_count == delivered:
            runs[-1] = runs[-1]._replace(last=offset)
        else:
            runs.append(Acquired(offset, offset, delivered))
    return runs


def _chunks(
    batches: Sequence[LogBatch], first: int, last: int, size: int
) -> Iterator[tuple[int, int]]:
    """Divide records at the ends of batches of the log, into parts of at least `size` records."""
    begins = first
    for batch in batches:
        ends = min(batch.last_offset, last)
        if ends == last or ends - begins + 1 >= size:
            yield begins, ends
            begins = ends + 1


__all__ = [
    "UNSET",
    "Ack",
    "AckType",
    "AcquireLimits",
    "Acquired",
    "Delivery",
    "DeliveryState",
    "LogBatch",
    "SharePartition",
]
