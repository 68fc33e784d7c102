"""Owns ListOffsets requests: which leader gets which, and what a response means.

Plain functions over values, without state. Does not wait.
Source: 2c-6, 2c-7, OffsetFetcherUtils.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field

from aiokafka_lite.cluster.metadata.metadata_snapshot import MetadataSnapshot
from aiokafka_lite.errors import (
    BrokerResponseError,
    FencedLeaderEpochError,
    KafkaStorageError,
    LeaderNotAvailableError,
    NotLeaderForPartitionError,
    OffsetNotAvailableError,
    ReplicaNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownLeaderEpochError,
    UnknownTopicOrPartitionError,
    UnsupportedForMessageFormatError,
    for_code,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopic,
)

CONSUMER_REPLICA_ID = -1


class OffsetQuestion(NamedTuple):
    """The question about one partition."""

    timestamp: int
    """Milliseconds since 1970, or an OffsetSpec."""
    current_leader_epoch: int


class ListedOffset(NamedTuple):
    """The answer for one partition."""

    offset: int
    """-1: the log has no record at or after the timestamp."""
    timestamp: int
    leader_epoch: int

    @property
    def time_or_none(self) -> int | None:
        """The record's time in ms; None at an end of the log, or if the record has none."""
        return self.timestamp if self.timestamp >= 0 else None


@dataclass(slots=True, eq=False)
class LeaderQuestions:
    """The questions for each leader's node, and the partitions without a known leader."""

    by_node: dict[int, dict[TopicPartition, OffsetQuestion]] = field(default_factory=dict)
    leaderless: list[TopicPartition] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class ListOffsetsOutcome:
    """A response, sorted by what must be done about each partition."""

    offsets: dict[TopicPartition, ListedOffset] = field(default_factory=dict)
    to_retry: dict[TopicPartition, type[BrokerResponseError]] = field(default_factory=dict)
    """Ask again after a backoff, with newer metadata."""
    refused: dict[TopicPartition, BrokerResponseError] = field(default_factory=dict)
    """Asking again cannot help, so the user gets the error."""
    unanswerable: list[TopicPartition] = field(default_factory=list)
    """The log's format is too old for timestamps. It gives neither a result nor an error."""


def group_by_leader(
    timestamps: Iterable[tuple[TopicPartition, int]], snapshot: MetadataSnapshot
) -> LeaderQuestions:
    """Group the partitions by their leader (F3)."""
    questions = LeaderQuestions()
    for tp, timestamp in timestamps:
        leader = snapshot.leader(tp)
        if leader.node_id is None:
            questions.leaderless.append(tp)
        else:
            asked = questions.by_node.setdefault(leader.node_id, {})
            asked[tp] = OffsetQuestion(timestamp, leader.epoch)
    return questions


def build_request(
    questions: Mapping[TopicPartition, OffsetQuestion], *, read_committed: bool, timeout_ms: int
) -> ListOffsetsRequest:
    """Return one node's request. With `read_committed` the end is the last stable offset (E1)."""
    topics: dict[str, ListOffsetsTopic] = {}
    for tp, question in questions.items():
        topic = topics.setdefault(tp.topic, ListOffsetsTopic(name=tp.topic, partitions=[]))
        topic.partitions.append(
            ListOffsetsPartition(
                partition_index=tp.partition,
                current_leader_epoch=question.current_leader_epoch,
                timestamp=question.timestamp,
            )
        )
    return ListOffsetsRequest(
        replica_id=CONSUMER_REPLICA_ID,
        isolation_level=int(read_committed),
        topics=list(topics.values()),
        timeout_ms=timeout_ms,
    )


_RETRY_QUIETLY = {
    error.errno
    for error in (
        NotLeaderForPartitionError,
        ReplicaNotAvailableError,
        KafkaStorageError,
        OffsetNotAvailableError,
        LeaderNotAvailableError,
        FencedLeaderEpochError,
        UnknownLeaderEpochError,
        UnknownTopicOrPartitionError,
    )
}


def read_response(
    response: ListOffsetsResponse, questions: Mapping[TopicPartition, OffsetQuestion]
) -> ListOffsetsOutcome:
    """Sort a response. A partition that is missing in it must be asked about again.

    Every error leads to another try, except those of authorization and of an old log format (2c-7).
    An unexpected error may be gone after an upgrade or an election.
    """
    outcome = ListOffsetsOutcome()
    for topic in response.topics:
        for answer in topic.partitions:
            tp = TopicPartition(topic.name, answer.partition_index)
            if tp not in questions:
                continue
            code = answer.error_code
            if not code:
                outcome.offsets[tp] = ListedOffset(
                    answer.offset, answer.timestamp, answer.leader_epoch
                )
            elif code == TopicAuthorizationFailedError.errno:
                outcome.refused[tp] = TopicAuthorizationFailedError(
                    f"not allowed to read {tp.topic}-{tp.partition}: "
                    f"{TopicAuthorizationFailedError.description}"
                )
            elif code == UnsupportedForMessageFormatError.errno:
                outcome.unanswerable.append(tp)
            else:
                outcome.to_retry[tp] = for_code(code)
    for tp in questions:
        if not _is_sorted(outcome, tp):
            outcome.to_retry[tp] = UnknownTopicOrPartitionError
    return outcome


def is_expected(error: type[BrokerResponseError]) -> bool:
    """Say whether an error belongs to normal operation, such as an election."""
    return error.errno in _RETRY_QUIETLY


def _is_sorted(outcome: ListOffsetsOutcome, tp: TopicPartition) -> bool:
    return (
        tp in outcome.offsets
        or tp in outcome.to_retry
        or tp in outcome.refused
        or tp in outcome.unanswerable
    )


__all__ = [
    "LeaderQuestions",
    "ListOffsetsOutcome",
    "ListedOffset",
    "OffsetQuestion",
    "build_request",
    "group_by_leader",
    "is_expected",
    "read_response",
]
