"""Why a member has no assignment is said in one sentence."""

from uuid import UUID

import pytest

from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import EpochMember
from aiokafka_lite.consumer.group.consumer_rebalance.heartbeat_fields import MemberWishes
from aiokafka_lite.consumer.group.consumer_rebalance.membership_explanation import (
    explain_membership,
)
from aiokafka_lite.errors import FencedInstanceIdError, KafkaError, UnsupportedAssignorError
from aiokafka_lite.metrics.explanation import WaitReason

OWNED = frozenset({(UUID(int=1), 0)})


def member(*, is_member: bool = False, has_taken: bool = False) -> EpochMember:
    made = EpochMember("g", None)
    made.join()
    if is_member or has_taken:
        made.begin_heartbeat(MemberWishes(1))
        made.answered(1, OWNED)
    if has_taken:
        made.took(OWNED, made.membership)
    return made


def unpolled() -> EpochMember:
    made = member(has_taken=True)
    made.leave_unpolled("no poll for long")
    return made


def test_a_member_with_its_assignment_waits_for_nothing() -> None:
    assert explain_membership(member(has_taken=True), None, None) is None


@pytest.mark.parametrize(
    ("given", "error", "unknown", "reason", "text"),
    [
        (member(), None, "no broker", WaitReason.COORDINATOR_UNKNOWN, "not known: no broker"),
        (member(), None, None, WaitReason.JOINING, "asks to join group 'g': the consumer starts"),
        (member(is_member=True), None, None, WaitReason.JOINING, "takes over what"),
        (unpolled(), None, None, WaitReason.POLL_OVERDUE, "until the next poll: no poll for long"),
        (
            member(),
            UnsupportedAssignorError("no such"),
            None,
            WaitReason.JOIN_REFUSED,
            "the next poll raises it",
        ),
        (member(), FencedInstanceIdError("taken"), None, WaitReason.FENCED, "call unsubscribe()"),
    ],
)
def test_what_a_member_waits_for_is_named(
    given: EpochMember,
    error: KafkaError | None,
    unknown: str | None,
    reason: WaitReason,
    text: str,
) -> None:
    found = explain_membership(given, error, unknown)
    assert found is not None
    assert found.reason is reason
    assert text in found.text
