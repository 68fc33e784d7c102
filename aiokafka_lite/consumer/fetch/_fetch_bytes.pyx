# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""The bytes of a Fetch request of one partition or none, and of the response of one partition: the
native twin of `_fetch_bytes_py`.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

from aiokafka_lite.codec.big_endian cimport big_endian, put_int32, put_int64


cdef enum:
    LIMITS_BYTES = 9
    ID_BYTES = 16
    HEAD_BYTES = 21  # how long to wait, limits, session id and epoch
    TOPIC_BYTES = 52
    ANSWER_BYTES = 68  # all before the size of the records
    MOST_VARINT_BYTES = 5


cdef class LoneAnswer:
    """As the twin."""

    error_code = 0
    throttle_time_ms = 0
    node_endpoints = ()
    aborted_transactions = None
    preferred_read_replica = -1

    cdef readonly int32_t session_id
    cdef readonly bytes topic_id_bytes
    cdef readonly int32_t partition_index
    cdef readonly int64_t high_watermark
    cdef readonly int64_t last_stable_offset
    cdef readonly int64_t log_start_offset
    cdef readonly object records

    def __init__(
        self,
        session_id,
        topic_id_bytes,
        partition_index,
        high_watermark,
        last_stable_offset,
        log_start_offset,
        records,
    ):
        self.session_id = session_id
        self.topic_id_bytes = topic_id_bytes
        self.partition_index = partition_index
        self.high_watermark = high_watermark
        self.last_stable_offset = last_stable_offset
        self.log_start_offset = log_start_offset
        self.records = records


cdef inline char *put_byte(char *at, char byte) noexcept:
    at[0] = byte
    return at + 1


cdef inline char *put_bytes(char *at, bytes given, Py_ssize_t size) noexcept:
    memcpy(at, PyBytes_AS_STRING(given), size)
    return at + size


cdef bytes written(
    int32_t max_wait_ms,
    bytes limits,
    int32_t session_id,
    int32_t session_epoch,
    tuple asked,
    bytes tail,
):
    cdef Py_ssize_t tail_bytes = PyBytes_GET_SIZE(tail)
    cdef bytes topic_id = b""
    cdef int32_t partition = 0, epoch = 0, max_bytes = 0
    cdef int64_t offset = 0
    cdef bytes made
    cdef char *at
    if asked is not None:
        topic_id, partition, epoch, offset, max_bytes = asked
        if PyBytes_GET_SIZE(topic_id) != ID_BYTES:
            raise ValueError(f"{topic_id!r} is no id of a topic")
    if PyBytes_GET_SIZE(limits) != LIMITS_BYTES:
        raise ValueError(f"{limits!r} are no limits")
    made = PyBytes_FromStringAndSize(
        NULL, HEAD_BYTES + (1 if asked is None else TOPIC_BYTES) + tail_bytes
    )
    at = put_int32(PyBytes_AS_STRING(made), max_wait_ms)
    at = put_bytes(at, limits, LIMITS_BYTES)
    at = put_int32(put_int32(at, session_id), session_epoch)
    if asked is None:
        at = put_byte(at, 1)
    else:
        at = put_bytes(put_byte(at, 2), topic_id, ID_BYTES)
        at = put_int32(put_int32(put_byte(at, 2), partition), epoch)
        at = put_int64(put_int32(put_int64(at, offset), -1), -1)
        at = put_byte(put_byte(put_int32(at, max_bytes), 0), 0)
    put_bytes(at, tail, tail_bytes)
    return made


def request_bytes(
    max_wait_ms,
    bytes limits not None,
    session_id,
    session_epoch,
    tuple asked,
    bytes tail not None,
):
    """As the twin."""
    try:
        return written(max_wait_ms, limits, session_id, session_epoch, asked, tail)
    except OverflowError:
        return None


def read_lone_answer(frame):
    """As the twin."""
    cdef Py_buffer view
    cdef const uint8_t *at
    cdef Py_ssize_t begin
    cdef Py_ssize_t end
    cdef uint64_t size = 0
    cdef int shift = 0
    cdef LoneAnswer answer
    PyObject_GetBuffer(frame, &view, PyBUF_SIMPLE)
    try:
        at = <const uint8_t *>view.buf
        if (
            view.len < ANSWER_BYTES
            or at[4] != 0  # tags of the header
            or big_endian(at + 5, 6) != 0  # throttle time and error
            or at[15] != 2  # one topic
            or at[32] != 2  # of one partition
            or big_endian(at + 37, 2) != 0  # its error
            or at[63] > 1  # aborted transactions
            or <int32_t>big_endian(at + 64, 4) != -1  # a preferred replica
        ):
            return None
        begin = ANSWER_BYTES
        while begin < view.len and shift < 7 * MOST_VARINT_BYTES:
            size |= <uint64_t>(at[begin] & 0x7F) << shift
            begin += 1
            if at[begin - 1] < 0x80:
                break
            shift += 7
        if at[begin - 1] > 0x7F or size < 2 or begin + <Py_ssize_t>size + 2 != view.len:
            return None
        end = view.len - 3
        if at[end] != 0 or at[end + 1] != 0 or at[end + 2] != 0:
            return None
        answer = LoneAnswer.__new__(LoneAnswer)
        answer.session_id = <int32_t>big_endian(at + 11, 4)
        answer.topic_id_bytes = PyBytes_FromStringAndSize(<const char *>at + 16, ID_BYTES)
        answer.partition_index = <int32_t>big_endian(at + 33, 4)
        answer.high_watermark = <int64_t>big_endian(at + 39, 8)
        answer.last_stable_offset = <int64_t>big_endian(at + 47, 8)
        answer.log_start_offset = <int64_t>big_endian(at + 55, 8)
    finally:
        PyBuffer_Release(&view)
    answer.records = frame[begin:end]
    return answer


__all__ = ["LoneAnswer", "read_lone_answer", "request_bytes"]
