"""One partition's fetched bytes: taken in parts, one by one, or in both ways in turns (A6)."""

from typing import Any

import pytest

from aiokafka_lite.consumer.fetch.completed_fetch import CHUNK_RECORDS, CompletedFetch
from aiokafka_lite.errors import CorruptRecordException, TopicAuthorizationFailedError
from aiokafka_lite.record.batch_reader import RecordCursor
from tests.consumer.batches import batches, marker, of_epoch, tps, with_bad_crc

(P0,) = tps(0)


def fetch_of(data: bytes, fetch_offset: int = 0) -> CompletedFetch:
    cursor = RecordCursor(data, topic="t", partition=0, fetch_offset=fetch_offset)
    return CompletedFetch(P0, fetch_offset, node_id=1, cursor=cursor, size_in_bytes=len(data))


def offsets(records: list[Any]) -> list[int]:
    return [record.offset for record in records]


def test_a6_taking_moves_the_next_offset_with_what_was_taken() -> None:
    fetch = fetch_of(batches(0, 4, 4))
    assert offsets(fetch.take(3)) == [0, 1, 2]
    assert fetch.next_offset == 3
    assert offsets(fetch.take(2)) == [3, 4]
    assert fetch.next_offset == 5
    assert not fetch.is_drained()
    assert offsets(fetch.take(100)) == [5, 6, 7]
    assert fetch.next_offset == 8
    assert fetch.is_drained()


def test_a6_records_decoded_ahead_do_not_count_as_taken() -> None:
    fetch = fetch_of(batches(0, 3))
    first = fetch.take_one()
    assert first is not None
    assert first.offset == 0
    assert len(fetch.decoded) == 2
    assert fetch.next_offset == 1
    assert not fetch.is_drained()


def test_taking_one_by_one_to_the_end_drains_the_fetch() -> None:
    fetch = fetch_of(batches(10, 2, 1), fetch_offset=10)
    taken = [fetch.take_one() for _ in range(3)]
    assert [record.offset for record in taken if record is not None] == [10, 11, 12]
    assert fetch.is_drained()
    assert fetch.take_one() is None
    assert fetch.next_offset == 13


def test_both_ways_of_taking_mix_without_loss_or_repeat() -> None:
    fetch = fetch_of(batches(0, 4, 4, 4))
    seen = [fetch.take_one(), *fetch.take(2), fetch.take_one(), *fetch.take(6), *fetch.take(5)]
    assert [record.offset for record in seen if record is not None] == list(range(12))
    assert fetch.next_offset == 12


def test_taking_goes_on_from_the_decoded_chunk_to_the_bytes_behind_it() -> None:
    count = CHUNK_RECORDS + 50
    fetch = fetch_of(batches(0, count))
    assert fetch.take_one() is not None
    assert offsets(fetch.take(count)) == list(range(1, count))
    assert fetch.is_drained()


def test_records_before_a_bad_one_come_first_and_the_error_is_sticky() -> None:
    """Records come before the error, which each later call raises again (A9)."""
    fetch = fetch_of(batches(0, 3) + with_bad_crc(batches(3, 3)))
    assert offsets(fetch.take(100)) == [0, 1, 2]
    for _ in range(3):
        with pytest.raises(CorruptRecordException, match="t-0"):
            fetch.take(100)
        assert fetch.next_offset == 3
        assert not fetch.is_drained()


def test_an_error_behind_the_decoded_chunk_waits_for_the_chunk_to_be_taken() -> None:
    fetch = fetch_of(batches(0, 3) + with_bad_crc(batches(3, 3)))
    assert fetch.take_one() is not None
    assert offsets(fetch.take(100)) == [1, 2]
    with pytest.raises(CorruptRecordException):
        fetch.take_one()
    assert fetch.next_offset == 3


def test_a_record_taken_alone_has_the_newest_epoch_that_was_decoded_with_it() -> None:
    """It stands for the older ones, too: a log that has it has all that lies before it."""
    fetch = fetch_of(of_epoch(5, batches(0, 2)) + of_epoch(6, batches(2, 2)))
    fetch.take(1)
    assert fetch.leader_epoch == 5
    for _ in range(3):
        fetch.take_one()
        assert fetch.leader_epoch == 6


def test_a_failure_holds_an_error_and_no_bytes() -> None:
    error = TopicAuthorizationFailedError("t")
    fetch = CompletedFetch(P0, 5, node_id=1, error=error)
    assert fetch.is_failure
    assert fetch.is_drained()
    assert fetch.error is error
    assert fetch.take(5) == []
    assert fetch.take_one() is None
    assert repr(fetch) == "<CompletedFetch t-0 at 5, failed>"


def test_a_released_fetch_gives_nothing_any_more() -> None:
    fetch = fetch_of(batches(0, 4))
    fetch.take_one()
    fetch.release()
    assert fetch.decoded == []
    assert fetch.take(10) == []


@pytest.mark.parametrize("one_by_one", [True, False])
def test_e4_markers_move_the_next_offset_though_nothing_is_taken(one_by_one: bool) -> None:
    fetch = fetch_of(marker(0) + marker(1))
    assert not (fetch.take_one() if one_by_one else fetch.take(10))
    assert fetch.next_offset == 2
    assert fetch.is_drained()


@pytest.mark.parametrize("one_by_one", [True, False])
def test_e4_a_marker_before_a_damaged_batch_moves_the_next_offset(one_by_one: bool) -> None:
    fetch = fetch_of(marker(0) + with_bad_crc(batches(1, 3)))
    with pytest.raises(CorruptRecordException):
        _ = fetch.take_one() if one_by_one else fetch.take(10)
    assert fetch.next_offset == 1


def test_a9_a_fetch_that_failed_keeps_its_place_but_not_its_bytes() -> None:
    fetch = fetch_of(batches(0, 4))
    fetch.take_one()
    error = ValueError()
    fetch.fail(error)
    assert fetch.error is error
    assert (fetch.next_offset, fetch.size_in_bytes, fetch.decoded) == (1, 0, [])
    assert not fetch.is_failure, "it stands aside; only one without bytes is removed"


def test_a9_an_error_behind_the_first_record_decoded_comes_after_it() -> None:
    fetch = fetch_of(batches(0, 1) + with_bad_crc(batches(1, 3)))
    first = fetch.take_one()
    assert first is not None
    assert (first.offset, fetch.next_offset) == (0, 1)
    for _ in range(2):
        with pytest.raises(CorruptRecordException):
            fetch.take_one()
    assert fetch.next_offset == 1
