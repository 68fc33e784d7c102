# cython: language_level=3, boundscheck=False, wraparound=False
"""CRC-32C in C: the native twin of `crc32c_py`. Does not wait.

`crc32c.h` does the work. The other native leaves include it and call it without a Python object.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport uint8_t, uint32_t


cdef extern from "crc32c.h":
    uint32_t alk_crc32c(uint32_t crc, const uint8_t *data, size_t n) nogil
    uint32_t alk_crc32c_by(int routine, uint32_t crc, const uint8_t *data, size_t n) nogil
    int alk_crc32c_best() nogil


def crc32c(data, uint32_t crc=0, /):
    """Return the CRC-32C of `data`, continuing from `crc` (the CRC of the bytes before)."""
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    crc = alk_crc32c(crc, <const uint8_t *>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return crc


def crc32c_by(int routine, data, uint32_t crc=0, /):
    """Return the same as `crc32c`, by one routine: 1 (the table, for every processor) to `BEST`."""
    cdef Py_buffer view
    if not 1 <= routine <= BEST:
        raise ValueError(f"this processor has the routines 1 to {BEST}, not {routine}")
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    crc = alk_crc32c_by(routine, crc, <const uint8_t *>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return crc


BEST = alk_crc32c_best()
"""The routine of `crc32c`: 1 the table, 2 the processor's CRC instruction, 3 AVX-512's
multiplication.
"""
