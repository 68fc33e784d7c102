# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""Records one by one, without a poll for each: the native twin of `_decoded_records_py`.

`async for` asks for an awaitable and awaits it at once. While decoded records are left, the
awaitable is a `NextRecord`. It takes a record only when it is awaited. So a `NextRecord` that is
dropped has taken nothing, and neither has one whose task is cancelled before it runs. asyncio
accepts it as a coroutine. It costs a quarter of one.
"""

from cpython.exc cimport PyErr_SetString
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject, PyObject_GenericSetAttr
from libc.stdint cimport int64_t, uint64_t

from aiokafka_lite.consumer_record._consumer_record cimport ConsumerRecord
from aiokafka_lite.concurrency.awaitable cimport (
    ALK_SPARES,
    PYGEN_NEXT,
    PYGEN_RETURN,
    PyIter_Send,
    PySendResult,
    PyTypeObject,
    alk_forget_value,
    alk_live_again,
    alk_make_stop_iteration,
    alk_raise_stop_iteration,
    alk_slots,
    alk_swap_slots,
    raise_thrown,
)

cimport cython


cdef extern from "aiokafka_lite/concurrency/lazy_dictionary.h":
    void alk_drop_dictionary(object made)


cdef extern from *:
    """
    #include <structmember.h>

    /* Return where an object with __slots__ keeps an attribute; NULL if it has no such slot. */
    static PyObject **alk_slot(PyObject *self, PyObject *name) {
        PyObject *found = _PyType_Lookup(Py_TYPE(self), name);
        if (found == NULL || !Py_IS_TYPE(found, &PyMemberDescr_Type))
            return NULL;
        PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
        if (member->type != T_OBJECT_EX || member->flags & READONLY)
            return NULL;
        return (PyObject **)((char *)self + member->offset);
    }

    static inline void alk_put(PyObject **slot, PyObject *value) {
        PyObject *before = *slot;
        *slot = Py_NewRef(value);
        Py_XDECREF(before);
    }

    static inline PyObject *alk_get(PyObject **slot) {
        return *slot;
    }

    /* Make the int of a slot another number, if nobody else refers to it. Then nobody can
     * see that it changes. To make an int for each record takes a tenth of a step of `async for`.
     * Return 0 where that is not so, or where the interpreter keeps ints in another way. */
    static inline int alk_rewrite_int(PyObject **slot, int64_t number) {
    #if PY_VERSION_HEX < 0x030C0000 && PYLONG_BITS_IN_DIGIT == 30
        PyObject *own = *slot;
        if (own == NULL || Py_REFCNT(own) != 1 || !PyLong_CheckExact(own) || number < 1)
            return 0;
        digit *digits = ((PyLongObject *)own)->ob_digit;
        if (number <= PyLong_MASK && Py_SIZE(own) == 1) {
            digits[0] = (digit)number;
            return 1;
        }
        if (number > PyLong_MASK && number >> PyLong_SHIFT <= PyLong_MASK &&
                Py_SIZE(own) == 2) {
            digits[0] = (digit)(number & PyLong_MASK);
            digits[1] = (digit)(number >> PyLong_SHIFT);
            return 1;
        }
    #else
        (void)slot, (void)number;
    #endif
        return 0;
    }

    /* Remove the last object of a list that has some, and return the list's reference to it. */
    static inline PyObject *alk_pop(PyObject *from) {
        PyListObject *list = (PyListObject *)from;
        Py_ssize_t last = Py_SIZE(list) - 1;
        PyObject *item = list->ob_item[last];
        if (last > list->allocated >> 1) { /* else the list gives up memory */
            Py_SET_SIZE(list, last);
            return item;
        }
        Py_INCREF(item);
        if (PyList_SetSlice(from, last, last + 1, NULL) < 0)
            Py_CLEAR(item);
        return item;
    }

    static inline Py_ssize_t alk_length(PyObject *list) {
        return PyList_GET_SIZE(list);
    }

    static inline int alk_is_exactly(PyObject *object, PyObject *type) {
        return Py_IS_TYPE(object, (PyTypeObject *)type);
    }

    static inline int alk_same_in_class(PyObject *self, PyObject *name, PyObject *other) {
        PyObject *found = _PyType_Lookup(Py_TYPE(self), name);
        return found != NULL && found == _PyType_Lookup(Py_TYPE(self), other);
    }

    /* Return a number that changes when an attribute of the class or of a base is set; 0: none. */
    static inline unsigned int alk_class_version(PyObject *self) {
        PyTypeObject *type = Py_TYPE(self);
    #if defined(Py_GIL_DISABLED)
        return 0;
    #elif PY_VERSION_HEX >= 0x030D0000 /* nothing sets the flag any more; no version is 0 */
        return type->tp_version_tag;
    #else
        return type->tp_flags & Py_TPFLAGS_VALID_VERSION_TAG ? type->tp_version_tag : 0;
    #endif
    }

    static inline int alk_in_instance(PyObject *self, PyObject *name) {
        PyObject **own = _PyObject_GetDictPtr(self);
        return own == NULL || *own == NULL ? 0 : PyDict_Contains(*own, name);
    }

    /* Return such a number for the instance. CPython deprecates it and removed it in 3.14. */
    static inline uint64_t alk_instance_version(PyObject *self) {
    #if defined(Py_GIL_DISABLED) || PY_VERSION_HEX >= 0x030E0000
        return 0;
    #else
        PyObject **own = _PyObject_GetDictPtr(self);
        if (own == NULL || *own == NULL)
            return 0;
    #if defined(__GNUC__)
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    #endif
        return ((PyDictObject *)*own)->ma_version_tag;
    #if defined(__GNUC__)
    #pragma GCC diagnostic pop
    #endif
    #endif
    }

    /* Put `anext` into the slot of a class that has the `__anext__` of `base`. Without this, a
       class made in Python looks up a C method by its name, which is a third of the cost of a step.
       If `__anext__` is set later, the interpreter fills the slot anew. Without the interpreter's
       lock other threads may use the class meanwhile, so it stays as it is. */
    static inline void alk_use_anext(PyObject *self, PyObject *base, PyObject *name,
                                     PyObject *(*anext)(PyObject *)) {
    #ifndef Py_GIL_DISABLED
        PyTypeObject *type = Py_TYPE(self);
        if (_PyType_Lookup(type, name) == _PyType_Lookup((PyTypeObject *)base, name))
            type->tp_as_async->am_anext = anext;
    #endif
    }
    """
    PyObject **alk_slot(object of, object name)
    void alk_put(PyObject **slot, object value)
    PyObject *alk_get(PyObject **slot)
    PyObject *alk_pop(PyObject *records) except NULL
    Py_ssize_t alk_length(PyObject *records)
    bint alk_is_exactly(PyObject *record, object kind)
    bint alk_rewrite_int(PyObject **slot, int64_t number)
    bint alk_same_in_class(object of, object name, object other)
    unsigned int alk_class_version(object of)
    bint alk_in_instance(object of, object name) except -1
    uint64_t alk_instance_version(object of)
    void alk_use_anext(object of, object base, object name, object (*anext)(object))
    void PyObject_GC_Track(object of)
    void PyObject_GC_UnTrack(PyObject *of)


cdef extern from "pythread.h":
    unsigned long PyThread_get_thread_ident() noexcept


cdef class FetchPlace:
    """Where the next record of a fetch is. Here, so that a record moves it without an int."""

    def __init__(self, next_offset):
        self.next_offset = next_offset


cdef class DecodedRecords:
    """The records of one fetch that were decoded ahead, and the positions that move with them.

    They may be handed out while `revision` has not changed: no seek, no pause, no response. Another
    thread than that of the poll gets none: a poll there says that the client belongs to a loop.
    """

    def __init__(self, revision):
        self.revision = revision
        self.revision_number = alk_slot(revision, "number")
        self.forget()

    def forget(self):
        """Hand out no more."""
        self.records = []
        self.seen = self.fetch = self.state = self.decode_on = None
        self.fetch_offset = NULL
        self.state_offset = NULL

    def follow(self, list records not None, fetch, state, decode_on=None):
        """Hand out `records`, the last item first, from now on. `fetch` shares the list.

        When one is left, `decode_on` is asked to put others in front, and says whether it did.
        """
        self.records = records
        self.seen = self.revision.number
        self.thread_id = PyThread_get_thread_ident()
        self.fetch, self.state, self.decode_on = fetch, state, decode_on
        self.fetch_offset = NULL
        if isinstance(fetch, FetchPlace):
            self.fetch_offset = &(<FetchPlace>fetch).next_offset
        self.state_offset = alk_slot(state, "offset")

    def __len__(self):
        """Return how many records are left, including the one that `take` does not return."""
        return PyList_GET_SIZE(self.records)

    def take(self):
        """Return the next record and move the positions behind it; None: a poll is due.

        The last record needs a poll, too, because its partition may then be fetched again.
        """
        cdef PyObject *record = take_next(self)
        return None if record is NULL else owned(record)


cdef inline bint is_seen(DecodedRecords self) except -1:
    """Return whether nothing has changed since the records were decoded."""
    if self.revision_number != NULL:
        if alk_get(self.revision_number) == <PyObject *>self.seen:
            return True
        return <object>alk_get(self.revision_number) == self.seen
    return self.revision.number == self.seen


# Pointers, because Cython counts a reference for each use of an object.


cdef inline PyObject *take_next(DecodedRecords self) except? NULL:
    """Return the next record with its reference; NULL without an error if a poll is due."""
    cdef PyObject *record
    cdef int64_t behind
    cdef Py_ssize_t left = alk_length(<PyObject *>self.records)
    if not left or not is_seen(self) or self.thread_id != PyThread_get_thread_ident():
        return NULL
    if left < 2:
        if self.decode_on is None or not self.decode_on():
            return NULL
        # A deserializer has run, which may have done anything.
        if not self.records or self.revision.number != self.seen:
            return NULL
    record = alk_pop(<PyObject *>self.records)
    if alk_is_exactly(record, ConsumerRecord):
        behind = (<ConsumerRecord>record).offset_ + 1
    else:
        behind = (<object>record).offset + 1
    if self.state_offset == NULL or self.fetch_offset == NULL:
        self.state.offset = self.fetch.next_offset = behind
    else:
        self.fetch_offset[0] = behind
        if not alk_rewrite_int(self.state_offset, behind):
            put_int(self.state_offset, behind)
    self.handed_out += 1
    return record


cdef int put_int(PyObject **slot, object number) except -1:
    alk_put(slot, number)
    return 0


@cython.final
cdef class NextRecord:
    """Gives the next record of an iteration when it is awaited, once."""

    # The garbage collector tracks it only once it holds a coroutine. Until then it lives from the
    # call to the await, and the objects it refers to do not refer back.
    cdef RecordIteration iteration
    cdef object slow
    cdef bint is_used, stop_holds_value

    def __dealloc__(self):
        if self.stop_holds_value:
            alk_forget_value()

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        return driven(self, None)

    # These methods make it a `collections.abc.Coroutine`, which `asyncio.create_task` needs.

    def send(self, value):
        return driven(self, value)

    def throw(self, kind, value=None, traceback=None):
        if self.slow is not None:
            return self.slow.throw(kind, value, traceback) if value or traceback else (
                self.slow.throw(kind)
            )
        self.is_used = True
        raise_thrown(kind, value, traceback)

    def close(self):
        self.is_used = True
        if self.slow is not None:
            self.slow.close()


cdef inline PySendResult step(NextRecord self, PyObject *sent, PyObject **result) except -1:
    """Take one step. PYGEN_RETURN: `result` is the record; else what the poll's coroutine gave."""
    if self.slow is None:
        if self.is_used:
            raise RuntimeError("cannot reuse an awaitable that was awaited")
        self.is_used = True
        result[0] = take_next(self.iteration.decoded_)
        if result[0] is not NULL:
            return PYGEN_RETURN
        self.slow = self.iteration._next_by_getone()
        PyObject_GC_Track(self)
    return PyIter_Send(<PyObject *>self.slow, sent, result)


