"""Model-based: whatever happens to a group, each record is processed, and no commit says otherwise.

Hypothesis makes up schedules and shrinks those that fail; `group_model` says what may be returned
and committed, `group_steps` what may happen.
"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.group.group_schedules import MAX_TURNS, PROTOCOLS, play
from tests.adversity.group.group_steps import Step
from tests.adversity.group.group_strategies import group_schedules
from tests.adversity.soak import play_seeds, the_same_each_time

EXAMPLES = 300
SOAK_EXAMPLES = 300
"""Of one seed: less than a minute."""

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]


def judge(schedule: list[Step], *, protocol: str) -> None:
    """Play a schedule; fail with the story if the model complains."""
    model = run_virtual(
        partial(play, schedule=schedule, protocol=protocol),
        max_turns=MAX_TURNS,
        max_time_s=10_000,
    )
    assert not model.complaints, "\n".join([*model.complaints, str(model)])


SETTINGS = the_same_each_time(EXAMPLES)


@SETTINGS
@given(schedule=group_schedules(), protocol=st.sampled_from(sorted(PROTOCOLS)))
def test_what_is_committed_was_processed_and_everything_is_at_last(
    schedule: list[Step], protocol: str
) -> None:
    """Owners get records in order, none is skipped, and what is committed was processed (B7)"""
    judge(schedule, protocol=protocol)


@pytest.mark.soak
def test_the_same_for_as_long_as_one_likes(request: pytest.FixtureRequest) -> None:
    """One seed after the other; the one that fails can be played again"""
    play_seeds(
        request,
        judge,
        SOAK_EXAMPLES,
        schedule=group_schedules(),
        protocol=st.sampled_from(sorted(PROTOCOLS)),
    )


@the_same_each_time(20)
@given(schedule=group_schedules(), protocol=st.sampled_from(sorted(PROTOCOLS)))
def test_a_schedule_is_played_the_same_way_twice(schedule: list[Step], protocol: str) -> None:
    """Two plays have the same joins, records and commits at the same times"""
    first, second = (
        run_virtual(
            partial(play, schedule=schedule, protocol=protocol),
            max_turns=MAX_TURNS,
            max_time_s=10_000,
        )
        for _ in "12"
    )
    assert str(first) == str(second)
