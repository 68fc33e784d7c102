"""The C types of `produce_exchange.py`."""

cimport cython

from aiokafka_lite.net.answer_callback cimport Answer
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch
from aiokafka_lite.producer.send.batches_request cimport (
    ProducedTopics,
    ProduceTerms,
    usual_parts,
)


cdef class ProduceExchange(Answer):
    cdef readonly list batches
    cdef readonly object node
    cdef object _on_answer
    cdef public int lone_number
    cdef readonly Py_ssize_t size_in_bytes
    cdef public Py_ssize_t bytes_on_their_way
    cdef public double sent_at_s
    cdef readonly bint is_of_one_record
    cdef readonly object max_version
    cdef ProduceTerms _terms
    cdef ProducedTopics _topics
    cdef list _wires
    cdef readonly object request
