"""max_poll_interval_ms counts while the application holds records or lets them lie (KIP-62)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.consumer.group.poll_watch import PollWatch, Verdict

FINE, WARN, OVERDUE = Verdict.FINE, Verdict.WARN, Verdict.OVERDUE


def a_watch() -> PollWatch:
    return PollWatch(100.0)


def check(watch: PollWatch, now_s: float, *, has_unread: bool = False, mark: int = 0) -> Verdict:
    return watch.check(now_s, has_unread=has_unread, mark=mark)


def after_a_poll(now_s: float = 0.0, *, returned_records: bool = True) -> PollWatch:
    watch = a_watch()
    check(watch, now_s)  # so that the mark is known
    watch.poll_began()
    watch.poll_ended(now_s, returned_records=returned_records)
    return watch


def test_who_has_nothing_to_read_may_wait_for_ever() -> None:
    watch = after_a_poll(returned_records=False)
    for now_s in (0, 100, 10_000):
        assert check(watch, now_s) is FINE


def test_nothing_counts_before_the_first_poll_if_nothing_lies_unread() -> None:
    watch = a_watch()
    assert check(watch, 0.0) is FINE
    assert check(watch, 1e6) is FINE


def test_records_that_lie_unread_count_before_the_first_poll_too() -> None:
    watch = a_watch()
    assert check(watch, 0.0, has_unread=True) is FINE
    assert check(watch, 80.0, has_unread=True) is WARN
    assert check(watch, 100.0, has_unread=True) is OVERDUE


def test_unread_records_count_from_the_end_of_the_last_of_several_polls() -> None:
    watch = a_watch()
    watch.poll_began()
    watch.poll_began()
    watch.poll_ended(0.0, returned_records=True)
    watch.poll_ended(50.0, returned_records=False)
    assert check(watch, 60.0, has_unread=True) is FINE
    assert check(watch, 110.0, has_unread=True) is FINE
    assert check(watch, 140.0, has_unread=True) is WARN


def test_who_holds_records_is_warned_once_and_then_overdue() -> None:
    watch = after_a_poll()
    assert check(watch, 79.9) is FINE
    assert check(watch, 80.0) is WARN
    assert check(watch, 90.0) is FINE
    assert check(watch, 99.9) is FINE
    assert check(watch, 100.0) is OVERDUE
    assert check(watch, 120.0) is OVERDUE


def test_a_watch_that_was_not_asked_meanwhile_is_overdue_without_a_warning() -> None:
    assert check(after_a_poll(), 500.0) is OVERDUE


def test_the_next_poll_begins_the_count_anew() -> None:
    watch = after_a_poll()
    assert check(watch, 80.0) is WARN
    watch.poll_began()
    watch.poll_ended(90.0, returned_records=True)
    assert check(watch, 169.0) is FINE
    assert check(watch, 170.0) is WARN
    assert check(watch, 190.0) is OVERDUE


def test_records_that_lie_unread_count_from_when_they_were_seen() -> None:
    watch = after_a_poll(returned_records=False)
    assert check(watch, 1000.0, has_unread=True) is FINE
    assert check(watch, 1080.0, has_unread=True) is WARN
    assert check(watch, 1100.0, has_unread=True) is OVERDUE


def test_unread_records_that_went_away_count_no_more() -> None:
    """They were dropped: paused, sought past, or their partition went to another member."""
    watch = after_a_poll(returned_records=False)
    check(watch, 0.0, has_unread=True)
    check(watch, 50.0, has_unread=False)
    assert check(watch, 100.0, has_unread=True) is FINE
    assert check(watch, 180.0, has_unread=True) is WARN


def test_a_poll_that_returned_nothing_gives_back_what_the_one_before_returned() -> None:
    watch = after_a_poll()
    watch.poll_began()
    watch.poll_ended(10.0, returned_records=False)
    assert check(watch, 1000.0) is FINE


def test_a_poll_that_waits_may_wait_for_ever() -> None:
    watch = after_a_poll()
    watch.poll_began()
    assert watch.is_polling
    for now_s in (100, 10_000):
        assert check(watch, now_s, has_unread=True) is FINE


def test_polling_ends_with_the_last_of_several_polls() -> None:
    watch = a_watch()
    watch.poll_began()
    watch.poll_began()
    watch.poll_ended(0.0, returned_records=True)
    assert watch.is_polling
    assert check(watch, 500.0) is FINE
    watch.poll_ended(500.0, returned_records=True)
    assert not watch.is_polling
    assert check(watch, 600.0) is OVERDUE


def test_records_taken_on_the_fast_path_count_as_polls() -> None:
    """No poll is reported there; the mark changes."""
    watch = after_a_poll()
    assert check(watch, 80.0, mark=0) is WARN
    assert check(watch, 99.0, mark=1) is FINE
    assert check(watch, 178.0, mark=1) is FINE
    assert check(watch, 179.0, mark=1) is WARN
    assert check(watch, 199.0, mark=1) is OVERDUE


def test_the_watch_is_asked_at_the_moments_it_has_something_to_say() -> None:
    watch = after_a_poll()
    assert watch.next_check_s(0.0) == pytest.approx(20.0)
    assert watch.next_check_s(70.0) == pytest.approx(10.0)
    assert watch.next_check_s(80.0) == pytest.approx(20.0)
    assert watch.next_check_s(95.0) == pytest.approx(5.0)
    assert watch.next_check_s(200.0) == pytest.approx(20.0)


def test_an_idle_watch_is_asked_now_and_then() -> None:
    assert a_watch().next_check_s(0.0) == pytest.approx(20.0)


@given(
    interval_s=st.floats(0.001, 10_000),
    busy_since_s=st.floats(0, 1e7),
    first_s=st.floats(0, 1),
)
def test_asked_when_it_says_time_goes_on_and_the_end_is_not_missed(
    interval_s: float, busy_since_s: float, first_s: float
) -> None:
    """Whatever the rounding of the clock: no busy loop, a warning before the end, and the end."""
    watch = PollWatch(interval_s)
    watch.check(busy_since_s, has_unread=False, mark=0)
    watch.poll_began()
    watch.poll_ended(busy_since_s, returned_records=True)
    now_s = busy_since_s + first_s * interval_s * 0.2
    for _ in range(20):
        verdict = watch.check(now_s, has_unread=False, mark=0)
        if verdict is OVERDUE:
            break
        later_s = now_s + watch.next_check_s(now_s)
        assert later_s > now_s
        now_s = later_s
    assert verdict is OVERDUE
    assert now_s <= busy_since_s + interval_s + 0.01


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 99.9)), min_size=1))
def test_who_polls_within_the_interval_is_never_overdue(steps: list[tuple[bool, float]]) -> None:
    watch, now_s, polled_at_s = after_a_poll(), 0.0, 0.0
    for is_poll, passed_s in steps:
        if is_poll or now_s + passed_s - polled_at_s >= 100.0:
            now_s = min(now_s + passed_s, polled_at_s + 99.9)
            assert check(watch, now_s) is not OVERDUE
            watch.poll_began()
            watch.poll_ended(now_s, returned_records=True)
            polled_at_s = now_s
        else:
            now_s += passed_s
            assert check(watch, now_s) is not OVERDUE


def test_time_counts_from_the_end_of_the_poll_not_from_the_first_look_after_it() -> None:
    """What was decoded ahead by that very poll is no sign of a later one."""
    watch = PollWatch(10.0)
    watch.poll_began()
    watch.poll_ended(0.0, returned_records=True, mark=7)
    assert watch.check(2.0, has_unread=False, mark=7) is Verdict.FINE
    assert watch.check(8.0, has_unread=False, mark=7) is Verdict.WARN
    assert watch.check(10.0, has_unread=False, mark=7) is Verdict.OVERDUE
