# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""A ready awaitable, for native leaves: an await of it costs a sixth of a coroutine's. Never waits.

Its pure counterpart is a coroutine that returns at once: `async def` of the leaf's twin.

A value is handed to the awaiter by `StopIteration`, and to raise one costs more than all the rest.
So slots of the type are replaced: `am_send`, which gives the value without any exception (the
interpreter asks it up to 3.11, asyncio's tasks in every version), `tp_iternext`, which raises one
exception object over and over, and `tp_dealloc`, which keeps a few for the next ones. A self-test
at import tries what an awaiter sees; should an interpreter not go along, the slots Cython made come
back: the same, only slower.
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


@cython.final
cdef class Ready:
    # Own references, not fields Cython knows of: the value moves to the awaiter uncounted, and the
    # garbage collector has nothing to walk. It lives from the call to the await, so it is in no
    # cycle unless someone builds one on purpose.
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

    # With these it is a `collections.abc.Coroutine`, which `asyncio.create_task` wants.

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
    """Return an awaitable that gives `value` without suspending; it is awaited once."""
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
    """As `ready_value`, to who is no native leaf: a test."""
    return ready_value(value)


cdef bint self_test():
    """Return whether the interpreter's `await`, and who drives a coroutine by hand, get the value.

    The awaiter is compiled by the interpreter at hand: Cython's own `await` goes another way.
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


cdef alk_slots slots  # the ones to put in; once they are in, the ones that were there
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
        pass  # any answer but "as it should be" is a no
    alk_swap_slots(<PyTypeObject *>Ready, &slots)
    spares = 0
    return False


HAS_PATCHED_SLOTS = patch_slots()
"""Whether this interpreter goes along with the replaced slots."""
