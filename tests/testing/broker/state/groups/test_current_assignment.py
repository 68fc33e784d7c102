"""Steps towards a target assignment: what is given up, waited for and taken."""

from collections.abc import Collection
from uuid import UUID

from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    ConsumerGroupMember,
    MemberProgress,
    TopicIdPartition,
)
from aiokafka_lite.testing.broker.state.groups.current_assignment import Target, reconcile

T, U = UUID(int=1), UUID(int=2)
P0, P1, P2 = (TopicIdPartition(T, index) for index in range(3))
OTHER = TopicIdPartition(U, 0)


def target(
    epoch: int,
    *partitions: TopicIdPartition,
    owned: Collection[TopicIdPartition] | None = None,
    taken: Collection[TopicIdPartition] = (),
    topics: Collection[UUID] = (T, U),
) -> Target:
    told = None if owned is None else frozenset(owned)
    return Target(epoch, frozenset(partitions), topics, told, taken.__contains__)


def step(member: ConsumerGroupMember, to: Target, *, other: bool = False) -> ConsumerGroupMember:
    return reconcile(member, to, has_other_topics=other)


STABLE = ConsumerGroupMember("a", epoch=1, assigned={P0: 1, P1: 1})


def test_a_member_in_its_epoch_stays_as_it_is() -> None:
    assert step(STABLE, target(1, P0)) is STABLE


def test_partitions_are_given_up_before_the_epoch_changes() -> None:
    member = step(STABLE, target(2, P0, P2))
    assert (member.state, member.epoch) == (MemberProgress.UNREVOKED_PARTITIONS, 1)
    assert (member.assigned, member.revoking) == ({P0: 1}, {P1: 1})
    assert step(member, target(2, P0, P2, owned=[P0, P1])) is member
    free = step(member, target(2, P0, P2, owned=[P0]))
    assert (free.state, free.epoch) == (MemberProgress.STABLE, 2)
    assert (free.assigned, free.revoking) == ({P0: 1, P2: 2}, {})


def test_partitions_of_others_are_waited_for() -> None:
    member = step(STABLE, target(2, P0, P1, P2, taken=[P0, P1, P2]))
    assert (member.state, member.epoch) == (MemberProgress.UNRELEASED_PARTITIONS, 2)
    assert member.assigned == STABLE.assigned
    got = step(member, target(2, P0, P1, P2, taken=[P0, P1]))
    assert (got.state, got.assigned) == (MemberProgress.STABLE, {P0: 1, P1: 1, P2: 2})


def test_what_a_member_gives_up_itself_it_may_get_back() -> None:
    member = step(STABLE, target(2, P0))
    again = step(member, target(3, P0, P1, owned=[P0], taken=[P0, P1]))
    assert (again.state, again.assigned) == (MemberProgress.STABLE, {P0: 1, P1: 3})


def test_topics_that_are_not_subscribed_to_any_more_go_at_once() -> None:
    member = ConsumerGroupMember("a", epoch=1, assigned={P0: 1, OTHER: 1})
    less = step(member, target(1, P0, OTHER, topics=[T]), other=True)
    assert (less.state, less.assigned) == (MemberProgress.UNREVOKED_PARTITIONS, {P0: 1})
    assert less.revoking == {OTHER: 1}
    gone = step(member, target(1, P0, OTHER, topics=[T], owned=[P0]), other=True)
    assert (gone.state, gone.assigned) == (MemberProgress.STABLE, {P0: 1})
    assert step(member, target(1, topics=[T, U]), other=True) is member
