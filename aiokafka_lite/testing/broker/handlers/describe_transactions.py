"""DescribeTransactions: what this node knows of the transactional ids that it coordinates.

Offsets of a group stand for a partition of Kafka's own topic, which the embedded broker does not
have. Source: TransactionCoordinator.handleDescribeTransactions; KIP-664.
"""

from collections import defaultdict
from collections.abc import Iterator

from aiokafka_lite.errors import (
    BrokerResponseError,
    InvalidRequestError,
    TransactionalIdNotFoundError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.state.transactions.txn_metadata import TransactionMetadata

GROUP_OFFSETS = "__consumer_offsets"
_OFFSET_PARTITIONS = 50


def handle(
    context: RequestContext, request: DescribeTransactionsRequest
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_describe(context, name) for name in request.transactional_ids]
    )


def _describe(context: RequestContext, transactional_id: str) -> TransactionState:
    try:
        context.session.check_transactional_id(Operation.DESCRIBE, transactional_id)
        context.injected.raise_for()
        metadata = _find(context, transactional_id)
    except BrokerResponseError as error:
        return TransactionState(transactional_id=transactional_id, error_code=error.errno)
    topics: dict[str, list[int]] = defaultdict(list)
    for topic, partition in sorted({*metadata.partitions, *_of_groups(metadata)}):
        if context.session.may(Operation.DESCRIBE, ResourceType.TOPIC, topic):
            topics[topic].append(partition)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=metadata.state.value,
        transaction_timeout_ms=metadata.timeout_ms,
        transaction_start_time_ms=metadata.start_time_ms,
        producer_id=metadata.producer_id,
        producer_epoch=metadata.producer_epoch,
        topics=[TopicData(topic=name, partitions=indexes) for name, indexes in topics.items()],
    )


def _find(context: RequestContext, transactional_id: str) -> TransactionMetadata:
    if not transactional_id:
        raise InvalidRequestError("a transactional id has at least one character")
    context.transactions.nodes.check(transactional_id, context.node_id)
    metadata = context.transactions.find(transactional_id)
    if metadata is None:
        raise TransactionalIdNotFoundError(f"no producer has the id {transactional_id!r}")
    return metadata


def _of_groups(metadata: TransactionMetadata) -> Iterator[TopicPartition]:
    for group_id in metadata.groups:
        yield TopicPartition(GROUP_OFFSETS, abs(_java_hash(group_id)) % _OFFSET_PARTITIONS)


def _java_hash(text: str) -> int:
    """Return String.hashCode(). Source: GroupCoordinatorService.partitionFor."""
    value = 0
    utf_16 = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(utf_16[::2], utf_16[1::2], strict=True):
        value = (31 * value + (high << 8) + low) & 0xFFFF_FFFF
    return value - (value >> 31 << 32)


HANDLER = Handler(DescribeTransactionsRequest, handle, VersionRange(0, 0))


__all__ = ["GROUP_OFFSETS", "handle"]
