"""The broker's assignors: even, complete, and with as few moves as possible."""

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.testing.broker.state.broker_options import SERVER_ASSIGNOR_NAMES
from aiokafka_lite.testing.broker.state.groups.consumer_group_member import TopicIdPartition
from aiokafka_lite.testing.broker.state.groups.server_assignors import (
    SERVER_ASSIGNORS,
    AssignedMember,
    Assignment,
    range_,
    simple,
    uniform,
)

T, U = UUID(int=1), UUID(int=2)


def reading(*topics: UUID, has: frozenset[TopicIdPartition] = frozenset()) -> AssignedMember:
    return AssignedMember(frozenset(topics), has)


def parts(topic: UUID, *indexes: int) -> frozenset[TopicIdPartition]:
    return frozenset(TopicIdPartition(topic, index) for index in indexes)


def test_uniform_is_even_over_all_topics() -> None:
    members = {name: reading(T, U) for name in "abc"}
    sizes = {name: len(its) for name, its in uniform(members, {T: 4, U: 4}).items()}
    assert sizes == {"a": 3, "b": 3, "c": 2}


def test_uniform_moves_only_what_a_newcomer_needs() -> None:
    members = {"a": reading(T, has=parts(T, 0, 1, 2, 3)), "b": reading(T)}
    assert uniform(members, {T: 4}) == {"a": parts(T, 0, 1), "b": parts(T, 2, 3)}


def test_uniform_with_other_topics_is_as_even_as_they_allow() -> None:
    members = {"a": reading(T), "b": reading(T, U), "c": reading(U)}
    found = uniform(members, {T: 1, U: 5})
    assert found["a"] == parts(T, 0)
    assert sorted(len(each) for each in found.values()) == [1, 2, 3]


def test_range_shares_each_topic() -> None:
    members = {"a": reading(T, U), "b": reading(T, U)}
    assert range_(members, {T: 3, U: 3}) == {
        "a": parts(T, 0, 1) | parts(U, 0, 1),
        "b": parts(T, 2) | parts(U, 2),
    }


def test_range_keeps_what_it_can() -> None:
    members = {"a": reading(T), "b": reading(T, has=parts(T, 0, 1, 2))}
    assert range_(members, {T: 3}) == {"a": parts(T, 2), "b": parts(T, 0, 1)}


@given(
    assignor=st.sampled_from(SERVER_ASSIGNOR_NAMES),
    topics=st.lists(st.sets(st.sampled_from([T, U])), min_size=1, max_size=5),
    counts=st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_each_partition_has_one_subscriber_and_a_second_round_moves_nothing(
    assignor: str, topics: list[set[UUID]], counts: tuple[int, int]
) -> None:
    by_topic = dict(zip((T, U), counts, strict=True))
    members = {str(i): reading(*each) for i, each in enumerate(topics)}
    found = SERVER_ASSIGNORS[assignor](members, by_topic)
    check_complete(found, members, by_topic)
    again = {name: reading(*each.topic_ids, has=found[name]) for name, each in members.items()}
    assert SERVER_ASSIGNORS[assignor](again, by_topic) == found


def test_simple_lets_members_share_what_is_too_little_for_all() -> None:
    members = {name: reading(T) for name in "abc"}
    assert simple(members, {T: 2}) == {
        "a": parts(T, 0, 1),
        "b": parts(T, 0),
        "c": parts(T, 1),
    }


def test_simple_spreads_each_topic_alone_where_subscriptions_differ() -> None:
    members = {"a": reading(T), "b": reading(T, U)}
    assert simple(members, {T: 2, U: 2}) == {
        "a": parts(T, 0),
        "b": parts(T, 1) | parts(U, 0, 1),
    }


@given(
    topics=st.lists(st.sets(st.sampled_from([T, U])), min_size=1, max_size=5),
    counts=st.tuples(st.integers(0, 7), st.integers(0, 7)),
)
def test_simple_leaves_no_partition_out_and_a_second_round_moves_nothing(
    topics: list[set[UUID]], counts: tuple[int, int]
) -> None:
    by_topic = dict(zip((T, U), counts, strict=True))
    members = {str(i): reading(*each) for i, each in enumerate(topics)}
    found = simple(members, by_topic)
    given_out = frozenset[TopicIdPartition]().union(*found.values())
    read = {topic for member in members.values() for topic in member.topic_ids}
    assert given_out == {
        TopicIdPartition(topic, index) for topic in read for index in range(by_topic[topic])
    }
    for name, its in found.items():
        assert {each.topic_id for each in its} <= members[name].topic_ids
    again = {name: reading(*each.topic_ids, has=found[name]) for name, each in members.items()}
    assert simple(again, by_topic) == found


def check_complete(
    found: Assignment, members: dict[str, AssignedMember], counts: dict[UUID, int]
) -> None:
    everything = [each for its in found.values() for each in its]
    read = {topic for member in members.values() for topic in member.topic_ids}
    assert sorted(everything) == sorted(
        TopicIdPartition(topic, index) for topic in read for index in range(counts[topic])
    )
    for name, its in found.items():
        assert {each.topic_id for each in its} <= members[name].topic_ids
