"""The table of a producer's fault tests sums up its figures."""

import json
from typing import Any

from tests.faults.producer_fault_rounds import Round, table
from tests.faults.producer_oracle import Tally


def played(fault: str, number: int, **figures: Any) -> Round:
    tally = Tally(sent=100, acked=90, failed=10)
    return Round(
        kafka="4.3.1", fault=fault, number=number, loop="uvloop", took_s=9.0, tally=tally, **figures
    )


def test_a_round_is_a_line_of_json() -> None:
    told = json.loads(played("leader_killed", 3, longest_gap_s=2.5).as_json())
    assert told["fault"] == "leader_killed"
    assert told["longest_gap_s"] == 2.5
    assert told["tally"] == {"sent": 100, "acked": 90, "failed": 10, "duplicates": 0, "lost": 0}


def test_the_table_has_the_longest_times_and_the_sums_of_each_fault() -> None:
    rounds = [
        played("b", 1, longest_gap_s=1.0, back_after_s=7.0),
        played("a", 1, slowest_stop_s=30.0),
        played("b", 2, longest_gap_s=3.0, back_after_s=5.0),
    ]
    heading, first, second = (line.split() for line in table(rounds))
    assert heading[-5:] == ["sent", "acked", "failed", "duplicates", "lost"]
    assert first == ["4.3.1", "a", "1", "-", "-", "30.00", "s", "100", "90", "10", "0", "0"]
    expected = ["2", "3.00", "s", "7.00", "s", "-", "200", "180", "20", "0", "0"]
    assert second == ["4.3.1", "b", *expected]
