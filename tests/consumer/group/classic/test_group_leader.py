"""The leader learns the topics of all members, assigns them, and sees when they change (2e-9)."""

from typing import Any

import pytest

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.cluster.metadata.metadata_snapshot import (
    MetadataSnapshot,
    bootstrap_snapshot,
    merge_metadata,
)
from aiokafka_lite.consumer.assignors.assignor import RebalanceProtocol
from aiokafka_lite.consumer.assignors.range import RangePartitionAssignor
from aiokafka_lite.consumer.group.classic.group_leader import GroupLeader
from aiokafka_lite.errors import KafkaTimeoutError, ProtocolDecodeError
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.consumer_protocol import ConsumerProtocolMemberAssignment
from aiokafka_lite.protocol.messages.join_group import (
    JoinGroupResponse,
    JoinGroupResponseMember,
)
from tests.cluster.support.answers import answer, partition, topic
from tests.consumer.assignors.groups import member

EAGER = RebalanceProtocol.EAGER


class Cluster:
    """A client and its metadata in one: it knows `known`, and learns `real` by a refresh."""

    config = ClientConfig(request_timeout_ms=7000)

    def __init__(self, *, known: dict[str, int], real: dict[str, int] | None = None) -> None:
        self.known = known
        self.real = known if real is None else real
        self.nodes: tuple[int, ...] = (1, 2)
        self.added: set[str] = set()
        self.refreshes: list[float | None] = []
        self.failure: Exception | None = None
        self.metadata = self

    @property
    def snapshot(self) -> MetadataSnapshot:
        topics = [
            topic(name, [partition(n, 1) for n in range(count)])
            for name, count in self.known.items()
        ]
        described = answer(*topics, nodes=self.nodes)
        return merge_metadata(bootstrap_snapshot([]), described, partial=False)

    def add_topic(self, name: str) -> None:
        self.added.add(name)

    async def refresh(self, timeout_s: float | None = None) -> MetadataSnapshot:
        self.refreshes.append(timeout_s)
        if self.failure is not None:
            raise self.failure
        self.known = {name: self.real[name] for name in self.added if name in self.real}
        return self.snapshot


def group(**told: Any) -> list[JoinGroupResponseMember]:
    return [
        JoinGroupResponseMember(
            member_id=key, group_instance_id=each.group_instance_id, metadata=each.encode()
        )
        for key, each in told.items()
    ]


A_AND_B = group(a=member("t"), b=member("t", "u"))


def leader_of(cluster: Cluster) -> GroupLeader:
    return GroupLeader(cluster)  # type: ignore[arg-type]


async def given_by(
    leader: GroupLeader,
    members: list[JoinGroupResponseMember],
    chosen: str = "a",
    *,
    skip: bool = False,
) -> dict[str, Any]:
    """The assignments that member "a" makes after a response that has chosen a leader."""
    joined = JoinGroupResponse(member_id="a", leader=chosen, members=members, skip_assignment=skip)
    given = await leader.assign(RangePartitionAssignor(), joined, EAGER)
    return {
        member_id: ConsumerProtocolMemberAssignment.decode(each).partitions()
        for member_id, each in given.items()
    }


async def test_2e_9_the_leader_learns_the_topics_of_all_members() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    assert leader.topics == frozenset()
    await given_by(leader, A_AND_B)
    assert leader.topics == {"t", "u"}
    assert cluster.refreshes == []


async def test_2e_9_topics_of_others_that_are_not_known_yet_cost_one_refresh() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2}, real={"t": 2, "u": 1}))
    given = await given_by(leader, A_AND_B)
    assert cluster.added == {"t", "u"}
    assert cluster.refreshes == [7.0]
    assert given == {
        "a": [TopicPartition("t", 0)],
        "b": [TopicPartition("t", 1), TopicPartition("u", 0)],
    }


async def test_a_topic_that_does_not_exist_is_asked_for_once_and_left_out() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2}))
    given = await given_by(leader, A_AND_B)
    assert len(cluster.refreshes) == 1
    assert given["b"] == [TopicPartition("t", 1)]


async def test_a_refresh_that_fails_leaves_the_metadata_at_hand(
    caplog: pytest.LogCaptureFixture,
) -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2}, real={"t": 2, "u": 1}))
    cluster.failure = KafkaTimeoutError("no answer")
    given = await given_by(leader, A_AND_B)
    assert "assigning with the metadata at hand" in caplog.text
    assert given["a"] == [TopicPartition("t", 0)]


