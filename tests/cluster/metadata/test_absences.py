"""What an answer leaves out stays as it was known, until it is surely gone (2f-15)."""

from typing import Any

import pytest

from aiokafka_lite.cluster.metadata.absences import PATIENCE_S, Absences
from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.errors import (
    BrokerResponseError,
    LeaderNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.protocol.messages.metadata import MetadataResponse
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.cluster.support.answers import ID_A, ID_B, answer, partition, topic

T1 = TopicPartition("t", 1)


class Client:
    """Follows answers as a client does."""

    def __init__(self, **options: Any) -> None:
        self.topics = {"t"}
        self.absences = Absences()
        self.snapshot: MetadataSnapshot = bootstrap_snapshot([Endpoint("seed", 9092)])
        self.hears(answer(topic("t", [partition(0, 1), partition(1, 2)], **options)))

    def hears(
        self, response: MetadataResponse, at_s: float = 0.0, *, partial: bool = False
    ) -> None:
        after = merge_metadata(self.snapshot, response, partial=partial)
        wanted = self.topics.__contains__
        self.snapshot = self.absences.restored(self.snapshot, after, response, wanted, at_s)

    @property
    def known(self) -> tuple[int, ...]:
        return self.snapshot.partition_ids("t")


@pytest.mark.parametrize("topic_id", [ID_A, ZERO_UUID])
def test_a_partition_stays_with_its_leader(topic_id: Any) -> None:
    client = Client(topic_id=topic_id)
    for at_s in (1.0, PATIENCE_S):
        client.hears(answer(topic("t", [partition(0, 1, 7)], topic_id=topic_id)), at_s)
        assert client.known == (0, 1)
        assert client.snapshot.leader(T1) == (2, 0)
        assert client.snapshot.leader(TopicPartition("t", 0)) == (1, 7)
    client.hears(answer(topic("t", [partition(0, 1, 7)], topic_id=topic_id)), 1.0 + PATIENCE_S)
    assert client.known == ((0,) if topic_id == ZERO_UUID else (0, 1)), "the id is the same"
    assert not client.absences.are_in_doubt


@pytest.mark.parametrize(
    "error",
    [None, UnknownTopicOrPartitionError, LeaderNotAvailableError, TopicAuthorizationFailedError],
)
def test_a_topic_is_doubted_first_and_gone_after_a_while(
    error: type[BrokerResponseError] | None,
) -> None:
    client = Client(topic_id=ID_A)
    absent = answer() if error is None else answer(topic("t", error_code=error.errno))
    for at_s in (10.0, 10.0 + PATIENCE_S - 0.1):
        client.hears(absent, at_s)
        assert client.known == (0, 1)
        assert client.snapshot.topic_error("t") is error
        assert client.absences.are_in_doubt
    client.hears(absent, 10.0 + PATIENCE_S)
    assert client.known == ()
    assert not client.absences.are_in_doubt


def test_the_time_begins_anew_when_the_topic_was_there_in_between() -> None:
    client = Client()
    client.hears(answer(), 0.0)
    client.hears(answer(topic("t", [partition(0, 1), partition(1, 2)])), 1.0)
    client.hears(answer(), PATIENCE_S)
    assert client.known == (0, 1)


def test_an_answer_about_other_topics_says_nothing() -> None:
    client = Client()
    gone = answer(topic("t", error_code=UnknownTopicOrPartitionError.errno))
    client.hears(gone, 0.0)
    client.hears(answer(topic("u", [partition(0, 1)])), 1.0, partial=True)
    client.hears(answer(topic("u", [partition(0, 1)]), nodes=[1, 2, 3]), 2.0, partial=True)
    assert client.known == (0, 1)
    client.hears(gone, PATIENCE_S)
    assert client.known == ()


def test_another_topic_takes_the_place_at_once() -> None:
    client = Client(topic_id=ID_A)
    client.hears(answer(topic("t", [partition(0, 1)], topic_id=ID_B)))
    assert client.known == (0,)


@pytest.mark.parametrize("change", ["another cluster", "not wanted"])
def test_nothing_stays_of_another_cluster_or_that_nobody_wants(change: str) -> None:
    client = Client(topic_id=ID_A)
    if change == "not wanted":
        client.topics.clear()
        client.hears(answer())
    else:
        client.hears(answer(cluster_id="other"))
    assert client.known == ()
    assert not client.absences.are_in_doubt
