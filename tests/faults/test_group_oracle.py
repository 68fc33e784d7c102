"""The oracle of groups finds each broken rule, and nothing in a journal without faults."""

from pathlib import Path

from tests.faults import group_oracle as oracle
from tests.faults.group_oracle import Event, History, parse

LIFE = """\
1.0 anna assigned 0,1
1.1 anna record 1 0 0 10
1.2 anna record 1 1 0 11
1.3 anna record 1 0 1 12
1.4 anna revoked 0,1
1.5 anna assigned 0
1.5 bert assigned 1
1.6 anna record 2 0 1 12
1.7 anna record 2 0 2 14
1.8 bert record 1 1 1 13
1.9 bert stopped 0.01
"""

ACKED = {(0, 0): "10", (0, 1): "12", (0, 2): "14", (1, 0): "11", (1, 1): "13"}


def lived(text: str) -> list[Event]:
    """Return the events of lines. A line has the moment, the member, and the rest of the journal's
    line.
    """
    events = []
    for line in text.splitlines():
        at_s, member, rest = line.split(" ", 2)
        events.append(parse(member, f"{at_s} {rest}"))
    return events


def without(text: str, line: str) -> list[Event]:
    assert line in text
    return lived(text.replace(f"{line}\n", ""))


def test_a_life_without_fault_has_no_complaints() -> None:
    events = lived(LIFE)
    assert oracle.all_complaints(events, {}) == []
    assert oracle.unprocessed(events, ACKED) == []
    assert oracle.reach(events) == {0: 3, 1: 2}
    assert oracle.committed_too_far({0: 3, 1: 2}, oracle.reach(events)) == []


def test_a_record_that_nobody_processed_is_missed() -> None:
    events = without(LIFE, "1.8 bert record 1 1 1 13")
    assert oracle.unprocessed(events, ACKED) == ["1@1 was never processed as 13"]


def test_a_record_with_another_value_is_not_the_one_that_was_written() -> None:
    events = lived(LIFE.replace("record 1 1 1 13", "record 1 1 1 17"))
    assert oracle.unprocessed(events, ACKED) == ["1@1 was never processed as 13"]


def test_going_past_what_nobody_has_processed_is_seen_across_members() -> None:
    events = without(LIFE, "1.2 anna record 1 1 0 11")
    assert oracle.skipped(events) == ["bert processed 1@1 when nobody had processed 1@0"]
    assert oracle.reach(events) == {0: 3, 1: 0}


def test_starting_over_is_right_after_a_rebalance_only() -> None:
    events = lived(LIFE.replace("record 2 0 1", "record 1 0 1"))
    [complaint] = oracle.out_of_order(events)
    assert complaint == "anna processed 0@1 after @1 without a rebalance"


def test_a_hole_within_one_ownership_is_out_of_order() -> None:
    events = without(LIFE, "1.3 anna record 1 0 1 12") + lived("2.0 anna record 2 0 4 18")
    assert oracle.out_of_order(events) == [
        "anna processed 0@4 after @2 without a rebalance",
    ]


def test_values_of_a_partition_have_one_order_whoever_processed_them() -> None:
    changed = lived(LIFE + "2.0 bert record 1 0 2 15")
    assert oracle.unordered_values(changed) == ["0@2 was 14, then 15"]
    swapped = lived(LIFE + "2.0 anna record 2 0 3 13")
    assert oracle.unordered_values(swapped) == ["in partition 0 13 comes after 14"]


def test_two_owners_at_once_are_seen() -> None:
    events = without(LIFE, "1.4 anna revoked 0,1")
    complaints = oracle.owned_twice(events, {})
    assert "bert was assigned 1 at 1.500; anna has had it since 1.000" in complaints


def test_who_was_killed_or_given_up_before_may_have_had_the_partition() -> None:
    killed = lived("1.0 anna assigned 0\n3.0 bert assigned 0")
    assert oracle.owned_twice(killed, {"anna": 2.0}) == []
    assert oracle.owned_twice(killed, {"anna": 4.0}) != []
    lost = lived("1.0 anna assigned 0\n3.0 bert assigned 0\n4.0 anna lost 0")
    assert oracle.owned_twice(lost, {}) == []
    lost_before = lived(
        "1.0 anna assigned 0\n2.0 anna lost 0\n2.5 anna assigned 0\n3.0 bert assigned 0"
    )
    assert oracle.owned_twice(lost_before, {}) != []


def test_a_member_that_begins_before_what_was_committed_is_seen() -> None:
    events = lived(LIFE)  # anna comes back to partition 0 at 1.5 and begins at offset 1
    before, meanwhile = oracle.Commit(1.4, 0, 2), oracle.Commit(1.55, 0, 2)
    assert oracle.began_too_early(events, [oracle.Commit(1.2, 0, 1), before]) == [
        "anna began at 0@1, although @2 was committed before"
    ]
    assert oracle.began_too_early(events, [oracle.Commit(1.4, 0, 1), meanwhile]) == []


def test_commits_ahead_of_the_work_and_commits_that_go_back_are_seen() -> None:
    assert oracle.committed_too_far({0: 4, 7: 1}, {0: 3}) == [
        "0@4 is committed, 0@3 is not processed",
        "7@1 is committed, 7@0 is not processed",
    ]
    assert oracle.went_back({0: 4, 1: 2}, {0: 3}) == [
        "0@4 was committed, now 0@3",
        "1@2 was committed, now 1@None",
    ]
    assert oracle.went_back({0: 4}, {0: 4, 1: 0}) == []


def test_late_and_failed_calls_are_failures() -> None:
    events = lived(
        "1.0 anna late commit 17.10 15\n2.0 bert failed KafkaError('no')\n3.0 bert stopped 1"
    )
    assert oracle.failures(events) == [
        "anna at 1.000: late commit 17.10 15",
        "bert at 2.000: failed KafkaError('no')",
    ]


def test_a_group_has_resumed_when_each_partition_has_something_new() -> None:
    events = lived(LIFE)
    assert oracle.seconds_to_resume(events, 1.35, [0, 1]) == 1.8 - 1.35
    assert oracle.seconds_to_resume(events, 1.75, [0, 1]) is None
    assert oracle.seconds_to_resume(events, 1.35, [0, 1, 2]) is None


def test_the_longest_pause_does_not_count_what_is_done_again() -> None:
    assert oracle.longest_pause(lived(LIFE)) == 1.8 - 1.2


def test_a_history_grows_with_its_journals_and_leaves_half_lines_alone(tmp_path: Path) -> None:
    history = History(tmp_path)
    assert history.refresh() == []
    journal = tmp_path / "anna.journal"
    journal.write_bytes(b"2.0 record 1 0 0 10\n3.0 rec")
    assert [event.offset for event in history.refresh()] == [0]
    (tmp_path / "bert.journal").write_bytes(b"1.0 assigned \n")
    with journal.open("ab") as file:
        file.write(b"ord 1 0 1 12\n")
    assert [(event.member, event.word) for event in history.refresh()] == [
        ("bert", "assigned"),
        ("anna", "record"),
        ("anna", "record"),
    ]
    assert history.events[0].partitions == []
    assert [event.run for event in history.events[1:]] == [1, 1]