cdef object driven(NextRecord self, object sent):
    """Do a `step` for a method call: the record comes as a StopIteration."""
    cdef PyObject *result = NULL
    cdef PySendResult outcome = step(self, <PyObject *>sent, &result)
    found = owned(result)
    if outcome == PYGEN_NEXT:
        return found
    raise StopIteration(found)


cdef object owned(PyObject *pointer):
    """Return the object whose one reference is given."""
    found = <object>pointer
    release(pointer)
    return found


cdef extern from *:
    void release "Py_DECREF" (PyObject *of)


cdef PySendResult am_send(PyObject *self, PyObject *sent, PyObject **result) except -1:
    return step(<NextRecord>self, sent, result)


cdef PyObject *tp_iternext(PyObject *self) except? NULL:
    cdef PyObject *result = NULL
    if step(<NextRecord>self, <PyObject *>None, &result) == PYGEN_NEXT:
        return result
    (<NextRecord>self).stop_holds_value = alk_raise_stop_iteration(result)
    return NULL


cdef alk_slots slots  # the new slots; after `patch_slots`, the original ones
cdef PyObject *spare[16]
cdef int spares = 0


cdef void tp_dealloc(PyObject *self) noexcept:
    global spares
    if spares >= ALK_SPARES:
        slots.tp_dealloc(self)  # the original one
        return
    if (<NextRecord>self).slow is not None:  # only then it is tracked
        PyObject_GC_UnTrack(self)
        (<NextRecord>self).slow = None
    (<NextRecord>self).iteration = None
    (<NextRecord>self).is_used = False
    if (<NextRecord>self).stop_holds_value:
        (<NextRecord>self).stop_holds_value = False
        alk_forget_value()
    spare[spares] = self
    spares += 1


