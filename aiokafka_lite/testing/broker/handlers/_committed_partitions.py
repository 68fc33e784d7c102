"""The partitions that OffsetCommit and TxnOffsetCommit name. Does not wait."""

from collections.abc import Iterable
from uuid import UUID

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.testing.broker.handler import RequestContext
from aiokafka_lite.testing.broker.security.acl import Operation
from aiokafka_lite.testing.broker.state.cluster_state import BrokerPartition, partition_of

Found = BrokerPartition | BrokerResponseError


def find_partition(
    context: RequestContext, name: str, topic_id: UUID, index: int, *, topic_ids_since: int
) -> Found:
    """Return the partition, or the error because of which it takes no offset. From the version
    `topic_ids_since` on, the id names the topic.
    """
    cluster = context.cluster
    try:
        if context.version >= topic_ids_since:
            state = cluster.topic_by_id(topic_id)
            context.session.check_topic(Operation.READ, state.name)
        else:
            context.session.check_topic(Operation.READ, name)
            state = cluster.topic_by_name(name)
        return partition_of(state, index)
    except BrokerResponseError as error:
        return error


def id_partitions_of(
    context: RequestContext, found: Iterable[Iterable[Found]]
) -> list[tuple[UUID, int]]:
    """Return the partitions that were found, by the ids of their topics."""
    return context.cluster.id_partitions(
        each.topic_partition
        for entries in found
        for each in entries
        if isinstance(each, BrokerPartition)
    )


__all__ = ["Found", "find_partition", "id_partitions_of"]
