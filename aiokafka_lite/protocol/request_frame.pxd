"""The C types of `request_frame.py`."""

cimport cython


cdef class RequestHead:
    cdef readonly int version
    cdef object _api_key
    cdef Py_ssize_t _id_size
    cdef bytes _tail

    @cython.locals(size=Py_ssize_t, head=bytes)
    cpdef list frame(self, list parts, correlation_id)


cpdef list encode_request(request, int version, correlation_id, client_id)
cpdef list prepend(bytes head, list parts)
