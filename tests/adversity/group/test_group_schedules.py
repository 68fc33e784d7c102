"""Model-based: whatever happens to a group, each record is processed, and no commit says otherwise.

Hypothesis makes up schedules and shrinks those that fail; `group_model` says what may be returned
and committed, `group_steps` what may happen.
"""

from functools import partial

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from tests.adversity.group.group_schedules import MAX_TURNS, play
from tests.adversity.group.group_steps import Step
from tests.adversity.group.group_strategies import group_schedules
from tests.adversity.simulation import run
from tests.adversity.soak import repeatable, seeds, the_same_each_time

EXAMPLES = 300
SOAK_EXAMPLES = 300
"""Of one seed: less than a minute."""

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]


def judge(schedule: list[Step], *, is_cooperative: bool) -> None:
    """Play a schedule; fail with the story if the model complains."""
    model = run(
        partial(play, schedule=schedule, is_cooperative=is_cooperative),
        max_turns=MAX_TURNS,
        max_time_s=10_000,
    )
    assert not model.complaints, "\n".join([*model.complaints, str(model)])


SETTINGS = the_same_each_time(EXAMPLES)


@SETTINGS
@given(schedule=group_schedules(), is_cooperative=st.booleans())
def test_what_is_committed_was_processed_and_everything_is_at_last(
    schedule: list[Step], is_cooperative: bool
) -> None:
    """Owners get records in order, none is skipped, and what is committed was processed (B7)"""
    judge(schedule, is_cooperative=is_cooperative)


@pytest.mark.soak
def test_the_same_for_as_long_as_one_likes(request: pytest.FixtureRequest) -> None:
    """One seed after the other; the one that fails can be played again"""
    for number in seeds(request):

        @seed(number)
        @settings(SETTINGS, derandomize=False, max_examples=SOAK_EXAMPLES)
        @given(schedule=group_schedules(), is_cooperative=st.booleans())
        def play_all(schedule: list[Step], is_cooperative: bool) -> None:
            judge(schedule, is_cooperative=is_cooperative)

        with repeatable(request, number):
            play_all()
