"""Owns OffsetForLeaderEpoch requests and what their responses mean for a position.

Plain functions over values, without state. Does not wait.
Source: 2c-2, 2c-3, KIP-320, OffsetsForLeaderEpochUtils, SubscriptionState.maybeCompleteValidation.
"""

from collections.abc import Iterable, Mapping
from dataclasses import field

from aiokafka_lite.cluster.metadata.metadata_snapshot import LeaderAndEpoch
from aiokafka_lite.consumer.position.partition_state import PartitionState
from aiokafka_lite.errors import (
    BrokerResponseError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
    for_code,
)
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import (
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)

CONSUMER_REPLICA_ID = -1
_UNDEFINED = -1


class EpochQuestion(NamedTuple):
    """A position to be validated. The answer counts only while the position is still this one."""

    offset: int
    offset_epoch: int
    leader: LeaderAndEpoch


class EpochEnd(NamedTuple):
    """The end of the asked epoch in the leader's log, or of the last epoch before it."""

    epoch: int
    end_offset: int

    @property
    def is_defined(self) -> bool:
        """False if the leader knows neither that epoch nor an earlier one."""
        return _UNDEFINED not in (self.epoch, self.end_offset)


@dataclass(slots=True, eq=False)
class EpochOutcome:
    """A response, sorted by what must be done about each partition."""

    ends: dict[TopicPartition, EpochEnd] = field(default_factory=dict)
    to_retry: dict[TopicPartition, type[BrokerResponseError]] = field(default_factory=dict)
    """Ask again after a backoff, with newer metadata."""
    refused: dict[TopicPartition, BrokerResponseError] = field(default_factory=dict)
    """Asking again cannot help, so the poll raises the error."""


def question_of(state: PartitionState) -> EpochQuestion | None:
    """Return what to ask about a position; None while the leader is not known."""
    if state.leader is None or state.leader.node_id is None:
        return None
    return EpochQuestion(state.offset, state.offset_epoch, state.leader)


def build_request(
    questions: Mapping[TopicPartition, EpochQuestion],
) -> OffsetForLeaderEpochRequest:
    """Return the request to one leader."""
    topics: dict[str, OffsetForLeaderTopic] = {}
    for tp, question in questions.items():
        topic = topics.setdefault(tp.topic, OffsetForLeaderTopic(topic=tp.topic, partitions=[]))
        topic.partitions.append(
            OffsetForLeaderPartition(
                partition=tp.partition,
                current_leader_epoch=question.leader.epoch,
                leader_epoch=question.offset_epoch,
            )
        )
    return OffsetForLeaderEpochRequest(replica_id=CONSUMER_REPLICA_ID, topics=list(topics.values()))


def read_response(
    response: OffsetForLeaderEpochResponse, asked: Iterable[TopicPartition]
) -> EpochOutcome:
    """Sort a response. A partition that is missing in it must be asked about again."""
    outcome = EpochOutcome()
    answers = {
        TopicPartition(topic.topic, answer.partition): answer
        for topic in response.topics
        for answer in topic.partitions
    }
    for tp in asked:
        _sort(outcome, tp, answers.get(tp))
    return outcome


def _sort(outcome: EpochOutcome, tp: TopicPartition, answer: EpochEndOffset | None) -> None:
    if answer is None:
        outcome.to_retry[tp] = UnknownTopicOrPartitionError
    elif not answer.error_code:
        outcome.ends[tp] = EpochEnd(answer.leader_epoch, answer.end_offset)
    elif answer.error_code == TopicAuthorizationFailedError.errno:
        outcome.refused[tp] = TopicAuthorizationFailedError(
            f"not allowed to validate the position of {tp.topic}-{tp.partition}: "
            f"{TopicAuthorizationFailedError.description}"
        )
    else:
        outcome.to_retry[tp] = for_code(answer.error_code)


__all__ = [
    "EpochEnd",
    "EpochOutcome",
    "EpochQuestion",
    "build_request",
    "question_of",
    "read_response",
]
