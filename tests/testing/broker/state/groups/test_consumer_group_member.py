"""Members of consumer groups as values."""

from uuid import UUID

from aiokafka_lite.testing.broker.state.groups.consumer_group_member import (
    ConsumerGroupMember,
    MemberHeartbeat,
    MemberProgress,
    TopicIdPartition,
)

PARTITION = TopicIdPartition(UUID(int=1), 0)


def test_a_heartbeat_changes_only_what_it_names() -> None:
    whole = MemberHeartbeat("a", 0, "i", "r", 9, ["t"], "p", "range", frozenset(), "c", "h")
    member = ConsumerGroupMember("a").told(whole)
    assert member == ConsumerGroupMember("a", "i", "r", 9, "c", "h", frozenset({"t"}), "p", "range")
    assert member.told(MemberHeartbeat("a", 1, client_id="c", client_host="h")) == member
    assert whole.is_full
    assert not MemberHeartbeat("a", 1, rebalance_timeout_ms=9, topics=["t"]).is_full


def test_a_static_member_keeps_its_partitions_while_it_is_away() -> None:
    member = ConsumerGroupMember("a", epoch=3, assigned={PARTITION: 3})
    away = member.away()
    assert (away.epoch, away.assigned) == (-2, {PARTITION: 0})
    again = away.replaced_by("b")
    assert (again.member_id, again.epoch, again.assigned) == ("b", 0, {PARTITION: 0})


def test_a_member_has_a_partition_until_it_has_given_it_up() -> None:
    member = ConsumerGroupMember("a", epoch=3, revoking={PARTITION: 2})
    assert member.epoch_of(PARTITION) == 2
    assert ConsumerGroupMember("a").epoch_of(PARTITION) is None
    assert member.at(4).previous_epoch == 3
    assert member.is_reconciled_to(3)
    assert not member.is_reconciled_to(4)
    assert MemberProgress.STABLE == "stable"
