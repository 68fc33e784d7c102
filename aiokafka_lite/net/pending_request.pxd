"""The C types of `pending_request.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.net.answer_callback cimport Answer
from aiokafka_lite.protocol.request_frame cimport RequestHead


cdef class PendingRequest:
    cdef readonly object request
    cdef readonly int version
    cdef readonly object answer
    cdef readonly double timeout_s
    cdef readonly double deadline_s
    cdef public bint expects_response
    cdef public RequestHead head
    cdef readonly bint is_use
    cdef readonly object oddity
    cdef public double sent_at_s
    cdef public int64_t correlation_id

    @cython.locals(callback=Answer, head=RequestHead)
    cpdef list frame(self, int64_t correlation_id, client_id)
    cpdef object result_of(self, frame)
    @cython.locals(callback=Answer)
    cpdef received(self, frame)
    cpdef has_left(self)
    cpdef fail(self, error)


cdef class PendingStep(PendingRequest):
    pass
