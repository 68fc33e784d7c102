"""What a marker means for a task that comes again."""

import pytest

from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.spark.write.transactional_marker import (
    Marker,
    ReplayMismatchError,
    TaskCount,
    TaskPlace,
    check_same,
    is_written,
    newest_count,
    newest_marker,
)

PLACE = TaskPlace("p-q", 3, 5)


def test_the_newest_marker_counts_whatever_topic_it_is_under() -> None:
    old, new = Marker(4, 1, "a"), Marker(5, 2, "b")
    stored = [(each.batch_id, each.note) for each in (new, old)]
    assert newest_marker(stored, "g") == new
    assert newest_marker([], "g") is None


def test_the_newest_number_of_tasks_counts_and_the_higher_of_one_batch() -> None:
    counts = [TaskCount(4, 9), TaskCount(5, 2), TaskCount(5, 3)]
    assert newest_count([(each.batch_id, each.note) for each in counts], "g") == TaskCount(5, 3)
    assert newest_count([], "g") is None


@pytest.mark.parametrize("note", ["", "{}", "[1]", '{"rows": "x", "fingerprint": ""}'])
def test_offsets_of_others_in_the_group_are_an_error(note: str) -> None:
    with pytest.raises(KafkaError, match="'g' has offsets that no transactional write has"):
        newest_marker([(1, note)], "g")
    with pytest.raises(KafkaError, match="another transactionalIdPrefix"):
        newest_count([(1, note)], "g")


@pytest.mark.parametrize(
    ("found", "written"), [(None, False), (Marker(4, 1, "a"), False), (Marker(5, 1, "a"), True)]
)
def test_a_batch_is_written_when_its_marker_is_there(found: Marker | None, written: bool) -> None:
    assert is_written(found, PLACE) is written


def test_a_later_marker_is_an_error_and_a_batch_query_never_comes_again() -> None:
    with pytest.raises(ReplayMismatchError, match=r"restored from an older state, or another"):
        is_written(Marker(6, 1, "a"), PLACE)
    assert not is_written(Marker(6, 1, "a"), PLACE._replace(batch_id=None))


def test_other_rows_are_told_by_number_or_fingerprint() -> None:
    found = Marker(5, 2, "a")
    check_same(found, Marker(5, 2, "a"), PLACE)
    for came in (Marker(5, 3, "a"), Marker(5, 2, "b")):
        with pytest.raises(ReplayMismatchError, match=r"'p-q-3' has written 2 rows of batch 5"):
            check_same(found, came, PLACE)