slots.am_send = am_send
slots.tp_iternext = tp_iternext
slots.tp_dealloc = tp_dealloc


cdef NextRecord next_record(RecordIteration iteration):
    global spares
    cdef NextRecord made
    if spares > 0:
        spares -= 1
        made = <NextRecord>alk_live_again(spare[spares])
    else:
        made = NextRecord.__new__(NextRecord)
        PyObject_GC_UnTrack(<PyObject *>made)
    made.iteration = iteration
    return made


cdef class RecordIteration:
    """Makes a consumer an iterator, by `take`, or by `_next_by_getone` if `take` has no record.

    The consumer's class has `getone` under a second name, `_own_getone`. If a subclass or an
    instance replaces `getone`, the two differ, and every record comes from `getone`.
    """

    cdef DecodedRecords decoded_
    cdef dict __dict__  # see lazy_dictionary.h
    cdef uint64_t plain_instance  # the version that was last seen to hold no `getone`

    def __cinit__(self):
        alk_drop_dictionary(self)

    @property
    def _decoded(self):
        return self.decoded_

    @_decoded.setter
    def _decoded(self, decoded):
        self.decoded_ = decoded

    def __anext__(self):
        """Return an awaitable of the next record. Cancelled: none was taken."""
        alk_use_anext(self, RecordIteration, "__anext__", next_of)
        return next_of(self)


