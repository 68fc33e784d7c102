"""What the awaitables among the native leaves share; see `awaitable.h`."""

from cpython.object cimport PyObject


cdef extern from "aiokafka_lite/concurrency/awaitable.h":
    ctypedef int PySendResult
    PySendResult PYGEN_NEXT
    PySendResult PYGEN_RETURN
    PySendResult PYGEN_ERROR

    ctypedef struct PyTypeObject:
        pass

    ctypedef struct alk_slots:
        PySendResult (*am_send)(PyObject *, PyObject *, PyObject **) except -1
        PyObject *(*tp_iternext)(PyObject *) except? NULL
        void (*tp_dealloc)(PyObject *) noexcept

    PySendResult PyIter_Send(PyObject *iterator, PyObject *sent, PyObject **result)
    void alk_swap_slots(PyTypeObject *type, alk_slots *slots)
    void alk_set_am_send(
        PyTypeObject *type, PySendResult (*am_send)(PyObject *, PyObject *, PyObject **) except -1
    )
    bint alk_raise_stop_iteration(PyObject *value)
    void alk_forget_value()
    int alk_make_stop_iteration() except -1
    const int ALK_SPARES
    object alk_live_again(PyObject *spare)


cdef inline object raise_thrown(object kind, object value, object traceback):
    """Raise the exception that `throw` was called with, in any of its forms."""
    error = kind if isinstance(kind, BaseException) else value
    if not isinstance(error, BaseException):
        error = kind() if value is None else kind(value)
    raise error if traceback is None else error.with_traceback(traceback)
