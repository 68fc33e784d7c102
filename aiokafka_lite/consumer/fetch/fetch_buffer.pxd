"""The C types of `fetch_buffer.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.consumer.fetch.completed_fetch cimport CompletedFetch


cdef class AnswerMemory:
    cdef readonly Py_ssize_t size_in_bytes
    cdef readonly dict fetches


cdef class FetchBuffer:
    cdef readonly object revision
    cdef readonly object budget
    cdef readonly object in_vain
    cdef long _places
    cdef dict _completed_fetches
    cdef dict _fetches_of
    cdef object _unread_bytes
    cdef dict _newest_at_s
    cdef dict _memory_of
    cdef dict _memories
    cdef object _held_bytes

    cpdef bint is_buffered(self, tp)
    cpdef bint is_next(self, CompletedFetch fetch)
    @cython.locals(fetches=list, oldest=CompletedFetch, newest=CompletedFetch)
    cpdef end_offset(self, state)
    cpdef unread_bytes(self, node_id)
    cpdef held_bytes(self, node_id)
    cpdef newest_at_s(self, node_id)
    cpdef add(self, CompletedFetch fetch, AnswerMemory memory=*)
    @cython.locals(memories=dict)
    cdef _hold(self, CompletedFetch fetch, AnswerMemory memory)
    @cython.locals(memory=AnswerMemory)
    cdef _let_go(self, CompletedFetch fetch)
    @cython.locals(memory=AnswerMemory, fetch=CompletedFetch)
    cpdef copy_leftovers(self, node_id)
    @cython.locals(fetches=list)
    cpdef remove(self, CompletedFetch fetch)
    cpdef set_aside(self, CompletedFetch fetch, error)
