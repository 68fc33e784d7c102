"""The C types of `fetch_wishes.py`."""

cimport cython

from aiokafka_lite.consumer.fetch.fetch_buffer cimport FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_session cimport FetchSession


cdef class FetchWishes:
    cdef readonly bint forgot_a_replica
    cdef double _retry_backoff_s
    cdef object _max_bytes
    cdef object _prefetch_max_bytes
    cdef object _subscription
    cdef FetchBuffer _buffer
    cdef object _session_of
    cdef object _snapshot
    cdef dict _asked_of
    cdef dict _leaderless
    cdef dict _ahead
    cdef set _dropped
    cdef _Moments _retries
    cdef _Moments _leases

    cpdef place(self, tp)
    cpdef bint may_prefetch(self, node_id) except -1
    cpdef list free_states(self, partitions, double now_s)
    cpdef bint was_dropped(self, tp) except -1
    cpdef drop(self, partitions)
    cpdef want(self, partitions)
    @cython.locals(changed=dict)
    cpdef update(self, snapshot, double now_s)
    cdef _look_at(self, tp, snapshot, double now_s)
    cdef _look_ahead(self, snapshot, double now_s)
    cdef _forget(self, tp)
    cdef _node_to_ask(self, state, leader, snapshot, double now_s)
    @cython.locals(session=FetchSession)
    cdef _ask(self, node_id, state, offset, leader, snapshot)
    @cython.locals(session=FetchSession)
    cdef _ask_no_more(self, tp)
    cdef bint _is_free(self, state) except -1


cdef class _Moments:
    cdef dict _moments
    cdef list _heap

    cpdef set(self, tp, double at_s)
    cpdef cancel(self, tp)
    cpdef list take_due(self, double now_s)


cpdef node_to_read(state, snapshot, double now_s)
cdef _to_read(state, leader, snapshot, double now_s)
