# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False, cdivision=True
"""Appends a record that finds everything ready to its open batch: the native twin of
`_fast_append_py`, which says what has to hold for that.
"""

cimport cython
from cpython.array cimport array, resize_smart
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.dict cimport PyDict_CheckExact, PyDict_GetItemWithError
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_AsLongLong, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

import asyncio
import threading
import time
import types
from array import array as _new_array

from aiokafka_lite.concurrency._ready cimport ready_value
from aiokafka_lite.producer.batch._record_ack cimport (
    BatchOutcome,
    _LoopOf,
    RecordAck,
    awaited,
    loop_of,
    new_ack,
)
from aiokafka_lite.record._batch_builder cimport RecordBatchBuilder


cdef extern from "aiokafka_lite/concurrency/lazy_dictionary.h":
    void alk_drop_dictionary(object made)


cdef extern from "aiokafka_lite/concurrency/own_methods.h":
    unsigned int alk_class_version(object of)
    bint alk_in_instance(object of, object name) except -1


cdef extern from "aiokafka_lite/concurrency/time_of_day.h":
    int64_t alk_now_ms() noexcept


cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept


cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()
    const Py_ssize_t PY_SSIZE_T_MAX
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL
    bint PyUnicode_IS_COMPACT_ASCII(object text) noexcept


cdef extern from "aiokafka_lite/producer/key_hash/murmur2.h":
    uint32_t alk_murmur2(const uint8_t *data, size_t n) noexcept


cdef enum:
    OVERHEAD = 8

cdef object _time = time.time
cdef object _list_iterator = type(iter([]))
cdef object _tuple_iterator = type(iter(()))
cdef object _MethodType = types.MethodType
cdef object _running_loop = asyncio._get_running_loop
cdef str _PLACE_OF_LOOP = "__asyncio_running_event_loop__"

NO_MORE = object()
"""What `append_all` returns when every item was appended."""
cdef object _NO_MORE = NO_MORE  # read without a look-up
RECORD_OVERHEAD = OVERHEAD
"""What a record counts for its sticky partition, beyond its value."""


cdef class OpenBatchSlot:
    """As the twin."""

    def __init__(self, topic_partition):
        self.topic_partition = topic_partition


cdef class StickyChoice:
    """As the twin."""

    cdef public object choices
    cdef public Py_ssize_t current
    cdef public Py_ssize_t most_bytes
    cdef public Py_ssize_t produced_bytes

    def __init__(self, Py_ssize_t most_bytes):
        self.choices = ()
        self.current = -1
        self.most_bytes = most_bytes

    def settle(self, choices):
        """As the twin."""
        raise NotImplementedError


cdef class RouteQueues:
    """As the twin."""

    cdef readonly list queues
    cdef readonly object choices
    cdef readonly StickyChoice sticky
    cdef object _make_queue
    cdef bint is_known  # `HeldRoutes.known` has it, by its topic

    def __init__(self, Py_ssize_t count, make_queue, choices, StickyChoice sticky not None):
        self.queues = [None] * count
        self._make_queue = make_queue
        self.choices = choices
        self.sticky = sticky

    @classmethod
    def __class_getitem__(cls, queue):
        """Be generic to type checkers alone."""
        return cls

    def queue(self, number):
        """As the twin."""
        queue = self.queues[number]
        return self.made_queue(number) if queue is None else queue

    cdef OpenBatchSlot made_queue(self, number):
        queue = self._make_queue(number)
        if not isinstance(queue, OpenBatchSlot):
            raise TypeError(f"{queue!r} is no OpenBatchSlot")
        self.queues[number] = queue
        return <OpenBatchSlot>queue


