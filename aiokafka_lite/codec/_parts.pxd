"""What other native leaves may use of scattered bytes: to derive from them, and to refer to values."""

from cpython.object cimport PyObject
from libc.stdint cimport uint32_t


cdef struct Reference:
    PyObject *value  # owned, exact `bytes`
    Py_ssize_t end  # how many bytes of `_data` come before it


cdef class ScatteredBytes:
    cdef char *_data
    cdef Py_ssize_t _position  # how many bytes at `_data` are used
    cdef Py_ssize_t _referred_bytes
    cdef Py_ssize_t _reference_count
    cdef Py_ssize_t _reference_room
    cdef Reference *_references

    cdef int refer(self, Py_ssize_t end, object value) except -1
    cdef uint32_t crc_between(self, Py_ssize_t begin, Py_ssize_t end) noexcept
