"""The C types of `batch_outcomes.py`."""

cimport cython

from aiokafka_lite.metrics.counters cimport WorkCounts
from aiokafka_lite.producer.accumulator.record_accumulator cimport RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers cimport SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch


cdef class BatchOutcomes:
    cdef object _config
    cdef RecordAccumulator _accumulator
    cdef SequenceNumbers _sequences
    cdef object _on_stale_metadata
    cdef object _told_as
    cdef object _on_failed
    cdef object _update_leaders
    cdef object _why_unsent
    cdef object _observer
    cdef WorkCounts _counters
    cdef Py_ssize_t _batches
    cdef Py_ssize_t _records
    cdef Py_ssize_t _bytes
    cdef object _sparing

    @cython.locals(batch=ProducerBatch)
    cpdef written(self, list batches, double now_s)
    cdef _count(self)
    cdef _finish_written(
        self,
        ProducerBatch batch,
        double now_s,
        base_offset,
        log_append_time_ms=*,
        log_start_offset=*,
    )
    @cython.locals(batch=ProducerBatch)
    cpdef expire(self, double now_s)
