"""The C types of `request_channel.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.metrics.counters cimport WorkCounts
from aiokafka_lite.net.exchange cimport Exchange
from aiokafka_lite.net.frame_stream cimport FrameStream
from aiokafka_lite.net.in_flight_requests cimport InFlightRequests
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
    cdef public Exchange _unwritten
    cdef public Exchange _step
    cdef readonly bint _holds_requests
    cdef bint _is_sending
    cdef public object _api_versions
    cdef set _odd_responses
    cdef dict _heads
    cdef readonly double _request_timeout_s
    cdef readonly RequestDeadlines _deadlines

    cpdef bint takes_requests(self)
    cdef bint _is_free(self) except -1
    @cython.locals(head=RequestHead, transport=FrameStream)
    cpdef submit(self, Exchange exchange)
    cdef _send(self, Exchange exchange, FrameStream transport)
    @cython.locals(correlation_id=int64_t, parts=list)
    cdef _send_now(self, Exchange exchange, FrameStream transport)
    @cython.locals(transport=FrameStream, exchange=Exchange)
    cpdef _send_queued(self)
    @cython.locals(exchange=Exchange, now_s=double, counts=WorkCounts)
    cpdef frame_received(self, frame)
    cpdef _note_oddity(self, Exchange exchange)
    @cython.locals(exchange=Exchange, step=Exchange, transport=FrameStream)
    cpdef writing_resumed(self)
