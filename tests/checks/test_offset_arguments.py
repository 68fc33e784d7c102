"""Offsets to be committed, in all the shapes users may give them."""

import pytest

from aiokafka_lite.checks.offset_arguments import checked_group, checked_offsets
from aiokafka_lite.errors import IllegalArgumentError, InvalidTopicError
from aiokafka_lite.model import ConsumerGroupMetadata, OffsetAndMetadata, TopicPartition

TP = TopicPartition("t", 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(7, (7, "")), ((7, "note"), (7, "note")), (OffsetAndMetadata(7, "note"), (7, "note"))],
)
def test_every_shape_becomes_offset_and_metadata(value: object, expected: object) -> None:
    assert checked_offsets({TP: value}) == {TP: expected}


def test_the_leader_epoch_comes_along() -> None:
    assert checked_offsets({TP: OffsetAndMetadata(7, "", 3)})[TP].leader_epoch == 3
    assert checked_offsets({TP: 7})[TP].leader_epoch == -1


@pytest.mark.parametrize("offsets", [{}, None, [TP], {TP: -1}, {TP: "7"}, {TP: (1, "a", 2)}])
def test_what_is_no_offset_is_a_value_error(offsets: object) -> None:
    with pytest.raises(ValueError, match="offset"):
        checked_offsets(offsets)


def test_a_wrong_key_or_note_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="Key should be TopicPartition instance"):
        checked_offsets({("t", 0): 7})
    with pytest.raises(TypeError, match="Metadata should be a string"):
        checked_offsets({TP: (7, b"note")})


@pytest.mark.parametrize("topic", ["", "a b", "\ud800", "x" * 250])
def test_a_topic_that_cannot_exist_is_refused(topic: str) -> None:
    with pytest.raises(InvalidTopicError, match="1 to 249 characters"):
        checked_offsets({TopicPartition(topic, 0): 7})


@pytest.mark.parametrize(
    ("topic", "partition"), [("t", -1), ("t", 2**31), ("t", "0"), (b"t", 0), (None, 0)]
)
def test_a_partition_that_cannot_exist_is_refused_with_the_limits(
    topic: str, partition: int
) -> None:
    with pytest.raises(IllegalArgumentError, match=r"not a str|from 0 to 2147483647"):
        checked_offsets({TopicPartition(topic, partition): 7})


@pytest.mark.parametrize(
    "value",
    [
        2**63,
        (7, "x" * 32_768),
        (7, "\ud800"),
        OffsetAndMetadata(7, "", 2**31),
        OffsetAndMetadata(7, "", -2),
    ],
)
def test_what_no_request_can_carry_is_refused_with_the_limits(value: object) -> None:
    with pytest.raises(IllegalArgumentError, match=r"cannot be sent|above the limit|Kafka can sto"):
        checked_offsets({TP: value})


def test_a_group_is_its_name_or_a_member_of_it() -> None:
    member = ConsumerGroupMetadata("g", 5, "m")
    assert checked_group("g") == ConsumerGroupMetadata("g")
    assert checked_group(member) is member


@pytest.mark.parametrize("group", [None, "", b"g", 7, ConsumerGroupMetadata("")])
def test_what_is_no_group_is_a_value_error(group: object) -> None:
    with pytest.raises(ValueError, match="give the group's name"):
        checked_group(group)


@pytest.mark.parametrize(
    "group",
    ["\ud800", "x" * 32_768, ConsumerGroupMetadata("g", 1, "\ud800")],
)
def test_a_group_no_request_can_carry_is_refused(group: object) -> None:
    with pytest.raises(IllegalArgumentError, match=r"cannot be sent|above the limit"):
        checked_group(group)
