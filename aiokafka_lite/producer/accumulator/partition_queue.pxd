"""The C types of `partition_queue.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.producer.accumulator cimport _fast_append as fast_append
from aiokafka_lite.producer.accumulator._fast_append cimport OpenBatchSlot  # builds follow this line

cdef Py_ssize_t _LEAST_BYTES
cdef Py_ssize_t _BATCHES_ON_THEIR_WAY
cdef Py_ssize_t _NO_LIMIT


cdef class NodePace:
    cdef object _steps
    cdef double _share_s
    cdef Py_ssize_t _enough_bytes
    cdef Py_ssize_t _first_bytes
    cdef Py_ssize_t _largest_bytes
    cdef Py_ssize_t _leap
    cdef bint _is_free
    cdef double _most_factor
    cdef public Py_ssize_t bytes_on_their_way
    cdef readonly Py_ssize_t most_bytes
    cdef readonly Py_ssize_t most_batch_bytes

    @cython.locals(most=Py_ssize_t, shown=double)
    cpdef was_answered(self, Py_ssize_t bytes_on_their_way, double taken_s)
    cpdef was_late(self)


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
