"""What other native leaves may use of the acks: the batch they look into, and making one."""

from libc.stdint cimport int32_t, int64_t, uint32_t

from aiokafka_lite.record._batch_builder cimport RecordBatchBuilder


cdef class _LoopOf:
    cdef object loop


cdef class BatchOutcome:
    cdef public object topic_partition
    cdef public RecordBatchBuilder _builder
    cdef public int32_t record_count
    cdef public bint is_done
    cdef public object error
    cdef public object record_errors
    cdef public int64_t base_offset
    cdef public int64_t log_append_time_ms
    cdef public object log_start_offset
    cdef public dict _listeners
    cdef public list _pieces
    cdef public bint _error_was_seen
    cdef uint32_t bulk_number  # of the newest AckRuns that noted it, which checks
    cdef dict size_attributes  # of the newest metadata object with sizes, which are these
    cdef int32_t key_size
    cdef int32_t value_size
    cdef object newest_time  # of the newest metadata object
    cdef int64_t newest_time_ms
    cdef object newest_metadata  # with sizes
    cdef _LoopOf loop_of  # of a task that waits for it

    cdef object what_of(self, int32_t index, int64_t timestamp_ms, int32_t key_size, int32_t value_size)
    cdef object metadata_again(
        self, int32_t index, int64_t timestamp_ms, int32_t key_size, int32_t value_size
    )
    cdef object time_told(self, int64_t time_ms)
    cdef dict attributes_of(self, int32_t key_size, int32_t value_size)


cdef class RecordAck:
    cdef BatchOutcome _batch  # None: cancelled
    cdef int64_t _timestamp_ms
    cdef int32_t _index
    cdef readonly int32_t serialized_key_size
    cdef readonly int32_t serialized_value_size

    cdef BatchOutcome where(self)
    cdef object outcome(self)
    cdef object outcome_in(self, BatchOutcome batch)


cdef RecordAck new_ack(
    BatchOutcome batch, int32_t index, int64_t timestamp_ms, int32_t key_size, int32_t value_size
)


cdef object awaited(RecordAck ack, _LoopOf loop)


cdef _LoopOf loop_of(object loop)
