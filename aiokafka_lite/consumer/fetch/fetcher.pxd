"""The C types of `fetcher.py`."""

cimport cython

from aiokafka_lite.cluster.direct_requests cimport DirectRequests
from aiokafka_lite.consumer.fetch.fetch_planner cimport FetchPlanner, RoundPlan
from aiokafka_lite.consumer.fetch.fetch_response cimport FetchOutcome
from aiokafka_lite.consumer.fetch.fetch_round cimport FetchRound
from aiokafka_lite.consumer.fetch.fetch_session cimport FetchSession


cdef class Fetcher:
    cdef readonly object _client
    cdef readonly DirectRequests _network
    cdef readonly object _metadata
    cdef readonly object _clock
    cdef object _observer
    cdef readonly object _subscription
    cdef object _revision
    cdef object _signal
    cdef readonly FetchPlanner _planner
    cdef public object _handler
    cdef readonly dict _nodes
    cdef public object _error
    cdef public object _asked
    cdef object _looked_at
    cdef object _looked_into
    cdef object _due_at_s
    cdef object _refused_wait
    cdef object _answer_wait
    cdef object _sparing
    cdef double _max_wait_s
    cdef readonly list _leaderless
    cdef readonly bint lacks_room
    cdef public bint _is_closed
    cdef bint _may_read_from_followers
    cdef object _assignment
    cdef object _leaders_of
    cdef frozenset _leaders

    @cython.locals(now_s=double, found=RoundPlan)
    cpdef start_fetches(self)
    cdef bint _every_leader_owes_an_answer(self, snapshot) except -1
    cdef _connect_leaders(self)
    @cython.locals(delay_s=double, left_s=double)
    cpdef fetch_delay(self, node_id)
    cpdef fetch_version(self, node_id)
    @cython.locals(is_sent=bint)
    cdef _begin(self, FetchRound fetch_round, double now_s)
    cdef _new_node(self, node_id)
    cpdef round_is_over(self, FetchRound fetch_round, response, error)
    cdef _end_round(self, node)
    @cython.locals(outcome=FetchOutcome)
    cdef _answered(self, node, response)
    cdef _refused(self, node, response)
    cpdef _note_refusals(self)
    cpdef _said_of_refused(self)
    @cython.locals(nodes=list)
    cpdef list _unanswered(self)
    @cython.locals(nodes=list)
    cpdef _unanswered_since_s(self)
    cpdef _said_of_unanswered(self)
    cdef _wait_of(self, node)
    @cython.locals(session=FetchSession)
    cdef _failed(self, node, error)
    cpdef _end_wait_unless_asked(self, node)
    cdef _back_off(self, node, Py_ssize_t attempts)
