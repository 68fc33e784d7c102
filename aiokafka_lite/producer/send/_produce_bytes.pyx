# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""The bytes of a Produce request, and of its usual response: the native twin of
`_produce_bytes_py`.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy

from aiokafka_lite.codec.big_endian cimport big_endian, put_int32
from aiokafka_lite.producer.batch._record_ack cimport BatchOutcome


cdef enum:
    CORRELATION_ID_BYTES = 4
    MOST = 126
    RESULT_BYTES = 33  # index 4, error 2, three int64, then errors of records, text and tags
    THROTTLE_BYTES = 5  # throttle time 4, tags of the response

Written = list


cdef inline char *put_unsigned_varint(char *at, uint64_t number) noexcept:
    while number > 0x7F:
        at[0] = <char>(number & 0x7F | 0x80)
        number >>= 7
        at += 1
    at[0] = <char>number
    return at + 1


cdef inline int32_t partition_of(BatchOutcome batch) except? -1:
    return <object>PyTuple_GET_ITEM(batch.topic_partition, 1)


cdef bytes topic_lead(bytes lead, bytes told, Py_ssize_t count):
    """Return `lead`, then all of a topic that comes before its partitions."""
    cdef char room[5]
    cdef Py_ssize_t size = put_unsigned_varint(room, count + 1) - room
    cdef Py_ssize_t lead_bytes = PyBytes_GET_SIZE(lead)
    cdef Py_ssize_t told_bytes = PyBytes_GET_SIZE(told)
    cdef bytes made = PyBytes_FromStringAndSize(NULL, lead_bytes + told_bytes + size)
    cdef char *at = PyBytes_AS_STRING(made)
    memcpy(at, PyBytes_AS_STRING(lead), lead_bytes)
    memcpy(at + lead_bytes, PyBytes_AS_STRING(told), told_bytes)
    memcpy(at + lead_bytes + told_bytes, room, size)
    return made


cdef bytes partition_lead(bytes lead, int32_t index, Py_ssize_t wire_bytes):
    """Return `lead`, then all of a partition that comes before its batch."""
    cdef char room[9]
    cdef Py_ssize_t size
    cdef Py_ssize_t lead_bytes = PyBytes_GET_SIZE(lead)
    cdef bytes made
    size = put_unsigned_varint(put_int32(room, <uint32_t>index), wire_bytes + 1) - room
    made = PyBytes_FromStringAndSize(NULL, lead_bytes + size)
    memcpy(PyBytes_AS_STRING(made), PyBytes_AS_STRING(lead), lead_bytes)
    memcpy(PyBytes_AS_STRING(made) + lead_bytes, room, size)
    return made


cdef list by_topic(dict topics, list batches):
    """Return what tells each topic, and the places of its batches. None: all places in their order,
    of the only topic.
    """
    cdef dict places
    cdef BatchOutcome batch
    cdef Py_ssize_t place
    if len(topics) == 1:
        return [(told, None) for told in topics.values()]
    places = {topic: [] for topic in topics}
    for place, batch in enumerate(batches):
        (<list>places[<object>PyTuple_GET_ITEM(batch.topic_partition, 0)]).append(place)
    return list(zip(topics.values(), places.values()))


def request_parts(bytes head not None, dict topics not None, list batches not None, list wires not None):
    """As the twin."""
    cdef list parts = [], places
    cdef bytes lead = topic_lead(head, b"", len(topics))
    cdef bytes told
    cdef Py_ssize_t number, place, count
    if len(batches) != len(wires):
        raise ValueError(f"{len(batches)} batches have {len(wires)} wires")
    for told, places in by_topic(topics, batches):
        count = PyList_GET_SIZE(batches if places is None else places)
        lead = topic_lead(lead, told, count)
        for number in range(count):
            place = number if places is None else places[number]
            wire = wires[place]
            parts.append(partition_lead(lead, partition_of(batches[place]), len(wire)))
            parts.append(wire)
            lead = b"\0"
        lead = b"\0\0" if count else lead + b"\0"
    parts.append(lead + b"\0")
    return parts


