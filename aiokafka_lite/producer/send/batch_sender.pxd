"""The C types of `batch_sender.py`."""

cimport cython

from aiokafka_lite.cluster.direct_requests cimport DirectRequests
from aiokafka_lite.producer.accumulator.partition_queue cimport NodePace, PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator cimport RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers cimport SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch
from aiokafka_lite.producer.send.batches_request cimport ProducedTopics, ProduceTerms
from aiokafka_lite.producer.send.produce_round cimport ProduceRound


cdef class BatchSender


cdef class NodeSender:
    cdef readonly object node_id
    cdef readonly NodePace pace
    cdef readonly Py_ssize_t count
    cdef readonly object at_gate
    cdef public bint is_connected
    cdef public bint is_connecting
    cdef readonly Py_ssize_t requests
    cdef readonly bint is_sparse
    cdef public Py_ssize_t failures
    cdef public object failure
    cdef readonly double retry_at_s
    cdef readonly object go
    cdef public bint has_task
    cdef BatchSender _sender

    @cython.locals(sender=BatchSender, batches=list, exchange=ProduceRound)
    cdef send(self)
    @cython.locals(sender=BatchSender)
    cdef send_if_ready(self)
    cdef bint _submit(self, ProduceRound exchange) except -1
    @cython.locals(batch=ProducerBatch)
    cdef object _time_for(self, ProduceRound exchange)
    @cython.locals(sender=BatchSender, now_s=double)
    cpdef round_is_over(self, ProduceRound exchange, response, error)
    @cython.locals(sender=BatchSender, now_s=double)
    cpdef _take_in(self, ProduceRound exchange, response, failure)
    cdef _was_answered(self, ProduceRound exchange, double now_s)
    @cython.locals(sender=BatchSender)
    cpdef _go_on(self)
    @cython.locals(sender=BatchSender)
    cpdef disconnected(self)


cdef class BatchSender:
    cdef readonly object client
    cdef readonly object wake
    cdef readonly object fault
    cdef public bint has_ended
    cdef public object id_failure
    cdef object _tasks
    cdef readonly object _config
    cdef object _clock
    cdef object _monotonic
    cdef DirectRequests _network
    cdef object _metadata
    cdef object _observer
    cdef RecordAccumulator _accumulator
    cdef object _routes
    cdef SequenceNumbers _sequences
    cdef object _transactions
    cdef Py_ssize_t _required_acks
    cdef ProduceTerms _terms
    cdef dict _topics
    cdef object _topics_from
    cdef Py_ssize_t _max_in_flight
    cdef bint _lingers
    cdef readonly dict _nodes
    cdef object _timer
    cdef double _timer_at_s
    cdef public object _outcomes

    cpdef look_again_in(self, delay_s, double now_s)
    @cython.locals(sequences=SequenceNumbers)
    cpdef dispatch(self, double now_s)
    @cython.locals(node=NodeSender, delay_s=double)
    cdef double _let_go(self, node_id, double now_s) except -1
    @cython.locals(now_s=double, batch=ProducerBatch)
    cdef list _drain(self, node_id)
    @cython.locals(node=NodeSender)
    cpdef bint sends_at_once(self, PartitionQueue queue)
    @cython.locals(node=NodeSender)
    cpdef send_at_once(self, PartitionQueue queue)
    cdef ProduceRound _exchange(self, NodeSender node, list batches)
    @cython.locals(batch=ProducerBatch, topics=ProducedTopics)
    cdef ProducedTopics _topics_of(self, list batches)
    cpdef _end_with(self, fault)
