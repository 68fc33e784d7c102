"""Owns the answer to why a member has no assignment of a coordinator. It reads and changes nothing.
Does not wait.
"""

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.consumer.group.consumer_rebalance.epoch_member import EpochMember, EpochState
from aiokafka_lite.consumer.group.group_errors import is_for_good
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.explanation import Explanation, WaitReason


def explain_membership(
    member: EpochMember, error: KafkaError | None, coordinator_unknown: str | None
) -> Explanation | None:
    """Return why the group has assigned nothing yet, or no longer; None if it has.

    `error`: what the next poll raises; None: nothing. `coordinator_unknown`: why the coordinator is
    not known; None: it is.
    """
    group, why = f"group {quoted(member.group_id)}", member.why_lost or None
    if error is not None:
        said = reason_of(error)
        if is_for_good(error):
            text = (
                f"another consumer has the place of this one in {group}: {said}; call "
                f"unsubscribe(), or make a new consumer"
            )
            return Explanation(WaitReason.FENCED, text, error=said)
        text = f"{group} has refused this member: {said}; the next poll raises it"
        return Explanation(WaitReason.JOIN_REFUSED, text, error=said)
    if member.state in (EpochState.STALE, EpochState.FATAL):
        text = f"the member has left {group} until the next poll: {member.why_lost}"
        return Explanation(WaitReason.POLL_OVERDUE, text, error=why)
    if member.is_member and member.owned is not None:
        return None
    if coordinator_unknown is not None:
        text = f"the coordinator of {group} is not known: {coordinator_unknown}"
        return Explanation(WaitReason.COORDINATOR_UNKNOWN, text, error=coordinator_unknown)
    if member.is_member:
        text = f"this member takes over what the coordinator of {group} has assigned"
    else:
        text = f"this member asks to join {group}: {member.why_lost or 'the consumer starts'}"
    return Explanation(WaitReason.JOINING, text, error=why)


__all__ = ["explain_membership"]
