# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""Joins or sends the parts of a frame: the native twin of `_parts_py`. A part may lie in several
places itself.
"""

cimport cython
from cpython.buffer cimport (
    PyBUF_SIMPLE,
    PyBuffer_FillInfo,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.bytes cimport (
    PyBytes_AS_STRING,
    PyBytes_CheckExact,
    PyBytes_FromStringAndSize,
    PyBytes_GET_SIZE,
)
from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.stdint cimport uint8_t, uint32_t
from libc.string cimport memcpy


cdef extern from "Python.h":
    const Py_ssize_t PY_SSIZE_T_MAX


cdef extern from "../codec/crc32c.h":
    uint32_t alk_crc32c(uint32_t crc, const uint8_t *data, size_t n) nogil


cdef extern from "aiokafka_lite/codec/gather_write.h":
    ctypedef struct alk_place:
        void *iov_base
        size_t iov_len
    Py_ssize_t alk_send_places(int fd, alk_place *places, size_t count) nogil


cdef enum:
    MOST_PLACES = 1024  # IOV_MAX of Linux and macOS
    FIRST_ROOM = 8


@cython.no_gc  # it refers only to bytes
cdef class ScatteredBytes:
    """Bytes at one place, and values that are put between them where they are.

    A frame takes it as a part. It has a length, and the buffer protocol gives its bytes joined.
    """

    def __dealloc__(self):
        cdef Py_ssize_t number
        for number in range(self._reference_count):
            Py_DECREF(<object>self._references[number].value)
        PyMem_Free(self._references)

    def __len__(self):
        return self._position + self._referred_bytes

    def __getbuffer__(self, Py_buffer *view, int flags):
        cdef bytes joined = joined_parts([self])
        Py_DECREF(<object>view.obj)  # None, by Cython
        PyBuffer_FillInfo(
            view, joined, PyBytes_AS_STRING(joined), PyBytes_GET_SIZE(joined), True, flags
        )

    cdef int refer(self, Py_ssize_t end, object value) except -1:
        """Put a value behind `end` bytes of `_data`, and behind all values before it."""
        cdef Py_ssize_t room
        cdef void *moved
        if self._reference_count == self._reference_room:
            room = 2 * self._reference_room if self._reference_room else FIRST_ROOM
            moved = PyMem_Realloc(self._references, room * sizeof(Reference))
            if moved is NULL:
                raise MemoryError
            self._references = <Reference *>moved
            self._reference_room = room
        Py_INCREF(value)
        self._references[self._reference_count].value = <PyObject *>value
        self._references[self._reference_count].end = end
        self._reference_count += 1
        self._referred_bytes += PyBytes_GET_SIZE(value)
        return 0

    cdef uint32_t crc_between(self, Py_ssize_t begin, Py_ssize_t end) noexcept:
        """Return the CRC-32C of `_data[begin:end]` with all values between."""
        cdef Py_ssize_t number
        cdef uint32_t crc = 0
        cdef PyObject *value
        for number in range(self._reference_count):
            value = self._references[number].value
            crc = alk_crc32c(
                crc,
                <const uint8_t *>self._data + begin,
                <size_t>(self._references[number].end - begin),
            )
            begin = self._references[number].end
            crc = alk_crc32c(
                crc,
                <const uint8_t *>PyBytes_AS_STRING(<object>value),
                <size_t>PyBytes_GET_SIZE(<object>value),
            )
        return alk_crc32c(crc, <const uint8_t *>self._data + begin, <size_t>(end - begin))


cdef struct Places:
    alk_place *places
    Py_ssize_t count
    Py_ssize_t skipped  # bytes that are to be left out yet
    Py_ssize_t size


cdef inline void add(Places *into, char *data, Py_ssize_t size) noexcept:
    if size <= into.skipped:
        into.skipped -= size
    elif into.count < MOST_PLACES:
        into.places[into.count].iov_base = data + into.skipped
        into.places[into.count].iov_len = <size_t>(size - into.skipped)
        into.count += 1
        into.size += size - into.skipped
        into.skipped = 0


cdef void add_scattered(Places *into, ScatteredBytes part) noexcept:
    cdef Py_ssize_t number, begin = 0
    cdef Reference *reference
    if part._position + part._referred_bytes <= into.skipped:
        into.skipped -= part._position + part._referred_bytes
        return
    for number in range(part._reference_count):
        if into.count == MOST_PLACES:
            return
        reference = &part._references[number]
        add(into, part._data + begin, reference.end - begin)
        add(
            into,
            PyBytes_AS_STRING(<object>reference.value),
            PyBytes_GET_SIZE(<object>reference.value),
        )
        begin = reference.end
    add(into, part._data + begin, part._position - begin)


cdef int find(Places *into, list parts, Py_ssize_t start) except -1:
    """Find the places of the bytes from `start` on, at most MOST_PLACES of them."""
    cdef Py_buffer view
    cdef object part
    into.count = into.size = 0
    into.skipped = start
    for part in parts:
        if into.count == MOST_PLACES:
            break
        if PyBytes_CheckExact(part):
            add(into, PyBytes_AS_STRING(part), PyBytes_GET_SIZE(part))
        elif isinstance(part, ScatteredBytes):
            add_scattered(into, <ScatteredBytes>part)
        else:
            PyObject_GetBuffer(part, &view, PyBUF_SIMPLE)
            add(into, <char *>view.buf, view.len)
            PyBuffer_Release(&view)  # the part itself keeps its memory in its place
    return 0


def send_parts(sock not None, list parts not None, Py_ssize_t start):
    """As the twin."""
    cdef alk_place room[MOST_PLACES]
    cdef Places places
    cdef int fd = sock.fileno()
    cdef Py_ssize_t sent
    places.places = room
    while True:
        find(&places, parts, start)
        if not places.count:
            return -1
        with nogil:
            sent = alk_send_places(fd, room, <size_t>places.count)
        if sent < 0:
            return start
        start += sent
        if sent < places.size:
            return start
        if places.count < MOST_PLACES:
            return -1


def joined_parts(list parts not None, Py_ssize_t start=0, Py_ssize_t most=PY_SSIZE_T_MAX):
    """As the twin."""
    cdef alk_place room[MOST_PLACES]
    cdef Places places
    cdef Py_ssize_t left = -start, size
    cdef bytes made
    cdef char *at
    cdef object part
    for part in parts:
        left += len(part)
    left = max(0, min(left, most))
    made = PyBytes_FromStringAndSize(NULL, left)
    at = PyBytes_AS_STRING(made)
    places.places = room
    while left:
        find(&places, parts, start)
        for number in range(places.count):
            size = min(<Py_ssize_t>room[number].iov_len, left)
            memcpy(at, room[number].iov_base, size)
            at += size
            start += size
            left -= size
    return made


__all__ = ["joined_parts", "send_parts"]
