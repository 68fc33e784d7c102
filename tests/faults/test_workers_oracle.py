"""The oracle of keyed workers finds each broken rule, and nothing in journals without faults."""

import pytest

from aiokafka_lite.workers.finished_note import written_note
from tests.faults.test_group_oracle import lived
from tests.faults.workers_oracle import Books, books, finished

CHAINS = {(0, 0): "k", (0, 1): "other", (0, 2): "k", (1, 0): "third"}
NOTE = written_note(0, [(1, 2)])
LIFE = f"""\
1.0 anna assigned 0,1
1.1 anna began 0 0 10
1.2 anna began 0 1 11
1.3 anna ended 0 1 11
1.4 anna committed 0@0@{NOTE}
1.5 anna gave-up 0 0 10
1.6 anna revoked 0
1.7 bert began 0 0 10
1.8 bert ended 0 0 10
1.9 bert began 0 2 12
2.0 anna began 1 0 13
2.1 anna dead 1 0 13
2.2 anna committed 1@1@
2.3 anna stopped
3.1 carl began 0 0 10
3.2 carl ended 0 0 10
3.3 carl began 0 2 12
3.4 carl ended 0 2 12
3.5 carl committed 0@3@
3.6 carl stopped
"""


def judged(text: str, **killed: float) -> Books:
    return books(lived(text), CHAINS, killed)


def test_a_life_without_faults() -> None:
    made = judged(LIFE, bert=3.0)
    assert made.complaints == []
    figures = made.figures
    assert (figures.records, figures.attempts) == (4, 7)
    assert (figures.failures, figures.dead_letters) == (1, 1)
    assert (figures.kills, figures.stops, figures.lost) == (1, 2, 0)
    assert (figures.in_flight, figures.repeats) == (2, 1)
    assert finished(lived(LIFE)) == set(CHAINS)


@pytest.mark.parametrize(
    ("line", "instead", "complaint"),
    [
        ("3.4 carl ended 0 2 12\n", "", "(0, 2) was never finished"),
        ("3.5 carl committed 0@3@\n", "", "(0, 2) was finished and never committed"),
        ("3.5 carl committed 0@3@\n", "", "carl stopped, and (0, 0) is finished and not committed"),
        ("1.8 bert ended 0 0 10\n", "", "bert began (0, 2) before (0, 0) was finished"),
        ("1.5 anna gave-up 0 0 10\n", "", "bert began (0, 0) while anna worked on (0, 0)"),
        ("3.1 carl", "3.05 carl began 0 1 11\n3.1 carl", "which was committed as finished"),
        ("1.7 bert", "1.7 bert committed 0@1@\n1.7 bert", "(0, 0), which is not finished"),
        ("3.1 carl", "3.05 carl began 7 0 9\n3.1 carl", "which nobody has written"),
    ],
)
def test_each_broken_rule_is_found(line: str, instead: str, complaint: str) -> None:
    assert line in LIFE
    made = judged(LIFE.replace(line, instead), bert=3.0)
    assert any(complaint in each for each in made.complaints), made.complaints


def test_a_repeat_of_what_a_living_member_has_finished_is_a_fault() -> None:
    made = judged(LIFE.replace("1.9 bert began 0 2 12\n", ""))
    assert "which bert has finished, and bert lives" in made.complaints[0]


def test_the_attempts_of_a_repeat_count_once() -> None:
    twice = "3.1 carl began 0 0 10\n3.15 carl gave-up 0 0 10\n3.16 carl began 0 0 10\n"
    made = judged(LIFE.replace("3.1 carl began 0 0 10\n", twice), bert=3.0)
    assert made.complaints == []
    assert (made.figures.attempts, made.figures.repeats) == (8, 1)


def test_a_member_that_lost_its_partitions_is_excused() -> None:
    text = LIFE.replace("1.9 bert began 0 2 12\n", "1.9 bert lost 0\n")
    made = judged(text)
    assert made.complaints == []
    assert made.figures.lost == 1
