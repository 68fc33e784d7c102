"""The C types of `produce_exchange.py`."""

cimport cython

from aiokafka_lite.net.answer_callback cimport Answer
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch


cdef class ProduceExchange(Answer):
    cdef readonly list batches
    cdef readonly object node
    cdef object _on_answer
    cdef public int lone_number
    cdef readonly bint is_of_one_record
    cdef object _max_version
    cdef dict _topic_ids
    cdef readonly object request
