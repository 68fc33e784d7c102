# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""Checks the records of a batch without decoding them: the native twin of `_record_check_py`."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport INT64_MAX, INT64_MIN, int64_t, uint8_t

from aiokafka_lite.errors import CorruptRecordException


cdef extern from "../consumer_record/varint.h":
    int alk_read_varint(
        const uint8_t **at, const uint8_t *end, int max_bytes, int64_t *value
    ) noexcept nogil


cdef inline const uint8_t *skip(
    const uint8_t *at, const uint8_t *end, int64_t least, int64_t *size
) noexcept nogil:
    """Step over a length and its bytes; NULL if they are not there."""
    if alk_read_varint(&at, end, 5, size) or size[0] < least or size[0] > end - at:
        return NULL
    return at + size[0] if size[0] > 0 else at


cdef const uint8_t *read_record(
    const uint8_t *at, const uint8_t *end, int64_t *delta, int64_t *key
) noexcept nogil:
    """Return the end of the record at `at`; NULL if it is broken."""
    cdef int64_t number, headers, i
    cdef const uint8_t *stop
    if alk_read_varint(&at, end, 5, &number) or number < 1 or number > end - at:
        return NULL
    stop = at + number
    at += 1
    if alk_read_varint(&at, stop, 10, delta) or alk_read_varint(&at, stop, 5, &number):
        return NULL
    at = skip(at, stop, -1, key)
    if at == NULL:
        return NULL
    at = skip(at, stop, -1, &number)
    if at == NULL or alk_read_varint(&at, stop, 5, &headers) or headers < 0:
        return NULL
    for i in range(headers):
        at = skip(at, stop, 0, &number)
        if at == NULL:
            return NULL
        at = skip(at, stop, -1, &number)
        if at == NULL:
            return NULL
    return at if at == stop else NULL


def check_records(payload, int count):
    """Check that `payload` is `count` whole records of format 2, and nothing else.

    Return the lowest and the highest of their timestamps in relation to the batch, the number of
    records without a key, and the bytes of the largest record.

    Raises: CorruptRecordException saying which record is broken.
    """
    cdef Py_buffer view
    cdef const uint8_t *at
    cdef const uint8_t *begin
    cdef const uint8_t *end
    cdef const uint8_t *stop
    cdef int64_t lowest = INT64_MAX, highest = INT64_MIN, keyless = 0, largest = 0, delta, key
    cdef int64_t broken = -1, left = 0
    cdef int index
    delta = key = 0
    PyObject_GetBuffer(payload, &view, PyBUF_SIMPLE)
    begin = at = <const uint8_t *>view.buf
    end = at + view.len
    for index in range(count):
        stop = read_record(at, end, &delta, &key)
        if stop == NULL:
            broken = index
            break
        if delta < lowest:
            lowest = delta
        if delta > highest:
            highest = delta
        if key < 0:
            keyless += 1
        if stop - at > largest:
            largest = stop - at
        at = stop
    left = end - at
    position = at - begin
    PyBuffer_Release(&view)
    if broken >= 0:
        raise CorruptRecordException(f"record {broken} at byte {position} is not a whole record")
    if left:
        raise CorruptRecordException(f"{left} bytes follow the last record")
    return lowest, highest, keyless, largest
