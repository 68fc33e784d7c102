"""The C types of `planned_fetch.py`."""

cimport cython

from aiokafka_lite.consumer.fetch.fetch_session cimport FetchSessionRequest
from aiokafka_lite.net.answer_callback cimport Answer


cdef class FetchTerms:
    cdef readonly object min_bytes
    cdef readonly object max_bytes
    cdef readonly int isolation_level
    cdef readonly object rack_id
    cdef readonly bytes limits
    cdef readonly bytes tail
    cdef object _topic_id
    cdef object _topic_id_bytes

    cpdef id_bytes(self, topic_id)


cdef class PlannedFetch(Answer):
    cdef readonly object node_id
    cdef readonly object max_version
    cdef readonly object request
    cdef public object node
    cdef public object on_answer
    cdef FetchTerms _terms
    cdef FetchSessionRequest _planned
    cdef object _max_wait_ms
    cdef object _forgotten

    @cython.locals(terms=FetchTerms, planned=FetchSessionRequest)
    cpdef object write_usual(self, int version)
