"""The C types of `exchange.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.protocol.request_frame cimport RequestHead


cdef class Exchange:
    cdef readonly object request
    cdef readonly object max_version
    cdef public bint expects_response
    cdef public object timeout_s
    cdef public bint is_use
    cdef public int version
    cdef public double deadline_s
    cdef public double sent_at_s
    cdef public int64_t correlation_id
    cdef public object oddity
    cdef readonly bint is_over
    cdef RequestHead _head
    cdef bint _has_ended
    cdef object _response
    cdef object _error
    cdef object _waiter

    cpdef object write(self, int version)
    cpdef object read(self, frame, int version)
    cpdef ended(self, response, error)
    cpdef _take_error(self)
    cpdef bint is_wanted(self) except -1
    cpdef begin(self, RequestHead head, double now_s, double usual_timeout_s)
    @cython.locals(head=RequestHead)
    cpdef list frame(self, int64_t correlation_id)
    cpdef received(self, frame)
    cpdef has_left(self)
    cpdef fail(self, error)


cdef class FrameExchange(Exchange):
    pass
