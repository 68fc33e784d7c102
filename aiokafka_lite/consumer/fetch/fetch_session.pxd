"""The C types of `fetch_session.py`."""

cimport cython
from libc.stdint cimport int32_t, int64_t


cdef class FetchSessionRequest:
    cdef readonly int32_t session_id
    cdef readonly int64_t session_epoch
    cdef readonly dict to_send
    cdef readonly tuple to_forget
    cdef readonly tuple to_replace
    cdef readonly bint can_use_topic_ids


cdef class FetchSession:
    cdef readonly object node_id
    cdef public int32_t session_id
    cdef public int64_t epoch
    cdef public dict wanted
    cdef public dict partitions
    cdef dict _changed
    cdef Py_ssize_t _wanted_without_id
    cdef object _topics
    cdef dict _names
    cdef bint _uses_topic_ids

    cpdef topic_name(self, topic_id)
    cpdef name_told_by(self, topic_id_bytes)
    cpdef want(self, tp, data)
    cpdef unwant(self, tp)
    cpdef FetchSessionRequest build(self, place)
    cdef FetchSessionRequest _build_full(self, place)
    @cython.locals(changed=dict, forget=list, replace=list, to_send=dict, asked=list)
    cdef FetchSessionRequest _build_incremental(self, place)
    cdef _hold(self, tp, data)
    cdef _drop(self, tp)
    cdef _forget_partitions(self)
    cpdef FetchSessionRequest build_close(self)
    cdef FetchSessionRequest _request(self, dict to_send, tuple to_forget, tuple to_replace)
    cpdef bint handle_response(
        self,
        error_code,
        session_id,
        throttle_time_ms,
        partitions,
        unknown_topic_ids=*,
    ) except -1
    cdef _handle_error_code(self, error_code)
    cdef bint _handle_full(
        self, session_id, throttle_time_ms, partitions, unknown_topic_ids
    ) except -1
    cdef bint _handle_incremental(self, session_id, partitions, unknown_topic_ids) except -1
    cpdef handle_error(self)
    cdef _forget_session(self)
    cdef _log_mismatch(self, partitions, unknown_topic_ids)


cdef bint _is_replaced(before, now) except -1
