"""The C types of `in_flight_requests.py`."""

cimport cython
from libc.stdint cimport int64_t


cdef class InFlightRequests:
    cdef readonly Py_ssize_t max_in_flight
    cdef readonly int64_t next_correlation_id
    cdef object _sent

    cpdef bint has_most(self)
    cpdef int64_t new_correlation_id(self)
    cpdef add(self, int64_t correlation_id, request)
    @cython.locals(sent=tuple)
    cpdef object complete(self, int64_t correlation_id)
