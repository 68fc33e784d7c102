"""What other native leaves may use of the batch builder: appending without an argument tuple."""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t

from aiokafka_lite.codec._parts cimport ScatteredBytes


cdef class RecordBatchBuilder(ScatteredBytes):
    cdef object _buffer  # the lent buffer; None once a compressed batch has left it
    cdef Py_ssize_t _limit  # of `_position`: less what the batch refers to
    cdef Py_ssize_t _most_copied  # a longer value is referred to
    cdef int64_t _base_timestamp
    cdef int64_t _max_timestamp
    cdef int32_t _count
    cdef int _attributes
    cdef object _codec
    cdef object _level
    cdef int64_t _producer_id
    cdef int _producer_epoch
    cdef int32_t _base_sequence
    cdef object _wire
    cdef Py_buffer _view
    cdef bint _is_lent

    cdef void _give_back(self) noexcept
    cdef void _have_pages(self) noexcept
    cdef int _write_header(self) except -1
    cdef int32_t add(
        self, int64_t timestamp_ms, object key, object value, object headers
    ) except -2
    cdef int32_t add_plain(
        self, int64_t timestamp_ms, object key, object value, tuple headers
    ) except -2
    cdef Py_ssize_t add_values(
        self, int64_t timestamp_ms, object iterator, PyObject **item, Py_ssize_t *left_bytes
    ) noexcept
