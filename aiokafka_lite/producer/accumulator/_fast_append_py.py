"""Appends a record that finds everything ready to its open batch: the pure twin.

It never waits and never raises. A record is appended here if all of this holds:

    thread      the call comes from the thread of the client
    topic       a str with a route, and no call that waits holds the topic
    key, value  bytes or None, and not both None
    partition   an int that the topic has, or None:
                  - a partitioner of the user takes such records away from here
                  - with a key: its hash decides, unless keys are ignored
                  - else the sticky partition
    timestamp   None, or an int from 0 to 2^63-1
    headers     None, or a list or tuple of (str, bytes or None) tuples that UTF-8 can encode
    transaction the partition may join the open one, if there are transactions
    batch       the queue has an open batch, with room; or `make_room` lets it grow or opens
                another, or `make_sticky_room` does, in another partition perhaps

Any other record is left untouched for `append_path`, which waits or raises. The classes before
`FastAppend` are what both look into; the classes that decide are derived from them.
"""

from array import array
from asyncio import AbstractEventLoop, _get_running_loop
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from sys import maxsize
from threading import get_ident
from types import MethodType
from typing import Any, Final, Generic, Protocol, TypeVar

from aiokafka_lite.concurrency._ready_py import ready
from aiokafka_lite.model import RecordMetadata, TopicPartition
from aiokafka_lite.producer.batch._record_ack_py import AwaitedAck
from aiokafka_lite.producer.batch.producer_batch import ProducerBatch
from aiokafka_lite.producer.batch.record_ack import BatchOutcome, RecordAck
from aiokafka_lite.producer.batch.record_fields import is_encodable
from aiokafka_lite.producer.key_hash.murmur2 import KeyHashes

Headers = tuple[tuple[str, bytes | None], ...]
Route = TypeVar("Route", bound="RouteQueues[Any]")
Queue = TypeVar("Queue", bound="OpenBatchSlot")

NO_MORE: Final = object()
"""What `append_all` returns when every item was appended."""
RECORD_OVERHEAD: Final = 8
"""What a record counts for its sticky partition, beyond its value."""
_MAX_TIMESTAMP: Final = 2**63 - 1
MakeRoom = Callable[[Any, bytes | None, bytes | None, Headers, bool], ProducerBatch | None]


