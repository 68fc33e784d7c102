"""AddPartitionsToTxn: adds partitions to a transaction (V1); all of them or none.

From version 4 on brokers name several transactions at once, and may only verify (KIP-890). Source:
KafkaApis.handleAddPartitionsToTxnRequest.
"""

from collections.abc import Mapping, Sequence

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidProducerEpoch,
    OperationNotAttempted,
    ProducerFenced,
    TransactionAbortableError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId

_Codes = Mapping[TopicPartition, int]


def handle(
    context: RequestContext, request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse:
    if context.version >= AddPartitionsToTxnRequest.brokers_since:
        try:
            context.session.check_cluster(Operation.CLUSTER_ACTION)
        except BrokerResponseError as error:
            return AddPartitionsToTxnResponse(error_code=error.errno)
        return AddPartitionsToTxnResponse(
            results_by_transaction=[
                AddPartitionsToTxnResult(
                    transactional_id=transaction.transactional_id,
                    topic_results=_results(transaction.topics, _add(context, transaction)),
                )
                for transaction in request.transactions
            ]
        )
    topics = request.v3_and_below_topics
    codes = _add(
        context,
        AddPartitionsToTxnTransaction(
            transactional_id=request.v3_and_below_transactional_id,
            producer_id=request.v3_and_below_producer_id,
            producer_epoch=request.v3_and_below_producer_epoch,
            topics=topics,
        ),
    )
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, codes))


def _add(context: RequestContext, transaction: AddPartitionsToTxnTransaction) -> _Codes:
    partitions = [
        TopicPartition(topic.name, partition)
        for topic in transaction.topics
        for partition in topic.partitions
    ]
    if context.version < AddPartitionsToTxnRequest.brokers_since:
        try:
            context.session.check_transactional_id(Operation.WRITE, transaction.transactional_id)
        except BrokerResponseError as error:
            return dict.fromkeys(partitions, error.errno)
    faults = {
        partition: code for partition in partitions if (code := _fault_of(context, partition))
    }
    if faults:
        return dict.fromkeys(partitions, OperationNotAttempted.errno) | faults
    producer = TxnProducerId(transaction.producer_id, transaction.producer_epoch)
    transactional_id, transactions = transaction.transactional_id, context.transactions
    try:
        transactions.nodes.check(transactional_id, context.node_id)
        if transaction.verify_only:
            return {
                partition: 0
                if transactions.takes_part(transactional_id, producer, partition)
                else TransactionAbortableError.errno
                for partition in partitions
            }
        transactions.add(transactional_id, producer, partitions=partitions)
    except ProducerFenced as error:
        is_known = context.version >= AddPartitionsToTxnRequest.fenced_since
        return dict.fromkeys(partitions, error.errno if is_known else InvalidProducerEpoch.errno)
    except BrokerResponseError as error:
        return dict.fromkeys(partitions, error.errno)
    return dict.fromkeys(partitions, 0)


def _fault_of(context: RequestContext, topic_partition: TopicPartition) -> int:
    """Return 0, or the error of this partition, which refuses all partitions."""
    try:
        if context.version < AddPartitionsToTxnRequest.brokers_since:
            context.session.check_topic(Operation.WRITE, topic_partition.topic)
        context.injected.raise_for(topic_partition)
        context.cluster.partition(topic_partition)
    except BrokerResponseError as error:
        return error.errno
    return 0


def _results(
    topics: Sequence[AddPartitionsToTxnTopic], codes: _Codes
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            name=topic.name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(
                    partition_index=partition,
                    partition_error_code=codes[TopicPartition(topic.name, partition)],
                )
                for partition in topic.partitions
            ],
        )
        for topic in topics
    ]


HANDLER = Handler(AddPartitionsToTxnRequest, handle, VersionRange(0, 5))


__all__ = ["handle"]
