# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""What `send` returns, and what it looks into: the native twin of `_record_ack_py`.

The garbage collector does not track an ack. So an ack is 56 bytes, made in a few nanoseconds. It
refers only to its batch. Once the batch has an outcome, it drops its references to waiting tasks.
"""

cimport cython
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject, PyObject_GenericGetAttr, PyTypeObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_SET_ITEM
from libc.stdint cimport int32_t, int64_t

import asyncio
import contextvars
import itertools
import sys
from collections.abc import Callable

from aiokafka_lite.model import RecordMetadata, TimestampType, TopicPartition

from aiokafka_lite.concurrency._ready cimport ready_value
from aiokafka_lite.concurrency.awaitable cimport (
    PYGEN_NEXT,
    PYGEN_RETURN,
    PySendResult,
    alk_set_am_send,
    raise_thrown,
)
from aiokafka_lite.record._batch_builder cimport RecordBatchBuilder


cdef extern from "Python.h":
    int PyContext_Enter(object context) except -1
    int PyContext_Exit(object context) except -1
    int PyObject_GenericSetDict(object self, object attributes, void *context) except -1
    void PyObject_GC_UnTrack(object of)
    object PyMethod_New(object function, object of)
    Py_ssize_t PyUnicode_GET_LENGTH(object text) noexcept


cdef extern from *:
    """
    /* From 3.14 on a tuple keeps its hash, -1 at first. Memory for one is zeros. */
    #if PY_VERSION_HEX >= 0x030E0000
    #define ALK_FORGET_HASH(tuple) (((PyTupleObject *)(tuple))->ob_hash = -1)
    #else
    #define ALK_FORGET_HASH(tuple) ((void)0)
    #endif

    static inline PyObject *alk_new_tuple(PyObject *type, Py_ssize_t size)
    {
        PyObject *made = ((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, size);
        if (made != NULL)
            ALK_FORGET_HASH(made);
        return made;
    }

    /* Whether a tuple has no other reference: nobody sees it change. */
    static inline int alk_may_change(PyObject *tuple)
    {
    #if defined(Py_GIL_DISABLED)
        return 0; /* another thread may take a reference */
    #else
        return Py_REFCNT(tuple) == 1;
    #endif
    }
    """
    object alk_new_tuple(object type, Py_ssize_t size)
    bint alk_may_change(PyObject *tuple) noexcept
    void ALK_FORGET_HASH(PyObject *tuple) noexcept


Listener = Callable[[], object]
BEHIND_ALL = 2**31 - 1
"""The index of listeners to the whole batch. They come after the listeners to its records."""

cdef object _next_token = itertools.count().__next__
cdef object _get_running_loop = asyncio.get_running_loop
cdef object _copy_context = contextvars.copy_context
cdef object _CREATE_TIME = TimestampType.CREATE_TIME
cdef object _LOG_APPEND_TIME = TimestampType.LOG_APPEND_TIME
cdef object _InvalidStateError = asyncio.InvalidStateError
cdef object _CancelledError = asyncio.CancelledError
# Of attributes. The interpreter and asyncio intern most of the names that they look up.
cdef str _BLOCKING = sys.intern("_asyncio_future_blocking")
cdef str _GET_LOOP = sys.intern("get_loop")
cdef str _ADD_DONE_CALLBACK = sys.intern("add_done_callback")
cdef type _RecordMetadata = RecordMetadata
cdef object _is_wide = RecordMetadata._fields  # the order below
assert _is_wide == (
    "topic", "partition", "topic_partition", "offset", "timestamp", "timestamp_type",
    "log_start_offset",
)


cdef inline void put(object metadata, Py_ssize_t at, object value):
    Py_INCREF(value)
    PyTuple_SET_ITEM(metadata, at, value)


cdef inline void replace(PyObject *metadata, Py_ssize_t at, object value):
    cdef PyObject *had = PyTuple_GET_ITEM(<object>metadata, at)
    put(<object>metadata, at, value)
    Py_DECREF(<object>had)


cdef class BatchOutcome:
    """As the twin."""

    def __init__(self, topic_partition, RecordBatchBuilder builder not None):
        if not isinstance(topic_partition, tuple) or len(topic_partition) != 2:
            raise TypeError(f"{topic_partition!r} is no TopicPartition")
        self.topic_partition = topic_partition
        self._builder = builder
        self.record_errors = {}
        self.base_offset = -1
        self.log_append_time_ms = -1
        self.log_start_offset = -1
        self._listeners = {}
        self._pieces = []

    @property
    def is_split(self):
        """Whether its records are in other batches now; `place_of` says where."""
        return bool(self._pieces)

    def place_of(self, index):
        """Return the batch that has a record now, and its index there."""
        batch = self
        while batch._pieces:
            for first, piece in reversed(batch._pieces):
                if first <= index:
                    batch, index = piece, index - first
                    break
        return batch, index

    def succeed(self, base_offset, log_append_time_ms=-1, log_start_offset=-1):
        """As the twin."""
        if self.is_done:
            return False
        self.base_offset = base_offset
        self.log_append_time_ms = log_append_time_ms
        self.log_start_offset = log_start_offset
        self.newest_metadata = None
        self._finish()
        return True

    def fail(self, error, record_errors=None):
        """As the twin."""
        if self.is_done:
            return False
        self.error = error
        self.record_errors = record_errors or {}
        self._finish()
        return True

    def error_of(self, index):
        """Return why a record failed, None if it did not. Asking counts as having noticed."""
        if self.error is None:
            return None
        self._error_was_seen = True
        return self.record_errors.get(index, self.error)

    def metadata_of(self, index, timestamp_ms, key_size=-1, value_size=-1):
        """Return where a record of this written batch is; the other arguments are the record's."""
        return self.what_of(index, timestamp_ms, key_size, value_size)

    cdef object what_of(
        self, int32_t index, int64_t timestamp_ms, int32_t key_size, int32_t value_size
    ):
        cdef bint is_appended = self.log_append_time_ms >= 0
        cdef object metadata = self.metadata_again(index, timestamp_ms, key_size, value_size)
        cdef bint has_sizes = key_size != -1 or value_size != -1
        cdef dict attributes
        if metadata is not None:
            return metadata
        attributes = self.attributes_of(key_size, value_size) if has_sizes else None
        metadata = alk_new_tuple(_RecordMetadata, 7)
        put(metadata, 0, <object>PyTuple_GET_ITEM(self.topic_partition, 0))
        put(metadata, 1, <object>PyTuple_GET_ITEM(self.topic_partition, 1))
        put(metadata, 2, self.topic_partition)
        put(metadata, 3, self.base_offset + index if self.base_offset >= 0 else -1)
        put(metadata, 4, self.time_told(self.log_append_time_ms if is_appended else timestamp_ms))
        put(metadata, 5, _LOG_APPEND_TIME if is_appended else _CREATE_TIME)
        put(metadata, 6, self.log_start_offset)
        if has_sizes:
            PyObject_GenericSetDict(metadata, attributes, NULL)
            self.newest_metadata = metadata
        # It never changes, and nothing in it refers to other objects than text and numbers. So it is
        # in no cycle, and the garbage collector need not look at it.
        PyObject_GC_UnTrack(metadata)
        return metadata

    cdef object metadata_again(
        self, int32_t index, int64_t timestamp_ms, int32_t key_size, int32_t value_size
    ):
        """Return the newest metadata object, if its user has dropped it, with another offset and
        time. None: another is needed. To make one and to free it costs 600 instructions.
        """
        cdef PyObject *metadata
        cdef dict other = None
        if self.newest_metadata is None:
            return None
        if key_size != self.key_size or value_size != self.value_size:
            if key_size == -1 and value_size == -1:
                return None
            other = self.attributes_of(key_size, value_size)
        # From here on nothing else runs, which could take a reference to it.
        metadata = <PyObject *>self.newest_metadata
        if not alk_may_change(metadata):
            return None
        if other is not None:
            PyObject_GenericSetDict(<object>metadata, other, NULL)
        ALK_FORGET_HASH(metadata)
        replace(metadata, 3, self.base_offset + index if self.base_offset >= 0 else -1)
        if self.log_append_time_ms < 0:
            replace(metadata, 4, self.time_told(timestamp_ms))
        return <object>metadata

    cdef object time_told(self, int64_t time_ms):
        """Return a time as an int, which the records of one millisecond share."""
        if self.newest_time is None or self.newest_time_ms != time_ms:
            self.newest_time = time_ms
            self.newest_time_ms = time_ms
        return self.newest_time

    cdef dict attributes_of(self, int32_t key_size, int32_t value_size):
        """Return the attributes of a metadata object. Records of the same sizes share them, because
        nobody can set an attribute of one. A dict of its own would cost 1,100 instructions.
        """
        if self.size_attributes is None or self.key_size != key_size or self.value_size != value_size:
            self.size_attributes = {}
            if key_size != -1:
                self.size_attributes["serialized_key_size"] = key_size
            if value_size != -1:
                self.size_attributes["serialized_value_size"] = value_size
            self.key_size = key_size
            self.value_size = value_size
        return self.size_attributes

    # Listeners…

    # A wait is its own token and knows its index, so no entry is made for it.

    def add_listener(self, index, listener):
        """As the twin."""
        token = _next_token()
        entry = (index, listener)
        if self.is_done:
            listener()
        else:
            self._listeners[token] = entry
        return token

    def remove_listener(self, token):
        """Forget a listener; return False when it was called or removed before."""
        if self._listeners.pop(token, self) is not self:
            return True
        for _, piece in self._pieces:
            if piece.remove_listener(token):
                return True
        return False

    def listeners_of(self, index):
        """Return the (token, listener) pairs of one record, in the order of their coming."""
        return [
            (token, token if entry is None else entry[1])
            for token, entry in self._listeners.copy().items()
            if index_of(token, entry) == index
        ]

    def _move_listeners(self, int32_t end):
        """As the twin."""
        cdef BatchOutcome place
        for token, entry in self._listeners.copy().items():
            index = index_of(token, entry)
            if index >= end:
                continue
            place, at = self.place_of(index)
            moved = None if entry is None else (at, entry[1])
            if self._listeners.pop(token, self) is self:
                continue  # removed meanwhile
            if entry is None:
                (<AwaitedAck>token).index = at
            place._listeners[token] = moved

    def _finish(self):
        cdef _Wakeups group = None
        cdef dict listeners = self._listeners
        self.is_done = True
        self._listeners = {}
        self.loop_of = None
        if not listeners:
            return
        for listener in in_order(listeners):
            if type(listener) is AwaitedAck:
                group = (<AwaitedAck>listener).wake(group)
            else:
                group = None  # later ones must not be called before this one
                listener()


cdef int32_t index_of(object token, object entry) except -2:
    """Return the index of a listener, as `_listeners` has it."""
    return (<AwaitedAck>token).index if entry is None else (<tuple>entry)[0]


cdef object in_order(dict listeners):
    """Return the listeners by index. Most of them came in that order."""
    cdef int32_t index, last = -1
    cdef list found = []
    for token, entry in listeners.items():
        index = index_of(token, entry)
        if index < last:
            return sorted_by_index(listeners)
        last = index
        found.append(token if entry is None else (<tuple>entry)[1])
    return found


cdef list sorted_by_index(dict listeners):
    cdef list entries = [
        (index_of(token, entry), number, token if entry is None else entry[1])
        for number, (token, entry) in enumerate(listeners.items())
    ]
    entries.sort()
    return [entry[2] for entry in entries]


cdef class _Wakeups:
    """The tasks that await acks of one batch. One callback of their loop wakes them all.

    A callback for each task would cost as much as all the rest of an ack.
    """

    cdef object loop
    cdef list waits
    cdef Py_ssize_t woken

    def __call__(self):
        while self.woken < PyList_GET_SIZE(self.waits):
            self.woken += 1
            try:
                (<AwaitedAck>self.waits[self.woken - 1]).call_back()
            except BaseException:  # SystemExit out of a task ends the loop, maybe not for good
                if self.woken < PyList_GET_SIZE(self.waits):
                    self.loop.call_soon(self)
                raise


cdef class _LoopOf:
    """What a task asks for the loop of what it waits for."""

    def __call__(self):
        return self.loop


cdef _LoopOf loop_of(object loop):
    cdef _LoopOf made = _LoopOf.__new__(_LoopOf)
    made.loop = loop
    return made


cdef _LoopOf loop_of_waits(BatchOutcome batch):
    """Return the loop of those who wait for a batch: up to Python 3.11 it takes a system call to
    find it.
    """
    if batch.loop_of is None:
        batch.loop_of = loop_of(_get_running_loop())
    return batch.loop_of


@cython.final
@cython.freelist(1024)
cdef class AwaitedAck:
    """What an await of an ack waits on, and what the native `send_and_wait` returns for a record that
    is in its batch. To its awaiter it is a coroutine. It has no frame, so a task runs it at half the
    cost of an `async def`. To the task that waits it is a future.

    A task takes for a future what has an attribute `_asyncio_future_blocking`, and uses the methods
    of one that are named below. To the rest of asyncio a future is what has that attribute in its
    class. So `create_task`, `gather` and `wait_for` make a task of this.
    """

    cdef RecordAck ack
    cdef BatchOutcome batch
    cdef _LoopOf loop_of
    cdef object callback
    cdef object context
    cdef object message
    cdef int32_t index  # of the record, when it began to wait or its batch was split
    cdef bint is_blocking
    cdef bint is_done
    cdef bint is_cancelled

    # To the coroutine that awaits: a generator…

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        if self.waits():
            return self
        raise StopIteration(self.ack.outcome())

    cdef bint waits(self) except -1:
        """Begin to wait, or return whether there is an outcome, by being False."""
        cdef BatchOutcome batch
        if self.batch is not None and not self.is_done:
            raise RuntimeError("await of an ack was resumed before there is an outcome")
        batch = self.ack.where()
        if batch is None:
            return False
        if self.loop_of is None and not batch.is_done:
            self.loop_of = loop_of_waits(batch)
        if batch.is_done:
            return False
        self.index = self.ack._index
        self.batch = batch
        self.is_done = self.is_cancelled = False
        self.is_blocking = True
        batch._listeners[self] = None
        return True

    def send(self, _value):
        """Wait, or return the outcome."""
        return self.__next__()

    def throw(self, kind, value=None, traceback=None):
        """Raise an exception where it waits."""
        self.close()
        raise_thrown(kind, value, traceback)

    def close(self):
        """Wait no longer."""
        self.is_done = True
        self.callback = self.context = None
        if self.batch is not None:
            self.batch.remove_listener(self)

    # To the task that runs it: a future…

    def __getattribute__(self, str name not None):
        cdef Py_ssize_t length
        if name is _BLOCKING:
            return self.is_blocking
        if name is _GET_LOOP:
            return self.loop_of
        if name is _ADD_DONE_CALLBACK:
            return PyMethod_New(_add, self)
        length = PyUnicode_GET_LENGTH(name)
        if length == 6 and name == "result":  # C makes a new str of this name
            return PyMethod_New(_raise, self) if self.is_cancelled else _no_result
        if length == 6 and name == "cancel":
            return PyMethod_New(_give_up, self)
        if length == 4 and name == "done":
            return PyMethod_New(_has_ended, self)
        return PyObject_GenericGetAttr(self, name)

    def __setattr__(self, name, value):
        if name != _BLOCKING:
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} to set")
        self.is_blocking = value

    cdef bint give_up(self, message) except -1:
        if self.is_done:
            return False
        self.is_cancelled = True
        self.message = message
        self.batch.remove_listener(self)
        self.wake(None)
        return True

    # To the batch: a listener…

    def __call__(self):
        self.wake(None)

    cdef _Wakeups wake(self, _Wakeups group):
        """Have the loop resume the task, with the others of `group`; return whose group it is."""
        if self.is_done:
            return group
        self.is_done = True
        if group is None or group.loop is not self.loop_of.loop:
            group = _Wakeups.__new__(_Wakeups)
            group.loop = self.loop_of.loop
            group.waits = []
            group.loop.call_soon(group)
        group.waits.append(self)
        return group

    cdef int call_back(self) except -1:
        callback, context = self.callback, self.context
        self.callback = self.context = None
        if callback is None:  # the task no longer waits
            return 0
        PyContext_Enter(context)
        try:
            callback(self)
        finally:
            PyContext_Exit(context)
        return 0


