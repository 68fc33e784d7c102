"""Holds the records of share workers from a poll until they are acknowledged. Does not wait.

There is no order. A record whose lock was lost may be delivered again while its handler still runs.
Then that handler's outcome counts for the new delivery, and no second one starts.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable
from typing import Any

from aiokafka_lite.checks.quoted import TraceOf, said, trace_of
from aiokafka_lite.model import ConsumerRecord, TopicPartition

Place = tuple[TopicPartition, int]


class ShareItem:
    """One record on its way through the workers."""

    __slots__ = ("is_held", "is_queued", "is_stuck", "place", "record")

    def __init__(self, place: Place, record: ConsumerRecord[Any, Any]) -> None:
        self.place = place
        self.record = record
        self.is_held = True
        """Whether this member has the record's lock, and has not said what becomes of it."""
        self.is_queued = True
        """Whether it waits for a worker."""
        self.is_stuck = False
        """Whether its handler was given up for its age."""

    def why(self, error: BaseException) -> str:
        """Return the error of the handler as logs show it, without parts of the record."""
        return said(error, self.record.key, self.record.value)

    def trace(self, error: BaseException) -> TraceOf:
        """Return the traceback of the error for a log, without parts of the record."""
        return trace_of(error, self.record.key, self.record.value)

    def __str__(self) -> str:
        (topic, partition), offset = self.place
        return f"{topic}-{partition} offset {offset}"


class ShareQueue:
    """The unfinished records of one pool."""

    def __init__(self, max_records: int, look: Callable[[], object] = lambda: None) -> None:
        """`look()` is called before each record: it tells of locks that have ended, by `lose`."""
        self._look = look
        self._max_records = max_records
        self._ready: deque[ShareItem] = deque()
        self._is_closed = False
        self.unfinished: dict[Place, ShareItem] = {}

    @property
    def ready(self) -> int:
        """How many records could be handled now."""
        return len(self._ready)

    @property
    def room(self) -> int:
        """How many records may be fetched now; 0 while more than half of the room is taken."""
        count = len(self.unfinished)
        return 0 if count * 2 > self._max_records else self._max_records - count

    def add(self, tp: TopicPartition, records: Iterable[ConsumerRecord[Any, Any]]) -> None:
        """Queue the records of one partition that a poll has returned."""
        for record in records:
            place = (tp, record.offset)
            item = self.unfinished.get(place)
            if item is None:
                self._queue(ShareItem(place, record))
            else:
                item.record, item.is_held = record, True

    def _queue(self, item: ShareItem) -> None:
        self.unfinished[item.place] = item
        item.is_queued = True
        self._ready.append(item)

    def take(self) -> ShareItem | None:
        """Return the next record to handle; None if there is none."""
        if self._ready:
            self._look()
        if not self._ready:
            return None
        item = self._ready.popleft()
        item.is_queued = False
        return item

    def finish(self, item: ShareItem) -> None:
        """Forget an item taken: it is known what becomes of it."""
        if self.unfinished.get(item.place) is item:
            del self.unfinished[item.place]

    def put_off(self, item: ShareItem) -> None:
        """Note that the handler of an item was cancelled. If the record was delivered again
        meanwhile, it is queued.
        """
        self.finish(item)
        if item.is_held and not self._is_closed:
            self._queue(ShareItem(item.place, item.record))

    def lose(self, places: Iterable[Place]) -> list[ShareItem]:
        """Note that the locks of records have ended. Return the items that counted until now;
        those that nothing works on are forgotten.
        """
        found = [item for place in places if (item := self.unfinished.get(place)) is not None]
        lost = [item for item in found if item.is_held]
        for item in lost:
            item.is_held = False
            if item.is_queued:
                self.finish(item)
        if any(item.is_queued for item in lost):
            self._ready = deque(item for item in list(self._ready) if item.is_held)
        return lost

    def forget(self, topics: Collection[str]) -> list[ShareItem]:
        """Forget all records of topics that are gone, also those that handlers work on. Others may
        have their places. Return the items that counted until now.
        """
        gone = [item for item in list(self.unfinished.values()) if item.place[0].topic in topics]
        counted = [item for item in gone if item.is_held]
        for item in gone:
            item.is_held = False
            del self.unfinished[item.place]
        self._ready = deque(item for item in list(self._ready) if item.place[0].topic not in topics)
        return counted

    def close(self) -> None:
        """Start nothing more. What was not started stays unacknowledged."""
        self._is_closed = True
        for item in list(self._ready):
            self.finish(item)
        self._ready.clear()


__all__ = ["Place", "ShareItem", "ShareQueue"]
