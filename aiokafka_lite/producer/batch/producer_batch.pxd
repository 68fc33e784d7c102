"""The C types of `producer_batch.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.producer.batch cimport _record_ack as record_ack
from aiokafka_lite.producer.batch._record_ack cimport BatchOutcome  # builds follow this line


cdef class ProducerBatch(record_ack.BatchOutcome):
    cdef bint _is_stamped
    cdef public object append
    cdef public bytearray buffer
    cdef public Py_ssize_t reserved_bytes
    cdef public double created_s
    cdef public bint is_closed
    cdef public bint is_grown
    cdef public int64_t attempts
    cdef public int64_t drain_number
    cdef public tuple piece_number
    cdef public double retry_at_s
    cdef public object last_error
    cdef public int64_t leader_epoch
    cdef public bint is_in_flight
    cdef public bint is_queued
    cdef public int64_t producer_id
    cdef public int64_t producer_epoch
    cdef public int64_t base_sequence
    cdef public bint sequence_was_reset

    cpdef close(self)
    cpdef limit_to(self, Py_ssize_t size)
    cpdef bint grow_into(self, bytearray buffer)
    @cython.locals(buffer=bytearray, size=Py_ssize_t)
    cpdef bint wastes_memory(self)
    @cython.locals(buffer=bytearray)
    cpdef bytearray leave_buffer(self)
    cpdef object wire(self)
    cpdef object part(self)
    cdef object _stamped(self)
    cpdef drop_bytes(self)
    cpdef set_sequence(self, int64_t producer_id, int64_t producer_epoch, int64_t base_sequence)