cdef class HeldRoutes:
    """As the twin."""

    cdef readonly dict known
    cdef readonly dict routes
    cdef dict _holds

    def __init__(self):
        self.known = {}
        self.routes = {}
        self._holds = {}

    @classmethod
    def __class_getitem__(cls, route):
        """Be generic to type checkers alone."""
        return cls

    def hold(self, topic):
        """As the twin."""
        cdef TopicHold hold
        cdef PyObject *count = PyDict_GetItemWithError(self._holds, topic)
        self._holds[topic] = 1 if count is NULL else <object>count + 1
        self._forget(topic)
        hold = TopicHold.__new__(TopicHold)
        hold._topic = topic
        hold._routes = self
        return hold

    def is_held(self, topic):
        """As the twin."""
        return topic in self._holds

    def _know(self, topic):
        """As the twin."""
        cdef RouteQueues route
        self._forget(topic)
        if topic in self.routes and topic not in self._holds:
            route = self.routes[topic]
            route.is_known = True
            self.known[topic] = route

    def _forget(self, topic):
        """As the twin."""
        route = self.known.pop(topic, None)
        if route is not None:
            (<RouteQueues?>route).is_known = False

    def _forget_all(self):
        """As the twin."""
        for topic in list(self.known):
            self._forget(topic)

    cdef int released(self, object topic) except -1:
        cdef object left = self._holds[topic] - 1
        if left:
            self._holds[topic] = left
            return 0
        del self._holds[topic]
        self._know(topic)
        return 0


@cython.final
cdef class TopicHold:
    """As the twin. Made by `HeldRoutes.hold`."""

    cdef HeldRoutes _routes
    cdef object _topic

    def release(self):
        """As the twin."""
        self.let_go()

    def __del__(self):
        self.let_go()

    cdef int let_go(self) except -1:
        cdef HeldRoutes routes = self._routes
        if routes is not None:
            self._routes = None
            routes.released(self._topic)
        return 0


cdef inline void push(array numbers, uint32_t number):
    cdef Py_ssize_t size = len(numbers)
    resize_smart(numbers, size + 1)
    numbers.data.as_uints[size] = number


cdef class AckRuns:
    """As the twin."""

    cdef readonly list _batches
    cdef readonly array _places
    cdef readonly array _firsts
    cdef readonly array _counts
    cdef readonly list _timestamps
    cdef readonly Py_ssize_t _sent
    cdef dict _numbers
    cdef int64_t _timestamp_ms

    def __init__(self):
        self._batches = []
        self._numbers = {}
        self._places = _new_array("I")
        self._firsts = _new_array("I")
        self._counts = _new_array("I")
        self._timestamps = []

    def __len__(self):
        """How many records were sent."""
        return self._sent

    def _add(self, BatchOutcome batch not None, uint32_t first, uint32_t count, int64_t timestamp_ms):
        """Note `count` records of one time that lie side by side in a batch."""
        self.note(batch, first, count, timestamp_ms)

    cdef int note(
        self, BatchOutcome batch, uint32_t first, uint32_t count, int64_t timestamp_ms
    ) except -1:
        cdef Py_ssize_t last = len(self._places) - 1
        cdef uint32_t place
        if not self._timestamps or self._timestamp_ms != timestamp_ms:
            self._timestamp_ms = timestamp_ms
            self._timestamps.append((self._sent, timestamp_ms))
        self._sent += count
        place = batch.bulk_number
        if (
            place >= <uint32_t>PyList_GET_SIZE(self._batches)
            or PyList_GET_ITEM(self._batches, place) != <PyObject *>batch
        ):
            number = self._numbers.get(batch)
            if number is None:
                number = self._numbers[batch] = len(self._batches)
                self._batches.append(batch)
            place = batch.bulk_number = number
        if (
            last >= 0
            and self._places.data.as_uints[last] == place
            and self._firsts.data.as_uints[last] + self._counts.data.as_uints[last] == first
        ):
            self._counts.data.as_uints[last] += count
            return 0
        push(self._places, place)
        push(self._firsts, first)
        push(self._counts, count)
        return 0


