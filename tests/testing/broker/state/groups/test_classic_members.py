"""Members by the classic protocol in a consumer group, in time; and what the settings allow."""

from typing import Any

import pytest

from aiokafka_lite.errors import (
    GroupIdNotFound,
    RebalanceInProgressError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.consumer_protocol import (
    ConsumerProtocolMemberAssignment,
    ConsumerProtocolMemberMetadata,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker.state.groups.classic_group import GroupState
from aiokafka_lite.testing.broker.state.groups.group_coordinators import CoordinatedGroup
from aiokafka_lite.testing.broker.state.groups.group_member import JoinResult, SyncResult
from tests.testing.broker.state.groups.served_consumers import ServedConsumers
from tests.testing.broker.state.groups.served_groups import REBALANCE_S, SESSION_S, join_request

EVERYTHING = [0, 1, 2, 3]


class Mixed(ServedConsumers):
    """The same group, and the requests of its classic members."""

    @property
    def whole(self) -> CoordinatedGroup:
        found = self.bench.groups.find("g")
        assert found is not None
        return found

    def classic_join(self, *owned: int, **fields: Any) -> JoinResult:
        """Join by the classic protocol; the answer must come at once."""
        told = ConsumerProtocolMemberMetadata(1, ["t"], b"", [("t", [*owned])]).encode()
        group = self.bench.groups.find_or_create("g")
        self.bench.groups.make_classic("g")
        answers: list[JoinResult] = []
        request = join_request(**{"protocols": {"range": told}, **fields})
        group.classic.join(request, answers.append)
        (answer,) = answers
        return answer

    def classic_join_later(self, *instance_ids: str) -> None:
        """Let static members join a classic group, whose first rebalance waits for others."""
        told = ConsumerProtocolMemberMetadata(1, ["t"], b"").encode()
        group = self.bench.groups.find_or_create("g")
        for instance_id in instance_ids:
            request = join_request(protocols={"range": told}, group_instance_id=instance_id)
            group.classic.join(request, lambda _: None)

    def classic_sync(self, member_id: str, generation_id: int, given: bytes = b"") -> list[int]:
        answers: list[SyncResult] = []
        assignments = {member_id: given} if given else {}
        self.whole.classic.sync(member_id, None, generation_id, assignments, answers.append)
        (answer,) = answers
        assert answer.error_code == 0, answer
        decoded = ConsumerProtocolMemberAssignment.decode(answer.assignment)
        return [tp.partition for tp in decoded.partitions()]

    def classic_beat(self, member_id: str, generation_id: int) -> None:
        self.whole.classic.heartbeat(member_id, None, generation_id)

    def alone(self) -> str:
        """Let one member be in a stable classic group, and have everything; return its id."""
        given = ConsumerProtocolMemberAssignment(1, [("t", EVERYTHING)], None).encode()
        member_id = self.classic_join().member_id
        assert self.classic_sync(member_id, 1, given) == EVERYTHING
        return member_id


async def test_the_session_of_a_classic_member_is_its_own() -> None:
    served = Mixed()
    old = served.alone()
    served.join("n")
    await served.clock.advance(SESSION_S - 1)
    with pytest.raises(RebalanceInProgressError):
        served.classic_beat(old, 1)
    await served.clock.advance(SESSION_S - 1)
    assert list(served.group.members) == [old, "n"]
    await served.clock.advance(1)
    assert list(served.group.members) == ["n"]
    assert served.beat("n") == (3, EVERYTHING)


@pytest.mark.parametrize("joins_in_time", [True, False])
async def test_a_member_that_is_told_to_join_again_has_the_rebalance_timeout(
    joins_in_time: bool,
) -> None:
    served = Mixed()
    old = served.alone()
    served.join("n")
    for second in range(REBALANCE_S):
        with pytest.raises(RebalanceInProgressError):
            served.classic_beat(old, 1)
        served.beat("n")
        await served.clock.advance(1)
        if joins_in_time and second == REBALANCE_S - 2:
            assert served.classic_join(member_id=old).generation_id == 2
            assert served.classic_sync(old, 2) == [0, 1]
            break
    await served.clock.advance(SESSION_S - 1)
    assert (old in served.group.members) is joins_in_time


async def test_a_member_that_does_not_ask_for_its_assignment_is_removed() -> None:
    served = Mixed()
    served.join("n", rebalance_timeout_ms=600_000)
    late = served.classic_join()
    for _ in range(REBALANCE_S):
        assert late.member_id in served.group.members
        served.classic_beat(late.member_id, late.generation_id)
        served.beat("n")
        await served.clock.advance(1)
    assert list(served.group.members) == ["n"]


async def test_when_the_last_newer_member_is_silent_the_group_becomes_a_classic_one() -> None:
    served = Mixed(group_consumer_session_timeout_ms=SESSION_S * 500)
    served.join("n")
    late = served.classic_join()
    served.classic_sync(late.member_id, late.generation_id)
    await served.clock.advance(SESSION_S / 2)
    assert served.whole.consumers is None
    assert served.whole.state is GroupState.PREPARING_REBALANCE
    with pytest.raises(RebalanceInProgressError):
        served.classic_beat(late.member_id, 3)
    again = served.classic_join(member_id=late.member_id)
    assert (again.error_code, again.generation_id, again.leader) == (0, 4, late.member_id)
    given = ConsumerProtocolMemberAssignment(1, [("t", [0])], None).encode()
    assert served.classic_sync(late.member_id, 4, given) == [0]
    await served.clock.advance(SESSION_S)
    assert served.whole.state is GroupState.EMPTY


@pytest.mark.parametrize(
    ("policy", "may_upgrade", "may_downgrade"),
    [
        ("bidirectional", True, True),
        ("upgrade", True, False),
        ("downgrade", False, True),
        ("disabled", False, False),
    ],
)
async def test_the_policy_says_what_a_group_may_become(
    policy: str, may_upgrade: bool, may_downgrade: bool
) -> None:
    served = Mixed(group_consumer_migration_policy=policy)
    old = served.alone()
    if may_upgrade:
        served.join("n")
    else:
        with pytest.raises(GroupIdNotFound, match="online upgrade is disabled"):
            served.join("n")
        served.classic_beat(old, 1)
    served = Mixed(group_consumer_migration_policy=policy)
    served.join("n")
    late = served.classic_join()
    assert late.error_code == 0, "a classic member may join in any case"
    served.beat("n", member_epoch=-1)
    assert (served.whole.consumers is None) is may_downgrade


async def test_a_full_group_is_not_converted() -> None:
    served = Mixed(group_consumer_max_size=1, group_initial_rebalance_delay_ms=1)
    served.classic_join_later("a", "b")
    await served.clock.advance(1)
    with pytest.raises(GroupIdNotFound, match="group size exceeds"):
        served.join("n")
    served = Mixed(group_max_size=1)
    served.join("n")
    for _ in range(2):
        assert served.classic_join().error_code == 0
    served.beat("n", member_epoch=-1)
    assert served.whole.consumers is not None


async def test_another_node_goes_on_with_a_mixed_group() -> None:
    served = Mixed(group_initial_rebalance_delay_ms=0)
    old = served.alone()
    served.join("n")
    served.bench.groups.nodes.move("g", None)
    served.bench.groups.nodes.move("g", 1)
    with pytest.raises(RebalanceInProgressError):
        served.classic_beat(old, 1)
    await served.clock.advance(SESSION_S)
    assert list(served.group.members) == ["n"]
    with pytest.raises(UnknownMemberIdError):
        served.classic_beat(old, 1)


def test_a_policy_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match=r"among bidirectional, upgrade, .*got 'both'"):
        EmbeddedBroker(group_consumer_migration_policy="both")
