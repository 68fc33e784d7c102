"""The oracle of producers finds each broken rule, and nothing else."""

from dataclasses import replace

from aiokafka_lite.errors import KafkaConnectionError, KafkaError
from tests.faults import producer_oracle as oracle
from tests.faults.producer_oracle import Sent, Tally

LOG = {0: {0: 0, 1: 2, 3: 4}, 1: {0: 1, 1: 3}}
BOUND_S = 5.0


def all_acked() -> list[Sent]:
    return [
        Sent(number, partition, number * 1.0, number + 0.5, offset)
        for partition, numbers in LOG.items()
        for offset, number in numbers.items()
    ]


def failed_with(error: BaseException, after_s: float) -> list[Sent]:
    return [Sent(9, 0, 1.0, 1.0 + after_s, error=error)]


CLEAR = KafkaConnectionError("the connection to node 1 has ended")


def test_a_log_that_is_as_acked_is_right() -> None:
    assert oracle.all_complaints(all_acked(), LOG, BOUND_S) == []


def test_what_failed_clearly_and_in_time_may_be_written_or_not() -> None:
    sent = [*all_acked(), *failed_with(CLEAR, 4.0)]
    assert oracle.all_complaints(sent, LOG, BOUND_S) == []
    assert oracle.all_complaints(sent, {**LOG, 0: {**LOG[0], 4: 9}}, BOUND_S) == []


def test_an_acked_record_that_is_not_there_is_found() -> None:
    [complaint] = oracle.all_complaints(all_acked(), {**LOG, 1: {0: 1}}, BOUND_S)
    assert complaint == "3 was acknowledged as 1@1, where there is None"


def test_a_record_that_is_there_twice_is_found() -> None:
    log = {**LOG, 1: {0: 1, 1: 3, 2: 3}}
    assert oracle.all_complaints(all_acked(), log, BOUND_S) == ["3 is in the log 2 times"]


def test_records_in_another_order_are_found() -> None:
    log = {**LOG, 1: {0: 3, 1: 1}}
    complaints = oracle.all_complaints(all_acked(), log, BOUND_S)
    assert "in partition 1 1 comes after 3" in complaints
    assert len(complaints) == 3


def test_a_record_without_an_outcome_is_found() -> None:
    sent = all_acked()
    sent[0] = replace(sent[0], done_s=None, offset=None)
    assert oracle.all_complaints(sent, LOG, BOUND_S) == ["0 has no outcome"]


def test_failures_that_are_late_or_not_kafkas_are_found() -> None:
    assert "the bound is 5.00 s" in oracle.unclear_failures(failed_with(CLEAR, 5.1), BOUND_S)[0]
    foreign = ValueError("a long enough sentence of no use")
    assert "ValueError" in oracle.unclear_failures(failed_with(foreign, 1.0), BOUND_S)[0]
    silent = KafkaError()
    assert oracle.unclear_failures(failed_with(silent, 1.0), BOUND_S)


def test_a_copy_has_other_offsets_but_the_same_records_in_the_same_order() -> None:
    assert oracle.unlike_source(LOG, {0: {0: 0, 5: 2, 6: 4}, 1: {1: 1, 2: 3}}) == []


def test_a_copy_that_lost_or_doubled_or_swapped_something_is_found() -> None:
    for copy in ({0: 1}, {0: 1, 1: 3, 2: 3}, {0: 3, 1: 1}, {}):
        assert oracle.unlike_source(LOG, {**LOG, 1: copy})


def test_the_longest_gap_is_that_of_one_partition() -> None:
    sent = [
        Sent(0, 0, 0.0, 0.1, 0),
        Sent(1, 0, 1.0, 4.0, 1),
        Sent(2, 1, 0.0, 2.0, 0),
        Sent(3, 1, 2.0, 2.5, error=CLEAR),
    ]
    assert oracle.longest_gap(sent) == 3.9
    assert oracle.slowest_ack(sent) == 3.0


def test_the_tally_counts_what_became_of_the_records() -> None:
    sent = [*all_acked(), *failed_with(CLEAR, 4.0)]
    log = {**LOG, 1: {0: 1, 1: 9, 2: 4}}
    counted = oracle.tally(sent, log)
    assert counted == Tally(sent=6, acked=5, failed=1, duplicates=1, lost=1)
    assert counted + counted == Tally(sent=12, acked=10, failed=2, duplicates=2, lost=2)


def test_the_tally_of_a_copy_counts_what_is_there_twice_or_not_at_all() -> None:
    assert oracle.tally_of_copy(LOG, LOG) == Tally()
    assert oracle.tally_of_copy(LOG, {**LOG, 1: {0: 1, 1: 4}}) == Tally(duplicates=1, lost=1)


def test_resumed_is_who_acks_what_was_sent_later() -> None:
    sent = [Sent(0, 0, 0.0, 3.0, 0), Sent(1, 1, 2.0, 2.5, 0), Sent(2, 0, 2.1, 4.0, 1)]
    assert oracle.seconds_to_resume(sent, 1.0, 2) == 3.0
    assert oracle.seconds_to_resume(sent, 2.05, 2) is None
