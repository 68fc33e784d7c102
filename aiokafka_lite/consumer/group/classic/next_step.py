"""What the membership task does next, and how each event changes that. Does not wait.

The table `NEXT_STEPS` is the whole state machine; DESIGN.md draws it. A step that joins runs once a
join was requested. Source: 2e-3 to 2e-6.
"""

from enum import Enum
from typing import Final


class NextStep(Enum):
    """What the membership task does next."""

    PREPARE = "give up the partitions that a joining member may not keep, then join"
    LOSE = "tell the listener which partitions were lost, then join"
    JOIN = "join by JoinGroup and SyncGroup, then take the assignment"
    PREPARE_AFTER_POLL = "wait until the application polls, then PREPARE"
    LOSE_AFTER_POLL = "wait until the application polls, then LOSE"
    JOIN_AFTER_POLL = "wait until the application polls, then JOIN"
    LOSE_FOR_GOOD = "another consumer has the place: tell the listener what was lost, do not join"
    FENCED = "another consumer has the place: do nothing until unsubscribe()"
    LEAVE = "tell the listener, then leave the group"


class MembershipEvent(Enum):
    """What happens to a membership."""

    STEP_BEGAN = "the task begins with PREPARE, LOSE or LOSE_FOR_GOOD"
    ASSIGNED = "SyncGroup brought an assignment"
    LOST = "the coordinator has given up the generation or the member"
    NOT_POLLED = "no poll for max_poll_interval_ms"
    FAILED = "an error that the application has to see first; joining again may mend it"
    FENCED = "another consumer has the group_instance_id of this one"
    POLLED = "a poll began after the error was raised"
    UNSUBSCRIBED = "the consumer has unsubscribed"
    LEFT = "LEAVE is done"


_JOINING: Final = {
    NextStep.PREPARE: NextStep.PREPARE_AFTER_POLL,
    NextStep.LOSE: NextStep.LOSE_AFTER_POLL,
    NextStep.JOIN: NextStep.JOIN_AFTER_POLL,
}
WAITING: Final = frozenset(_JOINING.values())
"""The steps that wait until the application polls."""

NEXT_STEPS: Final[dict[MembershipEvent, dict[NextStep, NextStep]]] = {
    MembershipEvent.STEP_BEGAN: {
        NextStep.PREPARE: NextStep.JOIN,
        NextStep.LOSE: NextStep.JOIN,
        NextStep.LOSE_FOR_GOOD: NextStep.FENCED,
    },
    MembershipEvent.ASSIGNED: {
        NextStep.JOIN: NextStep.PREPARE,
        NextStep.JOIN_AFTER_POLL: NextStep.PREPARE_AFTER_POLL,
    },
    MembershipEvent.LOST: {
        **dict.fromkeys(_JOINING, NextStep.LOSE),
        **dict.fromkeys(WAITING, NextStep.LOSE_AFTER_POLL),
    },
    MembershipEvent.NOT_POLLED: dict.fromkeys([*_JOINING, *WAITING], NextStep.LOSE_AFTER_POLL),
    MembershipEvent.FAILED: {**_JOINING, **{step: step for step in WAITING}},
    MembershipEvent.FENCED: {
        step: NextStep.LOSE_FOR_GOOD for step in NextStep if step is not NextStep.LEAVE
    },
    MembershipEvent.POLLED: {waiting: joining for joining, waiting in _JOINING.items()},
    MembershipEvent.UNSUBSCRIBED: dict.fromkeys(NextStep, NextStep.LEAVE),
    MembershipEvent.LEFT: {NextStep.LEAVE: NextStep.PREPARE},
}
"""Event -> the step before it -> the step after it. An event changes no step that it does not list:
it comes too late to matter.
"""


def step_after(event: MembershipEvent, step: NextStep) -> NextStep | None:
    """Return the next step after `event`; None when the event comes too late to matter."""
    return NEXT_STEPS[event].get(step)


__all__ = ["NEXT_STEPS", "WAITING", "MembershipEvent", "NextStep", "step_after"]
