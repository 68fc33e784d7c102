"""The C types of `direct_requests.py`."""

cimport cython

from aiokafka_lite.net.exchange cimport Exchange
from aiokafka_lite.net.request_channel cimport RequestChannel


cdef class DirectRequests:
    cdef readonly object _pool
    cdef dict _free
    cdef dict _own_lanes

    @cython.locals(connection=RequestChannel)
    cdef RequestChannel _free_connection(self, node_id, lane)
    @cython.locals(connection=RequestChannel)
    cpdef bint submit(self, node_id, Exchange exchange, lane=*) except -1
    cpdef double ready_delay(self, node_id, lane=*) except -1
