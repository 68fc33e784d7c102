"""Owns asking the leaders where leader epochs end, for offsets that no consumer has a position at.

Source: KIP-320; as `offset_validator` for positions.
"""

from collections.abc import Mapping
from dataclasses import field
from functools import partial

from aiokafka_lite.cluster.kafka_client import KafkaClient
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.side_by_side import side_by_side
from aiokafka_lite.consumer.position.epoch_questions import (
    EpochEnd,
    EpochQuestion,
    build_request,
    read_response,
)
from aiokafka_lite.errors import KafkaError, KafkaTimeoutError
from aiokafka_lite.light_dataclass import dataclass
from aiokafka_lite.model import TopicPartition, names_of
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest

NEWER_EPOCH_PATIENCE = 5
"""After so many backoffs, a leader is asked whose epoch is older than the one in question.

It may be older in the metadata alone. Otherwise the epoch comes from another log.
"""


@dataclass(slots=True, eq=False)
class _Answers:
    """What the leaders have told so far."""

    missing: dict[TopicPartition, int]
    """The epochs in question."""
    found: dict[TopicPartition, EpochEnd] = field(default_factory=dict)
    reasons: dict[TopicPartition, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return ", ".join(
            f"{names_of([tp])} ({self.reasons.get(tp, 'no leader')})" for tp in self.missing
        )


async def epoch_ends(
    client: KafkaClient, epochs: Mapping[TopicPartition, int], timeout_s: float
) -> dict[TopicPartition, EpochEnd]:
    """Return where these leader epochs end in the logs of the present leaders.

    A partition is missing whose leader does not answer consumers (before Kafka 2.3).
    Raises: KafkaTimeoutError after the time; TopicAuthorizationFailedError; as
    `NetworkClient.request` for what another attempt does not cure. Cancelled: nothing stays behind.
    """
    for topic in {tp.topic for tp in epochs}:
        client.metadata.add_topic(topic)
    answers = _Answers(dict(epochs))
    attempts = 0
    try:
        with client.waits.of(
            "the leaders to tell where epochs end (OffsetForLeaderEpoch)",
            "check that the partitions have a leader, and its node",
            lambda: str(answers),
        ):
            async with deadline(client.clock, timeout_s):
                while True:
                    asked = _by_leader(client, answers, is_patient=attempts < NEWER_EPOCH_PATIENCE)
                    await side_by_side(
                        partial(_ask, client, answers, *each) for each in asked.items()
                    )
                    if not answers.missing:
                        return answers.found
                    client.metadata.request_update()
                    await client.clock.sleep(client.retry_backoff.delay(attempts))
                    attempts += 1
    except TimeoutError as error:
        if isinstance(error, KafkaError):
            raise
        raise KafkaTimeoutError(
            f"the ends of leader epochs did not come within {timeout_s:g} s: {answers}; check that"
            " the partitions have a leader, or raise default_api_timeout_ms"
        ) from error


def _by_leader(
    client: KafkaClient, answers: _Answers, *, is_patient: bool
) -> dict[int, dict[TopicPartition, EpochQuestion]]:
    """Return what to ask each node; a patient caller does not ask leaders of an older epoch."""
    found: dict[int, dict[TopicPartition, EpochQuestion]] = {}
    for tp, epoch in answers.missing.items():
        leader = client.metadata.snapshot.leader(tp)
        if leader.node_id is not None and not (is_patient and leader.epoch < epoch):
            found.setdefault(leader.node_id, {})[tp] = EpochQuestion(0, epoch, leader)
    return found


async def _ask(
    client: KafkaClient,
    answers: _Answers,
    node_id: int,
    questions: Mapping[TopicPartition, EpochQuestion],
) -> None:
    """Ask one node, once. Raises: as `epoch_ends`."""
    network = client.network
    try:
        await network.connect(node_id)
        version = network.max_version(node_id, OffsetForLeaderEpochRequest)
        if version is None or version < OffsetForLeaderEpochRequest.consumers_since:
            for tp in questions:
                del answers.missing[tp]
            return
        response = await network.request(node_id, build_request(questions))
    except KafkaError as error:
        if not error.retriable:
            raise
        answers.reasons.update(dict.fromkeys(questions, str(error)))
        return
    outcome = read_response(response, questions)
    for refusal in outcome.refused.values():
        raise refusal
    answers.found.update(outcome.ends)
    for tp in outcome.ends:
        del answers.missing[tp]
    answers.reasons.update({tp: error.description for tp, error in outcome.to_retry.items()})


__all__ = ["epoch_ends"]
