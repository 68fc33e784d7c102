"""What other native leaves may use of the fast append: the open batch of a queue."""

from aiokafka_lite.producer.batch._record_ack cimport BatchOutcome


cdef class OpenBatchSlot:
    cdef public object topic_partition
    cdef public BatchOutcome open_batch
