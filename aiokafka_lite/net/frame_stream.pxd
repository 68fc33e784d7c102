"""The C types of `frame_stream.py`."""

cimport cython


cdef class FrameStream:
    cdef public object _handler
    cdef readonly object _peer
    cdef object _frame_pool
    cdef Py_ssize_t _max_frame_bytes
    cdef public object _transport
    cdef public Py_ssize_t _high_water
    cdef public bint can_write
    cdef readonly object error
    cdef public object _scratch
    cdef public Py_ssize_t _scratch_end
    cdef public object _large_frame
    cdef Py_ssize_t _large_end
    cdef public object _socket
    cdef readonly Py_ssize_t _awaited
    cdef public object _sends_by
    cdef public list _unsent
    cdef public Py_ssize_t _unsent_at
    cdef bint _was_paused
    cdef bint _is_handing_on

    cdef _send_unsent(self, transport)
    @cython.locals(at=Py_ssize_t)
    cdef _send_by_loop(self, transport)
    cdef _send_now(self, sock, transport)
    cdef _hand_on(self, transport, Py_ssize_t at, Py_ssize_t most)

    cpdef write(self, list parts)
    @cython.locals(start=Py_ssize_t, end=Py_ssize_t, body=Py_ssize_t, size=Py_ssize_t)
    cdef _split_scratch(self)
    @cython.locals(arrived=Py_ssize_t)
    cdef Py_ssize_t _begin_large_frame(self, view, Py_ssize_t size, Py_ssize_t body) except -1
    @cython.locals(awaited=Py_ssize_t)
    cdef _await_bytes(self, Py_ssize_t left)
    cdef _finish_large_frame(self)
    cdef _deliver(self, frame)
    cpdef _fail(self, error)


cdef object _take_scratch()
cdef _give_back(scratch)
