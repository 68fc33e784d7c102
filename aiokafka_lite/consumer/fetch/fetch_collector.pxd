"""The C types of `fetch_collector.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.consumer.fetch.completed_fetch cimport CompletedFetch
from aiokafka_lite.consumer.fetch.fetch_buffer cimport FetchBuffer


cdef class FetchCollector:
    cdef object _subscription
    cdef FetchBuffer _buffer
    cdef object _observer
    cdef readonly object decoded
    cdef public object may_decode_on
    cdef object _budget
    cdef readonly dict unprepared
    cdef int64_t _returned
    cdef int64_t _settled
    cdef CompletedFetch _chunk_fetch
    cdef object _chunk_state
    cdef bint _is_taking

    @cython.locals(taking=_TakingRecords)
    cpdef dict collect(self, Py_ssize_t max_records, partitions=*)
    @cython.locals(taking=_TakingColumns)
    cpdef Py_ssize_t collect_columns(self, columns, partitions=*)
    @cython.locals(fetch=CompletedFetch, wants_more=cython.bint)
    cdef _drain(self, _Taking taking, partitions)
    @cython.locals(taking=_TakingOne, fetch=CompletedFetch)
    cpdef collect_one(self, partitions=*)
    cpdef begin_poll(self)
    @cython.locals(handed_out=int64_t, fetch=CompletedFetch)
    cpdef settle(self)
    @cython.locals(fetch=CompletedFetch)
    cpdef standing_error(self, partitions=*)
    cdef _usable(self, CompletedFetch fetch)
    @cython.locals(wants_more=cython.bint, before=int64_t)
    cdef bint _take(self, _Taking taking, CompletedFetch fetch, state) except -1
    @cython.locals(size=int64_t)
    cdef _tell_read_bytes(self, CompletedFetch fetch)
    cdef _set_aside(self, CompletedFetch fetch, error)
    cdef _raise_failure(self, CompletedFetch fetch)


cdef class _Taking:
    cdef Py_ssize_t taken

    cdef bint take_from(self, CompletedFetch fetch) except -1


cdef class _TakingRecords(_Taking):
    cdef Py_ssize_t max_records
    cdef dict collected


cdef class _TakingColumns(_Taking):
    cdef object columns
    cdef object observer


cdef class _TakingOne(_Taking):
    cdef object record
    cdef CompletedFetch fetch


cdef bint _stands_aside(CompletedFetch fetch) except -1
