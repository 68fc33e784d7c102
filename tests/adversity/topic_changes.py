"""What may happen to topics, and to what brokers say of them, as data; and the cluster in which it
does, with the logs of topics that are gone.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from typing import NamedTuple
from unittest.mock import patch

from aiokafka_lite.errors import InvalidReplicationFactorError, UnknownTopicOrPartitionError
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponseTopic
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.handler import RequestContext
from aiokafka_lite.testing.broker.handlers import metadata
from aiokafka_lite.testing.broker.state.cluster_state import TopicState
from tests.adversity.producer.send_model import Written

PARTITIONS = {"orders": 3, "audit": 2}
"""The topics, and what they begin with; "audit" is not there at first."""


class CreateTopic(NamedTuple):
    """A topic is created, if it is not there."""

    topic: str


class DeleteTopic(NamedTuple):
    """A topic is deleted, if it is there."""

    topic: str


class GrowTopic(NamedTuple):
    """A topic has one more partition."""

    topic: str


class Wrong(Enum):
    """What an answer says of a topic that is not so."""

    LEFT_OUT = "the partition is left out"
    """Not the last one: nobody could tell that from a topic with fewer partitions."""
    BEHIND = "an older leader and its epoch"
    UNKNOWN = "no such topic"


class Refresh(NamedTuple):
    """The producer asks for metadata, and is told something wrong of a topic, or not."""

    topic: str
    partition: int
    wrong: Wrong | None


TopicStep = CreateTopic | DeleteTopic | GrowTopic


class Topics:
    """The topics of a broker, now and before."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self.broker = broker
        self.counts: dict[str, set[int]] = {topic: set() for topic in PARTITIONS}
        """How many partitions each has had."""
        self._deleted: list[Written] = []
        self._wrong: list[Refresh] = []
        self.create("orders")

    def step(self, step: TopicStep) -> None:
        """Let one step happen, if it can."""
        is_there = step.topic in self.broker.cluster.topics
        match step:
            case CreateTopic(topic) if not is_there:
                self.create(topic)
            case DeleteTopic(topic) if is_there:
                self._deleted += self._logs_of(topic)
                self.broker.delete_topic(topic)
            case GrowTopic(topic) if is_there and self.count(topic) < PARTITIONS[topic] + 2:
                self._grow(topic)

    def create(self, topic: str) -> None:
        """Create a topic as it is at first."""
        with suppress(InvalidReplicationFactorError):  # no node is up
            self.broker.create_topic(topic, PARTITIONS[topic])
            self.counts[topic].add(PARTITIONS[topic])

    def _grow(self, topic: str) -> None:
        cluster = self.broker.cluster
        state = cluster.topics[topic]
        count = len(state.partitions) + 1
        with suppress(InvalidReplicationFactorError):  # nodes are down
            cluster.add_partitions(state, cluster.place_new_partitions(state, count, None))
            self.counts[topic].add(count)

    def count(self, topic: str) -> int:
        """Return how many partitions a topic has now, 0 for one that is not there."""
        state = self.broker.cluster.topics.get(topic)
        return 0 if state is None else len(state.partitions)

    def heal(self) -> None:
        """Have every topic, and answers that are right."""
        self._wrong = []
        for topic in PARTITIONS:
            self.step(CreateTopic(topic))

    def logs(self) -> list[Written]:
        """Return what is written, also in topics that were deleted."""
        return self._deleted + [log for topic in PARTITIONS for log in self._logs_of(topic)]

    def _logs_of(self, topic: str) -> list[Written]:
        return [
            Written.of(
                topic,
                partition,
                [
                    (record.offset, record.value or b"")
                    for record in self.broker.log((topic, partition)).records()
                ],
            )
            for partition in range(self.count(topic))
        ]

    # Answers that are wrong…

    def mislead(self, refresh: Refresh) -> None:
        """Say something wrong of a topic, in the next answer that is about it."""
        if refresh.wrong is not None:
            self._wrong.append(refresh)

    @contextmanager
    def misleading(self) -> Iterator[None]:
        """Have answers about topics come through here during the block."""
        describe = metadata._describe

        def described(
            context: RequestContext, topic: TopicState, request: MetadataRequest
        ) -> MetadataResponseTopic:
            answer = describe(context, topic, request)
            about = [wrong for wrong in self._wrong if wrong.topic == topic.name][:1]
            for wrong in about:
                self._wrong.remove(wrong)
                answer = _misled(answer, wrong)
            return answer

        with patch.object(metadata, "_describe", described):
            yield


def _misled(answer: MetadataResponseTopic, refresh: Refresh) -> MetadataResponseTopic:
    count = len(answer.partitions)
    match refresh.wrong:
        case Wrong.UNKNOWN:
            return MetadataResponseTopic(
                error_code=UnknownTopicOrPartitionError.errno,
                name=answer.name,
                topic_id=answer.topic_id,
            )
        case Wrong.LEFT_OUT:
            answer.partitions = [
                each
                for each in answer.partitions
                if each.partition_index != refresh.partition or refresh.partition == count - 1
            ]
        case Wrong.BEHIND:
            for each in answer.partitions:
                if each.partition_index == refresh.partition and each.leader_epoch > 0:
                    each.leader_epoch -= 1
                    others = [node for node in each.replica_nodes if node != each.leader_id]
                    each.leader_id = (others or [each.leader_id])[0]
    return answer


__all__ = [
    "PARTITIONS",
    "CreateTopic",
    "DeleteTopic",
    "GrowTopic",
    "Refresh",
    "TopicStep",
    "Topics",
    "Wrong",
]
