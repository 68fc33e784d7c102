"""Model-based: whatever happens to exactly-once sessions, each record is copied once, in order.

Hypothesis makes up schedules and shrinks those that fail; `session_model` says what may be in the
output and where the group may stand, `session_steps` what may happen.
"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.group.group_steps import Isolate, Reconnect, Wait
from tests.adversity.session.session_schedules import MAX_TURNS, play_sessions
from tests.adversity.session.session_steps import Copy, Expel, Join, SessionStep
from tests.adversity.session.session_strategies import session_schedules
from tests.adversity.soak import play_seeds, the_same_each_time

EXAMPLES = 150
SOAK_EXAMPLES = 200
"""Of one seed: less than a minute."""

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]


def judge(schedule: list[SessionStep], *, is_cooperative: bool, transaction_version: int) -> None:
    """Play a schedule; fail with the story if the model complains."""
    model = run_virtual(
        partial(
            play_sessions,
            schedule=schedule,
            is_cooperative=is_cooperative,
            transaction_version=transaction_version,
        ),
        max_turns=MAX_TURNS,
        max_time_s=10_000,
    )
    assert not model.complaints, "\n".join([*model.complaints, str(model)])


SETTINGS = the_same_each_time(EXAMPLES)
GIVEN = {
    "schedule": session_schedules(),
    "is_cooperative": st.booleans(),
    "transaction_version": st.sampled_from([2, 1]),
}


@SETTINGS
@given(**GIVEN)
def test_each_record_is_copied_once_and_in_order(
    schedule: list[SessionStep], is_cooperative: bool, transaction_version: int
) -> None:
    """What counts is the input's beginning, each record once, and the group stands behind it"""
    judge(schedule, is_cooperative=is_cooperative, transaction_version=transaction_version)


@pytest.mark.parametrize("transaction_version", [1, 2])
@pytest.mark.parametrize("is_cooperative", [True, False])
def test_a_session_that_was_expelled_commits_no_batch_that_another_has_copied(
    is_cooperative: bool, transaction_version: int
) -> None:
    """Offsets are sent in the name of the member that took the records, and refused when it is out

    Without its generation the coordinator would take them. Here the session hears late that it is
    expelled: the network keeps it away until another has copied its batch.
    """
    schedule: list[SessionStep] = [Join(0), Join(1), Wait(7000)]
    schedule += [Copy(0, records=1, works_ms=100), Wait(50), Isolate(0), Expel(0)]
    schedule += [Wait(1500), Copy(1), Wait(500), Reconnect()]
    judge(schedule, is_cooperative=is_cooperative, transaction_version=transaction_version)


@pytest.mark.soak
def test_the_same_for_as_long_as_one_likes(request: pytest.FixtureRequest) -> None:
    """One seed after the other; the one that fails can be played again"""
    play_seeds(request, judge, SOAK_EXAMPLES, **GIVEN)
