"""Each event leads from each step where separate facts about the membership lead (2e-3 to 2e-6)."""

from dataclasses import dataclass, replace
from itertools import product

import pytest

from aiokafka_lite.consumer.group.classic.next_step import (
    NEXT_STEPS,
    WAITING,
    MembershipEvent,
    NextStep,
    step_after,
)


@dataclass(frozen=True)
class Facts:
    """The same membership, told by facts that change one by one."""

    join_begins_with: str = "PREPARE"
    waits_for_poll: bool = False
    is_fenced: bool = False
    is_leaving: bool = False

    @property
    def step(self) -> NextStep:
        if self.is_leaving:
            return NextStep.LEAVE
        if self.is_fenced:
            owes_listener = self.join_begins_with == "LOSE"
            return NextStep.LOSE_FOR_GOOD if owes_listener else NextStep.FENCED
        after_poll = "_AFTER_POLL" if self.waits_for_poll else ""
        return NextStep[self.join_begins_with + after_poll]

    def after(self, event: MembershipEvent) -> "Facts":
        if self.is_leaving:  # nothing that is left behind matters any more
            return Facts() if event is MembershipEvent.LEFT else self
        match event:
            case MembershipEvent.UNSUBSCRIBED:
                return Facts(is_leaving=True)
            case MembershipEvent.FENCED:
                return Facts(join_begins_with="LOSE", is_fenced=True)
            case MembershipEvent.STEP_BEGAN if not self.waits_for_poll:
                return replace(self, join_begins_with="JOIN")
        return self if self.is_fenced else self._after(event)

    def _after(self, event: MembershipEvent) -> "Facts":
        match event:
            case MembershipEvent.ASSIGNED if self.join_begins_with == "JOIN":
                return replace(self, join_begins_with="PREPARE")
            case MembershipEvent.LOST:
                return replace(self, join_begins_with="LOSE")
            case MembershipEvent.NOT_POLLED:
                return replace(self, join_begins_with="LOSE", waits_for_poll=True)
            case MembershipEvent.FAILED:
                return replace(self, waits_for_poll=True)
            case MembershipEvent.POLLED:
                return replace(self, waits_for_poll=False)
        return self


def reachable() -> set[Facts]:
    found, new = set[Facts](), {Facts()}
    while new:
        found |= new
        new = {facts.after(event) for facts in new for event in MembershipEvent} - found
    return found


def test_every_step_is_reached_and_no_other() -> None:
    assert {facts.step for facts in reachable()} == set(NextStep)


@pytest.mark.parametrize(
    ("facts", "event"),
    list(product(sorted(reachable(), key=repr), MembershipEvent)),
    ids=lambda each: each.name if isinstance(each, MembershipEvent) else each.step.name,
)
def test_the_table_leads_where_the_facts_lead(facts: Facts, event: MembershipEvent) -> None:
    led_to = step_after(event, facts.step)
    assert (led_to or facts.step) is facts.after(event).step


@pytest.mark.parametrize("step", NextStep)
def test_only_a_poll_or_the_end_of_the_membership_ends_the_wait_for_a_poll(step: NextStep) -> None:
    if step in WAITING:
        ends = {
            event for event in MembershipEvent if (step_after(event, step) or step) not in WAITING
        }
        assert ends == {
            MembershipEvent.POLLED,
            MembershipEvent.FENCED,
            MembershipEvent.UNSUBSCRIBED,
        }


def test_a_table_row_for_each_event() -> None:
    assert set(NEXT_STEPS) == set(MembershipEvent)
