"""The C types of `fetch_planner.py`."""

cimport cython

from aiokafka_lite.consumer.fetch.fetch_buffer cimport FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_session cimport FetchSession, FetchSessionRequest
from aiokafka_lite.consumer.fetch.fetch_wishes cimport FetchWishes


cdef class RoundPlan:
    cdef readonly list fetches
    cdef readonly list leaderless
    cdef public bint needs_metadata
    cdef public bint lacks_room
    cdef public object due_at_s


cdef class FetchPlanner:
    cdef readonly object _config
    cdef readonly object _subscription
    cdef readonly FetchBuffer _buffer
    cdef readonly object _nodes
    cdef readonly dict _sessions
    cdef readonly object _wishes
    cdef object _terms

    @cython.locals(session=FetchSession)
    cpdef FetchSession session(self, node_id)
    cpdef list open_sessions(self)
    cpdef list free_partitions(self, double now_s)
    cpdef bint was_dropped(self, tp) except -1
    @cython.locals(wishes=FetchWishes, found=RoundPlan, session=FetchSession, spare=double)
    cpdef RoundPlan plan_round(self, snapshot, double now_s)
    cdef double _spare_fetches(self) except -1
    cpdef want(self, partitions)
    cpdef plan_close(self, FetchSession session)
    cpdef bint _has_room(self, node_id) except -1
    @cython.locals(planned=FetchSessionRequest)
    cpdef _plan(self, FetchSession session, double now_s)
    cdef bint _can_send_ids(self, node_id) except -1
    cdef _wait_ms(self, node_id, double now_s)


cdef _due(RoundPlan found, double at_s)
