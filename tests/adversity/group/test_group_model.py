"""The model of a group complains of what it should, and of nothing else."""

import pytest

from aiokafka_lite.model import TopicPartition
from tests.adversity.group.group_model import GroupModel

TP = TopicPartition("a", 0)


@pytest.fixture(name="model")
def _model() -> GroupModel:
    """A log of five records, owned by m0."""
    model = GroupModel(lambda: 0.0)
    model.topic_created("a")
    model.write(TP, 0, 5, epoch=0)
    model.joined("m0")
    model.joined("m1")
    model.assigned("m0", [TP], others=set())
    model.may_read("m0", [TP])
    return model


def read(model: GroupModel, *offsets: int, member: str = "m0") -> None:
    """Let a member get the records that are in the log."""
    values = {each.offset: each.value for each in model.logs[TP]}
    for offset in offsets:
        model.returned(member, TP, offset, values[offset])


def test_records_in_their_order_that_are_committed_when_processed_are_right(
    model: GroupModel,
) -> None:
    read(model, 0, 1, 2)
    model.processed("m0")
    read(model, 3, 4)
    model.commit(TP, 3, epoch=0)
    assert not model.complaints
    assert [each.offset for each in model.undone()] == [3, 4]
    assert [each.offset for each in model.uncommitted()] == [3, 4]


@pytest.mark.parametrize(
    ("offsets", "complaint"),
    [
        ([0, 2], "m0 got a-0@2 without @1 to @1"),
        ([0, 1, 1], "m0 got a-0@1 again; @2 follows"),
        ([1], "m0 got a-0@1 first, and nobody has processed @0 to @0"),
    ],
)
def test_gaps_and_repetitions_are_wrong(
    model: GroupModel, offsets: list[int], complaint: str
) -> None:
    read(model, *offsets)
    [found] = model.complaints
    assert found.startswith(complaint)


def test_what_is_not_processed_must_not_be_committed(model: GroupModel) -> None:
    read(model, 0, 1)
    model.commit(TP, 2, epoch=0)
    assert model.complaints == ["a-0@2 is committed, and @0 to @1 (2 records) not processed"]


def test_nobody_gets_records_of_a_partition_that_was_taken_away(model: GroupModel) -> None:
    model.lets_go("m0", [TP])
    read(model, 0)
    assert model.complaints == ["m0 got a-0@0, and does not own the partition"]


def test_a_partition_has_one_owner_among_the_members(model: GroupModel) -> None:
    model.assigned("m1", [TP], others={"m1"})
    assert not model.complaints
    model.assigned("m1", [TP], others={"m0", "m1"})
    assert model.complaints == ["m1 is assigned a-0, which m0 still has"]


def test_it_has_no_other_owner_while_a_listener_hears_of_it(model: GroupModel) -> None:
    model.lets_go("m0", [TP])
    model.assigned("m1", [TP], others={"m0", "m1"})
    assert not model.complaints
    model.assigned("m0", [TP], others={"m0", "m1"})
    assert model.complaints == ["m0 is assigned a-0, which m1 still has"]


def test_a_topic_that_was_created_again_while_a_listener_heard_of_it_is_another(
    model: GroupModel,
) -> None:
    model.lets_go("m0", [TP])
    model.assigned("m0", [TP], others={"m0", "m1"})
    model.topic_created("a")
    model.may_read("m0", [TP])
    model.assigned("m1", [TP], others={"m0", "m1"})
    assert not model.complaints


def test_after_an_election_that_lost_records_the_new_ones_follow_where_it_cut(
    model: GroupModel,
) -> None:
    read(model, 0, 1, 2, 3, 4)
    model.truncated(TP, 2, epoch=1)
    model.write(TP, 2, 4, epoch=1)
    read(model, 2, 3)
    assert not model.complaints


def test_going_on_behind_what_an_election_has_put_in_place_is_wrong(model: GroupModel) -> None:
    read(model, 0, 1, 2, 3, 4)
    model.truncated(TP, 2, epoch=1)
    model.write(TP, 2, 4, epoch=1)
    read(model, 5)
    assert model.complaints == ["m0 got a-0@5 without @2 to @4 (3 records)"]


def test_the_offset_of_a_deleted_topic_is_wrong_for_the_new_one(model: GroupModel) -> None:
    read(model, 0, 1)
    model.processed("m0")
    model.topic_deleted("a")
    model.topic_created("a")
    model.write(TP, 0, 3, epoch=0)
    model.commit(TP, 2, epoch=0)
    assert model.complaints == ["a-0@2 is committed, and @0 to @1 (2 records) not processed"]


def test_what_an_application_jumps_over_is_its_own_affair(model: GroupModel) -> None:
    read(model, 0)
    model.processed("m0")
    model.sought("m0", TP, 3)
    read(model, 3)
    model.commit(TP, 3, epoch=0)
    assert not model.complaints
    assert [each.offset for each in model.undone()] == [3, 4]


def test_a_place_named_after_a_cut_jumps_over_the_new_records_below_it(model: GroupModel) -> None:
    read(model, 0, 1, 2, 3, 4)
    model.processed("m0")
    model.truncated(TP, 4, epoch=1)
    model.write(TP, 4, 3, epoch=1)
    model.sought("m0", TP, 5)
    read(model, 5, 6)
    model.processed("m0")
    model.commit(TP, 7, epoch=1)
    assert not model.complaints
    assert not model.undone()
