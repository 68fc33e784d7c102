"""The C types of `poll_steps.py`."""

cimport cython

from aiokafka_lite.consumer.fetch.fetch_buffer cimport FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_collector cimport FetchCollector
from aiokafka_lite.consumer.fetch.fetcher cimport Fetcher



cdef class RunningPoll:
    cdef readonly object partitions
    cdef readonly object collect
    cdef readonly object deadline_s
    cdef public bint is_over
    cdef readonly object look_again_s
    cdef object _awaited

    cpdef bint are_over(self, pending) except -1


cdef class PollSteps:
    cdef readonly object _client
    cdef readonly object _clock
    cdef readonly object _metadata
    cdef readonly object _subscription
    cdef object _settled_in
    cdef long long _settled_at
    cdef readonly object _signal
    cdef readonly FetchBuffer _buffer
    cdef readonly FetchCollector _collector
    cdef readonly Fetcher _fetcher
    cdef readonly object _group
    cdef readonly object _offset_fetcher
    cdef object _preparations
    cdef object _leader_watch
    cdef list _wanted
    cdef public bint _is_stopped
    cdef Py_ssize_t _idle_polls
    cdef double _idle_since_s
    cdef double _idle_s
    cdef public Py_ssize_t _polls_left
    cdef double _turn_ends_s

    cpdef _look_for_records(self, RunningPoll poll)
    cpdef _earliest(self, first_s, second_s, third_s=*)
    cpdef bint _is_turn_over(self, bint may_wait) except -1
    cpdef _begin_turn(self)
    cpdef _begin_poll(self, partitions)
    cpdef _end_poll(self, partitions)
    cpdef _fetch_what_is_wanted(self, due_s)
    cdef _look_around(self)
    cdef _raise_for_want_of_records(self, RunningPoll poll)
    cpdef _raise_errors(self)
    cdef _raise_passing_errors(self)
    cdef _leader_error(self)
    cpdef _begin_idle(self)
    cpdef _end_idle(self)
