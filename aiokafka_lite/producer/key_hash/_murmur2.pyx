# cython: language_level=3, binding=False, boundscheck=False, wraparound=False
"""The hash of keys in C: the native twin of `_murmur2_py`. Does not wait.

The work is done by `murmur2.h`, which the other native leaves include and call without an object.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from libc.stdint cimport uint8_t, uint32_t

cimport cython


cdef extern from "murmur2.h":
    uint32_t alk_murmur2(const uint8_t *data, size_t n) nogil


cdef uint32_t hash_of(object data) except? 0xFFFFFFFF:
    cdef Py_buffer view
    cdef uint32_t result
    if PyBytes_CheckExact(data):
        return alk_murmur2(<const uint8_t *>PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data))
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    result = alk_murmur2(<const uint8_t *>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return result


def murmur2(data, /):
    """Return the hash Java's client partitions by, as an unsigned 32-bit number."""
    return hash_of(data)


@cython.final
cdef class KeyHashes:
    """`hashes[key]`: what a keyed record's partition is the remainder of, murmur2 without sign.

    Keeps none: to look one up would take as long as to compute it.
    """

    def __getitem__(self, key):
        return hash_of(key) & 0x7FFFFFFF
