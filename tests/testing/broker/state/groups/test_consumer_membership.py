"""Consumer groups in time: sessions, revocations, assignments; and who coordinates them."""

import pytest

from aiokafka_lite.errors import (
    GroupIdNotFound,
    GroupMaxSizeReachedError,
    NonEmptyGroup,
    StaleMemberEpochError,
    UnknownMemberIdError,
)
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from tests.testing.broker.state.groups.served_consumers import ServedConsumers
from tests.testing.broker.state.groups.served_groups import join_request

SESSION_S = 45
REBALANCE_S = 30


async def test_a_silent_member_loses_its_place_and_its_partitions() -> None:
    served = ServedConsumers()
    served.join("a")
    served.join("b")
    await served.clock.advance(SESSION_S - 1)
    served.beat("b")
    await served.clock.advance(1)
    assert list(served.group.members) == ["b"]
    assert served.beat("b") == (4, [0, 1, 2, 3])
    with pytest.raises(UnknownMemberIdError, match="Member a is not a member of group g"):
        served.beat("a")


async def test_the_settings_of_the_group_go_first() -> None:
    served = ServedConsumers(group_consumer_session_timeout_ms=10_000)
    settings = served.bench.cluster.group_settings["g"] = {"consumer.session.timeout.ms": "50000"}
    served.join("a")
    await served.clock.advance(SESSION_S)
    served.beat("a")
    del settings["consumer.session.timeout.ms"]
    served.beat("a")
    await served.clock.advance(10)
    assert served.group.members == {}


async def test_a_member_that_does_not_give_up_partitions_in_time_is_removed() -> None:
    served = ServedConsumers()
    served.join("a")
    served.join("b")
    assert served.beat("a") == (2, [0, 1])
    for _ in range(REBALANCE_S - 1):
        await served.clock.advance(1)
        assert served.beat("a", 0, 1, 2) == (2, None)
        served.beat("b")
    await served.clock.advance(1)
    assert list(served.group.members) == ["b"]
    assert served.beat("b") == (4, [0, 1, 2, 3])


async def test_a_member_that_has_given_them_up_stays() -> None:
    served = ServedConsumers()
    served.join("a")
    served.join("b")
    served.beat("a")
    served.beat("a", 0, 1)
    assert served.clock.pending_timers == 2
    await served.clock.advance(REBALANCE_S)
    assert list(served.group.members) == ["a", "b"]


async def test_a_static_member_that_is_away_has_nothing_to_give_up() -> None:
    served = ServedConsumers()
    served.join("a", instance_id="i")
    served.join("b")
    served.beat("a")
    served.beat("a", member_epoch=-2, instance_id="i")
    assert served.beat("b") == (3, [2, 3])
    await served.clock.advance(REBALANCE_S)
    assert list(served.group.members) == ["a", "b"]


def test_ids_that_no_classic_member_uses_end_with_the_classic_group() -> None:
    served = ServedConsumers()
    classic = served.bench.groups.find_or_create("g").membership
    classic.join(join_request(needs_known_member_id=True), lambda _: None)
    served.join("a")
    assert served.clock.pending_timers == 1


async def test_a_static_member_that_does_not_return_is_removed() -> None:
    served = ServedConsumers()
    served.join("a", instance_id="i")
    served.beat("a", member_epoch=-2, instance_id="i")
    await served.clock.advance(SESSION_S - 1)
    assert list(served.group.members) == ["a"]
    await served.clock.advance(1)
    assert served.group.state is GroupState.EMPTY


async def test_assignments_keep_their_distance() -> None:
    """The interval is of Kafka 4.4 (KIP-1263)."""
    served = ServedConsumers(group_consumer_assignment_interval_ms=1000)
    assert served.join("a") == (2, [0, 1, 2, 3])
    assert served.join("b") == (2, [])
    assert served.group.state is GroupState.ASSIGNING
    await served.clock.advance(1)
    assert served.beat("a") == (2, [0, 1])


def test_a_full_group_refuses_newcomers_only() -> None:
    served = ServedConsumers(group_consumer_max_size=1)
    served.join("a", instance_id="i")
    with pytest.raises(GroupMaxSizeReachedError, match="maximum capacity of 1 members"):
        served.join("b")
    served.beat("a", member_epoch=-2, instance_id="i")
    assert served.join("b", instance_id="i") == (2, [0, 1, 2, 3])


def test_new_partitions_and_deleted_topics_are_noticed() -> None:
    served = ServedConsumers()
    served.join("a", topics=["t", "u"])
    served.bench.cluster.add_partitions(served.topic, [[1]])
    assert served.beat("a") == (3, [0, 1, 2, 3, 4])
    served.bench.topic("u")
    assert served.beat("a") == (4, [0, 0, 1, 2, 3, 4])
    served.bench.cluster.delete_topic("t")
    assert served.beat("a") == (4, [0])
    assert served.beat("a", tells=True) == (5, None)


def test_a_pattern_finds_new_topics_which_the_client_may_see() -> None:
    served = ServedConsumers()

    def may_see(topic: str) -> bool:
        return topic != "t2"

    assert served.join("a", topics=None, pattern="t.*", may_see=may_see) == (1, [])
    assert served.beat("a", may_see=may_see) == (2, [0, 1, 2, 3])
    served.bench.topic("t1")
    served.bench.topic("t2")
    assert served.beat("a", may_see=may_see) == (2, None)
    assert served.beat("a", may_see=may_see) == (3, [0, 0, 1, 2, 3])
    assert served.group.subscribes_to("t1")
    assert not served.group.subscribes_to("t2")


async def test_another_node_knows_everything_and_begins_sessions_anew() -> None:
    served = ServedConsumers(nodes=2)
    served.join("a")
    served.join("b")
    served.beat("a")
    nodes = served.bench.groups.nodes
    await served.clock.advance(20)
    nodes.move("g", None)
    assert served.clock.pending_timers == 0
    await served.clock.advance(100)
    nodes.move("g", 2)
    await served.clock.advance(REBALANCE_S - 1)
    assert served.beat("b") == (3, None)
    await served.clock.advance(1)
    assert list(served.group.members) == ["b"]


def test_a_deleted_group_is_forgotten() -> None:
    served = ServedConsumers()
    served.join("a")
    with pytest.raises(NonEmptyGroup):
        served.bench.groups.delete("g")
    served.beat("a", member_epoch=-1)
    served.bench.groups.delete("g")
    with pytest.raises(GroupIdNotFound, match=r"Group g not found\."):
        served.bench.groups.find_consumers("g", joins=False)


def test_a_share_group_stays_one() -> None:
    served = ServedConsumers()
    served.bench.groups.find_or_create_share("g")
    with pytest.raises(GroupIdNotFound, match="is not a consumer group"):
        served.join("a")


def test_a_producer_commits_for_a_member_in_its_epoch() -> None:
    served = ServedConsumers()
    served.join("a")
    parts = [(served.topic.topic_id, 0)]
    served.membership.check_commit("a", 2, parts, None)
    served.membership.check_commit("", -1, parts, None)
    with pytest.raises(StaleMemberEpochError, match="epoch 3 is newer than current member epoch 2"):
        served.membership.check_commit("a", 3, parts, None)
    with pytest.raises(UnknownMemberIdError):
        served.membership.check_commit("b", 2, parts, None)
