"""The C types of `request_frame.py`."""

cimport cython


@cython.locals(parts=list, encoded_id=bytes, body_size=Py_ssize_t, size=Py_ssize_t, tail=bytes)
cpdef list encode_request(request, int version, correlation_id, client_id)
cpdef list prepend(bytes head, list parts)
