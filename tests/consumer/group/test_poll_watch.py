"""max_poll_interval_ms counts while a member that owns partitions is not polled (KIP-62)."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.group.poll_watch import PollWatch, Verdict
from aiokafka_lite.testing.fake_clock import FakeClock

FINE, WARN, OVERDUE = Verdict.FINE, Verdict.WARN, Verdict.OVERDUE


def an_owner(now_s: float = 0.0) -> PollWatch:
    """The watch over a member that has just got its first partitions."""
    watch = PollWatch(100.0)
    watch.assigned(now_s, owns_partitions=True)
    return watch


def after_a_poll(now_s: float = 0.0) -> PollWatch:
    watch = an_owner(now_s)
    watch.poll_began()
    watch.poll_ended(now_s)
    return watch


def check(watch: PollWatch, now_s: float, mark: int = 0) -> Verdict:
    return watch.check(now_s, mark=mark)


def test_who_owns_nothing_is_never_overdue() -> None:
    watch = PollWatch(100.0)
    for now_s in (0, 100, 10_000):
        assert check(watch, now_s) is FINE
    watch.poll_began()
    watch.poll_ended(10_000)
    watch.assigned(10_000, owns_partitions=False)
    assert check(watch, 1e6) is FINE


def test_who_never_polls_is_overdue_an_interval_after_the_assignment() -> None:
    watch = an_owner(500.0)
    assert check(watch, 579.9) is FINE
    assert check(watch, 580.0) is WARN
    assert check(watch, 599.9) is FINE
    assert check(watch, 600.0) is OVERDUE


def test_who_does_not_poll_again_is_warned_once_and_then_overdue() -> None:
    watch = after_a_poll()
    assert check(watch, 79.9) is FINE
    assert check(watch, 80.0) is WARN
    assert check(watch, 90.0) is FINE
    assert check(watch, 100.0) is OVERDUE
    assert check(watch, 120.0) is OVERDUE


def test_a_watch_that_was_not_asked_meanwhile_is_overdue_without_a_warning() -> None:
    assert check(after_a_poll(), 500.0) is OVERDUE


def test_the_next_poll_begins_the_count_anew() -> None:
    watch = after_a_poll()
    assert check(watch, 80.0) is WARN
    watch.poll_began()
    watch.poll_ended(90.0)
    assert check(watch, 169.0) is FINE
    assert check(watch, 170.0) is WARN
    assert check(watch, 190.0) is OVERDUE


def test_another_assignment_is_no_poll() -> None:
    """In a group that rebalances often, a member that is stuck would else never be found out."""
    watch = after_a_poll()
    watch.assigned(90.0, owns_partitions=True)
    assert check(watch, 100.0) is OVERDUE


def test_the_time_without_partitions_does_not_count() -> None:
    watch = after_a_poll()
    watch.assigned(50.0, owns_partitions=False)
    watch.assigned(1000.0, owns_partitions=True)
    assert check(watch, 1079.0) is FINE
    assert check(watch, 1100.0) is OVERDUE


def test_a_poll_that_waits_may_wait_for_ever() -> None:
    watch = after_a_poll()
    watch.poll_began()
    assert not watch.is_counting
    for now_s in (100, 10_000):
        assert check(watch, now_s) is FINE


def test_polling_ends_with_the_last_of_several_polls() -> None:
    watch = an_owner()
    watch.poll_began()
    watch.poll_began()
    watch.poll_ended(0.0)
    assert not watch.is_counting
    assert check(watch, 500.0) is FINE
    watch.poll_ended(500.0)
    assert watch.is_counting
    assert check(watch, 599.0) is WARN
    assert check(watch, 600.0) is OVERDUE


def test_records_taken_on_the_fast_path_count_as_polls() -> None:
    """No poll is reported there; the mark changes."""
    watch = after_a_poll()
    assert check(watch, 80.0, mark=0) is WARN
    assert check(watch, 99.0, mark=1) is FINE
    assert check(watch, 178.0, mark=1) is FINE
    assert check(watch, 179.0, mark=1) is WARN
    assert check(watch, 199.0, mark=1) is OVERDUE


def test_time_counts_from_the_end_of_the_poll_not_from_the_first_look_after_it() -> None:
    """What was decoded ahead by that very poll is no sign of a later one."""
    watch = an_owner()
    watch.poll_began()
    watch.poll_ended(0.0, mark=7)
    assert check(watch, 20.0, mark=7) is FINE
    assert check(watch, 80.0, mark=7) is WARN
    assert check(watch, 100.0, mark=7) is OVERDUE


def test_the_watch_is_asked_at_the_moments_it_has_something_to_say() -> None:
    watch = after_a_poll()
    assert watch.next_check_s(0.0) == pytest.approx(20.0)
    assert watch.next_check_s(70.0) == pytest.approx(10.0)
    assert watch.next_check_s(80.0) == pytest.approx(20.0)
    assert watch.next_check_s(95.0) == pytest.approx(5.0)
    assert watch.next_check_s(200.0) == pytest.approx(20.0)


def test_an_idle_watch_is_asked_now_and_then() -> None:
    assert PollWatch(100.0).next_check_s(0.0) == pytest.approx(20.0)


@given(
    interval_s=st.floats(0.001, 10_000),
    polled_at_s=st.floats(0, 1e7),
    first_s=st.floats(0, 1),
)
def test_asked_when_it_says_time_goes_on_and_the_end_is_not_missed(
    interval_s: float, polled_at_s: float, first_s: float
) -> None:
    """Whatever the rounding of the clock: no busy loop, a warning before the end, and the end."""
    watch = PollWatch(interval_s)
    watch.assigned(polled_at_s, owns_partitions=True)
    now_s = polled_at_s + first_s * interval_s * 0.2
    for _ in range(20):
        verdict = watch.check(now_s, mark=0)
        if verdict is OVERDUE:
            break
        later_s = now_s + watch.next_check_s(now_s)
        assert later_s > now_s
        now_s = later_s
    assert verdict is OVERDUE
    assert now_s <= polled_at_s + interval_s + 0.01


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 99.9)), min_size=1))
def test_who_polls_within_the_interval_is_never_overdue(steps: list[tuple[bool, float]]) -> None:
    watch, now_s, polled_at_s = after_a_poll(), 0.0, 0.0
    for is_poll, passed_s in steps:
        if is_poll or now_s + passed_s - polled_at_s >= 100.0:
            now_s = min(now_s + passed_s, polled_at_s + 99.9)
            assert check(watch, now_s) is not OVERDUE
            watch.poll_began()
            watch.poll_ended(now_s)
            polled_at_s = now_s
        else:
            now_s += passed_s
            assert check(watch, now_s) is not OVERDUE


# The loop…


class Member:
    """Writes down since when it is said to be overdue."""

    is_stable = True

    def __init__(self) -> None:
        self.overdue_since: list[float] = []

    async def poll_overdue(self, since_s: float) -> None:
        self.overdue_since.append(since_s)


async def test_the_loop_warns_and_then_tells_a_stable_member(
    caplog: pytest.LogCaptureFixture,
) -> None:
    member, clock = Member(), FakeClock()
    began_s = clock.monotonic()
    watch = an_owner(began_s)
    task = asyncio.ensure_future(watch.run(member, clock, lambda: 0))
    await clock.advance(81)
    assert "no poll for most of max_poll_interval_ms=100000" in caplog.text
    assert member.overdue_since == []
    member.is_stable = False
    await clock.advance(30)
    assert member.overdue_since == [], "the member is between two assignments"
    member.is_stable = True
    await clock.advance(20)
    assert member.overdue_since == [began_s]
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
