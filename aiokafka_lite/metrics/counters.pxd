"""The C types of `counters.py`."""

from libc.stdint cimport int64_t


cdef class WorkCounts:
    cdef public bint is_heard
    cdef public tuple observers
    cdef public int64_t responses
    cdef public int64_t response_bytes
    cdef public double response_time_s
    cdef public int64_t acknowledged_batches
    cdef public int64_t acknowledged_records
    cdef public int64_t acknowledged_bytes

    cpdef response_counted(self, double took_s, Py_ssize_t size)
    cpdef batches_counted(self, Py_ssize_t batches, Py_ssize_t records, Py_ssize_t size)
