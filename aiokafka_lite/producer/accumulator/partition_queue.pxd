"""The C types of `partition_queue.py`."""

from libc.stdint cimport int64_t

from aiokafka_lite.producer.accumulator cimport _fast_append as fast_append
from aiokafka_lite.producer.accumulator.node_pace cimport NodePace
from aiokafka_lite.producer.accumulator._fast_append cimport OpenBatchSlot  # builds follow this line


cdef class PartitionQueue(fast_append.OpenBatchSlot):
    cdef public object batches
    cdef public object leader_id
    cdef public int64_t leader_epoch
    cdef public NodePace pace
    cdef public Py_ssize_t filled_bytes
    cdef public Py_ssize_t turn
    cdef public bint is_muted

    cpdef close_open_batch(self)


cdef class NodeQueues:
    cdef readonly NodePace pace
    cdef public Py_ssize_t turns
    cdef public dict filled
    cdef public Py_ssize_t next_turn

    cpdef list in_turn(self)
