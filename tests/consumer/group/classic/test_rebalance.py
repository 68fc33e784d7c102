"""What a member tells, what the leader assigns, what changes hands: 2e-6 to 2e-10, as values."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.consumer.assignors.assignment_strategy import make_assignors
from aiokafka_lite.consumer.assignors.assignor import AbstractPartitionAssignor, RebalanceProtocol
from aiokafka_lite.consumer.assignors.cooperative_sticky import CooperativeStickyAssignor
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.assignors.sticky import StickyPartitionAssignor
from aiokafka_lite.consumer.group.classic.rebalance import (
    ClusterView,
    MemberPosition,
    assign,
    assignor_faults,
    find_assignor,
    join_protocols,
    picture,
    read_members,
    rebalance_protocol,
    strangers,
    topics_of,
)
from aiokafka_lite.errors import (
    IllegalStateError,
    InconsistentGroupProtocolError,
    KafkaError,
    ProtocolDecodeError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition, by_topic
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.protocol.messages.join_group import JoinGroupResponseMember
from tests.cluster.support.answers import answer, partition, topic
from tests.consumer.assignors.groups import member

EAGER, COOPERATIVE = RebalanceProtocol.EAGER, RebalanceProtocol.COOPERATIVE
T0, T1, U0 = TopicPartition("t", 0), TopicPartition("t", 1), TopicPartition("u", 0)
NEWCOMER = MemberPosition((), -1, None)

partitions = st.builds(TopicPartition, st.sampled_from("tuv"), st.integers(0, 5))
assignments = st.frozensets(partitions)


def metadata(nodes: Any = (1, 2), **topics: int) -> MetadataSnapshot:
    """Topics with that many partitions; nodes 1 and 2 are in rack1 and rack2 and replicate all."""
    described = [
        topic(name, [partition(n, 1) for n in range(count)]) for name, count in topics.items()
    ]
    return merge_metadata(bootstrap_snapshot([]), answer(*described, nodes=nodes), partial=False)


class ByHand(AbstractPartitionAssignor):
    """An assignor that says what the test wants."""

    supported_protocols = (COOPERATIVE,)

    def __init__(self, name: str = "by-hand", **given: tuple[TopicPartition, ...]) -> None:
        self._name = name
        self.given = given
        self.error: Exception | None = None

    @property
    def name(self) -> str:
        return self._name

    def assign(self, cluster: Any, members: Any) -> Any:
        if self.error is not None:
            raise self.error
        return {
            member_id: ConsumerProtocolMemberAssignment(
                0, list(by_topic(sorted(owned)).items()), None
            )
            for member_id, owned in self.given.items()
        }


class AiokafkasKind:
    """What users wrote for aiokafka: a class with class methods that knows no protocols."""

    name = "theirs"
    version = 0

    @classmethod
    def assign(cls, cluster: Any, members: Any) -> Any:
        return {}

    @classmethod
    def metadata(cls, topics: Any) -> ConsumerProtocolMemberMetadata:
        return ConsumerProtocolMemberMetadata(0, list(topics), b"theirs")

    @classmethod
    def on_assignment(cls, assignment: Any) -> None: ...


# Which protocol, which assignor…


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        (None, EAGER),
        ([RangePartitionAssignor], EAGER),
        ([StickyPartitionAssignor], EAGER),
        ([CooperativeStickyAssignor], COOPERATIVE),
        ([RangePartitionAssignor, CooperativeStickyAssignor], EAGER),
        ([CooperativeStickyAssignor, RangePartitionAssignor], EAGER),
        ([AiokafkasKind], EAGER),
        ([CooperativeStickyAssignor, AiokafkasKind], EAGER),
        ([CooperativeStickyAssignor, ByHand()], COOPERATIVE),
    ],
)
def test_2e_7_the_highest_protocol_that_all_listed_assignors_support(
    strategy: Any, expected: RebalanceProtocol
) -> None:
    """The default list is eager; without range it is cooperative."""
    assert rebalance_protocol(make_assignors(strategy)) is expected


def test_the_assignor_the_group_chose_is_found_by_its_name() -> None:
    assignors = make_assignors(None)
    assert find_assignor(assignors, "cooperative-sticky") is assignors[1]


@pytest.mark.parametrize("name", ["sticky", None])
def test_2e_3_an_assignor_this_member_does_not_have_is_an_error_that_names_both(
    name: str | None,
) -> None:
    with pytest.raises(InconsistentGroupProtocolError) as raised:
        find_assignor(make_assignors(None), name)
    assert repr(name) in str(raised.value)
    assert "'range', 'cooperative-sticky', 'roundrobin'" in str(raised.value)


def test_what_an_assignor_raises_becomes_an_error_that_names_it() -> None:
    cause = ZeroDivisionError("no members")
    with (
        pytest.raises(KafkaError, match="'by-hand' raised Zero") as raised,
        assignor_faults(ByHand()),
    ):
        raise cause
    assert raised.value.__cause__ is cause
    assert not raised.value.retriable


def test_kafkas_own_errors_pass_the_assignor_unchanged() -> None:
    error = UnknownTopicOrPartitionError("t")
    with pytest.raises(UnknownTopicOrPartitionError) as raised, assignor_faults(ByHand()):
        raise error
    assert raised.value is error


# What a member tells…


def test_2e_8_a_member_tells_topics_owned_partitions_generation_and_rack() -> None:
    position = MemberPosition({U0, T1, T0}, 7, "r1")
    (told,) = join_protocols([RangePartitionAssignor()], {"u", "t"}, position)
    assert told.name == "range"
    assert ConsumerProtocolMemberMetadata.decode(told.metadata) == ConsumerProtocolMemberMetadata(
        3, ["t", "u"], b"", [("t", [0, 1]), ("u", [0])], 7, "r1"
    )


def test_a_member_tells_the_same_once_per_assignor_the_preferred_one_first() -> None:
    told = join_protocols(make_assignors(None), {"t"}, NEWCOMER)
    assert [each.name for each in told] == ["range", "cooperative-sticky", "roundrobin"]


def test_a_newcomer_owns_nothing_in_no_generation() -> None:
    (told,) = join_protocols([RangePartitionAssignor()], {"t"}, NEWCOMER)
    decoded = ConsumerProtocolMemberMetadata.decode(told.metadata)
    assert (decoded.owned(), decoded.generation_id, decoded.rack_id) == ([], -1, None)


def test_an_assignor_of_aiokafkas_kind_keeps_its_user_data() -> None:
    (told,) = join_protocols(make_assignors([AiokafkasKind]), {"t"}, MemberPosition({T0}, 1, None))
    decoded = ConsumerProtocolMemberMetadata.decode(told.metadata)
    assert decoded.user_data == b"theirs"
    assert decoded.owned() == [T0]


def test_equal_subscriptions_have_equal_bytes() -> None:
    """Else the coordinator sees a change where there is none, and rebalances."""
    first = join_protocols(make_assignors(None), ["t", "u"], MemberPosition([T0, U0], 1, None))
    second = join_protocols(make_assignors(None), ["u", "t"], MemberPosition([U0, T0], 1, None))
    assert first == second


def test_an_assignor_that_cannot_tell_is_named() -> None:
    class Broken(ByHand):
        def metadata(self, topics: Any) -> ConsumerProtocolMemberMetadata:
            raise KeyError("t")

    with pytest.raises(KafkaError, match="'by-hand' raised KeyError"):
        join_protocols([Broken()], {"t"}, NEWCOMER)


# What the leader does…


def joined(member_id: str, told: ConsumerProtocolMemberMetadata) -> JoinGroupResponseMember:
    return JoinGroupResponseMember(
        member_id=member_id, group_instance_id=told.group_instance_id, metadata=told.encode()
    )


def test_the_leader_reads_what_members_told_with_their_instance_ids() -> None:
    """The instance id is not on the wire of the subscription; JoinGroup brings it (KIP-345)."""
    told = {
        "m-1": member("t", owned=[("t", 0)], generation=3, rack="r1"),
        "m-2": member("t", "u", instance="i-2"),
    }
    assert read_members(joined(key, each) for key, each in told.items()) == told
    assert topics_of(told) == {"t", "u"}


def test_a_member_that_told_no_subscription_is_an_error() -> None:
    with pytest.raises(ProtocolDecodeError):
        read_members([JoinGroupResponseMember(member_id="m-1", metadata=b"\xff")])


def test_assignors_see_partitions_and_racks_as_far_as_they_are_known() -> None:
    view = ClusterView(metadata(t=2))
    assert view.partitions_for_topic("t") == {0, 1}
    assert view.partitions_for_topic("unknown") is None
    assert view.racks(T0) == {"rack1", "rack2"}
    assert view.racks(TopicPartition("t", 9)) == frozenset()
    assert view.racks(TopicPartition("unknown", 0)) == frozenset()


def test_racks_of_replicas_on_unknown_nodes_are_left_out() -> None:
    assert ClusterView(metadata(nodes=(1,), t=1)).racks(T0) == {"rack1"}


def test_a_topic_with_an_error_has_no_partitions_for_assignors() -> None:
    answered = answer(topic("t", error_code=UnknownTopicOrPartitionError.errno))
    snapshot = merge_metadata(bootstrap_snapshot([]), answered, partial=False)
    assert ClusterView(snapshot).partitions_for_topic("t") is None


def test_each_member_gets_what_the_assignor_gave_it_and_nothing_if_it_forgot() -> None:
    members = {"a": member("t"), "b": member("t")}
    given_ = assign(ByHand(a=(T0,)), ClusterView(metadata(t=1)), members, EAGER)
    assert {key: each.partitions() for key, each in given_.items()} == {"a": [T0], "b": []}


def test_who_is_not_in_the_group_gets_nothing() -> None:
    given_ = assign(ByHand(stranger=(T0,)), ClusterView(metadata(t=1)), {"a": member("t")}, EAGER)
    assert set(given_) == {"a"}


def test_an_assignor_cannot_change_the_members() -> None:
    class Greedy(ByHand):
        def assign(self, cluster: Any, members: Any) -> Any:
            members.clear()
            return {}

    members = {"a": member("t")}
    assert set(assign(Greedy(), ClusterView(metadata(t=1)), members, EAGER)) == {"a"}


def test_an_assignor_of_the_users_changes_the_topics_of_one_member_alone() -> None:
    """Members with equal bytes share one list of topics (2e-9)."""

    class Editing(ByHand):
        def assign(self, cluster: Any, members: Any) -> Any:
            members["a"].subscription.append("u")
            assert members["b"].subscription == ["t"]
            return {}

    members = read_members(joined(key, member("t")) for key in "ab")
    assert set(assign(Editing(), ClusterView(metadata(t=1)), members, EAGER)) == {"a", "b"}
    assert topics_of(members) == {"t"}


def test_an_assignor_that_fails_is_named() -> None:
    broken = ByHand()
    broken.error = ValueError("no idea")
    with pytest.raises(KafkaError, match="'by-hand' raised ValueError"):
        assign(broken, ClusterView(metadata(t=1)), {"a": member("t")}, EAGER)


A_OWNS_BOTH = {"a": member("t", owned=[T0, T1], generation=1), "b": member("t")}


def test_2e_9_a_cooperative_assignor_must_not_move_what_was_not_revoked() -> None:
    with pytest.raises(IllegalStateError, match="moved t-1 from one member to another"):
        assign(ByHand(a=(T0,), b=(T1,)), ClusterView(metadata(t=2)), A_OWNS_BOTH, COOPERATIVE)


def test_2e_9_a_member_that_was_left_out_counts_as_one_that_must_revoke() -> None:
    with pytest.raises(IllegalStateError, match="t-0, t-1"):
        assign(ByHand(b=(T0, T1)), ClusterView(metadata(t=2)), A_OWNS_BOTH, COOPERATIVE)


def test_2e_9_first_revoked_and_assigned_in_the_next_rebalance_is_right() -> None:
    cluster = ClusterView(metadata(t=2))
    first = assign(ByHand(a=(T0,)), cluster, A_OWNS_BOTH, COOPERATIVE)
    assert first["b"].partitions() == []
    now = {"a": member("t", owned=[T0], generation=2), "b": member("t")}
    second = assign(ByHand(a=(T0,), b=(T1,)), cluster, now, COOPERATIVE)
    assert second["b"].partitions() == [T1]


def test_2e_9_eager_members_own_nothing_so_anything_may_move() -> None:
    given_ = assign(ByHand(b=(T0, T1)), ClusterView(metadata(t=2)), A_OWNS_BOTH, EAGER)
    assert given_["b"].partitions() == [T0, T1]


def test_2e_9_cooperative_sticky_is_not_checked_since_it_holds_back_by_itself() -> None:
    """By name, as Java does it."""
    by_name = ByHand("cooperative-sticky", a=(T0,), b=(T1,))
    assign(by_name, ClusterView(metadata(t=2)), A_OWNS_BOTH, COOPERATIVE)
    real = assign(CooperativeStickyAssignor(), ClusterView(metadata(t=2)), A_OWNS_BOTH, COOPERATIVE)
    assert len(real["a"].partitions()) == 1
    assert real["b"].partitions() == []


@given(st.dictionaries(st.sampled_from("abc"), assignments, min_size=1), st.data())
def test_2e_9_what_is_refused_is_exactly_a_partition_taken_and_given_at_once(
    before: dict[str, frozenset[TopicPartition]], data: st.DataObject
) -> None:
    after = {member_id: data.draw(assignments) for member_id in before}
    members = {key: member("t", "u", "v", owned=owned) for key, owned in before.items()}
    gained = {tp for key in before for tp in after[key] - before[key]}
    taken = {tp for key in before for tp in before[key] - after[key]}
    given_: dict[str, Any] = {key: tuple(owned) for key, owned in after.items()}
    assignor, view = ByHand(**given_), metadata(t=1)
    if gained & taken:
        with pytest.raises(IllegalStateError):
            assign(assignor, ClusterView(view), members, COOPERATIVE)
    else:
        given_ = assign(assignor, ClusterView(view), members, COOPERATIVE)
        assert {key: set(each.partitions()) for key, each in given_.items()} == after


# What the leader watches (2e-9)…


def seen(snapshot: MetadataSnapshot, *, with_racks: bool = False) -> dict[str, tuple[object, ...]]:
    return picture({"t", "u"}, ClusterView(snapshot), with_racks=with_racks)


@pytest.mark.parametrize("with_racks", [False, True])
def test_2e_9_the_picture_changes_when_topics_come_go_or_grow(with_racks: bool) -> None:
    before = seen(metadata(t=1, u=1), with_racks=with_racks)
    assert seen(metadata(t=1, u=1, other=5), with_racks=with_racks) == before
    for changed in (metadata(t=2, u=1), metadata(t=1), metadata()):
        assert seen(changed, with_racks=with_racks) != before


def test_2e_9_racks_count_only_where_members_name_theirs() -> None:
    both, one = metadata(t=1, u=1), metadata(nodes=(1,), t=1, u=1)
    assert seen(both) == seen(one)
    assert seen(both, with_racks=True) != seen(one, with_racks=True)


# What every member does…


def test_2e_10_strangers_are_partitions_of_topics_not_subscribed() -> None:
    assert strangers([T0, U0, T1], {"t"}) == [U0]
    assert strangers([T0, T1], {"t", "u"}) == []
