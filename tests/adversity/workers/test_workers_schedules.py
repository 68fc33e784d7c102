"""Model-based: whatever happens to members with keyed workers, nothing is lost and keys keep order.

Hypothesis makes up schedules and shrinks those that fail; `workers_model` has the rules.
"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.broker_errors import (
    CoordinatorLoadInProgressError,
    NotCoordinatorError,
    NotLeaderForPartitionError,
    RebalanceInProgressError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.protocol.messages.heartbeat import HeartbeatRequest
from aiokafka_lite.protocol.messages.offset_commit import OffsetCommitRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.group.group_steps import FailApi, Latency, MoveCoordinator, Reconnect
from tests.adversity.schedule_strategies import several, weighted
from tests.adversity.soak import play_seeds, the_same_each_time
from tests.adversity.workers.workers_schedules import (
    MAX_TURNS,
    PARTITIONS,
    PLACES,
    Cancel,
    CutOff,
    Join,
    Kill,
    Rebalance,
    Step,
    Stop,
    Wait,
    Write,
    play_workers,
)

EXAMPLES = 60
SOAK_EXAMPLES = 200

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]

places = st.integers(0, PLACES - 1)
calm: st.SearchStrategy[Step] = weighted(
    (5, st.builds(Wait, st.sampled_from([0, 1, 50, 300, 700, 3000]))),
    (5, st.builds(Join, places)),
    (3, st.builds(Write, st.integers(0, PARTITIONS - 1), st.integers(1, 9))),
    (2, st.builds(Stop, places)),
    (2, st.builds(Cancel, places)),
    (2, st.builds(Rebalance, places)),
)
troubled: st.SearchStrategy[Step] = weighted(
    (6, calm),
    (2, st.builds(Kill, places)),
    (1, st.builds(CutOff, places)),
    (1, st.just(Reconnect())),
    (1, st.builds(Latency, st.sampled_from([0, 5, 60]))),
    (1, st.builds(MoveCoordinator, st.integers(1, 3))),
    (
        1,
        st.builds(
            FailApi,
            st.sampled_from([OffsetCommitRequest, HeartbeatRequest]),
            st.sampled_from(
                [RebalanceInProgressError, NotCoordinatorError, CoordinatorLoadInProgressError]
            ),
            st.integers(1, 3),
        ),
    ),
    (
        1,
        st.builds(
            FailApi,
            st.just(ProduceRequest),
            st.sampled_from([NotLeaderForPartitionError, TopicAuthorizationFailedError]),
            st.integers(1, 3),
        ),
    ),
)


def judge(
    schedule: list[Step], *, is_cooperative: bool, order: str, has_dead_letters: bool
) -> None:
    """Play a schedule; fail with the story if the model complains."""
    model = run_virtual(
        partial(
            play_workers,
            schedule=schedule,
            is_cooperative=is_cooperative,
            order=order,
            has_dead_letters=has_dead_letters,
        ),
        max_turns=MAX_TURNS,
        max_time_s=10_000,
    )
    assert not model.complaints, "\n".join([*model.complaints, str(model)])


GIVEN = {
    "schedule": st.one_of(several(calm), several(troubled)),
    "is_cooperative": st.booleans(),
    "order": st.sampled_from(["key", "partition", "unordered"]),
    "has_dead_letters": st.booleans(),
}


@the_same_each_time(EXAMPLES)
@given(**GIVEN)
def test_nothing_is_lost_and_keys_keep_their_order(
    schedule: list[Step], is_cooperative: bool, order: str, has_dead_letters: bool
) -> None:
    judge(
        schedule,
        is_cooperative=is_cooperative,
        order=order,
        has_dead_letters=has_dead_letters,
    )


def test_a_member_that_leaves_before_it_has_read_on_keeps_what_the_note_says() -> None:
    """It commits for partitions whose note names records that it has not taken in yet."""
    schedule: list[Step] = [Join(0), Join(1), Wait(300), Stop(0), Stop(1)]
    judge(schedule, is_cooperative=True, order="key", has_dead_letters=False)


@pytest.mark.soak
def test_the_same_for_as_long_as_one_likes(request: pytest.FixtureRequest) -> None:
    """One seed after the other; the one that fails can be played again."""
    play_seeds(request, judge, SOAK_EXAMPLES, **GIVEN)
