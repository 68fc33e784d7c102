# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""Builds one batch of records in a lent buffer: the native twin of `_batch_builder_py`.

A record is measured, then written straight into its place, without an object in between. The
builder holds the buffer by the buffer protocol, so nothing can resize it meanwhile.
"""

cimport cython
from cpython.buffer cimport PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_CheckExact, PyBytes_GET_SIZE
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.memoryview cimport PyMemoryView_FromObject
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from aiokafka_lite.codec._parts cimport ScatteredBytes

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.compression.compressor import compress


cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *size) except NULL


cdef enum:
    HEADER_BYTES = 61
    LOG_OVERHEAD = 12  # base offset and length, which the length does not count
    CRC_OFFSET = 17
    ATTRIBUTES_OFFSET = 21
    TRANSACTIONAL = 0x10
    MAX_RECORD_OVERHEAD = 21  # length 5, attributes 1, timestamp delta 10, offset delta 5
    MAX_RECORDS = 0x7FFFFFFF
    MAX_FIELD_BYTES = 0x7FFFFFFF
    LARGE_BYTES = 32_768
    NO_PAGES = 0x7F  # a batch begins with a zero
    MAX_VALUE_BYTES = 0x7FFFFF00  # with its record's other bytes such a value is below 2^31
    MOST_COPIED = 400


cdef inline uint64_t zigzag(int64_t number) noexcept:
    return (<uint64_t>number << 1) ^ <uint64_t>(number >> 63)


cdef extern from "aiokafka_lite/record/batch_memory.h":
    int raw_size "alk_varint_bytes"(uint64_t raw) noexcept
    void alk_populate(char *data, size_t size) noexcept


cdef extern from "aiokafka_lite/record/batch_values.h":
    Py_ssize_t alk_add_values(
        char *data,
        Py_ssize_t *position,
        Py_ssize_t limit,
        Py_ssize_t most_copied,
        int32_t count,
        uint64_t raw_delta,
        object iterator,
        PyObject **item,
        Py_ssize_t *left_bytes,
    ) noexcept


cdef inline int varint_size(int64_t number) noexcept:
    return raw_size(zigzag(number))


cdef inline int length_size(Py_ssize_t length) noexcept:
    """As `varint_size`, of a number that is not negative."""
    return raw_size(<uint64_t>length << 1)


cdef inline char *put_raw(char *at, uint64_t raw) noexcept:
    while raw > 0x7F:
        at[0] = <char>(raw | 0x80)
        raw >>= 7
        at += 1
    at[0] = <char>raw
    return at + 1


cdef inline char *put_varint(char *at, int64_t number) noexcept:
    return put_raw(at, zigzag(number))


cdef inline char *put_length(char *at, Py_ssize_t length) noexcept:
    """As `put_varint`, of a number that is not negative."""
    return put_raw(at, <uint64_t>length << 1)


cdef inline char *put_bytes(char *at, object field) noexcept:
    """Write a nullable field of exact `bytes` behind its length."""
    cdef Py_ssize_t size
    if field is None:
        at[0] = 1
        return at + 1
    size = PyBytes_GET_SIZE(field)
    at = put_length(at, size)
    memcpy(at, PyBytes_AS_STRING(field), size)
    return at + size


cdef inline Py_ssize_t bytes_size(object field) noexcept:
    """Return how many bytes `put_bytes` writes."""
    cdef Py_ssize_t size
    if field is None:
        return 1
    size = PyBytes_GET_SIZE(field)
    return length_size(size) + size


cdef inline char *put_big_endian(char *at, uint64_t number, int size) noexcept:
    cdef int index
    for index in range(size - 1, -1, -1):
        at[index] = <char>(number & 0xFF)
        number >>= 8
    return at + size


cdef object to_bytes(object field):
    """Return a nullable field as exact `bytes` or None. Raises: TypeError for any other type."""
    if field is None or PyBytes_CheckExact(field):
        return field
    return bytes(memoryview(field))


cdef Py_ssize_t headers_size(tuple headers) except -1:
    """Return how many bytes `put_headers` writes for headers of `plain_headers`."""
    cdef Py_ssize_t size = length_size(PyTuple_GET_SIZE(headers)), name_size
    cdef tuple header
    for header in headers:
        PyUnicode_AsUTF8AndSize(header[0], &name_size)
        size += length_size(name_size) + name_size + bytes_size(header[1])
    return size


cdef char *put_headers(char *at, tuple headers) except NULL:
    cdef Py_ssize_t name_size
    cdef const char *name
    cdef tuple header
    at = put_length(at, PyTuple_GET_SIZE(headers))
    for header in headers:
        name = PyUnicode_AsUTF8AndSize(header[0], &name_size)
        at = put_length(at, name_size)
        memcpy(at, name, name_size)
        at = put_bytes(at + name_size, header[1])
    return at


cdef bint are_plain(object headers) noexcept:
    """Whether the headers are tuples of exact str and bytes.

    `send` converts all others to that form.
    """
    cdef object header, name, content
    if not PyTuple_CheckExact(headers):
        return False
    for header in <tuple>headers:
        if not PyTuple_CheckExact(header) or PyTuple_GET_SIZE(header) != 2:
            return False
        name = <object>PyTuple_GET_ITEM(header, 0)
        content = <object>PyTuple_GET_ITEM(header, 1)
        if not PyUnicode_CheckExact(name):
            return False
        if content is not None and not PyBytes_CheckExact(content):
            return False
    return True


cdef tuple plain_headers(object headers):
    """Return headers in the form `put_headers` takes.

    Raises: TypeError for a name that is not a str.
    """
    if are_plain(headers):
        return <tuple>headers
    plain = []
    for name, content in headers:
        if not isinstance(name, str):
            raise TypeError(f"a header's name must be str, got {type(name).__name__}")
        plain.append((str(name), to_bytes(content)))
    return tuple(plain)


def new_buffer(Py_ssize_t size):
    """As the twin. It is not filled with zeros. A large one has no pages yet, and its first byte
    says so.
    """
    buffer = PyByteArray_FromStringAndSize(NULL, size)
    if size >= LARGE_BYTES:
        PyByteArray_AS_STRING(buffer)[0] = NO_PAGES
    return buffer


def record_upper_bound(key, value, headers=()):
    """As the twin."""
    cdef Py_ssize_t size = HEADER_BYTES + MAX_RECORD_OVERHEAD
    return size + bytes_size(to_bytes(key)) + bytes_size(to_bytes(value)) + headers_size(
        plain_headers(headers)
    )


@cython.no_gc  # it refers only to bytes; and the collector would take the buffer from its view
cdef class RecordBatchBuilder:
    """As the twin."""

    def __init__(
        self,
        buffer not None,
        compression=CompressionType.NONE,
        level=None,
        is_transactional=False,
    ):
        if self._is_lent:
            raise TypeError("a RecordBatchBuilder is made once")
        PyObject_GetBuffer(buffer, &self._view, PyBUF_WRITABLE)
        self._is_lent = True
        self._buffer = buffer
        self._data = <char *>self._view.buf
        self._limit = self._view.len
        self._position = HEADER_BYTES
        self._most_copied = MAX_VALUE_BYTES if compression else MOST_COPIED
        self._codec = compression
        self._level = level
        self._attributes = <int>compression | (TRANSACTIONAL if is_transactional else 0)
        self._base_timestamp = self._max_timestamp = -1
        self._producer_id = self._producer_epoch = self._base_sequence = -1

    def __dealloc__(self):
        self._give_back()

    cdef void _give_back(self) noexcept:
        if self._is_lent:
            self._is_lent = False
            self._data = NULL
            PyBuffer_Release(&self._view)

    cdef void _have_pages(self) noexcept:
        """Ask for the pages of a new large buffer, because values will be copied into it."""
        if self._view.len >= LARGE_BYTES and self._data[0] == NO_PAGES:
            self._data[0] = 0
            alk_populate(self._data, <size_t>self._view.len)

    @property
    def max_timestamp(self):
        """The largest of the records' timestamps, ms; -1 without records."""
        return self._max_timestamp

    @property
    def record_count(self):
        """The number of records."""
        return self._count

    @property
    def is_sealed(self):
        """Whether the batch takes no more records."""
        return self._wire is not None

    @property
    def holds_buffer(self):
        """Whether the lent buffer is part of the batch. A sealed compressed batch has left it."""
        return self._buffer is not None

    @property
    def uncompressed_size(self):
        """Bytes of the batch before compression, header included."""
        return self._position + self._referred_bytes

    @property
    def referred_bytes(self):
        """How many bytes of the batch are values that lie elsewhere."""
        return self._referred_bytes

    @property
    def size_in_bytes(self):
        """Bytes of the batch: on the wire once sealed, before compression until then."""
        if self._wire is None or self._reference_count:
            return self._position + self._referred_bytes
        return len(self._wire)

    def __repr__(self):
        state = "sealed" if self.is_sealed else "open"
        return (
            f"<RecordBatchBuilder {state}, {self.record_count:,} records,"
            f" {self.size_in_bytes:,} bytes>"
        )

    def limit_to(self, Py_ssize_t size):
        """As the twin."""
        self._limit = min(self._limit, size - self._referred_bytes)

    def move_to(self, buffer not None):
        """As the twin."""
        cdef Py_buffer view, old
        cdef char *data
        if self._wire is not None:
            return False
        if buffer is not self._buffer:
            PyObject_GetBuffer(buffer, &view, PyBUF_WRITABLE)
            if view.len < len(self):
                PyBuffer_Release(&view)
                raise ValueError(f"{len(self)} bytes do not fit a buffer of {len(buffer)}")
            data, self._data = self._data, <char *>view.buf
            old, self._view = self._view, view
            if not self._reference_count:
                self._have_pages()
            memcpy(self._data, data, self._position)
            PyBuffer_Release(&old)
            self._buffer = buffer
        self._limit = self._view.len - self._referred_bytes
        return True

    def leave_buffer(self):
        """As the twin."""
        cdef Py_buffer view
        if self._wire is not None or self._buffer is None:
            return False
        self._limit = 0
        own = PyByteArray_FromStringAndSize(NULL, self._position)
        PyObject_GetBuffer(own, &view, PyBUF_WRITABLE)
        memcpy(view.buf, self._data, self._position)
        PyBuffer_Release(&self._view)
        self._view = view
        self._buffer = own
        self._data = <char *>view.buf
        return True

    def append(self, int64_t timestamp_ms, key, value, headers=()):
        """As the twin."""
        cdef int32_t index = self.add(timestamp_ms, key, value, headers)
        return None if index < 0 else index

    cdef int32_t add(
        self, int64_t timestamp_ms, object key, object value, object headers
    ) except -2:
        """Append a record; return its index, or -1 without room for it."""
        return self.add_plain(
            timestamp_ms, to_bytes(key), to_bytes(value), plain_headers(headers) if headers else None
        )

    cdef int32_t add_plain(
        self, int64_t timestamp_ms, object key, object value, tuple headers
    ) except -2:
        """As `add`, of exact `bytes` or None, and of headers of `plain_headers` or None."""
        cdef bint has_headers = headers is not None and PyTuple_GET_SIZE(headers) > 0
        cdef Py_ssize_t size, end, value_size
        cdef int32_t count = self._count
        cdef int64_t delta = 0
        cdef char *at
        if count:
            delta = <int64_t>(<uint64_t>timestamp_ms - <uint64_t>self._base_timestamp)
        size = 1 + varint_size(delta) + length_size(count) + bytes_size(key) + bytes_size(value)
        size += headers_size(headers) if has_headers else 1
        end = self._position + length_size(size) + size
        if end > self._limit or count == MAX_RECORDS or size > MAX_FIELD_BYTES:
            return -1
        if not count and (value is None or PyBytes_GET_SIZE(value) <= self._most_copied):
            self._have_pages()
        at = put_length(self._data + self._position, size)
        at[0] = 0  # attributes
        at = put_varint(at + 1, delta)
        at = put_length(at, count)
        at = put_bytes(at, key)
        if value is not None and PyBytes_GET_SIZE(value) > self._most_copied:
            value_size = PyBytes_GET_SIZE(value)
            at = put_length(at, value_size)
            self.refer(at - self._data, value)
            end -= value_size
            self._limit -= value_size
        else:
            at = put_bytes(at, value)
        if has_headers:
            put_headers(at, headers)
        else:
            at[0] = 0
        self._position = end
        self._count = count + 1
        if not count:
            self._base_timestamp = self._max_timestamp = timestamp_ms
        elif timestamp_ms > self._max_timestamp:
            self._max_timestamp = timestamp_ms
        return count

    cdef Py_ssize_t add_values(
        self, int64_t timestamp_ms, object iterator, PyObject **item, Py_ssize_t *left_bytes
    ) noexcept:
        """Append values without key and headers: `item[0]`, and what the iterator of a list or
        tuple returns after it. Return how many.

        Stop at the end, at a value that is no exact `bytes` or has no room, and once `left_bytes`
        is used up: each value takes its size and RECORD_OVERHEAD of it. `item` refers to what is
        left then, or is NULL. The batch has a record.
        """
        cdef Py_ssize_t added = alk_add_values(
            self._data,
            &self._position,
            self._limit,
            self._most_copied,
            self._count,
            zigzag(<int64_t>(<uint64_t>timestamp_ms - <uint64_t>self._base_timestamp)),
            iterator,
            item,
            left_bytes,
        )
        self._count += <int32_t>added
        if added and timestamp_ms > self._max_timestamp:
            self._max_timestamp = timestamp_ms
        return added

    # After the last record…

    def seal(self):
        """As the twin."""
        if self._wire is not None:
            return
        self._limit = 0
        whole = PyMemoryView_FromObject(self._buffer)[: self._position]
        if self._codec:
            compressed = memoryview(compress(self._codec, whole[HEADER_BYTES:], self._level))
            size = HEADER_BYTES + len(compressed)
            batch = PyByteArray_FromStringAndSize(NULL, size)  # without filling it with zeros first
            whole = PyMemoryView_FromObject(batch)
            whole[HEADER_BYTES:] = compressed
            self._give_back()
            self._buffer = None
            # `whole` keeps the bytearray from being resized
            self._data = PyByteArray_AS_STRING(batch)
        self._wire = whole
        self._write_header()

    def stamp(self, int64_t producer_id, int producer_epoch, int32_t base_sequence):
        """As the twin."""
        self._producer_id = producer_id
        self._producer_epoch = producer_epoch
        self._base_sequence = base_sequence
        if self._wire is None:
            self.seal()
        else:
            self._write_header()

    def wire(self):
        """As the twin."""
        if self._wire is None:
            self.seal()
        return PyMemoryView_FromObject(self) if self._reference_count else self._wire

    def part(self):
        """As the twin."""
        if self._wire is None:
            self.seal()
        return self if self._reference_count else self._wire

    cdef int _write_header(self) except -1:
        cdef Py_ssize_t end = len(self._wire)
        cdef Py_ssize_t size = end + self._referred_bytes
        cdef char *at = self._data
        cdef uint32_t crc
        if size < HEADER_BYTES:
            raise ValueError(f"a batch has at least {HEADER_BYTES} bytes, its buffer has {size}")
        at = put_big_endian(at, 0, 8)  # the broker sets base offset and leader epoch
        at = put_big_endian(at, <uint64_t>(size - LOG_OVERHEAD), 4)
        at = put_big_endian(at, <uint64_t>-1, 4)
        at = put_big_endian(at, 2, 1)
        at = put_big_endian(at, 0, 4)
        at = put_big_endian(at, <uint64_t>self._attributes, 2)
        at = put_big_endian(at, <uint64_t>max(self._count - 1, 0), 4)
        at = put_big_endian(at, <uint64_t>self._base_timestamp, 8)
        at = put_big_endian(at, <uint64_t>self._max_timestamp, 8)
        at = put_big_endian(at, <uint64_t>self._producer_id, 8)
        at = put_big_endian(at, <uint64_t>self._producer_epoch, 2)
        at = put_big_endian(at, <uint64_t>self._base_sequence, 4)
        put_big_endian(at, <uint64_t>self._count, 4)
        crc = self.crc_between(ATTRIBUTES_OFFSET, end)
        put_big_endian(self._data + CRC_OFFSET, crc, 4)
        return 0


__all__ = ["RecordBatchBuilder", "new_buffer", "record_upper_bound"]
