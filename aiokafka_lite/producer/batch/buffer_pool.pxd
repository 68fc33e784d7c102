"""The C types of `buffer_pool.py`, and what other native leaves may call without an argument tuple."""

cimport cython

cdef Py_ssize_t _SCARCE_SHARE


cdef class _Waiter:
    cdef readonly Py_ssize_t size
    cdef readonly object granted


cdef class BufferPool:
    cdef readonly Py_ssize_t total_bytes
    cdef readonly Py_ssize_t used_bytes
    cdef readonly Py_ssize_t kept_bytes
    cdef readonly dict _kept
    cdef readonly object _waiters
    cdef object _cause

    cpdef bint is_scarce(self)
    cpdef bytearray take_nowait(self, Py_ssize_t size)
    @cython.locals(size=Py_ssize_t)
    cpdef give(self, bytearray buffer, bint reusable=*)
    @cython.locals(freed_bytes=Py_ssize_t)
    cpdef shrink(self, bytearray buffer, Py_ssize_t size)
    cpdef give_bytes(self, Py_ssize_t size)
    @cython.locals(size=Py_ssize_t)
    cdef _keep(self, bytearray buffer)
    cdef _make_room(self, Py_ssize_t most_bytes)
    @cython.locals(waiter=_Waiter, size=Py_ssize_t, is_over=bint)
    cdef _serve(self)
    cdef bytearray _buffer_of(self, Py_ssize_t size)