cdef inline const uint8_t *behind(
    const uint8_t *at, const uint8_t *end, const char *expected, Py_ssize_t size
) noexcept:
    """Return where the bytes end that are expected at `at`; NULL: other bytes are there."""
    if at is NULL or end - at < size or memcmp(at, expected, size) != 0:
        return NULL
    return at + size


cdef Py_ssize_t place_told(list left, const uint8_t *at, const uint8_t *end):
    """Return where `left` has the topic that is told at `at`; -1: nowhere."""
    cdef Py_ssize_t number
    cdef bytes told
    for number in range(PyList_GET_SIZE(left)):
        told = <bytes>PyTuple_GET_ITEM(<object>PyList_GET_ITEM(left, number), 0)
        if behind(at, end, PyBytes_AS_STRING(told), PyBytes_GET_SIZE(told)) is not NULL:
            return number
    return -1


cdef bint put_written(const uint8_t *at, list written, list batches, list places) except -1:
    """Read the results of a topic's batches at `at` into their places. False: one is not written,
    or none of these.
    """
    cdef Py_ssize_t number, first = 0, count = PyList_GET_SIZE(batches if places is None else places)
    cdef Py_ssize_t place = 0
    cdef BatchOutcome batch = None
    cdef int32_t index
    for _ in range(count):
        index = <int32_t>big_endian(at, 4)
        for number in range(first, count):
            place = number if places is None else places[number]
            batch = <BatchOutcome?>batches[place]
            if partition_of(batch) == index and PyList_GET_ITEM(written, place) is <PyObject *>None:
                break
        else:
            return False
        if number == first:
            first += 1  # all before it have been read
        if memcmp(at + 4, b"\0\0", 2) != 0 or memcmp(at + 30, b"\1\0\0", 3) != 0:
            return False
        written[place] = (
            batch,
            <int64_t>big_endian(at + 6, 8),
            <int64_t>big_endian(at + 14, 8),
            <int64_t>big_endian(at + 22, 8),
        )
        at += RESULT_BYTES
    return True


cdef list written_of(const uint8_t *at, const uint8_t *end, dict topics, list batches):
    cdef list left = by_topic(topics, batches), places
    cdef list written = [None] * PyList_GET_SIZE(batches)
    cdef bytes told
    cdef char one_byte
    cdef Py_ssize_t number, count
    at = behind(at, end, b"\0", 1)  # tags of the header
    one_byte = <char>(len(topics) + 1)
    at = behind(at, end, &one_byte, 1)
    while left:
        number = place_told(left, at, end)
        if number < 0:
            return None
        told, places = left.pop(number)
        at += PyBytes_GET_SIZE(told)
        count = PyList_GET_SIZE(batches if places is None else places)
        one_byte = <char>(count + 1)
        at = behind(at, end, &one_byte, 1)
        if (
            at is NULL
            or end - at < count * RESULT_BYTES
            or not put_written(at, written, batches, places)
        ):
            return None
        at = behind(at + count * RESULT_BYTES, end, b"\0", 1)  # tags of the topic
    if behind(at, end, b"\0\0\0\0\0", THROTTLE_BYTES) is NULL or end - at != THROTTLE_BYTES:
        return None
    return written


def read_written(frame, dict topics not None, list batches not None):
    """As the twin."""
    cdef Py_buffer view
    if PyList_GET_SIZE(batches) > MOST:
        return None
    PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
    try:
        if view.len < CORRELATION_ID_BYTES:
            return None
        return written_of(
            <const uint8_t *>view.buf + CORRELATION_ID_BYTES,
            <const uint8_t *>view.buf + view.len,
            topics,
            batches,
        )
    finally:
        PyBuffer_Release(&view)


__all__ = ["Written", "read_written", "request_parts"]
