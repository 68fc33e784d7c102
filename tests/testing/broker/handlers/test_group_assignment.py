"""The partitions of a member in descriptions: by topic, without those that are gone."""

from uuid import UUID

from aiokafka_lite.testing.broker.handlers._group_assignment import assignment_of
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import TopicIdPartition
from tests.testing.broker.bench import Bench


def test_partitions_are_told_by_topic() -> None:
    bench = Bench()
    topic_id = bench.topic("t", 3).topic_id
    given = [TopicIdPartition(topic_id, 2), TopicIdPartition(topic_id, 0)]
    given.append(TopicIdPartition(UUID(int=7), 0))
    (topic,) = assignment_of(given, bench.cluster).topic_partitions
    assert (topic.topic_name, topic.topic_id, topic.partitions) == ("t", topic_id, [0, 2])
