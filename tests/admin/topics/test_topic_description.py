"""A description is a value: it compares, and shows what it has."""

from uuid import UUID

from aiokafka_lite.admin import PartitionDescription, TopicDescription


def test_descriptions_compare_by_value() -> None:
    def topic(leader: int | None) -> TopicDescription:
        partition = PartitionDescription(0, leader, (1, 2), (1,), (2,))
        return TopicDescription("t", UUID(int=1), False, (partition,))

    assert topic(1) == topic(1) != topic(None)
    assert hash(topic(1)) == hash(topic(1))
    assert topic(1).partitions[0].eligible_leaders is None
