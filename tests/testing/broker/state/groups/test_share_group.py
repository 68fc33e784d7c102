"""A share group: the start offsets of its partitions."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker.state.groups.share_group import ShareGroup


def test_a_topic_is_forgotten_with_all_its_partitions() -> None:
    other = TopicPartition("u", 0)
    group = ShareGroup("g", {TopicPartition("t", 0): 1, TopicPartition("t", 1): 2, other: 3})
    group.forget_topic("t")
    group.forget_topic("nowhere")
    assert group.offsets == {other: 3}
