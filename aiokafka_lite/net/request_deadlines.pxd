"""The C types of `request_deadlines.py`."""


cdef class RequestDeadlines:
    cdef object _clock
    cdef object _pending
    cdef object _on_late
    cdef object _timer
    cdef double _at_s

    cpdef watch(self, double deadline_s)
    cdef bint _is_watching(self, double deadline_s) except -1
    cpdef stop(self)