# The methods of the future…


def _add(AwaitedAck wait, callback, *, context=None):
    wait.callback = callback
    wait.context = _copy_context() if context is None else context


def _has_ended(AwaitedAck wait):
    return wait.is_done


def _give_up(AwaitedAck wait, msg=None):
    return wait.give_up(msg)


def _no_result():
    return None


def _raise(AwaitedAck wait):
    raise _CancelledError() if wait.message is None else _CancelledError(wait.message)


cdef PySendResult awaited_am_send(PyObject *self, PyObject *sent, PyObject **result) except -1:
    """Do the same as `AwaitedAck.__next__`, without an exception. `await` calls it up to Python
    3.11, and tasks call it in every version.
    """
    cdef object value
    result[0] = NULL
    if (<AwaitedAck>self).waits():
        Py_INCREF(<object>self)
        result[0] = self
        return PYGEN_NEXT
    value = (<AwaitedAck>self).ack.outcome()
    Py_INCREF(value)
    result[0] = <PyObject *>value
    return PYGEN_RETURN


alk_set_am_send(<PyTypeObject *>AwaitedAck, awaited_am_send)


cdef object awaited(RecordAck ack, _LoopOf loop):
    cdef AwaitedAck made = AwaitedAck.__new__(AwaitedAck)
    made.ack = ack
    made.loop_of = loop
    return made


