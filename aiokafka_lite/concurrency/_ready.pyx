# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""A ready awaitable, for native leaves.

An await of it costs a sixth of a coroutine's. Does not wait.

Its pure counterpart is a coroutine that returns at once: the `async def` of the leaf's twin.

An awaitable passes its value to the awaiter by `StopIteration`. Raising that costs more than all
the rest, so the leaf replaces three slots of the type. `am_send` returns the value without an
exception. The interpreter calls it up to 3.11, asyncio's tasks call it in every version.
`tp_iternext` raises one exception object again and again. `tp_dealloc` keeps a few freed objects
for later awaitables.

A self-test at import checks what an awaiter sees. If an interpreter does not support the replaced
slots, Cython's own slots are put back. The result is the same, only slower.
"""

from cpython.exc cimport PyErr_SetString
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF, Py_XDECREF, Py_XINCREF

from aiokafka_lite.concurrency.awaitable cimport (
    ALK_SPARES,
    PYGEN_ERROR,
    PYGEN_RETURN,
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


cdef extern from "Python.h":
    void PyObject_Free(void *memory)


cdef extern from "aiokafka_lite/concurrency/time_of_day.h":
    int alk_with_sleep(double *seconds) nogil


def with_sleep():
    """Return the seconds of the clock that goes on while the machine sleeps, for `clock`: every
    request reads it some times, and a call without arguments costs a third of `clock_gettime`.

    Raises: OSError where the system has no such clock.
    """
    cdef double seconds
    if not alk_with_sleep(&seconds):
        raise OSError("this system has no clock that goes on while the machine sleeps")
    return seconds


@cython.final
cdef class Ready:
    # These are owned references, not fields that Cython manages. The value moves to the awaiter
    # without a change of its count, and the garbage collector traverses nothing. An awaitable lives
    # from the call to the await. It is part of a cycle only if a caller builds one on purpose.
    cdef PyObject *value
    cdef bint stop_holds_value

    def __dealloc__(self):
        Py_XDECREF(self.value)
        if self.stop_holds_value:
            alk_forget_value()

    def __await__(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        raise StopIteration(take(self))

    # These methods make it a `collections.abc.Coroutine`, which `asyncio.create_task` requires.

    def send(self, _value):
        raise StopIteration(take(self))

    def throw(self, kind, value=None, traceback=None):
        self.close()
        raise_thrown(kind, value, traceback)

    def close(self):
        cdef PyObject *value = self.value
        self.value = NULL
        Py_XDECREF(value)


cdef object take(Ready self):
    """Return the value and forget it."""
    cdef PyObject *value = self.value
    if value is NULL:
        raise RuntimeError("cannot reuse an awaitable that was awaited")
    result = <object>value
    self.close()
    return result


cdef PyObject *taken(Ready self) noexcept:
    """Return the value with its reference; NULL with the error set if it was awaited before."""
    cdef PyObject *value = self.value
    self.value = NULL
    if value is NULL:
        PyErr_SetString(RuntimeError, "cannot reuse an awaitable that was awaited")
    return value


cdef PySendResult am_send(PyObject *self, PyObject *sent, PyObject **result) except -1:
    result[0] = taken(<Ready>self)
    return PYGEN_ERROR if result[0] is NULL else PYGEN_RETURN


cdef PyObject *tp_iternext(PyObject *self) except? NULL:
    cdef PyObject *value = taken(<Ready>self)
    if value is not NULL:
        (<Ready>self).stop_holds_value = alk_raise_stop_iteration(value)
    return NULL


cdef PyObject *spare[16]
cdef int spares = 0


cdef void tp_dealloc(PyObject *self) noexcept:
    global spares
    cdef PyObject *value = (<Ready>self).value
    if value is not NULL:
        (<Ready>self).value = NULL
        Py_XDECREF(value)
    if (<Ready>self).stop_holds_value:
        (<Ready>self).stop_holds_value = False
        alk_forget_value()
    if spares < ALK_SPARES:
        spare[spares] = self
        spares += 1
    else:
        PyObject_Free(self)


cdef object ready_value(object value):
    """Return an awaitable that gives `value` without suspending. It can be awaited once."""
    global spares
    cdef PyObject *self
    Py_INCREF(value)
    if spares > 0:
        spares -= 1
        self = spare[spares]
        (<Ready>self).value = <PyObject *>value
        return alk_live_again(self)
    made = Ready.__new__(Ready)
    (<Ready>made).value = <PyObject *>value
    return made


def ready(value, /):
    """Do the same as `ready_value`; for tests, which cannot call C functions."""
    return ready_value(value)


cdef bint self_test():
    """Return whether `await`, and a caller that drives the coroutine by hand, get the value.

    The interpreter compiles the awaiter, because Cython's own `await` uses other slots.
    """
    namespace = {}
    exec("async def awaiter(awaitable):\n    return await awaitable", namespace)
    for value in (object(), None, (1, 2), StopIteration(3), KeyError):
        for awaitable in (namespace["awaiter"](ready_value(value)), ready_value(value)):
            try:
                awaitable.send(None)
            except StopIteration as end:
                if end.value is not value:
                    return False
            else:
                return False
        used = ready_value(value)
        for expected in (StopIteration, RuntimeError):
            try:
                next(used)
            except expected as error:
                if expected is StopIteration and error.value is not value:
                    return False
            else:
                return False
    return True


cdef alk_slots slots  # before the swap the new slots, after it the previous ones
slots.am_send = am_send
slots.tp_iternext = tp_iternext
slots.tp_dealloc = tp_dealloc


cdef bint patch_slots() except -1:
    """Replace the slots; put them back if the self-test fails."""
    global spares
    alk_make_stop_iteration()
    alk_swap_slots(<PyTypeObject *>Ready, &slots)
    try:
        if self_test():
            return True
    except Exception:
        pass  # any other outcome counts as a failed test
    alk_swap_slots(<PyTypeObject *>Ready, &slots)
    spares = 0
    return False


HAS_PATCHED_SLOTS = patch_slots()
"""Whether this interpreter works with the replaced slots."""
