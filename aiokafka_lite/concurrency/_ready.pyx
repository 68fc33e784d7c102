# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""The native twin of the ready awaitable: an await of it costs a sixth of a coroutine's. Never waits.

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

cimport cython


cdef extern from *:
    """
    #ifdef Py_GIL_DISABLED
    #define ALK_SPARES 0 /* threads would take the same one */
    #else
    #define ALK_SPARES 16
    #endif

    static inline PyObject *alk_live_again(PyObject *spare)
    {
        _Py_NewReference(spare);
        return spare;
    }

    """
    const int ALK_SPARES

    void PyObject_Free(void *memory)
    object alk_live_again(PyObject *spare)


cdef extern from "stop_iteration.h":
    ctypedef int PySendResult
    PySendResult PYGEN_RETURN
    PySendResult PYGEN_ERROR
    ctypedef PySendResult (*sendfunc "alk_sendfunc")(PyObject *, PyObject *, PyObject **) noexcept
    ctypedef PyObject *(*iternextfunc)(PyObject *) noexcept
    ctypedef void (*destructor)(PyObject *) noexcept

    ctypedef struct PyAsyncMethods:
        sendfunc am_send

    ctypedef struct PyTypeObject:
        PyAsyncMethods *tp_as_async
        iternextfunc tp_iternext
        destructor tp_dealloc

    void PyType_Modified(PyTypeObject *type)

    bint alk_raise_stop_iteration(PyObject *value)
    void alk_forget_value()
    int alk_make_stop_iteration() except -1


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
        error = kind if isinstance(kind, BaseException) else value
        if not isinstance(error, BaseException):
            error = kind() if value is None else kind(value)
        raise error if traceback is None else error.with_traceback(traceback)

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


cdef PySendResult am_send(PyObject *self, PyObject *sent, PyObject **result) noexcept:
    result[0] = taken(<Ready>self)
    return PYGEN_ERROR if result[0] is NULL else PYGEN_RETURN


cdef PyObject *tp_iternext(PyObject *self) noexcept:
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
    """Return an awaitable that gives `value` without suspending; it is awaited once."""
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


cdef PyTypeObject *ready_type = <PyTypeObject *>Ready
cdef sendfunc plain_am_send = ready_type.tp_as_async.am_send
cdef iternextfunc plain_tp_iternext = ready_type.tp_iternext
cdef destructor plain_tp_dealloc = ready_type.tp_dealloc


cdef bint patch_slots() except -1:
    """Replace the slots; put them back if the self-test fails."""
    global spares
    alk_make_stop_iteration()
    ready_type.tp_as_async.am_send = am_send
    ready_type.tp_iternext = tp_iternext
    ready_type.tp_dealloc = tp_dealloc
    PyType_Modified(ready_type)
    try:
        if self_test():
            return True
    except Exception:
        pass  # any answer but "as it should be" is a no
    ready_type.tp_as_async.am_send = plain_am_send
    ready_type.tp_iternext = plain_tp_iternext
    ready_type.tp_dealloc = plain_tp_dealloc
    spares = 0
    PyType_Modified(ready_type)
    return False


HAS_PATCHED_SLOTS = patch_slots()
"""Whether this interpreter goes along with the replaced slots."""
