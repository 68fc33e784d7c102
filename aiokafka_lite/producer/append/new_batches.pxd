"""The C types of `new_batches.py`."""

cimport cython

from aiokafka_lite.producer.accumulator.partition_queue cimport PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator cimport RecordAccumulator
from aiokafka_lite.producer.batch.buffer_pool cimport BufferPool
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch


cdef class NewBatches:
    cdef object _client
    cdef object _clock
    cdef object _config
    cdef BufferPool _pool
    cdef RecordAccumulator _accumulator
    cdef object _finder
    cdef object _life
    cdef object _transactions
    cdef public object _wake_sender
    cdef object _send_at_once
    cdef object _leaves_at_once
    cdef object _patience
    cdef Py_ssize_t _most_record_bytes
    cdef object _used_topic
    cdef double _used_until_s
    cdef object _filling_task
    cdef Py_ssize_t _filled_bytes

    @cython.locals(size=Py_ssize_t, batch=ProducerBatch, buffer=bytearray)
    cpdef ProducerBatch make_room(
        self, PartitionQueue queue, object key, object value, object headers, bint waits
    )
    @cython.locals(size=Py_ssize_t, queue=PartitionQueue, buffer=bytearray)
    cpdef ProducerBatch make_sticky_room(
        self, object route, object key, object value, object headers, bint waits
    )
    cdef Py_ssize_t _size_now(
        self, object key, object value, object headers, bint waits
    ) except -2
    cdef _close_full(self, PartitionQueue queue)
    cpdef bint must_pause(self)
    cdef ProducerBatch _grown(self, PartitionQueue queue, Py_ssize_t size)
    cdef ProducerBatch _new(self, PartitionQueue queue, bytearray buffer)
    @cython.locals(queue=PartitionQueue, size=Py_ssize_t)
    cpdef add_new(self, ProducerBatch batch)
    cdef bint _concerns_sender(self, PartitionQueue queue)
