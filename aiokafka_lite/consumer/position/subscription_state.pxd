"""The C types of `subscription_state.py`."""


cdef class SubscriptionState:
    cdef public object default_reset
    cdef public object mode
    cdef public object topics
    cdef public object pattern
    cdef public object server_pattern
    cdef public object poll_number
    cdef public object ownership_epoch
    cdef readonly object revision
    cdef readonly long long unsettled
    cdef dict _unfollowed
    cdef dict _without_position
    cdef object _next_place
    cdef set _gone_with_records
    cdef object _gone_in_poll
    cdef dict _states
    cdef object _assignment

    cpdef get(self, tp)
    cpdef bint has_all_fetch_positions(self) except -1
    cpdef bint is_settled(self) except -1
    cpdef place(self, tp)
    cpdef bint forget_replica(self, state) except -1
    cpdef note_take(self, state)
    cpdef note_move(self, state)
    cpdef move_to_end(self, tp)