cdef tuple plain_headers(object headers):
    """Return headers that need no checking or changing as a tuple of their own, None for others."""
    cdef object header, name, content
    cdef Py_ssize_t size
    if PyList_CheckExact(headers):
        return plain_headers(tuple(headers))
    if not PyTuple_CheckExact(headers):
        return None
    for header in <tuple>headers:
        if not PyTuple_CheckExact(header) or PyTuple_GET_SIZE(header) != 2:
            return None
        name = <object>PyTuple_GET_ITEM(header, 0)
        if not PyUnicode_CheckExact(name):
            return None
        if not PyUnicode_IS_COMPACT_ASCII(name):
            try:
                PyUnicode_AsUTF8AndSize(name, &size)
            except UnicodeEncodeError:  # a lone surrogate; append_path raises
                return None
        content = <object>PyTuple_GET_ITEM(header, 1)
        if content is not None and not PyBytes_CheckExact(content):
            return None
    return <tuple>headers


@cython.final
cdef class FastAppend:
    """As the twin."""

    cdef object _routes
    cdef object _now
    cdef object _join_transaction
    cdef object _hold
    cdef object _make_room
    cdef object _make_sticky_room
    cdef object _add_new
    cdef public unsigned long thread_id
    cdef public object loop
    cdef object running  # what asyncio has noted of this thread while `running_loop` runs
    cdef _LoopOf running_loop
    cdef bint _asks_machine
    cdef bint _has_partitioner
    cdef bint _ignores_keys
    cdef object newest_topic
    cdef RouteQueues newest_route

    def __init__(
        self,
        routes,
        *,
        now,
        has_partitioner=False,
        ignores_keys=False,
        join_transaction=None,
        hold=None,
        make_room=None,
        make_sticky_room=None,
        add_new=None,
    ):
        if not PyDict_CheckExact(routes):
            raise TypeError("routes are a dict")
        self._routes = routes
        self._now = now
        self._asks_machine = now is _time and alk_now_ms() >= 0
        self._has_partitioner = has_partitioner
        self._ignores_keys = ignores_keys
        self._join_transaction = join_transaction
        self._hold = hold
        self._make_room = make_room
        self._make_sticky_room = make_sticky_room
        self._add_new = add_new
        self.thread_id = threading.get_ident()

    cdef bint is_in_loop(self) except -1:
        """Return whether the client's loop runs in this thread.

        Up to Python 3.11 asyncio makes a system call for the answer. What it notes of a thread, when
        a loop begins to run there, is another object each time. So that object tells as much.
        """
        cdef PyObject *noted = PyThreadState_GetDict()
        cdef object loop = self.loop
        if noted is not NULL:
            noted = PyDict_GetItemWithError(<object>noted, _PLACE_OF_LOOP)
        if (
            noted is not NULL
            and noted is <PyObject *>self.running
            and loop is self.running_loop.loop
            and loop is not None
        ):
            return True
        if loop is None or _running_loop() is not loop:
            return False
        self.running = None if noted is NULL else <object>noted
        self.running_loop = loop_of(loop)
        return True

    cdef object append_later(
        self,
        object path,
        object topic,
        object value,
        object key,
        object partition,
        object timestamp_ms,
        object headers,
    ):
        """Return the coroutine of a record that has to wait. Until it runs it holds the topic, so
        that no record sent after it is appended before it.
        """
        if (
            self._hold is None
            or not PyUnicode_CheckExact(topic)
            or PyThread_get_thread_ident() != self.thread_id
        ):
            return path.send(topic, value, key, partition, timestamp_ms, headers)
        return path.send(
            topic, value, key, partition, timestamp_ms, headers, hold=self._hold(topic)
        )

    cdef RouteQueues route_of(self, object topic):
        """Return the topic's route, None: no record may be appended to it now. A call mostly has the
        very topic of the call before, and needs no look-up.
        """
        cdef PyObject *route
        if PyThread_get_thread_ident() != self.thread_id:
            return None
        if topic is not None and topic is self.newest_topic and self.newest_route.is_known:
            return self.newest_route
        if not PyUnicode_CheckExact(topic):
            return None
        route = PyDict_GetItemWithError(self._routes, topic)
        if route is NULL:
            return None
        self.newest_topic, self.newest_route = topic, <RouteQueues?><object>route
        return self.newest_route

    cdef int64_t time_of(self, object timestamp_ms) except? -1:
        """Return the time of a record in ms, unless the machine tells it. -1: not a time."""
        cdef int64_t given
        if timestamp_ms is None:
            return <int64_t>(<double>self._now() * 1000)
        if not PyLong_CheckExact(timestamp_ms):
            return -1
        try:
            given = PyLong_AsLongLong(timestamp_ms)
        except OverflowError:
            return -1
        return given if given >= 0 else -1

    cdef OpenBatchSlot queue_for(self, RouteQueues route, object value, object key, object partition):
        """Return the queue a record may be appended to, None: there is none."""
        cdef Py_ssize_t number, count = PyList_GET_SIZE(route.queues)
        cdef StickyChoice sticky
        cdef OpenBatchSlot queue
        if key is None:
            if not PyBytes_CheckExact(value):
                return None
        elif not PyBytes_CheckExact(key) or not (value is None or PyBytes_CheckExact(value)):
            return None
        if partition is not None:
            if not PyLong_CheckExact(partition):
                return None
            try:
                number = partition
            except OverflowError:
                return None
        elif self._has_partitioner:
            return None
        elif key is not None and not self._ignores_keys:
            if not count:
                return None
            number = <Py_ssize_t>(
                (
                    alk_murmur2(
                        <const uint8_t *>PyBytes_AS_STRING(key), <size_t>PyBytes_GET_SIZE(key)
                    )
                    & 0x7FFFFFFF
                )
                % <uint32_t>count
            )
        else:
            sticky = route.sticky
            if (
                sticky.current < 0
                or sticky.choices is not route.choices
                or sticky.produced_bytes >= sticky.most_bytes
            ):
                sticky.settle(route.choices)
            number = sticky.current
        if not 0 <= number < count:
            return None
        item = <object>PyList_GET_ITEM(route.queues, number)
        queue = route.made_queue(number) if item is None else <OpenBatchSlot>item
        if self._join_transaction is not None:
            try:
                self._join_transaction(queue.topic_partition)
            except Exception:  # append_path calls it again, and raises
                return None
        return queue

    cdef inline bint sticks(self, object key, object partition) noexcept:
        """Whether a record goes to the sticky partition, if `queue_for` has a queue for it."""
        return partition is None and (key is None or self._ignores_keys)

    cdef BatchOutcome with_room(
        self,
        RouteQueues route,
        OpenBatchSlot queue,
        object key,
        object value,
        object partition,
        tuple headers,
        bint waits,
    ):
        """Return the batch for a record, which had no room in the queue's; None: as the twin.

        `headers`: as `plain_headers` returns them, or None.
        """
        if headers is None:
            headers = ()
        try:
            if not self.sticks(key, partition):
                if self._make_room is not None:
                    return self._make_room(queue, key, value, headers, waits)
            elif self._make_sticky_room is not None:
                return self._make_sticky_room(route, key, value, headers, waits)
        except Exception:  # append_path meets it again, and raises
            pass
        return None

    cdef bint is_added(self, BatchOutcome batch) except -1:
        """Add a batch that has its first record to its queue. False: as if nothing was done."""
        if self._add_new is not None:
            try:
                self._add_new(batch)
            except Exception:  # append_path meets it again, and raises
                return False
        return True

    cdef inline void count(
        self, RouteQueues route, object value, object key, object partition
    ) noexcept:
        if self.sticks(key, partition):
            route.sticky.produced_bytes += OVERHEAD
            if value is not None:
                route.sticky.produced_bytes += PyBytes_GET_SIZE(value)

    cdef RecordAck place(
        self,
        object topic,
        object value,
        object key,
        object partition,
        object timestamp_ms,
        object headers,
        bint waits=False,
    ):
        """Append a record, and return its ack; None: nothing was done. `waits`: the caller waits for
        the outcome.
        """
        cdef RouteQueues route = self.route_of(topic)
        cdef OpenBatchSlot queue
        cdef BatchOutcome batch
        cdef tuple plain = None
        cdef int64_t when_ms
        cdef int32_t index = -1
        if route is None:
            return None
        if headers is not None:
            plain = plain_headers(headers)
            if plain is None:
                return None
        if timestamp_ms is None and self._asks_machine:
            when_ms = alk_now_ms()
        else:
            when_ms = self.time_of(timestamp_ms)
        if when_ms < 0:
            return None
        queue = self.queue_for(route, value, key, partition)
        if queue is None:
            return None
        batch = queue.open_batch
        if batch is not None and batch._builder is not None:
            index = batch._builder.add_plain(when_ms, key, value, plain)
        if index < 0:
            batch = self.with_room(route, queue, key, value, partition, plain, waits)
            if batch is None or batch._builder is None:
                return None
            index = batch._builder.add_plain(when_ms, key, value, plain)
            if index < 0:
                return None  # the open batch of another sticky partition is full
        if index == 0 and not self.is_added(batch):
            return None
        self.count(route, value, key, partition)
        return new_ack(
            batch,
            index,
            when_ms,
            -1 if key is None else <int32_t>PyBytes_GET_SIZE(key),
            -1 if value is None else <int32_t>PyBytes_GET_SIZE(value),
        )

    def append(self, topic, value, key, partition, timestamp_ms, headers, bint waits=False):
        """As the twin."""
        return self.place(topic, value, key, partition, timestamp_ms, headers, waits)

    cdef int64_t present(self, object timestamp_ms) except? -1:
        """Return the time of a record in ms; -1: not a time."""
        if timestamp_ms is None and self._asks_machine:
            return alk_now_ms()
        return self.time_of(timestamp_ms)

    cdef int32_t add_run(
        self,
        RouteQueues route,
        OpenBatchSlot queue,
        BatchOutcome batch,
        object iterator,
        PyObject **item,
        object partition,
        int64_t when_ms,
    ) noexcept:
        """Append values, see `RecordBatchBuilder.add_values`, while they belong into the batch, which
        took the record before. Return how many.
        """
        cdef StickyChoice sticky = route.sticky
        cdef Py_ssize_t left, before = PY_SSIZE_T_MAX
        cdef int32_t added
        if self.sticks(None, partition):
            queue = <OpenBatchSlot>PyList_GET_ITEM(route.queues, sticky.current)
            before = sticky.most_bytes - sticky.produced_bytes
        if queue.open_batch is not batch or batch._builder is None:
            return 0
        left = before
        added = <int32_t>batch._builder.add_values(when_ms, iterator, item, &left)
        if before != PY_SSIZE_T_MAX:
            sticky.produced_bytes += before - left
        return added

    def append_all(
        self,
        AckRuns bulk not None,
        topic,
        item,
        iterator,
        partition,
        timestamp_ms,
        headers,
        Py_ssize_t most=PY_SSIZE_T_MAX,
    ):
        """As the twin."""
        cdef RouteQueues route = self.route_of(topic)
        cdef OpenBatchSlot queue
        cdef BatchOutcome batch, run = None
        cdef object key, value
        cdef tuple plain = plain_headers(headers)
        cdef int32_t index, first = 0, end = 0
        cdef int64_t when_ms, now_ms
        cdef PyObject *left
        cdef bint runs = False  # `add_run` may append values: the iterator runs no other code
        if route is None or plain is None:
            return item
        when_ms = self.present(timestamp_ms)
        if when_ms < 0:
            return item
        if type(iterator) is _list_iterator or type(iterator) is _tuple_iterator:
            runs = PyTuple_GET_SIZE(plain) == 0 and most == PY_SSIZE_T_MAX
        try:
            while item is not _NO_MORE:
                if PyTuple_CheckExact(item) and PyTuple_GET_SIZE(item) == 2:
                    key = <object>PyTuple_GET_ITEM(item, 0)
                    value = <object>PyTuple_GET_ITEM(item, 1)
                else:
                    key, value = None, item
                queue = self.queue_for(route, value, key, partition)
                if queue is None:
                    break
                batch = queue.open_batch
                index = -1
                if batch is not None and batch._builder is not None:
                    index = batch._builder.add_plain(when_ms, key, value, plain)
                if index < 0:
                    batch = self.with_room(route, queue, key, value, partition, plain, False)
                    if batch is None or batch._builder is None:
                        break
                    now_ms = self.present(timestamp_ms)
                    if now_ms != when_ms:
                        if end > first:
                            bulk.note(run, first, end - first, when_ms)
                        first = end
                        when_ms = now_ms
                    index = batch._builder.add_plain(when_ms, key, value, plain)
                    if index < 0:
                        break  # the open batch of another sticky partition is full
                if index == 0 and not self.is_added(batch):
                    break
                if batch is not run or index != end:
                    if end > first:
                        bulk.note(run, first, end - first, when_ms)
                    run, first = batch, index
                end = index + 1
                self.count(route, value, key, partition)
                if most <= 0:
                    item = _NO_MORE
                    break
                most -= 1
                item = next(iterator, _NO_MORE)
                if runs and key is None and PyBytes_CheckExact(item):
                    left = <PyObject *>item
                    Py_INCREF(item)
                    end += self.add_run(route, queue, batch, iterator, &left, partition, when_ms)
                    item = _NO_MORE
                    if left is not NULL:
                        item = <object>left
                        Py_DECREF(item)
        finally:
            if end > first:
                bulk.note(run, first, end - first, when_ms)
        return item


