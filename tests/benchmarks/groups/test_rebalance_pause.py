"""The arithmetic of the pauses that a join costs, on notes written by hand."""

import pytest

from benchmarks.groups.rebalance_pause import AFTERMATH_S, WATCH_S, find_pauses

JOINED_S = 100.0


def test_pause_of_a_moved_partition_spans_both_members() -> None:
    first = [(99.0, 0, 0, 9), (99.9, 0, 10, 19)]
    second = [(100.5, 0, 20, 29)]
    pauses = find_pauses([first, second], [0], JOINED_S)
    assert pauses.pause_s == [pytest.approx(0.6)]
    assert pauses.quiet_s == [pytest.approx(1.0)]
    assert (pauses.moved, pauses.repeated, pauses.skipped) == ({0}, 0, 0)


def test_records_returned_again_end_no_gap() -> None:
    first = [(99.5, 0, 0, 9)]
    second = [(100.2, 0, 5, 9), (100.6, 0, 8, 12)]
    pauses = find_pauses([first, second], [0], JOINED_S)
    assert pauses.pause_s == [pytest.approx(1.1)]
    assert pauses.repeated == 7


def test_records_nobody_returned_are_counted() -> None:
    pauses = find_pauses([[(99.5, 0, 0, 9)], [(100.2, 0, 15, 19)]], [0], JOINED_S)
    assert pauses.skipped == 5


def test_partition_nobody_goes_on_with_pauses_to_the_end() -> None:
    pauses = find_pauses([[(99.5, 0, 0, 9)], []], [0], JOINED_S)
    assert pauses.pause_s == [pytest.approx(0.5 + WATCH_S)]


def test_gaps_long_after_the_last_move_are_not_the_joins() -> None:
    kept = [(99.9, 1, 0, 0), (100.1, 1, 1, 1), (100.2, 1, 2, 2), (100.4, 1, 3, 3), (104.0, 1, 4, 4)]
    moved = [(100.05, 0, 1, 1)]
    first = [(99.95, 0, 0, 0), *kept]
    assert 100.05 + AFTERMATH_S < 100.4
    pauses = find_pauses([first, moved], [0, 1], JOINED_S)
    assert pauses.pause_s[1] == pytest.approx(0.2)
