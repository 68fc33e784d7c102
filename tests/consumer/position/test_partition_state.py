"""One partition's state: which moves have sense (2c-1), and how far behind it is (2b-19)."""

from uuid import UUID

import pytest

from aiokafka_lite.consumer.position.partition_state import (
    NO_OFFSET,
    FetchState,
    PartitionState,
    is_other_topic,
)
from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.schema.field_types import ZERO_UUID
from tests.consumer.batches import tps

(P0,) = tps(0)
T1, T2 = UUID(int=1), UUID(int=2)
INITIALIZING, AWAIT_RESET = FetchState.INITIALIZING, FetchState.AWAIT_RESET
FETCHING, AWAIT_VALIDATION = FetchState.FETCHING, FetchState.AWAIT_VALIDATION


def test_2c_1_the_table_of_transitions_is_javas() -> None:
    allowed = set()
    for before in FetchState:
        for after in FetchState:
            state = PartitionState(P0, before)
            try:
                state.to(after)
            except IllegalStateError:
                continue
            allowed.add((before, after))
    assert allowed == {
        (INITIALIZING, FETCHING),
        (INITIALIZING, AWAIT_RESET),
        (INITIALIZING, AWAIT_VALIDATION),
        (FETCHING, FETCHING),
        (FETCHING, AWAIT_RESET),
        (FETCHING, AWAIT_VALIDATION),
        (AWAIT_RESET, FETCHING),
        (AWAIT_RESET, AWAIT_RESET),
        (AWAIT_VALIDATION, FETCHING),
        (AWAIT_VALIDATION, AWAIT_RESET),
        (AWAIT_VALIDATION, AWAIT_VALIDATION),
    }


def test_2c_1_a_wrong_move_names_both_states() -> None:
    with pytest.raises(IllegalStateError, match="AWAIT_VALIDATION while AWAIT_RESET"):
        PartitionState(P0, AWAIT_RESET).to(AWAIT_VALIDATION)


@pytest.mark.parametrize("fetch_state", list(FetchState))
def test_2c_1_only_fetching_has_a_valid_position_and_is_fetchable(fetch_state: FetchState) -> None:
    state = PartitionState(P0, fetch_state, offset=5)
    assert state.position == (5 if fetch_state is FETCHING else None)
    assert state.is_fetchable is (fetch_state is FETCHING)


@pytest.mark.parametrize(
    ("assigned", "present", "is_other"),
    [(T1, T1, False), (T1, T2, True), (ZERO_UUID, T2, False), (T1, ZERO_UUID, False)],
)
def test_another_topic_has_another_id_if_both_are_known(
    assigned: UUID, present: UUID, is_other: bool
) -> None:
    assert is_other_topic(assigned, present) is is_other


def test_a_move_begins_retries_anew() -> None:
    state = PartitionState(P0, failures=3, retry_at_s=7.0)
    state.to(FETCHING)
    assert (state.failures, state.retry_at_s) == (0, 0.0)


def test_2b_19_the_lag_counts_to_the_high_watermark_or_to_the_last_stable_offset() -> None:
    state = PartitionState(P0, FETCHING, offset=5, high_watermark=12, last_stable_offset=9)
    assert state.lag(read_committed=False) == 7
    assert state.lag(read_committed=True) == 4
    state.offset = 10  # behind a marker that the last stable offset does not count yet
    assert state.lag(read_committed=True) == 0


def test_2b_19_the_lag_of_a_position_beyond_the_end_is_negative() -> None:
    """As Java's: records were lost, or the topic was made anew (2b-19)."""
    state = PartitionState(P0, FETCHING, offset=15, high_watermark=12, last_stable_offset=9)
    state.log_start_offset = 20
    assert state.lag(read_committed=False) == state.lag(read_committed=True) == -3
    assert state.lead == -5


def test_2b_19_there_is_no_lag_without_a_position_or_an_end() -> None:
    assert PartitionState(P0, FETCHING, offset=5).lag(read_committed=False) is None
    nowhere = PartitionState(P0, offset=NO_OFFSET, high_watermark=12)
    assert nowhere.lag(read_committed=False) is None
    validating = PartitionState(P0, AWAIT_VALIDATION, offset=5, high_watermark=12)
    assert validating.lag(read_committed=False) is None


def test_a_state_shows_where_it_stands() -> None:
    assert repr(PartitionState(P0)) == "<t-0 INITIALIZING nowhere>"
    state = PartitionState(P0, AWAIT_VALIDATION, offset=5, is_paused=True)
    assert repr(state) == "<t-0 AWAIT_VALIDATION at 5, paused>"
