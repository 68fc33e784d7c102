"""The C types of `fetch_response.py`."""

cimport cython

from aiokafka_lite.consumer.fetch.fetch_buffer cimport AnswerMemory, FetchBuffer
from aiokafka_lite.consumer.fetch.fetch_session cimport FetchSession


cdef class FetchOutcome:
    cdef readonly bint is_accepted
    cdef readonly bint needs_metadata
    cdef readonly Py_ssize_t records_bytes
    cdef readonly tuple error_codes


cdef class _Arrival:
    cdef double now_s
    cdef object timestamp_ms
    cdef AnswerMemory memory


cdef class FetchResponseHandler:
    cdef object _config
    cdef object _update_leaders
    cdef object _subscription
    cdef FetchBuffer _buffer
    cdef object _backoff
    cdef readonly dict refused

    cpdef dict still_refused(self, double now_s, double unasked_s)
    @cython.locals(outcome=FetchOutcome, arrival=_Arrival, answers=dict)
    cpdef FetchOutcome handle(self, FetchSession session, response, double now_s, timestamp_ms)
    cdef bint _is_ahead(self, state, fetch_offset) except -1
    cdef _follow_hints(self, dict answers, response)
    @cython.locals(size=Py_ssize_t)
    cdef _handle_data(self, FetchSession session, state, offset, data, _Arrival arrival)
    cdef _deserializer_of(self, tp)
    cdef _too_large(self, tp, offset, size)
    cdef _handle_error(self, FetchSession session, state, data, _Arrival arrival)
    cdef _out_of_range(self, FetchSession session, state, data, _Arrival arrival)
    cdef _fail(self, FetchSession session, state, error, _Arrival arrival, offset=*)
    cdef _put_off_error(self, state, data, _Arrival arrival)
    cdef _ask_again(self, FetchSession session, state, code, _Arrival arrival)
    cdef _back_off(self, state, _Arrival arrival)


cdef dict _named_partitions(FetchSession session, response, set unknown_ids)
cdef Py_ssize_t _memory_size(answers) except -1
cpdef bint wants(state, asked) except -1
cdef bint _is_at(state, fetch_offset) except -1
cdef bint _is_other_log(state, asked) except -1
cdef _remember_watermarks(state, data, timestamp_ms)