cdef class SendPaths:
    """As the twin."""

    cdef public FastAppend _fast_append
    cdef public object _path
    cdef dict __dict__  # see lazy_dictionary.h

    def __cinit__(self):
        alk_drop_dictionary(self)

    cdef bint has_own_send(self) except -1:
        """Whether `send` is the one below: programs that replace it see the records of
        `send_and_wait`, too. The class is looked at only after it has changed.
        """
        global own_class
        cdef unsigned int version = alk_class_version(self)
        if version and version == own_class:
            return not alk_in_instance(self, "send")
        send = self.send
        if type(send) is not _MethodType or send.__func__ is not _send:  # wrapt's have that, too
            return False
        own_class = alk_class_version(self)
        return True

    def send_and_wait(
        self, topic, value=None, key=None, partition=None, timestamp_ms=None, headers=None
    ):
        """As `AIOKafkaProducer.send_and_wait`."""
        cdef FastAppend fast = <FastAppend?>self._fast_append
        cdef RecordAck ack
        if fast.is_in_loop() and self.has_own_send():
            ack = fast.place(topic, value, key, partition, timestamp_ms, headers, True)
            if ack is not None:
                return awaited(ack, fast.running_loop)
            return self._written(
                fast.append_later(self._path, topic, value, key, partition, timestamp_ms, headers)
            )
        return self._written_by_send(topic, value, key, partition, timestamp_ms, headers)

    def send(self, topic, value=None, key=None, partition=None, timestamp_ms=None, headers=None):
        """As `AIOKafkaProducer.send`."""
        cdef FastAppend fast = <FastAppend?>self._fast_append
        cdef RecordAck ack = fast.place(topic, value, key, partition, timestamp_ms, headers)
        if ack is not None:
            return ready_value(ack)
        return fast.append_later(
            self._path, topic, value, key, partition, timestamp_ms, headers
        )

    def send_nowait(
        self, topic, value=None, key=None, partition=None, timestamp_ms=None, headers=None
    ):
        """As `AIOKafkaProducer.send_nowait`."""
        cdef RecordAck ack = (<FastAppend?>self._fast_append).place(
            topic, value, key, partition, timestamp_ms, headers
        )
        if ack is not None:
            return ack
        return self._path.send_nowait(topic, value, key, partition, timestamp_ms, headers)


cdef object _send = SendPaths.send
cdef unsigned int own_class = 0  # the version of a class that was last seen to have its own send


__all__ = [
    "NO_MORE",
    "RECORD_OVERHEAD",
    "AckRuns",
    "OpenBatchSlot",
    "RouteQueues",
    "SendPaths",
    "FastAppend",
    "StickyChoice",
]
