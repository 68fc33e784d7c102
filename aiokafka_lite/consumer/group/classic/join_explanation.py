"""Owns the answer to why a member of a classic group has no assignment. It reads and changes
nothing. Does not wait.
"""

from aiokafka_lite.checks.quoted import cut, quoted
from aiokafka_lite.consumer.group.classic.member import Member, MemberState
from aiokafka_lite.consumer.group.classic.next_step import WAITING, NextStep
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.explanation import Explanation, WaitReason

_GONE = (NextStep.LOSE_FOR_GOOD, NextStep.FENCED)


def explain_join(
    member: Member, step: NextStep, error: KafkaError | None, coordinator_unknown: str | None
) -> Explanation | None:
    """Return why the group has assigned nothing yet, or no longer; None if it has.

    `error`: what the next poll raises; None: nothing. `coordinator_unknown`: why the coordinator is
    not known; None: it is.
    """
    group = f"group {quoted(member.group_id)}"
    said = None if error is None else reason_of(error)
    if step in _GONE:
        text = f"another consumer has the place of this one in {group}: {said or member.why_lost}"
        help_ = "; call unsubscribe(), or make a new consumer"
        return Explanation(WaitReason.FENCED, text + help_, error=said or member.why_lost or None)
    if error is not None:
        text = f"{group} has refused this member: {said}; the next poll raises it"
        return Explanation(WaitReason.JOIN_REFUSED, text, error=said)
    if step in WAITING:
        text = f"the member has left {group} until the next poll: {member.why_lost}"
        return Explanation(WaitReason.POLL_OVERDUE, text, error=member.why_lost or None)
    if member.state is MemberState.STABLE and member.rejoin_reason is None:
        return None
    if coordinator_unknown is not None:
        text = f"the coordinator of {group} is not known: {coordinator_unknown}"
        return Explanation(WaitReason.COORDINATOR_UNKNOWN, text, error=coordinator_unknown)
    return Explanation(WaitReason.JOINING, _stage_of(member, group), error=member.why_lost or None)


def _stage_of(member: Member, group: str) -> str:
    if member.state is MemberState.PREPARING_REBALANCE:
        return f"{group} forms its next generation, and waits until all its members have joined"
    if member.state is MemberState.COMPLETING_REBALANCE:
        return f"the leader of {group} is assigning the partitions"
    why = member.rejoin_reason or member.why_lost or "the consumer starts"
    return f"this member is about to join {group}: {cut(why)}"


__all__ = ["explain_join"]