class RecordPath(Protocol):
    """Appends the records that are not appended here."""

    def send(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
        *,
        allow_empty: bool = False,
    ) -> Coroutine[Any, Any, RecordAck]:
        """Append the record, waiting for what it needs.

        `allow_empty`: also one without key and value, as records that are passed on may be.
        """

    def send_nowait(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> RecordAck:
        """Append the record, or raise what it would have to wait for."""


class OpenBatchSlot:
    """The place of a partition's next record."""

    __slots__ = ("open_batch", "topic_partition")

    def __init__(self, topic_partition: TopicPartition) -> None:
        self.topic_partition = topic_partition
        self.open_batch: ProducerBatch | None = None
        """The last batch while it takes records; None: the next record needs a new one."""


class StickyChoice:
    """The partition for a topic's records without key, and how many bytes it has taken."""

    __slots__ = ("choices", "current", "most_bytes", "produced_bytes")

    def __init__(self, most_bytes: int) -> None:
        self.choices: Sequence[int] = ()
        """The partitions that `current` was chosen from."""
        self.current = -1
        """-1: no partition is chosen."""
        self.most_bytes = most_bytes
        """After so many bytes another partition is chosen."""
        self.produced_bytes = 0

    def settle(self, choices: Sequence[int]) -> int:
        """Return one of `choices` for the next record."""
        raise NotImplementedError


class RouteQueues(Generic[Queue]):
    """The queues of a topic by partition, and the partitions to choose from without a key."""

    __slots__ = ("_make_queue", "choices", "queues", "sticky")

    def __init__(
        self,
        count: int,
        make_queue: Callable[[int], Queue],
        choices: Sequence[int],
        sticky: StickyChoice,
    ) -> None:
        self.queues: list[Queue | None] = [None] * count
        """None: no record was sent to the partition by this route."""
        self._make_queue = make_queue
        self.choices = choices
        self.sticky = sticky

    def queue(self, number: int) -> Queue:
        """Return the queue of a partition; `make_queue` makes it for the first record."""
        queue = self.queues[number]
        if queue is None:
            queue = self.queues[number] = self._make_queue(number)
        return queue


class AckRuns:
    """The places of the records of one `send_many`, as runs: records side by side in one batch.

    A run takes twelve bytes.
    """

    __slots__ = ("_batches", "_counts", "_firsts", "_numbers", "_places", "_sent", "_timestamps")

    def __init__(self) -> None:
        self._batches: list[BatchOutcome] = []
        self._numbers: dict[BatchOutcome, int] = {}
        self._places = array("I")  # of each run: the batch's number, the first index, the count
        self._firsts = array("I")
        self._counts = array("I")
        self._timestamps: list[tuple[int, int]] = []
        self._sent = 0

    def __len__(self) -> int:
        """How many records were sent."""
        return self._sent

    def _add(self, batch: BatchOutcome, first: int, count: int, timestamp_ms: int) -> None:
        """Note `count` records of one time that lie side by side in a batch."""
        if not self._timestamps or self._timestamps[-1][1] != timestamp_ms:
            self._timestamps.append((self._sent, timestamp_ms))
        self._sent += count
        place = self._numbers.get(batch)
        if place is None:
            place = self._numbers[batch] = len(self._batches)
            self._batches.append(batch)
        elif self._places[-1] == place and self._firsts[-1] + self._counts[-1] == first:
            self._counts[-1] += count
            return
        self._places.append(place)
        self._firsts.append(first)
        self._counts.append(count)


class TopicHold:
    """Keeps the route of a topic out of `HeldRoutes.known` until it is released, or dropped.

    Dropped: a coroutine that has one and is never awaited must not hold its topic for good.
    """

    __slots__ = ("_routes", "_topic")

    def __init__(self, routes: "HeldRoutes[Any]", topic: str) -> None:
        """Made by `HeldRoutes.hold`."""
        self._routes: HeldRoutes[Any] | None = routes
        self._topic = topic

    def release(self) -> None:
        """Let go. Idempotent."""
        routes, self._routes = self._routes, None
        if routes is not None:
            routes._released(self._topic)

    __del__ = release


class HeldRoutes(Generic[Route]):
    """The routes of a producer by topic. A call that waits holds the route of its topic."""

    __slots__ = ("_holds", "known", "routes")

    def __init__(self) -> None:
        self.known: dict[str, Route] = {}
        """The routes that are not held. Empty before the start, after a failure and after the
        close, so one look-up tells `send` whether it may append at once.
        """
        self.routes: dict[str, Route] = {}
        """All routes, held or not."""
        self._holds: dict[str, int] = {}

    def hold(self, topic: str) -> TopicHold:
        """Keep the records of a topic out of `FastAppend` until all holds of it are released."""
        self._holds[topic] = self._holds.get(topic, 0) + 1
        self._forget(topic)
        return TopicHold(self, topic)

    def is_held(self, topic: str) -> bool:
        """Return whether any hold of a topic was not released."""
        return topic in self._holds

    def _know(self, topic: str) -> None:
        """Make the topic's route known, if there is one that is not held."""
        self._forget(topic)
        if topic in self.routes and topic not in self._holds:
            self.known[topic] = self.routes[topic]

    def _forget(self, topic: str) -> None:
        self.known.pop(topic, None)

    def _forget_all(self) -> None:
        self.known.clear()

    def _released(self, topic: str) -> None:
        self._holds[topic] -= 1
        if not self._holds[topic]:
            del self._holds[topic]
            self._know(topic)


class FastAppend:
    """Appends to the open batches of `routes`, by topic. With no routes it appends nothing."""

    def __init__(
        self,
        routes: Mapping[str, RouteQueues[Any]],
        *,
        now: Callable[[], float],
        has_partitioner: bool = False,
        ignores_keys: bool = False,
        join_transaction: Callable[[TopicPartition], object] | None = None,
        hold: Callable[[str], object] | None = None,
        make_room: MakeRoom | None = None,
        make_sticky_room: MakeRoom | None = None,
        add_new: Callable[[Any], object] | None = None,
    ) -> None:
        """`now()`: seconds since 1970. `has_partitioner`: the user has given one.
        `ignores_keys`: keyed records go to the sticky partition, too.
        `join_transaction(topic_partition)` is called before a record is appended, and raises if
        the partition may not join. `hold(topic)`: as of `HeldRoutes`, for `append_later`.
        `make_room(queue, key, value, headers, waits)` returns the queue's open batch, or a new one,
        with room for the record, which is placed there at once. None: the record has to take the
        other path. `waits`: the caller waits for the outcome. `make_sticky_room(route, key, …)` is
        the same for a record without key; the batch may be that of another partition, and may be
        full. `add_new(batch)` is called with a new batch that has its first record. If it raises,
        the record has to take the other path.
        """
        self.thread_id = get_ident()
        """The identity of the client's thread."""
        self.loop: AbstractEventLoop | None = None
        """The client's loop, for `send_and_wait`. None: records have no outcome."""
        self._routes = routes
        self._now = now
        self._hashes = KeyHashes()
        self._has_partitioner = has_partitioner
        self._ignores_keys = ignores_keys
        self._join_transaction = join_transaction
        self._hold = hold
        self._make_room = make_room
        self._make_sticky_room = make_sticky_room
        self._add_new = add_new

    def append(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
        waits: bool = False,
    ) -> RecordAck | None:
        """Append a record and return its ack; None: nothing was done. `waits`: the caller waits for
        the outcome.
        """
        if topic.__class__ is not str or get_ident() != self.thread_id:
            return None
        route = self._routes.get(topic)
        if route is None:
            return None
        key_size = len(key) if key.__class__ is bytes else -1
        value_size = len(value) if value.__class__ is bytes else -1
        if (key_size < 0 and key is not None) or (value_size < 0 and value is not None):
            return None
        queue = self._queue(route, key, key_size, value_size, partition)
        if queue is None:
            return None
        frozen: Headers | None = ()
        if headers:
            frozen = _plain(headers)
        if timestamp_ms is None:
            timestamp_ms = int(self._now() * 1000)
        elif timestamp_ms.__class__ is not int or not 0 <= timestamp_ms <= _MAX_TIMESTAMP:
            return None
        if frozen is None or not self._may_join(queue):
            return None
        batch = queue.open_batch
        index = None if batch is None else batch.append(timestamp_ms, key, value, frozen)
        if index is None:
            batch = self._with_room(route, queue, partition, key, value, frozen, waits)
            index = None if batch is None else batch.append(timestamp_ms, key, value, frozen)
        if batch is None or index is None or not (index or self._is_added(batch)):
            return None
        self._count(route, partition, key, value_size)
        return RecordAck(batch, index, timestamp_ms, key_size, value_size)

    def _append_later(
        self,
        path: Any,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> Coroutine[Any, Any, RecordAck]:
        """Return the coroutine of a record that has to wait. Until it runs it holds the topic, so
        that no record sent after it is appended before it.
        """
        record = topic, value, key, partition, timestamp_ms, headers
        if self._hold is None or topic.__class__ is not str or get_ident() != self.thread_id:
            sending: Coroutine[Any, Any, RecordAck] = path.send(*record)
        else:
            sending = path.send(*record, hold=self._hold(topic))
        return sending

    def _with_room(
        self,
        route: RouteQueues[Any],
        queue: OpenBatchSlot,
        partition: int | None,
        key: bytes | None,
        value: bytes | None,
        headers: Headers,
        waits: bool,
    ) -> ProducerBatch | None:
        make_room: MakeRoom | None = self._make_room
        place: Any = queue
        if self._sticks(partition, key):
            make_room, place = self._make_sticky_room, route
        if make_room is None:
            return None
        try:
            return make_room(place, key, value, headers, waits)
        except Exception:  # noqa: BLE001  append_path meets it again, and raises
            return None

    def _is_added(self, batch: ProducerBatch) -> bool:
        """Add a batch that has its first record to its queue. False: as if nothing was done."""
        if self._add_new is not None:
            try:
                self._add_new(batch)
            except Exception:  # noqa: BLE001  append_path meets it again, and raises
                return False
        return True

    def _sticks(self, partition: int | None, key: bytes | None) -> bool:
        """Return whether a record goes to the sticky partition, if `_queue` has a queue for it."""
        return partition is None and (key is None or self._ignores_keys)

    def _queue(
        self,
        route: RouteQueues[OpenBatchSlot],
        key: bytes | None,
        key_size: int,
        value_size: int,
        partition: Any,
    ) -> OpenBatchSlot | None:
        queues = route.queues
        if partition is not None:
            is_there = partition.__class__ is int and 0 <= partition < len(queues)
            return route.queue(partition) if is_there and key_size + value_size != -2 else None
        if self._has_partitioner:
            return None
        if key is not None and not self._ignores_keys:
            return route.queue(self._hashes[key] % len(queues))
        sticky = route.sticky
        if key_size + value_size == -2:  # neither key nor value
            return None
        if (
            sticky.current < 0
            or sticky.choices is not route.choices
            or sticky.produced_bytes >= sticky.most_bytes
        ):
            sticky.settle(route.choices)
        return route.queue(sticky.current)

    def _may_join(self, queue: OpenBatchSlot) -> bool:
        if self._join_transaction is not None:
            try:
                self._join_transaction(queue.topic_partition)
            except Exception:  # noqa: BLE001  append_path calls it again, and raises
                return False
        return True

    def append_all(
        self,
        bulk: AckRuns,
        topic: str,
        item: Any,
        iterator: Iterator[Any],
        partition: int | None,
        timestamp_ms: int | None,
        headers: Headers,
        most: int = maxsize,
    ) -> Any:
        """Append `item` and `most` items of `iterator`, which are values or (key, value) pairs.

        Stop at the first item that cannot be appended here, and return it; otherwise NO_MORE.
        `bulk` receives the place of each appended item. The time is read at the begin and for each
        batch that is opened. Raises: only what `iterator` raises; `bulk` then has the items before.
        """
        iterator = islice(iterator, most)
        while item is not NO_MORE:
            is_pair = item.__class__ is tuple and len(item) == 2
            key, value = item if is_pair else (None, item)
            ack = self.append(topic, value, key, partition, timestamp_ms, headers)
            if ack is None:
                break
            when_ms = ack.timestamp_ms
            bulk._add(*ack._batch_and_index, 1, when_ms)
            item = next(iterator, NO_MORE)
            route = self._routes.get(topic)
            if route is None:
                continue
            if item.__class__ is bytes:
                item = self._append_values(bulk, route, item, iterator, partition, when_ms, headers)
            elif item.__class__ is tuple and len(item) == 2:
                item = self._append_pairs(bulk, route, item, iterator, partition, when_ms, headers)
        return item

    def _append_values(
        self,
        bulk: AckRuns,
        route: RouteQueues[Any],
        item: Any,
        iterator: Iterator[Any],
        partition: int | None,
        timestamp_ms: int,
        headers: Headers,
    ) -> Any:
        """Append values until their batch is full, or the sticky partition has its share twice.
        Return what is left over.
        """
        queue = self._queue(route, None, -1, len(item), partition)
        batch = None if queue is None else queue.open_batch
        if queue is None or batch is None or not self._may_join(queue):
            return item
        sticky = route.sticky
        before = left = sticky.most_bytes - sticky.produced_bytes if partition is None else maxsize
        append = batch.append
        first = end = batch.next_index
        try:
            while item.__class__ is bytes and left > 0:
                index = append(timestamp_ms, None, item, headers)
                if index is None:
                    break
                if index != end:  # the iterator itself has sent something
                    bulk._add(batch, first, end - first, timestamp_ms)
                    first = index
                end = index + 1
                left -= len(item) + RECORD_OVERHEAD
                item = next(iterator, NO_MORE)
        finally:
            if end > first:
                bulk._add(batch, first, end - first, timestamp_ms)
            if partition is None:
                sticky.produced_bytes += before - left
        return item

    def _append_pairs(
        self,
        bulk: AckRuns,
        route: RouteQueues[Any],
        item: Any,
        iterator: Iterator[Any],
        partition: int | None,
        timestamp_ms: int,
        headers: Headers,
    ) -> Any:
        """Append pairs until a batch is full; return what is left over."""
        while item.__class__ is tuple and len(item) == 2:
            key, value = item
            key_size = len(key) if key.__class__ is bytes else -1
            value_size = len(value) if value.__class__ is bytes else -1
            if (key_size < 0 and key is not None) or (value_size < 0 and value is not None):
                break
            queue = self._queue(route, key, key_size, value_size, partition)
            batch = None if queue is None else queue.open_batch
            if queue is None or batch is None or not self._may_join(queue):
                break
            index = batch.append(timestamp_ms, key, value, headers)
            if index is None:
                break
            bulk._add(batch, index, 1, timestamp_ms)
            self._count(route, partition, key, value_size)
            item = next(iterator, NO_MORE)
        return item

    def _count(
        self, route: RouteQueues[Any], partition: int | None, key: bytes | None, value_size: int
    ) -> None:
        if self._sticks(partition, key):
            route.sticky.produced_bytes += max(0, value_size) + RECORD_OVERHEAD


def _plain(headers: Any) -> Headers | None:
    """Return headers that need no checking or changing as a tuple of their own, None for others."""
    if headers.__class__ is not tuple and headers.__class__ is not list:
        return None
    frozen: Headers = tuple(headers)
    for header in frozen:
        if header.__class__ is not tuple or len(header) != 2:
            return None
        name, content = header
        if name.__class__ is not str or not (content is None or content.__class__ is bytes):
            return None
        if not (name.isascii() or is_encodable(name)):
            return None
    return frozen


class SendPaths:
    """What `send`, `send_nowait` and `send_and_wait` of the producer do. The producer derives from
    this, and says what they promise.

    What belongs to a call is done and noted at the call: the record's place in its batch, the hold
    of its topic, the transaction. Errors are raised at the await.
    """

    __slots__ = ("__dict__", "_fast_append", "_path")

    _fast_append: FastAppend
    _path: RecordPath

    def send(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Iterable[tuple[str, bytes | None]] | None = None,
    ) -> Coroutine[Any, Any, RecordAck]:
        """As `AIOKafkaProducer.send`."""
        fast = self._fast_append
        ack = fast.append(topic, value, key, partition, timestamp_ms, headers)
        if ack is not None:
            return ready(ack)
        return fast._append_later(self._path, topic, value, key, partition, timestamp_ms, headers)

    def send_nowait(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Iterable[tuple[str, bytes | None]] | None = None,
    ) -> RecordAck:
        """As `AIOKafkaProducer.send_nowait`."""
        ack = self._fast_append.append(topic, value, key, partition, timestamp_ms, headers)
        if ack is None:
            ack = self._path.send_nowait(topic, value, key, partition, timestamp_ms, headers)
        return ack

    def send_and_wait(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: Iterable[tuple[str, bytes | None]] | None = None,
    ) -> Coroutine[Any, Any, RecordMetadata]:
        """As `AIOKafkaProducer.send_and_wait`."""
        record = topic, value, key, partition, timestamp_ms, headers
        fast = self._fast_append
        if fast.loop is None or _get_running_loop() is not fast.loop or not self._has_own_send():
            return self._written_by_send(*record)
        ack = fast.append(*record, True)
        if ack is not None:
            return AwaitedAck(ack)
        return self._written(fast._append_later(self._path, *record))

    def _has_own_send(self) -> bool:
        """Whether `send` is the one above: programs that replace it see the records of
        `send_and_wait`, too.
        """
        send = self.send
        return type(send) is MethodType and send.__func__ is _own_send

    def _written(
        self, sending: Coroutine[Any, Any, RecordAck]
    ) -> Coroutine[Any, Any, RecordMetadata]:
        """Wait for what `send` has returned, then for the record."""
        raise NotImplementedError

    def _written_by_send(self, *record: Any) -> Coroutine[Any, Any, RecordMetadata]:
        """As `send_and_wait`, by whatever `send` is. Also in another loop, which is refused."""
        raise NotImplementedError


_own_send = SendPaths.send


__all__ = [
    "NO_MORE",
    "RECORD_OVERHEAD",
    "AckRuns",
    "FastAppend",
    "OpenBatchSlot",
    "RouteQueues",
    "SendPaths",
    "StickyChoice",
]
