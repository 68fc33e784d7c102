"""The C types of `batch_sizes.py`."""

cimport cython

from aiokafka_lite.producer.accumulator.partition_queue cimport NodePace, PartitionQueue
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch

cdef Py_ssize_t _SETTLED_SHARE


cdef class BatchSizes:
    cdef readonly Py_ssize_t usual_bytes
    cdef object _bytes_by_topic
    cdef object _steps
    cdef Py_ssize_t _most_bytes
    cdef object _ratios
    cdef set _usual_topics
    cdef dict _topic_limits
    cdef bint _is_answered
    cdef double _request_timeout_s
    cdef Py_ssize_t _enough_bytes
    cdef readonly double oldest_open_s

    cpdef NodePace new_pace(self)
    cpdef Py_ssize_t usual_of(self, topic)
    @cython.locals(size=Py_ssize_t, most=Py_ssize_t, before=Py_ssize_t)
    cpdef Py_ssize_t for_new(self, PartitionQueue queue, Py_ssize_t record_bytes)
    @cython.locals(size=Py_ssize_t, pace=NodePace)
    cpdef object for_grown(
        self, PartitionQueue queue, ProducerBatch batch, Py_ssize_t record_bytes
    )
    @cython.locals(waiting_bytes=Py_ssize_t, most=Py_ssize_t, batch=ProducerBatch, pace=NodePace)
    cdef Py_ssize_t _behind(self, PartitionQueue queue)
    @cython.locals(usual_bytes=Py_ssize_t, batch=ProducerBatch)
    cpdef end_backlog(self, PartitionQueue queue)
    cpdef Py_ssize_t in_request(self, ProducerBatch batch)
    cpdef was_compressed(self, PartitionQueue queue, Py_ssize_t uncompressed, Py_ssize_t compressed)
    cpdef was_too_large(self, topic, Py_ssize_t size)