cdef class _Callback:
    """Lets the loop call a callback that was added to an ack."""

    cdef RecordAck ack
    cdef object callback
    cdef object context
    cdef object loop

    def __call__(self):
        # As futures do: never inside the code that set the outcome.
        self.loop.call_soon(self.callback, self.ack, context=self.context)


cdef RecordAck new_ack(
    BatchOutcome batch, int32_t index, int64_t timestamp_ms, int32_t key_size, int32_t value_size
):
    cdef RecordAck ack = RecordAck.__new__(RecordAck)
    ack._batch = batch
    ack._index = index
    ack._timestamp_ms = timestamp_ms
    ack.serialized_key_size = key_size
    ack.serialized_value_size = value_size
    return ack


@cython.no_gc
@cython.freelist(1024)
cdef class RecordAck:
    """As the twin."""

    def __init__(
        self,
        BatchOutcome batch not None,
        int32_t index,
        int64_t timestamp_ms,
        int32_t serialized_key_size=-1,
        int32_t serialized_value_size=-1,
    ):
        self._batch = batch
        self._index = index
        self._timestamp_ms = timestamp_ms
        self.serialized_key_size = serialized_key_size
        self.serialized_value_size = serialized_value_size

    def __repr__(self):
        return f"<{type(self).__name__} {self._index} of {self.where() or 'a cancelled wait'!r}>"

    def __await__(self):
        """As the twin."""
        cdef BatchOutcome batch = self.where()
        if batch is not None and not batch.is_done:
            return awaited(self, None)
        return ready_value(self.outcome_in(batch))

    @property
    def timestamp_ms(self):
        """The record's own timestamp."""
        return self._timestamp_ms

    @property
    def _batch_and_index(self):
        """The record's batch and its index there. Not once it is cancelled."""
        batch = self.where()
        assert batch is not None
        return batch, self._index

    @property
    def topic_partition(self):
        """Where the record goes. Not once it is cancelled."""
        assert self._batch is not None
        return self._batch.topic_partition

    @property
    def _has_failed(self):
        """Whether the record was not written. Asking does not count as having noticed."""
        cdef BatchOutcome batch = self.where()
        return batch is not None and batch.error is not None

    def _copy(self):
        """Return another ack of the same record; each is cancelled by itself."""
        assert self._batch is not None
        return new_ack(
            self._batch,
            self._index,
            self._timestamp_ms,
            self.serialized_key_size,
            self.serialized_value_size,
        )

    def done(self):
        """Whether there is an outcome: acknowledged, failed or cancelled."""
        cdef BatchOutcome batch = self.where()
        return batch is None or batch.is_done

    def result(self):
        """As the twin."""
        return self.outcome()

    cdef object outcome(self):
        return self.outcome_in(self.where())

    cdef object outcome_in(self, BatchOutcome batch):
        if batch is None or not batch.is_done or batch.error is not None:
            error = self.exception()
            if error is not None:
                raise error.with_traceback(None)
        return batch.what_of(
            self._index, self._timestamp_ms, self.serialized_key_size, self.serialized_value_size
        )

    def exception(self):
        """As the twin."""
        cdef BatchOutcome batch = self.where()
        if batch is None:
            raise _CancelledError
        if not batch.is_done:
            raise _InvalidStateError("the record is not acknowledged yet")
        return batch.error_of(self._index)

    def cancelled(self):
        """Whether `cancel()` was called before there was another outcome."""
        return self._batch is None

    def cancel(self, msg=None):
        """As the twin."""
        cdef BatchOutcome batch = self.where()
        if batch is None or batch.is_done:
            return False
        listeners = self._listeners(batch)
        if batch.is_done:
            return False
        self._batch = None
        for token, listener in listeners:
            if batch.remove_listener(token):
                listener()
        return True

    def add_done_callback(self, callback, *, context=None):
        """As the twin."""
        cdef _Callback call = _Callback.__new__(_Callback)
        cdef BatchOutcome batch = self.where()
        call.ack = self
        call.callback = callback
        call.context = _copy_context() if context is None else context
        if batch is None or batch.is_done:
            call.loop = _get_running_loop()
            call()
        else:
            call.loop = loop_of_waits(batch).loop
            batch.add_listener(self._index, call)

    def remove_done_callback(self, callback):
        """Take back a callback; return how often it was there."""
        cdef BatchOutcome batch = self.where()
        if batch is None:
            return 0
        tokens = [
            token
            for token, call in self._listeners(batch)
            if type(call) is _Callback and (<_Callback>call).callback == callback
        ]
        for token in tokens:
            batch.remove_listener(token)
        return len(tokens)

    cdef BatchOutcome where(self):
        """Return the batch that has the record now, None once cancelled: batches may be split."""
        cdef BatchOutcome batch = self._batch
        if batch is not None and batch._pieces:
            batch, index = batch.place_of(self._index)
            self._batch = batch
            self._index = index
        return batch

    def _listeners(self, BatchOutcome batch):
        """Return the listeners of this ack with their tokens. A record may have other listeners."""
        listeners = []
        for token, listener in batch.listeners_of(self._index):
            if type(listener) is AwaitedAck:
                if (<AwaitedAck>listener).ack is self:
                    listeners.append((token, listener))
            elif type(listener) is _Callback and (<_Callback>listener).ack is self:
                listeners.append((token, listener))
        return listeners


@cython.no_gc
cdef class BatchAck(RecordAck):
    """As the twin."""

    def __init__(self, BatchOutcome batch not None, int64_t timestamp_ms):
        RecordAck.__init__(self, batch, BEHIND_ALL, timestamp_ms)

    def result(self):
        """Return where the first record is, or raise why one of them is nowhere."""
        return self.outcome()

    cdef object outcome_in(self, BatchOutcome batch):
        error = self.exception()
        if error is not None:
            raise error.with_traceback(None)
        first, index = batch.place_of(0)
        return first.metadata_of(index, self._timestamp_ms)

    def exception(self):
        """Return why one of the records was not written, None if all were."""
        cdef BatchOutcome batch = self._batch
        if batch is None:
            raise _CancelledError
        if not batch.is_done:
            raise _InvalidStateError("the batch is not acknowledged yet")
        for index in range(batch.record_count):
            piece, at = batch.place_of(index)
            if piece.error_of(at) is not None:
                return piece.error
        return None

    cdef BatchOutcome where(self):
        return self._batch  # which is done when all its pieces are


__all__ = ["BEHIND_ALL", "BatchAck", "BatchOutcome", "Listener", "RecordAck"]
