"""How the time to stop is divided: the parts fit into the whole, whatever it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.stop_bounds import divide_stop_time

seconds = st.floats(0, 200)


def test_with_the_default_the_group_has_most_of_the_time_and_silence_ends_it_early() -> None:
    bounds = divide_stop_time(30_000)
    assert (bounds.total_s, bounds.group_s, bounds.commit_s) == (30, 27, 25)
    assert bounds.silence_s == 4.5


@pytest.mark.parametrize("timeout_ms", [-1, 0, 999, 1000])
def test_it_is_a_second_at_least(timeout_ms: int) -> None:
    bounds = divide_stop_time(timeout_ms)
    assert bounds.total_s == 1
    assert (bounds.group_s, bounds.commit_s, bounds.silence_s) == (0.9, 0.45, 0.9)


@given(st.integers(0, 2**31 - 1), seconds, seconds)
def test_every_step_ends_before_what_comes_after_it(
    timeout_ms: int, elapsed_s: float, unheard_s: float
) -> None:
    bounds = divide_stop_time(timeout_ms)
    unheard_s = min(unheard_s, elapsed_s)
    assert 0 < bounds.commit_s < bounds.group_s < bounds.total_s
    leave_s = bounds.leave_s(elapsed_s, unheard_s)
    sessions_s = bounds.sessions_s(elapsed_s, unheard_s)
    assert 0 <= leave_s <= max(0.0, bounds.group_s - elapsed_s)
    assert 0 <= sessions_s <= max(0.0, bounds.total_s - elapsed_s)
    assert leave_s <= 2
    assert sessions_s <= 1


@given(st.integers(0, 2**31 - 1), st.floats(0, 10))
def test_without_a_sign_of_the_brokers_all_steps_are_over_after_five_seconds(
    timeout_ms: int, elapsed_s: float
) -> None:
    bounds = divide_stop_time(timeout_ms)
    assert bounds.silence_s <= 4.5
    for step_s in (
        bounds.leave_s(elapsed_s, unheard_s=elapsed_s),
        bounds.sessions_s(elapsed_s, unheard_s=elapsed_s),
    ):
        assert step_s == 0 or elapsed_s + step_s <= 5 + 1e-9
