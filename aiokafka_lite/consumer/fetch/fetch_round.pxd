"""The C types of `fetch_round.py`."""

cimport cython

from aiokafka_lite.consumer.fetch.fetch_session cimport FetchSessionRequest
from aiokafka_lite.net.exchange cimport Exchange


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


cdef class FetchRound(Exchange):
    cdef readonly object node_id
    cdef public object fetcher
    cdef public object node
    cdef FetchTerms _terms
    cdef FetchSessionRequest _planned
    cdef object _max_wait_ms
    cdef object _forgotten

    cpdef ended(self, response, error)
    @cython.locals(terms=FetchTerms, planned=FetchSessionRequest)
    cpdef object write(self, int version)
    cpdef object read(self, frame, int version)
