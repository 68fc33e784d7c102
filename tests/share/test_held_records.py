"""What was returned is held until it is sent; the last word about a record counts."""

from collections.abc import Iterable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.errors import IllegalStateError
from aiokafka_lite.model import AcknowledgeType, TopicPartition
from aiokafka_lite.share.held_records import GAP, AckBatch, HeldRecords, Record
from tests.share.records import record
from tests.support.reentry import ALL_WAYS

TP = TopicPartition("t", 0)
NODE = 1
ACCEPT, RELEASE, REJECT, RENEW = AcknowledgeType


def held(*ranges: tuple[int, int, Iterable[int]], keeps_records: bool = True) -> HeldRecords:
    """Ranges of acquired offsets, and the offsets among them that have records."""
    found = HeldRecords(keeps_records=keeps_records)
    for first, last, offsets in ranges:
        found.add(TP, NODE, first, last, [record(offset) for offset in offsets])
    return found


def taken(records: HeldRecords) -> list[tuple[int, list[int]]]:
    return [(batch.first, list(batch.types)) for _, _, batch in records.take()]


def test_what_nobody_speaks_of_stays_held() -> None:
    records = held((0, 2, [0, 1, 2]))
    assert records.unacknowledged == 3
    assert taken(records) == []
    assert records


def test_accepting_all_leaves_out_the_gaps() -> None:
    records = held((0, 3, [0, 2]))
    records.accept_all()
    assert taken(records) == [(0, [ACCEPT, GAP, ACCEPT, GAP])]
    assert not records


def test_a_part_is_sent_and_the_rest_stays() -> None:
    records = held((0, 3, [0, 1, 2, 3]))
    records.acknowledge(TP, 0, ACCEPT)
    records.acknowledge(TP, 1, REJECT)
    records.acknowledge(TP, 3, RELEASE)
    assert taken(records) == [(0, [ACCEPT, REJECT]), (3, [RELEASE])]
    assert records.unacknowledged == 1
    with pytest.raises(IllegalStateError, match="t-0 at offset 0 is not held"):
        records.acknowledge(TP, 0, ACCEPT)
    records.acknowledge(TP, 2, ACCEPT)
    assert taken(records) == [(2, [ACCEPT])]
    assert not records


def test_the_last_word_counts() -> None:
    records = held((5, 5, [5]))
    records.acknowledge(TP, 5, REJECT)
    records.acknowledge(TP, 5, ACCEPT)
    assert taken(records) == [(5, [ACCEPT])]


@pytest.mark.parametrize("offset", [3, 9])
def test_a_record_that_was_not_returned_cannot_be_acknowledged(offset: int) -> None:
    with pytest.raises(IllegalStateError, match="is not held"):
        held((2, 4, [2, 4])).acknowledge(TP, offset, ACCEPT)


def test_renewals_are_apart_and_keep_their_records() -> None:
    records = held((0, 3, [0, 1, 2, 3]))
    for offset, verdict in enumerate([ACCEPT, RENEW, RENEW, RELEASE]):
        records.acknowledge(TP, offset, verdict)
    batches = [batch for _, _, batch in records.take()]
    assert [list(batch.types) for batch in batches] == [[ACCEPT], [RENEW, RENEW], [RELEASE]]
    assert [[each.offset for each in batch.records] for batch in batches] == [[], [1, 2], []]


def test_without_renewals_no_record_is_kept() -> None:
    records = held((0, 0, [0]), keeps_records=False)
    records.acknowledge(TP, 0, RENEW)
    ((_, _, batch),) = records.take()
    assert not batch.records


def test_releasing_all_keeps_what_was_said() -> None:
    records = held((0, 3, [0, 1, 2, 3]))
    records.acknowledge(TP, 0, ACCEPT)
    records.acknowledge(TP, 1, RENEW)
    records.release_all()
    assert taken(records) == [(0, [ACCEPT, RELEASE, RELEASE, RELEASE])]


def test_a_record_delivered_once_more_belongs_to_the_newer_delivery() -> None:
    records = held((0, 4, [0, 1, 2, 3, 4]), (2, 3, [2, 3]))
    assert records.unacknowledged == 5
    records.accept_all()
    assert taken(records) == [(0, [ACCEPT] * 2), (4, [ACCEPT]), (2, [ACCEPT] * 2)]


def test_a_record_that_could_not_be_read_waits_for_a_verdict() -> None:
    records = HeldRecords(keeps_records=True)
    records.add_unreadable(TP, NODE, 7, None)
    assert records.unacknowledged == 1
    records.acknowledge(TP, 7, REJECT)
    assert taken(records) == [(7, [REJECT])]
    records.add_unreadable(TP, NODE, 8, RELEASE)
    assert records.unacknowledged == 0
    assert taken(records) == [(8, [RELEASE])]


def test_a_batch_of_one_type_is_sent_as_one_number() -> None:
    assert AckBatch(0, bytearray([1, 1, 1])).wire_types() == [1]
    assert AckBatch(0, bytearray([1, 0, 1])).wire_types() == [1, 0, 1]
    assert AckBatch(4, bytearray([1, 0, 1])).offsets() == {4, 6}


@given(
    st.lists(st.tuples(st.integers(0, 30), st.integers(1, 8)), max_size=6),
    st.dictionaries(st.integers(0, 40), st.sampled_from([ACCEPT, RELEASE, REJECT, RENEW])),
)
def test_each_offset_is_sent_once_with_its_verdict(
    ranges: list[tuple[int, int]], verdicts: dict[int, AcknowledgeType]
) -> None:
    records = HeldRecords(keeps_records=True)
    expected: dict[int, int] = {}
    for first, size in ranges:
        offsets = range(first, first + size)
        kept: list[Record] = [record(offset) for offset in offsets]
        records.add(TP, NODE, first, first + size - 1, kept)
        expected.update(dict.fromkeys(offsets, ACCEPT))
    for offset, verdict in verdicts.items():
        if offset in expected:
            records.acknowledge(TP, offset, verdict)
            expected[offset] = verdict
    sent: dict[int, int] = {}
    for _ in range(2):
        for _, _, batch in records.take():
            for offset, verdict_sent in enumerate(batch.types, batch.first):
                assert offset not in sent
                sent[offset] = verdict_sent
        records.accept_all()
    assert sent == expected
    assert not records


@pytest.mark.parametrize("way", ALL_WAYS)
def test_what_is_said_in_the_middle_of_a_commit_is_sent_with_the_next(way: str) -> None:
    """As of a handler of signals, or a log handler that has handled its record (C1)."""
    for place in range(1, 400):
        records = held((0, 1, [0, 1]))
        records.acknowledge(TP, 0, ACCEPT)
        reject = partial(records.acknowledge, TP, 1, REJECT)
        with ALL_WAYS[way](reject, after=place) as inner:
            sent = taken(records)
        assert inner.error is None
        if not inner.came:
            break
        sent += taken(records)
        assert bytes(each for _, types in sent for each in types) == bytes([ACCEPT, REJECT])