async def test_what_the_refresh_would_have_brought_is_noticed_later() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2}, real={"t": 2, "u": 1}))
    cluster.failure = KafkaTimeoutError("no answer")
    await given_by(leader, A_AND_B)
    assert not leader.has_changed(cluster.snapshot)
    cluster.known = cluster.real
    assert leader.has_changed(cluster.snapshot)


async def test_2e_9_metadata_that_a_plan_waits_for_is_no_change_of_the_plan_before() -> None:
    """Else a leader would join again each time that a member comes with a topic of its own."""

    class Watched(Cluster):
        async def refresh(self, timeout_s: float | None = None) -> MetadataSnapshot:
            snapshot = await super().refresh(timeout_s)
            changes.append(leader.has_changed(snapshot))
            return snapshot

    changes: list[bool] = []
    leader = leader_of(cluster := Watched(known={"t": 2}, real={"t": 2, "u": 1}))
    await given_by(leader, group(a=member("t")))
    await given_by(leader, A_AND_B)
    assert changes == [False]
    assert not leader.has_changed(cluster.snapshot)


@pytest.mark.parametrize(
    "later", [{"t": 3, "u": 1}, {"t": 2}, {"t": 2, "u": 2}], ids=["grew", "is gone", "other grew"]
)
async def test_2e_9_a_change_of_any_topic_of_the_group_is_seen(later: dict[str, int]) -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    await given_by(leader, A_AND_B)
    cluster.known = later
    assert leader.has_changed(cluster.snapshot)


async def test_topics_of_nobody_do_not_matter() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    await given_by(leader, A_AND_B)
    cluster.known = {"t": 2, "u": 1, "other": 4}
    assert not leader.has_changed(cluster.snapshot)


@pytest.mark.parametrize(("rack", "is_seen"), [(None, False), ("rack1", True)])
async def test_2e_9_replicas_that_change_racks_matter_where_a_member_names_its_rack(
    rack: str | None, is_seen: bool
) -> None:
    """The leader rejoins when replicas change racks, if a member names its rack (KIP-881)."""
    leader = leader_of(cluster := Cluster(known={"t": 2}))
    await given_by(leader, group(a=member("t", rack=rack), b=member("t")))
    cluster.nodes = (1,)
    assert leader.has_changed(cluster.snapshot) is is_seen


async def test_a_leader_that_steps_down_watches_nothing() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    await given_by(leader, A_AND_B)
    leader.step_down()
    cluster.known = {}
    assert leader.topics == frozenset()
    assert not leader.has_changed(cluster.snapshot)


async def test_a_response_that_names_another_leader_ends_the_watch() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    await given_by(leader, A_AND_B)
    assert await given_by(leader, A_AND_B, "b") == {}
    cluster.known = {}
    assert leader.topics == frozenset()
    assert not leader.has_changed(cluster.snapshot)


async def test_a_leader_that_came_back_assigns_nothing_and_watches_all_topics() -> None:
    """A static leader that came back keeps the group's assignment (KIP-814)."""
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    assert await given_by(leader, A_AND_B, skip=True) == {}
    assert leader.topics == {"t", "u"}
    cluster.known = {"t": 3, "u": 1}
    assert leader.has_changed(cluster.snapshot)


def test_who_never_led_watches_nothing() -> None:
    assert not leader_of(cluster := Cluster(known={"t": 2})).has_changed(cluster.snapshot)


async def test_leading_again_looks_anew() -> None:
    leader = leader_of(cluster := Cluster(known={"t": 2, "u": 1}))
    await given_by(leader, A_AND_B)
    cluster.known = {"t": 3, "u": 1}
    await given_by(leader, group(a=member("t")))
    assert leader.topics == {"t"}
    assert not leader.has_changed(cluster.snapshot)


async def test_static_members_are_told_from_dynamic_ones_by_their_instance_id() -> None:
    """Range gives members with an instance id the first turn (2e-16, KIP-345)."""
    leader = leader_of(Cluster(known={"t": 1}))
    members = group(a=member("t"), z=member("t", instance="i-1"))
    assert await given_by(leader, members) == {"a": [], "z": [TopicPartition("t", 0)]}


async def test_a_member_that_told_no_subscription_is_an_error() -> None:
    leader = leader_of(Cluster(known={"t": 1}))
    with pytest.raises(ProtocolDecodeError):
        await given_by(leader, [JoinGroupResponseMember(member_id="a", metadata=b"\x00")])
