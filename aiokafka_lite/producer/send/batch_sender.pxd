"""The C types of `batch_sender.py`."""

cimport cython

from aiokafka_lite.cluster.direct_requests cimport DirectRequests
from aiokafka_lite.producer.accumulator.partition_queue cimport NodePace, PartitionQueue
from aiokafka_lite.producer.accumulator.record_accumulator cimport RecordAccumulator
from aiokafka_lite.producer.accumulator.sequence_numbers cimport SequenceNumbers
from aiokafka_lite.producer.batch.producer_batch cimport ProducerBatch
from aiokafka_lite.producer.send.batch_outcomes cimport BatchOutcomes
from aiokafka_lite.producer.send.batches_request cimport ProducedTopics, ProduceTerms
from aiokafka_lite.producer.send.produce_round cimport ProduceRound


cdef class NodeRequests:
    cdef readonly object node_id
    cdef readonly NodePace pace
    cdef public Py_ssize_t count
    cdef public Py_ssize_t at_gate
    cdef public bint is_connected
    cdef public bint is_connecting
    cdef public Py_ssize_t requests
    cdef public bint is_sparse
    cdef public Py_ssize_t failures
    cdef public object failure
    cdef public double retry_at_s


cdef class BatchSender:
    cdef readonly object client
    cdef public object wake
    cdef readonly object _config
    cdef readonly object _clock
    cdef object _monotonic
    cdef DirectRequests _network
    cdef object _metadata
    cdef object _observer
    cdef readonly RecordAccumulator _accumulator
    cdef readonly object _routes
    cdef readonly SequenceNumbers _sequences
    cdef readonly object _transactions
    cdef Py_ssize_t _required_acks
    cdef ProduceTerms _terms
    cdef dict _topics
    cdef object _topics_from
    cdef Py_ssize_t _max_in_flight
    cdef bint _lingers
    cdef readonly dict _nodes
    cdef object _timer
    cdef double _timer_at_s
    cdef readonly object _fault
    cdef public bint _has_ended
    cdef public object id_failure
    cdef public object _outcomes

    cpdef _look_again_in(self, delay_s, double now_s)
    @cython.locals(sequences=SequenceNumbers)
    cpdef _dispatch(self, double now_s)
    @cython.locals(node=NodeRequests, delay_s=double)
    cdef double _let_go(self, node_id, double now_s) except -1
    @cython.locals(now_s=double, batch=ProducerBatch)
    cdef list _drain(self, NodeRequests node)
    @cython.locals(batches=list, exchange=ProduceRound)
    cdef _send(self, NodeRequests node)
    cdef _send_if_ready(self, NodeRequests node)
    @cython.locals(node=NodeRequests)
    cpdef bint sends_at_once(self, PartitionQueue queue)
    cpdef send_at_once(self, PartitionQueue queue)
    cdef ProduceRound _exchange(self, NodeRequests node, list batches)
    @cython.locals(batch=ProducerBatch, topics=ProducedTopics)
    cdef ProducedTopics _topics_of(self, list batches)
    cdef bint _submit(self, NodeRequests node, ProduceRound exchange) except -1
    @cython.locals(batch=ProducerBatch)
    cdef object _time_for(self, NodeRequests node, ProduceRound exchange)
    cdef _was_answered(self, NodeRequests node, ProduceRound exchange, double now_s)
    @cython.locals(node=NodeRequests, now_s=double)
    cpdef round_is_over(self, ProduceRound exchange, response, error)
    cpdef _end_with(self, fault)
    @cython.locals(now_s=double)
    cpdef _take_in(self, NodeRequests node, ProduceRound exchange, response, failure)
    cpdef _disconnected(self, NodeRequests node)
    cpdef _go_on(self, NodeRequests node)
