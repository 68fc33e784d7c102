"""The C types of `incomplete_batches.py`."""

from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch


cdef class IncompleteBatches:
    cdef double _delivery_timeout_s
    cdef dict _batches
    cdef Py_ssize_t _flushes
    cdef readonly bint is_flushing

    cpdef add(self, ProducerBatch batch)
    cpdef bint remove(self, ProducerBatch batch)
