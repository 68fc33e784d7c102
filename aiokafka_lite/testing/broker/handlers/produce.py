"""Produce: checks a batch's frame, its records, transaction and sequence, and appends it.

Source: ReplicaManager.appendRecords, LogValidator, ProducerAppendInfo; KIP-98, KIP-890, KIP-951.
"""

from collections.abc import Iterable
from struct import Struct

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidProducerIdMapping,
    InvalidRequiredAcksError,
    InvalidTxnState,
    NotEnoughReplicasError,
    NotLeaderForPartitionError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages._leader import LeaderIdAndEpoch
from aiokafka_lite.protocol.messages.produce import (
    BatchIndexAndErrorMessage,
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
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import CloseConnectionError, Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.security.client_quotas import PRODUCED
from aiokafka_lite.testing.broker.state.cluster_state import (
    BrokerPartition,
    ClusterState,
    TopicState,
    partition_of,
)
from aiokafka_lite.testing.broker.state.log.log_validator import (
    RecordsRefusedError,
    read_frame,
    validate,
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
    throttle_time_ms = _throttle_ms(context, request)
    if request.acks == NO_ANSWER:
        _close_after_error(topics)
        return None
    response = ProduceResponse(responses=topics, throttle_time_ms=throttle_time_ms)
    if context.version >= ProduceRequest.leader_hints_since:
        leaders = {
            partition.current_leader.leader_id
            for topic in topics
            for partition in topic.partition_responses
        }
        response.node_endpoints = context.leader_endpoints(leaders)
    return response


def _throttle_ms(context: RequestContext, request: ProduceRequest) -> int:
    size = sum(
        len(partition.records or b"")
        for topic in request.topic_data
        for partition in topic.partition_data
    )
    return context.throttle_ms(PRODUCED, size)


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
    is_in_log = False
    try:
        if refusal is not None:
            raise refusal
        partition = partition_of(_topic(context, topic_data), data.index)
        context.injected.raise_for(partition.topic_partition)
        partition.check_leader(context.node_id, -1)
        _check_acks(context.cluster, partition, request.acks)
        batch, header = read_frame(
            data.records,
            partition.config.max_message_bytes,
            may_be_zstd=context.version >= ProduceRequest.zstd_since,
        )
        _enlist(context, partition, header, request.transactional_id)
        is_in_log = True
        base_offset, append_time_ms = _append(context, partition, batch, header)
    except RecordsRefusedError as refused:
        response = _refused(data.index, refused.error, partition)
        response.record_errors = [
            BatchIndexAndErrorMessage(batch_index=index, batch_index_error_message=why)
            for index, why in refused.records
        ]
        return response
    except BrokerResponseError as error:
        response = _refused(data.index, error, partition if is_in_log else None)
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
        base_offset=base_offset,
        log_append_time_ms=append_time_ms,
        log_start_offset=partition.log.log_start_offset,
    )


def _refused(
    index: int, error: BrokerResponseError, in_log_of: BrokerPartition | None
) -> PartitionProduceResponse:
    """Return the response about an error. Those of the log itself tell where the log begins.

    Source: ReplicaManager.appendToLocalLog.
    """
    response = PartitionProduceResponse(
        index=index, error_code=error.errno, base_offset=-1, error_message=reason_of(error)
    )
    if in_log_of is not None:
        response.log_start_offset = in_log_of.log.log_start_offset
    return response


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
    # A partition needs no more replicas in sync than it has at all (Partition.effectiveMinIsr).
    needed = min(partition.config.min_insync_replicas, len(partition.replicas))
    in_sync = len(cluster.in_sync_replicas(partition))
    if acks == ALL_REPLICAS and in_sync < needed:
        raise NotEnoughReplicasError(
            f"{partition.topic_partition} has {in_sync} in-sync replicas of the {needed} needed"
        )


def _append(
    context: RequestContext,
    partition: BrokerPartition,
    batch: memoryview,
    header: BatchHeader,
) -> tuple[int, int]:
    """Append a batch, unless an earlier attempt has. Return its offset, and the time of the write.

    The time is -1 where producers set it. For a batch that is sent again it is the batch's own.
    """
    config, producers = partition.config, partition.producers
    now_ms = int(context.on_node.clock.time() * 1000)
    clients_ms = int(context.on_node.clients_clock.time() * 1000)
    newest_ms = max(now_ms, clients_ms) + config.timestamp_after_ms
    span = now_ms - config.timestamp_before_ms, newest_ms
    stored = validate(batch, header, partition.topic_partition, config, span)
    if header.producer_id >= 0:
        earlier = producers.check(
            header.producer_id, header.producer_epoch, header.base_sequence, header.records_count
        )
        if earlier is not None:
            return earlier.base_offset, earlier.timestamp_ms
        if not header.is_transactional and partition.log.transactions.is_open(header.producer_id):
            raise InvalidTxnState(
                f"producer {header.producer_id} has a transaction open in "
                f"{partition.topic_partition}, and this batch is not part of it"
            )
    append_time_ms = now_ms if config.log_append_time else None
    base_offset = partition.append(stored, written_ms=now_ms, log_append_time_ms=append_time_ms)
    if header.producer_id >= 0:
        timestamp_ms = header.max_timestamp if append_time_ms is None else append_time_ms
        last = last_sequence_of(header.base_sequence, header.records_count)
        producers.record(
            header.producer_id,
            header.producer_epoch,
            AppendedBatch(header.base_sequence, last, base_offset, timestamp_ms),
            is_transactional=header.is_transactional,
        )
    return base_offset, -1 if append_time_ms is None else append_time_ms


def _enlist(
    context: RequestContext,
    partition: BrokerPartition,
    header: BatchHeader,
    transactional_id: str | None,
) -> None:
    """Return if the batch may be written: outside transactions, or in its producer's own.

    A confirmation of the coordinator stays valid until a marker is written (KIP-890).
    """
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
