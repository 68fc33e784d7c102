# cython: language_level=3, binding=False, boundscheck=False, wraparound=False, annotation_typing=False
"""Records one by one, without a poll for each: the native twin of `_decoded_records_py`.

`async for` asks for an awaitable and awaits it at once. While decoded records are left, the
awaitable is a `NextRecord`. It takes a record only when it is awaited. So a `NextRecord` that is
dropped has taken nothing, and neither has one whose task is cancelled before it runs. asyncio
accepts it as a coroutine. It costs a quarter of one.
"""

from cpython.exc cimport PyErr_Clear
from cpython.list cimport PyList_GET_SIZE
from cpython.object cimport PyObject, PyObject_GenericSetAttr
from libc.stdint cimport int64_t, uint64_t, uintptr_t

from aiokafka_lite.consumer_record._consumer_record cimport ConsumerRecord
from aiokafka_lite.concurrency.awaitable cimport (
    ALK_SPARES,
    PYGEN_NEXT,
    PYGEN_RETURN,
    PyIter_Send,
    PySendResult,
    PyTypeObject,
    alk_forget_value,
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
    #include "aiokafka_lite/concurrency/own_methods.h"

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

    /* Put a number into a slot; return 0 without memory. */
    static inline int alk_put_number(PyObject **slot, int64_t number) {
        PyObject *made;
        if (alk_rewrite_int(slot, number))
            return 1;
        made = PyLong_FromLongLong(number);
        if (made == NULL)
            return 0;
        Py_XSETREF(*slot, made);
        return 1;
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

    /* Return the last object if alk_drop_last may remove it: others are left, the list gives up no
     * memory, and the object is just of that type. Else NULL. */
    static inline PyObject *alk_last(PyObject *from, PyObject *type) {
        PyListObject *list = (PyListObject *)from;
        Py_ssize_t last = Py_SIZE(list) - 1;
        if (last < 1 || last <= list->allocated >> 1 ||
                !Py_IS_TYPE(list->ob_item[last], (PyTypeObject *)type))
            return NULL;
        return list->ob_item[last];
    }

    /* Remove the last object. Its reference is the caller's now. */
    static inline void alk_drop_last(PyObject *from) {
        Py_SET_SIZE(from, Py_SIZE(from) - 1);
    }

    #if defined(__GNUC__) && __GNUC__ >= 11 && !defined(__clang__) && defined(__x86_64__)
    #define ALK_THREAD __builtin_thread_pointer()
    #else
    #define ALK_THREAD PyThread_get_thread_ident()
    #endif

    /* Return a number that no other running thread has. */
    static inline uintptr_t alk_thread(void) {
        return (uintptr_t)ALK_THREAD;
    }

    /* Tell whether a reference can be dropped without a call. */
    static inline int alk_has_others(PyObject *object) {
        return Py_REFCNT(object) > 1;
    }

    static inline void alk_release_one(PyObject *object) {
        Py_SET_REFCNT(object, Py_REFCNT(object) - 1);
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

    /* Return such a number for the instance: one of its own while there is no dictionary. CPython
     * deprecates those of dictionaries and removed them in 3.14. */
    static inline uint64_t alk_instance_version(PyObject *self) {
    #if defined(Py_GIL_DISABLED)
        return 0;
    #else
        PyObject *own = alk_dictionary(self);
        if (own == NULL)
            return UINT64_MAX;
    #if PY_VERSION_HEX >= 0x030E0000
        return 0;
    #else
    #if defined(__GNUC__)
    #pragma GCC diagnostic push
    #pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    #endif
        return ((PyDictObject *)own)->ma_version_tag;
    #if defined(__GNUC__)
    #pragma GCC diagnostic pop
    #endif
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
    PyObject *alk_get(PyObject **slot)
    PyObject *alk_pop(PyObject *records) except NULL
    bint alk_has_others(PyObject *of)
    void alk_release_one(PyObject *of)
    PyObject *alk_last(PyObject *records, object kind)
    void alk_drop_last(PyObject *records)
    uintptr_t alk_thread()
    Py_ssize_t alk_length(PyObject *records)
    bint alk_is_exactly(PyObject *record, object kind)
    bint alk_put_number(PyObject **slot, int64_t number)
    bint alk_same_in_class(object of, object name, object other)
    unsigned int alk_class_version(PyObject *of)
    bint alk_in_instance(object of, object name) except -1
    uint64_t alk_instance_version(PyObject *of)
    void alk_use_anext(object of, object base, object name, PyObject *(*anext)(PyObject *) except NULL)
    void PyObject_GC_Track(object of)
    void PyObject_GC_UnTrack(PyObject *of)


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
        self.thread_id = alk_thread()
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
        cdef PyObject *record = take_at_once(<PyObject *>self)
        if record == NULL:
            record = take_any(self)
        return None if record is NULL else owned(record)


cdef inline bint is_seen(DecodedRecords self) except -1:
    """Return whether nothing has changed since the records were decoded."""
    if self.revision_number != NULL:
        if alk_get(self.revision_number) == <PyObject *>self.seen:
            return True
        return <object>alk_get(self.revision_number) == self.seen
    return self.revision.number == self.seen


# Pointers, because Cython counts a reference for each use of an object.


cdef inline PyObject *take_at_once(PyObject *decoded) noexcept:
    """Return the next record with its reference; NULL, with nothing done, where `take_any` must.

    Most records come from here. It makes no call, so the functions around it save no registers.
    """
    cdef PyObject *record
    cdef int64_t behind
    if (
        (<DecodedRecords>decoded).revision_number == NULL
        or alk_get((<DecodedRecords>decoded).revision_number)
        != <PyObject *>(<DecodedRecords>decoded).seen
        or (<DecodedRecords>decoded).state_offset == NULL
        or (<DecodedRecords>decoded).fetch_offset == NULL
        or (<DecodedRecords>decoded).thread_id != alk_thread()
    ):
        return NULL
    record = alk_last(<PyObject *>(<DecodedRecords>decoded).records, ConsumerRecord)
    if record == NULL:
        return NULL
    behind = (<ConsumerRecord>record).offset_ + 1
    if not alk_put_number((<DecodedRecords>decoded).state_offset, behind):
        PyErr_Clear()
        return NULL
    (<DecodedRecords>decoded).fetch_offset[0] = behind
    (<DecodedRecords>decoded).handed_out = (<DecodedRecords>decoded).handed_out + 1
    alk_drop_last(<PyObject *>(<DecodedRecords>decoded).records)
    return record


cdef PyObject *take_any(DecodedRecords self) except? NULL:
    """Return the next record with its reference; NULL without an error if a poll is due."""
    cdef PyObject *record
    cdef int64_t behind
    cdef Py_ssize_t left = alk_length(<PyObject *>self.records)
    if not left or not is_seen(self) or self.thread_id != alk_thread():
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
        if not alk_put_number(self.state_offset, behind):
            release(record)
            return NULL  # with the error
        self.fetch_offset[0] = behind
    self.handed_out += 1
    return record


@cython.final
cdef class NextRecord:
    """Gives the next record of an iteration when it is awaited, once."""

    # The garbage collector tracks it only once it holds a coroutine, and then it refers to no
    # iteration. Until then it lives from the call to the await, and nothing refers back to it.
    cdef PyObject *iteration  # with a reference; NULL once it was awaited
    cdef object slow
    cdef bint stop_holds_value

    def __dealloc__(self):
        forget_iteration(self)
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
        forget_iteration(self)
        raise_thrown(kind, value, traceback)

    def close(self):
        forget_iteration(self)
        if self.slow is not None:
            self.slow.close()


cdef inline void forget_iteration(NextRecord self) noexcept:
    cdef PyObject *iteration = self.iteration
    self.iteration = NULL
    release_if_any(iteration)


cdef PySendResult step(NextRecord self, PyObject *sent, PyObject **result) except -1:
    """Take one step. PYGEN_RETURN: `result` is the record; else what the poll's coroutine gave."""
    cdef PyObject *iteration = self.iteration
    if iteration == NULL:
        return step_on(self, sent, result)
    self.iteration = NULL
    try:
        if (<RecordIteration>iteration).decoded_ is not None:
            result[0] = take_any((<RecordIteration>iteration).decoded_)
            if result[0] != NULL:
                return PYGEN_RETURN
        self.slow = (<RecordIteration>iteration)._next_by_getone()
    finally:
        release(iteration)
    PyObject_GC_Track(self)
    return step_on(self, sent, result)


cdef PySendResult step_on(NextRecord self, PyObject *sent, PyObject **result) except -1:
    """Take a step of the poll's coroutine."""
    if self.slow is None:
        raise RuntimeError("cannot reuse an awaitable that was awaited")
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
    void release_if_any "Py_XDECREF" (PyObject *of)
    PyObject *referred "Py_NewRef" (PyObject *of)
    PyObject *live_again "alk_live_again" (PyObject *spare)


cdef PySendResult am_send(PyObject *self, PyObject *sent, PyObject **result) except -1:
    cdef PyObject *iteration = (<NextRecord>self).iteration
    cdef PyObject *decoded
    if iteration != NULL and alk_has_others(iteration):
        decoded = <PyObject *>(<RecordIteration>iteration).decoded_
        if decoded != <PyObject *>None:
            result[0] = take_at_once(decoded)
            if result[0] != NULL:
                (<NextRecord>self).iteration = NULL
                alk_release_one(iteration)
                return PYGEN_RETURN
    return step(<NextRecord>self, sent, result)


cdef PyObject *tp_iternext(PyObject *self) except? NULL:
    cdef PyObject *result = NULL
    if step(<NextRecord>self, <PyObject *>None, &result) == PYGEN_NEXT:
        return result
    (<NextRecord>self).stop_holds_value = alk_raise_stop_iteration(result)
    return NULL


cdef alk_slots slots  # the new slots; after `patch_slots`, the original ones
cdef PyObject *spare = NULL  # the newest that was freed: most iterations need one at a time


cdef void tp_dealloc(PyObject *self) noexcept:
    global spare
    if (
        spare == NULL
        and ALK_SPARES
        and (<NextRecord>self).iteration == NULL
        and <PyObject *>(<NextRecord>self).slow == <PyObject *>None
        and not (<NextRecord>self).stop_holds_value
    ):
        spare = self
    else:
        free_any(self)


cdef void free_any(PyObject *self) noexcept:
    global spare
    forget_iteration(<NextRecord>self)
    forget_poll(self)
    if ALK_SPARES and spare == NULL:
        spare = self
    else:
        slots.tp_dealloc(self)  # the original one


cdef void forget_poll(PyObject *self) noexcept:
    if (<NextRecord>self).slow is not None:  # only then it is tracked
        PyObject_GC_UnTrack(self)
        (<NextRecord>self).slow = None
    if (<NextRecord>self).stop_holds_value:
        (<NextRecord>self).stop_holds_value = False
        alk_forget_value()


slots.am_send = am_send
slots.tp_iternext = tp_iternext
slots.tp_dealloc = tp_dealloc


cdef inline void revive(PyObject *made, PyObject *iteration) noexcept:
    global spare
    spare = NULL
    live_again(made)
    (<NextRecord>made).iteration = referred(iteration)


cdef NextRecord next_record(RecordIteration iteration):
    cdef NextRecord made
    cdef PyObject *revived = spare
    if revived != NULL:
        revive(revived, <PyObject *>iteration)
        return <NextRecord>owned(revived)
    made = NextRecord.__new__(NextRecord)
    PyObject_GC_UnTrack(<PyObject *>made)
    made.iteration = referred(<PyObject *>iteration)
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
        return owned(next_of(<PyObject *>self))


cdef PyObject *next_of(PyObject *iteration) except NULL:
    """Return the awaitable of the next record. What most calls need is here, without a call."""
    cdef PyObject *decoded = <PyObject *>(<RecordIteration>iteration).decoded_
    cdef PyObject *made = spare
    if (
        made != NULL
        and decoded != <PyObject *>None
        and alk_length(<PyObject *>(<DecodedRecords>decoded).records)
        and has_own_getone(iteration)
    ):
        revive(made, iteration)
        return made
    return any_next_of(iteration)


cdef PyObject *any_next_of(PyObject *iteration) except NULL:
    cdef RecordIteration self = <RecordIteration>iteration
    cdef object found
    if (
        self.decoded_ is not None
        and PyList_GET_SIZE(self.decoded_.records)
        and (has_own_getone(iteration) or look_for_getone(self))
    ):
        found = next_record(self)
    else:
        found = self._next_by_getone()
    return referred(<PyObject *>found)


cdef unsigned int own_class = 0  # the version of a class that was last seen to have its own getone


cdef inline bint has_own_getone(PyObject *iteration) noexcept:
    """Say whether neither the class nor the instance has replaced `getone`, as far as is known.

    They are looked at only after one of them has changed. CPython numbers the changes, no number
    twice.
    """
    cdef unsigned int kind = alk_class_version(iteration)
    cdef uint64_t version = alk_instance_version(iteration)
    return (
        kind == own_class
        and version == (<RecordIteration>iteration).plain_instance
        and kind != 0
        and version != 0
    )


cdef bint look_for_getone(RecordIteration self) except -1:
    global own_class
    if not alk_same_in_class(self, "getone", "_own_getone"):
        return False
    if alk_in_instance(self, "getone"):
        return False
    own_class = alk_class_version(<PyObject *>self)
    self.plain_instance = alk_instance_version(<PyObject *>self)
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
    global spare
    alk_make_stop_iteration()
    alk_swap_slots(<PyTypeObject *>NextRecord, &slots)
    try:
        if self_test():
            return True
    except Exception:
        pass  # an unexpected error is a failed test, too
    alk_swap_slots(<PyTypeObject *>NextRecord, &slots)
    spare = NULL
    return False


HAS_PATCHED_SLOTS = patch_slots()
"""Whether the replaced slots work in this interpreter."""
