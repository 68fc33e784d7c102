"""The C types of `request_channel.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.net.frame_stream cimport FrameStream
from aiokafka_lite.net.in_flight_requests cimport InFlightRequests
from aiokafka_lite.net.pending_request cimport PendingRequest
from aiokafka_lite.protocol.request_frame cimport encode_request


cdef class RequestChannel:
    cdef public object name
    cdef public object node_id
    cdef public object client_id
    cdef readonly object config
    cdef public double last_used_s
    cdef readonly object _clock
    cdef readonly object _observer
    cdef public object _state
    cdef public FrameStream _transport
    cdef public InFlightRequests _in_flight
    cdef readonly object _mailbox
    cdef public PendingRequest _unwritten
    cdef public PendingRequest _step
    cdef readonly bint _holds_requests
    cdef public object _api_versions
    cdef readonly dict _versions
    cdef readonly double _request_timeout_s
    cdef readonly object _deadlines

    cdef bint _is_free(self) except -1
    cpdef PendingRequest _new_pending(
        self, request, answer, timeout_s, max_version, bint expects_response=*
    )
    @cython.locals(transport=FrameStream)
    cpdef _submit(self, PendingRequest pending)
    @cython.locals(correlation_id=int64_t, parts=list)
    cdef _send(self, PendingRequest pending, FrameStream transport)
    @cython.locals(transport=FrameStream, pending=PendingRequest)
    cpdef _send_queued(self)
    @cython.locals(pending=PendingRequest, now_s=double)
    cpdef frame_received(self, frame)
    @cython.locals(pending=PendingRequest, step=PendingRequest, transport=FrameStream)
    cpdef writing_resumed(self)
