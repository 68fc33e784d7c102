"""Model-based: whatever happens to a share group, it is done with all records soon afterwards.

Hypothesis makes up schedules and shrinks those that fail; `share_schedules` plays them.
"""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.broker_errors import (
    CoordinatorLoadInProgressError,
    CoordinatorNotAvailableError,
    FencedStateEpochError,
    InvalidShareSessionEpochError,
    NotCoordinatorError,
    NotLeaderForPartitionError,
    ShareSessionLimitReachedError,
    ShareSessionNotFoundError,
    UnknownError,
    UnknownMemberIdError,
)
from aiokafka_lite.protocol.messages.share_acknowledge import ShareAcknowledgeRequest
from aiokafka_lite.protocol.messages.share_fetch import ShareFetchRequest
from aiokafka_lite.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from aiokafka_lite.testing.virtual_loop import run_virtual
from tests.adversity.group.group_steps import (
    Disconnect,
    FailApi,
    Latency,
    MoveCoordinator,
    Reconnect,
    Release,
    StartNode,
    StopNode,
    Trouble,
)
from tests.adversity.schedule_strategies import several, weighted
from tests.adversity.share.share_schedules import (
    MAX_TURNS,
    PARTITIONS,
    PLACES,
    CutOff,
    EndSessions,
    Expel,
    Join,
    Kill,
    MoveLeader,
    Step,
    Stop,
    Wait,
    Write,
    play_share,
)
from tests.adversity.soak import play_seeds, the_same_each_time

EXAMPLES = 25
SOAK_EXAMPLES = 200
APIS = (ShareFetchRequest, ShareAcknowledgeRequest, ShareGroupHeartbeatRequest)

pytestmark = [pytest.mark.timeout(10_000), pytest.mark.usefixtures("quiet")]

places = st.integers(0, PLACES - 1)
partitions = st.integers(0, PARTITIONS - 1)
nodes = st.integers(1, 3)
failures: st.SearchStrategy[Step] = st.one_of(
    st.builds(
        FailApi,
        st.sampled_from([ShareFetchRequest, ShareAcknowledgeRequest]),
        st.sampled_from(
            [
                CoordinatorNotAvailableError,
                FencedStateEpochError,
                InvalidShareSessionEpochError,
                NotLeaderForPartitionError,
                ShareSessionLimitReachedError,
                ShareSessionNotFoundError,
                UnknownError,
            ]
        ),
        st.integers(1, 3),
    ),
    st.builds(
        FailApi,
        st.just(ShareGroupHeartbeatRequest),
        st.sampled_from(
            [
                CoordinatorLoadInProgressError,
                CoordinatorNotAvailableError,
                NotCoordinatorError,
                UnknownMemberIdError,
            ]
        ),
        st.integers(1, 3),
    ),
)
troubles: st.SearchStrategy[Step] = weighted(
    (2, st.builds(Trouble, st.just("cut"), st.sampled_from(APIS), st.integers(0, 30))),
    (1, st.builds(Trouble, st.just("drop"), st.sampled_from(APIS))),
    (1, st.builds(Trouble, st.just("delay"), st.sampled_from(APIS), st.sampled_from([100, 2500]))),
    (1, st.builds(Trouble, st.just("stall"), st.sampled_from(APIS))),
    (1, st.just(Release())),
)
calm: st.SearchStrategy[Step] = weighted(
    (6, st.builds(Wait, st.sampled_from([0, 1, 50, 300, 1000, 4000]))),
    (5, st.builds(Join, places, st.booleans())),
    (3, st.builds(Write, partitions, st.integers(1, 9))),
    (2, st.builds(Stop, places)),
)
troubled: st.SearchStrategy[Step] = weighted(
    (6, calm),
    (3, failures),
    (3, troubles),
    (2, st.builds(MoveLeader, partitions, nodes)),
    (1, st.builds(Kill, places)),
    (1, st.builds(CutOff, places)),
    (1, st.builds(Expel, places)),
    (1, st.just(EndSessions())),
    (1, st.just(Reconnect())),
    (1, st.builds(Latency, st.sampled_from([0, 5, 60]))),
    (1, st.builds(MoveCoordinator, st.one_of(st.none(), nodes))),
    (1, st.builds(StopNode, nodes)),
    (1, st.builds(StartNode, nodes)),
    (1, st.builds(Disconnect, nodes)),
)


def judge(schedule: list[Step]) -> None:
    """Play a schedule; fail with the story if anything was wrong."""
    play = run_virtual(
        partial(play_share, schedule=schedule), max_turns=MAX_TURNS, max_time_s=10_000
    )
    assert not play.complaints, "\n".join([*play.complaints, str(play)])


GIVEN = {"schedule": st.one_of(several(calm), several(troubled))}


@the_same_each_time(EXAMPLES)
@given(**GIVEN)
def test_a_share_group_is_done_with_all_records(schedule: list[Step]) -> None:
    judge(schedule)


@pytest.mark.soak
def test_the_same_for_as_long_as_one_likes(request: pytest.FixtureRequest) -> None:
    """One seed after the other; the one that fails can be played again."""
    play_seeds(request, judge, SOAK_EXAMPLES, **GIVEN)
