"""The C types of `record_accumulator.py`."""

cimport cython
from libc.stdint cimport int64_t

from aiokafka_lite.producer.accumulator.batch_sizes cimport BatchSizes
from aiokafka_lite.producer.accumulator.incomplete_batches cimport IncompleteBatches
from aiokafka_lite.producer.accumulator.partition_queue cimport NodePace, NodeQueues, PartitionQueue
from aiokafka_lite.producer.accumulator.sequence_numbers cimport SequenceNumbers
from aiokafka_lite.producer.batch.buffer_pool cimport BufferPool
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch


cdef class RecordAccumulator:
    cdef readonly BufferPool _pool
    cdef object _backoff
    cdef SequenceNumbers _sequences
    cdef readonly BatchSizes sizes
    cdef readonly IncompleteBatches incomplete
    cdef Py_ssize_t _max_request_size
    cdef public double _linger_s
    cdef bint _keeps_order_by_muting
    cdef object _compression
    cdef object _compression_level
    cdef bint _compresses
    cdef bint _is_transactional
    cdef dict _queues
    cdef dict _filled
    cdef dict _of_node
    cdef double _look_for_aged_s
    cdef int64_t _drain_number
    cdef object _closed_by

    @cython.locals(queue=PartitionQueue, made=PartitionQueue)
    cpdef PartitionQueue queue_of(self, object topic_partition, object leader)
    cpdef object new_builder(self, bytearray buffer)
    cpdef ProducerBatch new_batch(
        self, PartitionQueue queue, bytearray buffer, double now_s, object builder=*
    )
    @cython.locals(queue=PartitionQueue, former=ProducerBatch)
    cpdef PartitionQueue add(self, ProducerBatch batch)
    cpdef discard(self, ProducerBatch batch)
    @cython.locals(before=bytearray, buffer=bytearray, batch=ProducerBatch)
    cpdef object grow(self, PartitionQueue queue, Py_ssize_t record_bytes)
    @cython.locals(batch=ProducerBatch)
    cpdef close_full(self, PartitionQueue queue)
    cdef _save_memory(self, ProducerBatch batch)
    @cython.locals(buffer=bytearray)
    cdef _settle(self, ProducerBatch batch)
    @cython.locals(queue=PartitionQueue, batch=ProducerBatch, aged_s=double)
    cpdef object close_aged(self, double now_s)
    cpdef NodePace pace_of(self, node_id)
    @cython.locals(node=NodeQueues)
    cdef NodeQueues _node(self, node_id)
    @cython.locals(node=NodeQueues, former=NodeQueues)
    cdef _lead(self, PartitionQueue queue, object leader)
    @cython.locals(node=NodeQueues)
    cdef _note_filled(self, PartitionQueue queue)
    @cython.locals(node=NodeQueues)
    cdef _note_left(self, PartitionQueue queue)
    @cython.locals(queue=PartitionQueue)
    cpdef object ready(self, double now_s)
    @cython.locals(batch=ProducerBatch)
    cpdef object due_at(self, PartitionQueue queue)
    @cython.locals(
        node=NodeQueues, size=Py_ssize_t, next_turn=Py_ssize_t, is_due=bint, is_full=bint,
        queue=PartitionQueue, batch=ProducerBatch, batch_size=Py_ssize_t, pace=NodePace,
        most=Py_ssize_t, is_alone=bint,
    )
    cpdef list drain(self, node_id, double now_s)
    @cython.locals(node=NodeQueues)
    cpdef bint has_more(self, node_id)
    @cython.locals(node=NodeQueues)
    cpdef bint has_others(self, node_id)
    cdef bint _take(self, PartitionQueue queue, ProducerBatch batch) except -1
    @cython.locals(queue=PartitionQueue, buffer=bytearray, before=Py_ssize_t, is_new=bint)
    cpdef object seal(self, ProducerBatch batch)
    @cython.locals(queue=PartitionQueue)
    cpdef landed(self, ProducerBatch batch, bint reusable)
    cpdef retry(self, ProducerBatch batch, double now_s)
    cdef _put_back(self, ProducerBatch batch)
    cpdef forget(self, ProducerBatch batch)
    cdef _unqueue(self, PartitionQueue queue, ProducerBatch batch)
    @cython.locals(buffer=bytearray, reserved=Py_ssize_t)
    cdef _release(self, ProducerBatch batch, bint reusable)
