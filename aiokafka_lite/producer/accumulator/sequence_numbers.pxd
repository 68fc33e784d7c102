"""The C types of `sequence_numbers.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch


cdef class _PartitionSequence:
    cdef public object topic_id
    cdef public object producer
    cdef public int64_t next_sequence
    cdef public int64_t last_acked_sequence
    cdef public list in_flight
    cdef public bint is_known
    cdef public bint is_unresolved
    cdef public bint needs_restart

    @cython.locals(batch=ProducerBatch)
    cpdef restart(self, producer)


cdef class SequenceNumbers:
    cdef object _gate
    cdef object _client_id
    cdef public object producer
    cdef object _topic_id
    cdef readonly dict _partitions
    cdef readonly dict _troubled

    @cython.locals(state=_PartitionSequence)
    cpdef bint may_send(self, ProducerBatch batch)
    @cython.locals(state=_PartitionSequence)
    cpdef assign(self, ProducerBatch batch)
    @cython.locals(
        state=_PartitionSequence, last_sequence=int64_t, ahead=int64_t, producer_id=int64_t,
        epoch=int64_t,
    )
    cpdef completed(self, ProducerBatch batch)
    cpdef abandoned(self, ProducerBatch batch)
    cdef _PartitionSequence _give_up(self, ProducerBatch batch)
    cdef _need_restart(self, topic_partition, _PartitionSequence state)


cdef _remove(list batches, ProducerBatch batch)
