"""Produce: checks a batch's frame, CRC, size, transaction and sequence, and appends it undecoded.

Source: ReplicaManager.appendRecords, LogValidator, ProducerAppendInfo; KIP-98, KIP-890, KIP-951.
"""

from collections.abc import Iterable
from struct import Struct

from aiokafka_lite.compression.compression_type import CompressionType
from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidProducerIdMapping,
    InvalidRecordError,
    InvalidRequiredAcksError,
    InvalidTxnState,
    MessageSizeTooLargeError,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    TransactionalIdAuthorizationFailed,
    UnsupportedCompressionTypeError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch
from aiokafka_lite.protocol.messages.produce import (
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from aiokafka_lite.record.batch_header import (
    ATTRIBUTES_OFFSET,
    HEADER_BYTES,
    MAGIC_OFFSET,
    TRANSACTIONAL,
    BatchHeader,
    validate_batch,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import CloseConnectionError, Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerPartition,
    ClusterState,
    TopicState,
    partition_of,
)
from aiokafka_lite.testing.broker.state.log.producer_states import AppendedBatch, last_sequence_of
from aiokafka_lite.testing.broker.state.transactions.txn_enlistment import (
    Enlistment,
    enlist,
    enlistment_of,
    is_retried_by_old_clients,
)
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TxnProducerId

ALL_REPLICAS = -1
NO_ANSWER = 0
_PRODUCER_OFFSET = 43
_PRODUCER = Struct(">qh")
"""Producer id and epoch, in the header of a batch."""


def handle(context: RequestContext, request: ProduceRequest) -> ProduceResponse | None:
    refusal = _refuse_all(context, request)
    topics = [_produce_to_topic(context, request, topic, refusal) for topic in request.topic_data]
    if request.acks == NO_ANSWER:
        _close_after_error(topics)
        return None
    response = ProduceResponse(responses=topics)
    if context.version >= ProduceRequest.leader_hints_since:
        leaders = {
            partition.current_leader.leader_id
            for topic in topics
            for partition in topic.partition_responses
        }
        response.node_endpoints = context.leader_endpoints(leaders)
    return response


def _refuse_all(context: RequestContext, request: ProduceRequest) -> BrokerResponseError | None:
    """Return why a request with transactional batches is refused as a whole; None if it is not.

    Source: KafkaApis.handleProduceRequest, ReplicaManager.handleProduceAppend.
    """
    producers = {
        _PRODUCER.unpack_from(partition.records, _PRODUCER_OFFSET)
        for topic in request.topic_data
        for partition in topic.partition_data
        if partition.records
        and len(partition.records) >= HEADER_BYTES
        and partition.records[MAGIC_OFFSET] == 2
        and partition.records[ATTRIBUTES_OFFSET + 1] & TRANSACTIONAL
    }
    if producers and request.transactional_id is None:
        return TransactionalIdAuthorizationFailed(
            "a transactional batch needs the transactional id of its producer in the request"
        )
    if producers and request.transactional_id is not None:
        try:
            context.session.check_transactional_id(Operation.WRITE, request.transactional_id)
        except BrokerResponseError as error:
            return error
    if len(producers) > 1:
        return InvalidProducerIdMapping(
            f"a request has transactional batches of one producer, not of {sorted(producers)}"
        )
    return None


def _produce_to_topic(
    context: RequestContext,
    request: ProduceRequest,
    data: TopicProduceData,
    refusal: BrokerResponseError | None,
) -> TopicProduceResponse:
    return TopicProduceResponse(
        name=data.name,
        topic_id=data.topic_id,
        partition_responses=[
            _produce_to_partition(context, request, data, partition, refusal)
            for partition in data.partition_data
        ],
    )


def _produce_to_partition(
    context: RequestContext,
    request: ProduceRequest,
    topic_data: TopicProduceData,
    data: PartitionProduceData,
    refusal: BrokerResponseError | None,
) -> PartitionProduceResponse:
    partition: BrokerPartition | None = None
    try:
        if refusal is not None:
            raise refusal
        partition = partition_of(_topic(context, topic_data), data.index)
        context.injected.raise_for(partition.topic_partition)
        partition.check_leader(context.node_id, -1)
        _check_acks(context.cluster, partition, request.acks)
        appended = _append(context, partition, data.records, request.transactional_id)
    except BrokerResponseError as error:
        response = PartitionProduceResponse(
            index=data.index, error_code=error.errno, base_offset=-1, error_message=reason_of(error)
        )
        if (
            partition is not None
            and context.version >= ProduceRequest.leader_hints_since
            and isinstance(error, NotLeaderForPartitionError)
        ):
            response.current_leader = LeaderIdAndEpoch(
                leader_id=partition.leader, leader_epoch=partition.leader_epoch
            )
        return response
    return PartitionProduceResponse(
        index=data.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.log_append_time_ms,
        log_start_offset=partition.log.log_start_offset,
    )


def _topic(context: RequestContext, data: TopicProduceData) -> TopicState:
    if context.version >= ProduceRequest.topic_ids_since:
        topic = context.cluster.topic_by_id(data.topic_id)
        context.session.check_topic(Operation.WRITE, topic.name)
        return topic
    context.session.check_topic(Operation.WRITE, data.name)
    return context.cluster.topic_by_name(data.name)


def _check_acks(cluster: ClusterState, partition: BrokerPartition, acks: int) -> None:
    if acks not in (ALL_REPLICAS, NO_ANSWER, 1):
        raise InvalidRequiredAcksError(f"acks must be -1 (all), 0 or 1, got {acks}")
    in_sync, needed = len(cluster.in_sync_replicas(partition)), partition.config.min_insync_replicas
    if acks == ALL_REPLICAS and in_sync < needed:
        raise NotEnoughReplicasError(
            f"{partition.topic_partition} has {in_sync} in-sync replicas of the {needed} needed"
        )


def _append(
    context: RequestContext,
    partition: BrokerPartition,
    records: bytes | memoryview | None,
    transactional_id: str | None,
) -> AppendedBatch:
    """Append the one batch of the request, or return where an earlier attempt appended it."""
    if not records:
        raise InvalidRecordError("a Produce request needs one record batch per partition")
    header = _validate(records, partition.config.max_message_bytes, context.version)
    _enlist(context, partition, header, transactional_id)
    if header.producer_id >= 0:
        earlier = partition.producers.check(
            header.producer_id, header.producer_epoch, header.base_sequence, header.records_count
        )
        if earlier is not None:
            return earlier
        if not header.is_transactional and partition.log.transactions.is_open(header.producer_id):
            raise InvalidTxnState(
                f"producer {header.producer_id} has a transaction open in "
                f"{partition.topic_partition}, and this batch is not part of it"
            )
    now_ms = int(context.on_node.clock.time() * 1000) if partition.config.log_append_time else None
    base_offset = partition.append(records, log_append_time_ms=now_ms)
    appended = AppendedBatch(
        header.base_sequence,
        last_sequence_of(header.base_sequence, header.records_count),
        base_offset,
        -1 if now_ms is None else now_ms,
    )
    if header.producer_id >= 0:
        partition.producers.record(
            header.producer_id,
            header.producer_epoch,
            appended,
            header.max_timestamp if now_ms is None else now_ms,
            is_transactional=header.is_transactional,
        )
    return appended


def _validate(records: bytes | memoryview, max_message_bytes: int, version: int) -> BatchHeader:
    """Return the header of the one batch in `records`. Raises: the error for the response."""
    if len(records) > max_message_bytes:
        raise MessageSizeTooLargeError(
            f"a batch of {len(records):,} bytes exceeds max.message.bytes of "
            f"{max_message_bytes:,} bytes"
        )
    header = validate_batch(records)
    if header.size != len(records):
        raise InvalidRecordError("a Produce request needs exactly one batch per partition")
    if header.records_count < 1 or header.last_offset_delta != header.records_count - 1:
        raise InvalidRecordError(
            f"a batch of {header.records_count} records cannot end at relative offset "
            f"{header.last_offset_delta}"
        )
    if header.codec == CompressionType.ZSTD and version < ProduceRequest.zstd_since:
        raise UnsupportedCompressionTypeError(
            f"zstd needs Produce version {ProduceRequest.zstd_since} or newer, "
            f"the request has version {version}"
        )
    return header


def _enlist(
    context: RequestContext,
    partition: BrokerPartition,
    header: BatchHeader,
    transactional_id: str | None,
) -> None:
    """Return if the batch may be written: outside transactions, or in its producer's own.

    A confirmation of the coordinator stays valid until a marker is written (KIP-890).
    """
    if header.is_control:
        raise InvalidRecordError("clients may not write control batches")
    if not header.is_transactional or transactional_id is None:
        return
    producer = TxnProducerId(header.producer_id, header.producer_epoch)
    # This check comes first, because asking the coordinator would add the partition.
    partition.producers.check_epoch(*producer)
    if partition.has_transaction(*producer):
        return
    enlistment = enlistment_of(
        context.version,
        abortable_since=ProduceRequest.abortable_since,
        transactions_v2_since=ProduceRequest.transactions_v2_since,
    )
    if (
        enlistment is not Enlistment.ADD
        and not context.cluster.options.transaction_partition_verification_enable
    ):
        return
    partition.producers.verifying(
        *producer, header.base_sequence, is_v2=enlistment is Enlistment.ADD
    )
    try:
        enlist(
            context.transactions, transactional_id, producer, partition.topic_partition, enlistment
        )
    except BrokerResponseError as error:
        if is_retried_by_old_clients(error, enlistment):
            raise NotEnoughReplicasError(f"the transaction cannot be verified: {error}") from error
        raise


def _close_after_error(topics: Iterable[TopicProduceResponse]) -> None:
    """Close the connection if a partition has an error.

    Without a response (acks=0) the client has no other sign of an error.
    """
    for topic in topics:
        for partition in topic.partition_responses:
            if partition.error_code:
                raise CloseConnectionError(
                    f"an acks=0 request failed with error {partition.error_code}: "
                    f"{partition.error_message}"
                )


# Versions 0 to 2 are advertised but not served, as Apache Kafka 4 does for old librdkafka
# (KAFKA-18659).
HANDLER = Handler(ProduceRequest, handle, VersionRange(3, 13), advertised_min=0)


__all__ = ["handle"]
