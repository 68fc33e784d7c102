"""The C types of `node_pace.py`."""

cimport cython


cdef class NodePace:
    cdef object _steps
    cdef double _share_s
    cdef Py_ssize_t _enough_bytes
    cdef Py_ssize_t _first_bytes
    cdef Py_ssize_t _leap
    cdef bint _is_free
    cdef double _most_factor
    cdef public Py_ssize_t bytes_on_their_way
    cdef readonly Py_ssize_t most_bytes
    cdef readonly Py_ssize_t most_batch_bytes

    @cython.locals(most=Py_ssize_t, shown=double)
    cpdef was_answered(self, Py_ssize_t bytes_on_their_way, double taken_s)
    cpdef was_late(self)
