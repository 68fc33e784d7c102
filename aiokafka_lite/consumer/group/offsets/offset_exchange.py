"""Owns the wording of OffsetCommit and OffsetFetch, both requests and answers.

Plain functions over values, without state. Does not wait. Topics are named by id where the
version does that, if the metadata knows all of their ids (KIP-848).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from uuid import UUID

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.consumer.position.committed_offset import CommittedOffset
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import ConsumerGroupMetadata, TopicPartition, by_topic
from aiokafka_lite.protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)
from aiokafka_lite.protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
)


def names_topics_by_id(
    offsets: Mapping[TopicPartition, CommittedOffset], snapshot: MetadataSnapshot
) -> bool:
    """Say whether a commit may name its topics by id: all of them or none."""
    return all(_topic_id(tp, each, snapshot).int for tp, each in offsets.items())


def _topic_id(tp: TopicPartition, committed: CommittedOffset, snapshot: MetadataSnapshot) -> UUID:
    """Return the id of the topic that was read: one created anew under its name has another."""
    topic_id = committed.topic_id
    return topic_id if topic_id.int else snapshot.topic_id(tp.topic)


def knows_topic_ids(topics: Iterable[str], snapshot: MetadataSnapshot) -> bool:
    """Say whether topics may be named by id: all of them or none."""
    return all(snapshot.topic_id(topic).int for topic in topics)


def commit_request(
    committer: ConsumerGroupMetadata,
    offsets: Mapping[TopicPartition, CommittedOffset],
    snapshot: MetadataSnapshot,
) -> OffsetCommitRequest:
    """Return the request that stores these offsets; from outside of the group: only its name."""
    # By the ids' numbers: a UUID is hashed and compared in Python, for each partition.
    topics: dict[tuple[str, int], OffsetCommitRequestTopic] = {}
    for tp, committed in offsets.items():
        name, partition = tp
        topic_id = _topic_id(tp, committed, snapshot)
        topic = topics.get((name, topic_id.int))
        if topic is None:
            topic = topics[name, topic_id.int] = OffsetCommitRequestTopic(
                name=name, topic_id=topic_id, partitions=[]
            )
        topic.partitions.append(
            OffsetCommitRequestPartition(
                partition_index=partition,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                committed_metadata=committed.metadata,
            )
        )
    return OffsetCommitRequest(
        group_id=committer.group_id,
        generation_id_or_member_epoch=committer.generation_id,
        member_id=committer.member_id,
        group_instance_id=committer.group_instance_id,
        topics=list(topics.values()),
    )


def commit_errors(
    response: OffsetCommitResponse, request: OffsetCommitRequest
) -> dict[TopicPartition, int]:
    """Return the error code of each partition that was not stored."""
    names = {topic.topic_id: topic.name for topic in request.topics}
    return {
        TopicPartition(topic.name or names[topic.topic_id], answer.partition_index): (
            answer.error_code
        )
        for topic in response.topics
        for answer in topic.partitions
        if answer.error_code
    }


def fetch_request(
    group_id: str,
    partitions: Collection[TopicPartition],
    snapshot: MetadataSnapshot,
    version: int,
    member: ConsumerGroupMetadata | None = None,
) -> OffsetFetchRequest:
    """Return the question in the form of `version`, for stable offsets where that can be said.

    `member`: the ids of a member that has an epoch (KIP-848), or None.
    """
    topics = by_topic(partitions)
    require_stable = version >= OffsetFetchRequest.stable_since
    if version < OffsetFetchRequest.groups_since:
        return OffsetFetchRequest(
            group_id=group_id,
            topics=[
                OffsetFetchRequestTopic(name=name, partition_indexes=indexes)
                for name, indexes in topics.items()
            ],
            require_stable=require_stable,
        )
    group = OffsetFetchRequestGroup(
        group_id=group_id,
        member_id=None if member is None else member.member_id,
        member_epoch=-1 if member is None else member.generation_id,
        topics=[
            OffsetFetchRequestTopics(
                name=name, topic_id=snapshot.topic_id(name), partition_indexes=indexes
            )
            for name, indexes in topics.items()
        ],
    )
    return OffsetFetchRequest(groups=[group], require_stable=require_stable)


class FetchedOffset(NamedTuple):
    """One partition's answer."""

    error_code: int
    committed: CommittedOffset | None
    """None: nothing is committed, or an error."""


def fetch_error(response: OffsetFetchResponse) -> int:
    """Return the error of the whole group, 0 for none."""
    return response.error_code or next(
        (group.error_code for group in response.groups if group.error_code), 0
    )


def fetched_offsets(
    response: OffsetFetchResponse, snapshot: MetadataSnapshot
) -> Iterator[tuple[TopicPartition, FetchedOffset]]:
    """Yield the answers, whichever version they came in."""
    for old in response.topics:
        for answer in old.partitions:
            yield (
                TopicPartition(old.name, answer.partition_index),
                _fetched(
                    answer.error_code,
                    answer.committed_offset,
                    answer.committed_leader_epoch,
                    answer.metadata,
                ),
            )
    for group in response.groups:
        for topic in group.topics:
            name = topic.name or _name(topic.topic_id, snapshot)
            for each in topic.partitions:
                yield (
                    TopicPartition(name, each.partition_index),
                    _fetched(
                        each.error_code,
                        each.committed_offset,
                        each.committed_leader_epoch,
                        each.metadata,
                    ),
                )


def _fetched(error_code: int, offset: int, epoch: int, metadata: str | None) -> FetchedOffset:
    if error_code or offset < 0:
        return FetchedOffset(error_code, None)
    return FetchedOffset(0, CommittedOffset(offset, epoch, metadata or ""))


def _name(topic_id: UUID, snapshot: MetadataSnapshot) -> str:
    return snapshot.topic_name(topic_id) or str(topic_id)


__all__ = [
    "FetchedOffset",
    "commit_errors",
    "commit_request",
    "fetch_error",
    "fetch_request",
    "fetched_offsets",
    "knows_topic_ids",
    "names_topics_by_id",
]
