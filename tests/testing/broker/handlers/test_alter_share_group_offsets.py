"""AlterShareGroupOffsets: the group is made, and each partition has its own result."""

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.alter_share_group_offsets import (
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestPartition,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
)
from aiokafka_lite.testing.broker.handlers import alter_share_group_offsets
from tests.testing.broker.bench import Bench


def ask(bench: Bench, group_id: str, topic: str, *indexes: int) -> AlterShareGroupOffsetsResponse:
    asked = AlterShareGroupOffsetsRequestTopic(
        topic_name=topic,
        partitions=[
            AlterShareGroupOffsetsRequestPartition(partition_index=index, start_offset=7)
            for index in indexes
        ],
    )
    request = AlterShareGroupOffsetsRequest(group_id=group_id, topics=[asked])
    return bench.ask(alter_share_group_offsets.HANDLER, request, 0)


def test_an_unknown_group_is_made_for_the_first_offset_that_is_stored() -> None:
    bench = Bench()
    topic = bench.topic()
    (absent,) = ask(bench, "g", "nowhere", 0).responses
    assert absent.partitions[0].error_code == 3
    assert bench.groups.find_share("g") is None
    (told,) = ask(bench, "g", "t", 0, 9).responses
    assert told.topic_id == topic.topic_id
    assert [(each.partition_index, each.error_code) for each in told.partitions] == [(0, 0), (9, 3)]
    group = bench.groups.find_share("g")
    assert group is not None
    stored = {where: each.stored_start for where, each in group.partitions.items()}
    assert stored == {TopicPartition("t", 0): 7}


def test_other_groups_are_refused() -> None:
    bench = Bench()
    bench.topic()
    bench.groups.find_or_create("g")
    answers = [ask(bench, group_id, "t", 0) for group_id in ("g", "")]
    assert [each.error_code for each in answers] == [69, 24]
    assert answers[0].error_message == "Group g is not a share group."
