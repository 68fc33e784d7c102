"""The C types of `produce_round.py`."""

cimport cython

from aiokafka_lite.net.exchange cimport Exchange
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch
from aiokafka_lite.producer.send.batches_request cimport ProducedTopics


cdef class ProduceRound(Exchange):
    cdef readonly list batches
    cdef readonly object node
    cdef public int lone_number
    cdef readonly Py_ssize_t size_in_bytes
    cdef public Py_ssize_t bytes_on_their_way
    cdef public double begun_at_s
    cdef readonly bint is_of_one_record
    cdef ProducedTopics _topics

    cpdef ended(self, response, error)
    cpdef object read(self, frame, int version)