cdef object next_of(object iteration):
    cdef RecordIteration self = <RecordIteration>iteration
    if (
        self.decoded_ is not None
        and PyList_GET_SIZE(self.decoded_.records)
        and has_own_getone(self)
    ):
        return next_record(self)
    return self._next_by_getone()


cdef unsigned int own_class = 0  # the version of a class that was last seen to have its own getone


cdef inline bint has_own_getone(RecordIteration self) except -1:
    """Say whether neither the class nor the instance has replaced `getone`.

    It looks only after one of them has changed. CPython numbers the changes, no number twice.
    """
    global own_class
    cdef uint64_t version
    if alk_class_version(self) != own_class or own_class == 0:
        if not alk_same_in_class(self, "getone", "_own_getone"):
            return False
        own_class = alk_class_version(self)
    version = alk_instance_version(self)
    if version != self.plain_instance or version == 0:
        if alk_in_instance(self, "getone"):
            return False
        self.plain_instance = version
    return True


cdef class _Numbered:
    """For the self-test: an object with an offset."""

    cdef public object offset, number


cdef bint self_test() except -1:
    """Return whether `await` and calls of `send` get the record.

    The running interpreter compiles the awaiter, because Cython's own `await` uses other slots.
    """
    cdef RecordIteration iteration = RecordIteration()
    cdef DecodedRecords decoded
    cdef FetchPlace place = FetchPlace(0)
    namespace = {}
    exec("async def awaiter(awaitable):\n    return await awaitable", namespace)
    revision, state = _Numbered(), _Numbered()
    revision.number = 0
    decoded = iteration.decoded_ = DecodedRecords(revision)
    records = [_Numbered() for _ in range(8)]
    for offset, record in enumerate(records):
        record.offset = offset
    decoded.follow(list(reversed(records)), place, state)
    for record in records[:6:2]:
        for awaitable in (
            namespace["awaiter"](next_record(iteration)),
            next_record(iteration),
        ):
            try:
                awaitable.send(None)
            except StopIteration as end:
                if end.value is not records[state.offset - 1]:
                    return False
            else:
                return False
    used = next_record(iteration)
    for expected in (StopIteration, RuntimeError):
        try:
            next(used)
        except expected as error:
            if expected is StopIteration and error.value is not records[6]:
                return False
        else:
            return False
    return place.next_offset == 7


cdef bint patch_slots() except -1:
    """Replace the slots; put them back if the self-test fails."""
    global spares
    alk_make_stop_iteration()
    alk_swap_slots(<PyTypeObject *>NextRecord, &slots)
    try:
        if self_test():
            return True
    except Exception:
        pass  # an unexpected error is a failed test, too
    alk_swap_slots(<PyTypeObject *>NextRecord, &slots)
    spares = 0
    return False


HAS_PATCHED_SLOTS = patch_slots()
"""Whether the replaced slots work in this interpreter."""
