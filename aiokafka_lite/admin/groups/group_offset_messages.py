"""Writes requests about committed offsets, and reads their responses. Does not wait."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aiokafka_lite.admin.calls.outcomes import Outcomes, broker_error
from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.errors import KafkaError, UnknownTopicIdError, UnknownTopicOrPartitionError
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition, by_topic
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from aiokafka_lite.protocol.messages.offset_delete import (
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
    OffsetDeleteResponse,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
)

PartitionsByGroup = Mapping[str, list[TopicPartition] | None]
Offsets = Outcomes[TopicPartition, OffsetAndMetadata]
_GONE = (UnknownTopicIdError, UnknownTopicOrPartitionError)


def fetch_request(
    groups: PartitionsByGroup, version: int, *, require_stable: bool
) -> OffsetFetchRequest:
    """Return a request for offsets of groups; below `groups_since` there is only one group."""
    if version < OffsetFetchRequest.groups_since:
        ((group_id, partitions),) = groups.items()
        return OffsetFetchRequest(
            group_id=group_id,
            topics=None
            if partitions is None
            else [
                OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
                for name, indexes in by_topic(partitions).items()
            ],
            require_stable=require_stable,
        )
    return OffsetFetchRequest(
        groups=[
            OffsetFetchRequestGroup(
                group_id=group_id,
                topics=None
                if partitions is None
                else [
                    OffsetFetchRequestTopics(name=name, partition_indexes=indexes)
                    for name, indexes in by_topic(partitions).items()
                ],
            )
            for group_id, partitions in groups.items()
        ],
        require_stable=require_stable,
    )


def fetch_results(
    group_id: str | None, response: OffsetFetchResponse
) -> dict[str, Offsets | KafkaError]:
    """Return the offsets of each group in a response, or the error of the group.

    `group_id` is the group of a response below `groups_since`, otherwise None. A retriable
    error of a partition is that of its group, which is asked for again. A topic that is gone has
    its own error, and hides no offsets of others.
    """
    if group_id is not None:
        error = broker_error(response.error_code, None, f"group {quoted(group_id)}")
        old = ((topic.name, each) for topic in response.topics for each in topic.partitions)
        return {group_id: error or _offsets(old)}
    return {
        group.group_id: broker_error(group.error_code, None, f"group {quoted(group.group_id)}")
        or _offsets((topic.name, each) for topic in group.topics for each in topic.partitions)
        for group in response.groups
    }


def _offsets(
    rows: Iterable[tuple[str, OffsetFetchResponsePartition | OffsetFetchResponsePartitions]],
) -> Offsets | KafkaError:
    found: Offsets = Outcomes()
    for topic, row in rows:
        index = row.partition_index
        error = broker_error(row.error_code, None, f"partition '{topic}-{index}'")
        if error is not None and error.retriable and not isinstance(error, _GONE):
            return error
        found[TopicPartition(topic, index)] = error or OffsetAndMetadata(
            row.committed_offset, row.metadata or "", row.committed_leader_epoch
        )
    return found


def commit_request(
    group_id: str, offsets: Mapping[TopicPartition, OffsetAndMetadata]
) -> OffsetCommitRequest:
    """Return a commit from outside the group."""
    topics: dict[str, list[OffsetCommitRequestPartition]] = {}
    for (topic, index), each in offsets.items():
        row = OffsetCommitRequestPartition(
            partition_index=index,
            committed_offset=each.offset,
            committed_leader_epoch=each.leader_epoch,
            committed_metadata=each.metadata,
        )
        topics.setdefault(topic, []).append(row)
    return OffsetCommitRequest(
        group_id=group_id,
        topics=[
            OffsetCommitRequestTopic(name=name, partitions=rows) for name, rows in topics.items()
        ],
    )


def commit_results(response: OffsetCommitResponse) -> dict[TopicPartition, KafkaError | None]:
    """Return the error of each partition; None if its offset is stored."""
    return _errors(
        (topic.name, each.partition_index, each.error_code)
        for topic in response.topics
        for each in topic.partitions
    )


def delete_request(group_id: str, partitions: Iterable[TopicPartition]) -> OffsetDeleteRequest:
    """Return a request to delete offsets."""
    return OffsetDeleteRequest(
        group_id=group_id,
        topics=[
            OffsetDeleteRequestTopic(
                name=name,
                partitions=[OffsetDeleteRequestPartition(partition_index=each) for each in indexes],
            )
            for name, indexes in by_topic(partitions).items()
        ],
    )


def delete_results(response: OffsetDeleteResponse) -> dict[TopicPartition, KafkaError | None]:
    """Return the error of each partition; None if it has no offset any more."""
    return _errors(
        (topic.name, each.partition_index, each.error_code)
        for topic in response.topics
        for each in topic.partitions
    )


def _errors(rows: Iterable[tuple[str, int, int]]) -> dict[TopicPartition, KafkaError | None]:
    return {
        TopicPartition(topic, index): broker_error(code, None, f"partition '{topic}-{index}'")
        for topic, index, code in rows
    }


__all__ = [
    "PartitionsByGroup",
    "commit_request",
    "commit_results",
    "delete_request",
    "delete_results",
    "fetch_request",
    "fetch_results",
]
