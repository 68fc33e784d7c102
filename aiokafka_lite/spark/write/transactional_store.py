"""Reads and stores offsets of a group, outside of a transaction, for a transactional write.

It waits for the brokers. `transactional_marker` interprets the results.
"""

from typing import Final

from aiokafka_lite.errors import KafkaError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.transaction.transaction_coordinator import (
    TransactionCoordinator,
    TransactionError,
)
from aiokafka_lite.producer.transaction.transaction_errors import (
    INIT_ACTIONS,
    OFFSET_COMMIT_ACTIONS,
)
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestTopic,
    OffsetFetchResponse,
)
from aiokafka_lite.spark.write.transactional_marker import Stored

_FETCH_VERSION: Final = OffsetFetchRequest.groups_since - 1
"""The last version that asks about one group. It can wait for open transactions (KIP-447)."""
_COMMIT_VERSION: Final = OffsetCommitRequest.consumer_protocol_since - 1
"""The last version before the consumer group protocol. It names topics by name."""


async def stored_offsets(
    coordinator: TransactionCoordinator, group_id: str, topic: str | None = None
) -> list[Stored]:
    """Return the offsets of a group with their notes, once no transaction can change them.

    Asked for all offsets, brokers do not see a transaction that stores the first one of a
    partition. Brokers before 4.0 store offsets a moment after the end of their transaction. So ask
    with the topic whose partition 0 may get its first one.

    Raises: KafkaError that another attempt does not cure. Cancelled: leaves nothing behind.
    """
    answer = await _asked(coordinator, group_id, None)
    found = list(answer.topics)
    if topic is not None and topic not in {each.name for each in found}:
        named = OffsetFetchRequestTopic(name=topic, partition_indexes=[0])
        found += (await _asked(coordinator, group_id, [named])).topics
    return [
        (partition.committed_offset, partition.metadata or "")
        for each in found
        for partition in each.partitions
        if partition.committed_offset >= 0
    ]


async def _asked(
    coordinator: TransactionCoordinator,
    group_id: str,
    topics: list[OffsetFetchRequestTopic] | None,
) -> OffsetFetchResponse:
    request = OffsetFetchRequest(group_id=group_id, topics=topics, require_stable=True)
    try:
        return await coordinator.ask(
            "OffsetFetch",
            lambda: request,
            _fetch_error,
            INIT_ACTIONS,
            max_version=_FETCH_VERSION,
            group_id=group_id,
        )
    except TransactionError as refusal:
        raise _named(refusal, group_id) from None


async def store_offset(
    coordinator: TransactionCoordinator, group_id: str, tp: TopicPartition, stored: Stored
) -> None:
    """Store an offset and its note in a group without members.

    Raises: KafkaError that another attempt does not cure. Cancelled: it may be stored.
    """
    offset, note = stored
    partition = OffsetCommitRequestPartition(
        partition_index=tp.partition, committed_offset=offset, committed_metadata=note
    )
    request = OffsetCommitRequest(
        group_id=group_id,
        topics=[OffsetCommitRequestTopic(name=tp.topic, partitions=[partition])],
    )
    try:
        await coordinator.ask(
            "OffsetCommit",
            lambda: request,
            _partition_error,
            OFFSET_COMMIT_ACTIONS,
            max_version=_COMMIT_VERSION,
            group_id=group_id,
        )
    except TransactionError as refusal:
        raise _named(refusal, group_id) from None


def _fetch_error(answer: OffsetFetchResponse) -> int:
    return answer.error_code or _partition_error(answer)


def _partition_error(answer: OffsetFetchResponse | OffsetCommitResponse) -> int:
    codes = [partition.error_code for topic in answer.topics for partition in topic.partitions]
    return next(filter(None, codes), 0)


def _named(refusal: TransactionError, group_id: str) -> KafkaError:
    error = refusal.error
    error.add_note(f"about the group {group_id!r}, where the transactional write keeps its markers")
    return error


__all__ = ["store_offset", "stored_offsets"]
