"""The C types of `request_channel.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.metrics.counters cimport WorkCounts
from aiokafka_lite.net.frame_stream cimport FrameStream
from aiokafka_lite.net.in_flight_requests cimport InFlightRequests
from aiokafka_lite.net.pending_request cimport PendingRequest
from aiokafka_lite.net.request_deadlines cimport RequestDeadlines
from aiokafka_lite.protocol.request_frame cimport RequestHead


cdef class RequestChannel:
    cdef public object name
    cdef public object node_id
    cdef public object client_id
    cdef readonly object config
    cdef public double last_used_s
    cdef readonly object _clock
    cdef object _monotonic
    cdef readonly object _observer
    cdef WorkCounts _counts
    cdef public object _state
    cdef public FrameStream _transport
    cdef public InFlightRequests _in_flight
    cdef readonly object _mailbox
    cdef public PendingRequest _unwritten
    cdef public PendingRequest _step
    cdef readonly bint _holds_requests
    cdef bint _is_sending
    cdef public object _api_versions
    cdef set _odd_responses
    cdef dict _heads
    cdef readonly double _request_timeout_s
    cdef readonly RequestDeadlines _deadlines

    cpdef bint takes_requests(self)
    cdef bint _is_free(self) except -1
    cpdef submit(
        self, request, answer, max_version=*, bint expects_response=*, timeout_s=*
    )
    @cython.locals(head=RequestHead, pending=PendingRequest)
    cpdef PendingRequest _new_pending(
        self, request, answer, timeout_s, max_version, bint expects_response=*
    )
    @cython.locals(transport=FrameStream)
    cpdef _submit(self, PendingRequest pending)
    cdef _send(self, PendingRequest pending, FrameStream transport)
    @cython.locals(correlation_id=int64_t, parts=list)
    cdef _send_now(self, PendingRequest pending, FrameStream transport)
    @cython.locals(transport=FrameStream, pending=PendingRequest)
    cpdef _send_queued(self)
    @cython.locals(pending=PendingRequest, now_s=double, counts=WorkCounts)
    cpdef frame_received(self, frame)
    cpdef _note_oddity(self, PendingRequest pending)
    @cython.locals(pending=PendingRequest, step=PendingRequest, transport=FrameStream)
    cpdef writing_resumed(self)
