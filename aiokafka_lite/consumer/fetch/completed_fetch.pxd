"""The C types of `completed_fetch.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.consumer.fetch cimport _decoded_records as decoded_records


cdef class CompletedFetch(decoded_records.FetchPlace):
    cdef readonly object topic_partition
    cdef readonly int64_t fetch_offset
    cdef readonly int64_t node_id
    cdef readonly int64_t incarnation
    cdef readonly object leader
    cdef readonly double received_at_s
    cdef public long place
    cdef readonly object end_offset
    cdef readonly Py_ssize_t size_in_bytes
    cdef readonly bint is_failure
    cdef readonly object error
    cdef public bint is_busy
    cdef readonly bint is_released
    cdef readonly int64_t leader_epoch
    cdef readonly object deserializer
    cdef readonly object unprepared
    cdef readonly list raw
    cdef readonly Py_ssize_t wanted
    cdef object _cursor
    cdef list _chunk
    cdef int64_t _chunk_epoch
    cdef int64_t _told_bytes
    cdef list _deserialized
    cdef object _failure

    @cython.locals(read=int64_t)
    cpdef int64_t newly_read_bytes(self) except -1
    cpdef bint is_drained(self)
    @cython.locals(offset=int64_t, incarnation=int64_t)
    cpdef bint fits(self, state)
    @cython.locals(chunk=list, taken=list)
    cpdef list take(self, Py_ssize_t max_records)
    @cython.locals(before=Py_ssize_t)
    cpdef Py_ssize_t take_columns(self, columns)
    cpdef _append_decoded(self, columns)
    cpdef take_one(self)
    @cython.locals(more=list)
    cpdef bint decode_on(self)
    cdef bint _has_others_first(self)
    cpdef fail(self, error)
    cpdef own_bytes(self)
    cpdef release(self)
    cpdef prepared(self, list deserialized, failure)
    cdef list _take_from_cursor(self, Py_ssize_t max_records)
    cdef _note_dropped(self, list made)
    cdef list _next_records(self, Py_ssize_t max_records, Py_ssize_t wanted, max_bytes=*)
    cdef list _made_objects(self, deserializer, list records, Py_ssize_t wanted)
    cdef _decode_ahead(self)
    cdef _stand_behind(self, record)
    cdef _stand_at_cursor(self)
