"""The offset to commit never passes an unfinished record, in whatever order records finish."""

from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.workers.finished_note import read_note, written_note
from aiokafka_lite.workers.offset_tracker import OffsetTracker


def tracking(*offsets: int) -> OffsetTracker:
    tracker = OffsetTracker()
    for offset in offsets:
        assert tracker.begin(offset)
    return tracker


@given(st.data())
def test_the_tracker_agrees_with_a_set(data: st.DataObject) -> None:
    """The model: the lowest unfinished offset, and the set of all finished ones behind it."""
    offsets = sorted(data.draw(st.sets(st.integers(0, 60), min_size=1, max_size=30)))
    order = data.draw(st.permutations(offsets))
    tracker, finished = OffsetTracker(), set[int]()
    begun = 0
    for offset in order:
        while begun < len(offsets) and offsets[begun] <= offset:
            tracker.begin(offsets[begun])
            begun += 1
        tracker.finish(offset)
        finished.add(offset)
        known = offsets[:begun]
        left = [each for each in known if each not in finished]
        expected = left[0] if left else known[-1] + 1
        assert tracker.next_offset == expected
        noted = read_note(expected, tracker.note)
        ahead = {each for each in known if each in finished and each > expected}
        assert {each for each in known if each > expected and each in noted} == ahead
        assert expected not in noted


def test_before_the_first_record_there_is_nothing_to_commit() -> None:
    assert OffsetTracker().next_offset is None
    assert not OffsetTracker().has_news


def test_news_end_with_the_commit_and_begin_with_the_next_record() -> None:
    tracker = tracking(0, 1, 2)
    tracker.finish(1)
    changes = tracker.changes
    tracker.finish(0)
    tracker.committed(changes)
    assert tracker.has_news, "a record was finished while the commit was on its way"
    tracker.committed(tracker.changes)
    assert not tracker.has_news


def test_what_an_earlier_owner_has_finished_is_not_handled_again() -> None:
    before = tracking(*range(10, 20))
    for offset in (11, 12, 17):
        before.finish(offset)
    tracker = OffsetTracker()
    tracker.finished_before(read_note(10, before.note))
    assert [offset for offset in range(10, 20) if not tracker.begin(offset)] == [11, 12, 17]
    tracker.finish(10)
    assert tracker.next_offset == 13


def test_a_note_keeps_what_the_earlier_one_says_of_records_that_have_not_come_yet() -> None:
    tracker = OffsetTracker()
    tracker.finished_before(read_note(10, written_note(10, [(11, 13), (17, 18)])))
    assert tracker.begin(10)
    for comes, committed, finished in [
        (11, 10, {11, 12, 17}),
        (12, 10, {11, 12, 17}),
        (13, 10, {11, 12, 17}),
    ]:
        tracker.begin(comes)
        assert tracker.next_offset == committed
        assert noted(tracker) == finished
    tracker.finish(10)
    assert (tracker.next_offset, noted(tracker)) == (13, {17})
    tracker.finish(13)
    assert (tracker.next_offset, noted(tracker)) == (14, {17}), "all that came is finished"


@given(st.data())
def test_notes_of_owners_that_follow_each_other_lose_nothing(data: st.DataObject) -> None:
    """Each owner takes in some records and finishes some of them; the last one reads the note."""
    offset, note, finished = 0, "", set[int]()
    for _ in range(data.draw(st.integers(1, 4))):
        tracker = OffsetTracker()
        tracker.finished_before(read_note(offset, note))
        comes = range(offset, data.draw(st.integers(offset + 1, max(20, offset + 1))))
        handled = [each for each in comes if tracker.begin(each)]
        assert finished.isdisjoint(handled)
        for each in data.draw(st.lists(st.sampled_from(handled), unique=True)) if handled else ():
            tracker.finish(each)
            finished.add(each)
        assert tracker.next_offset is not None
        offset, note = tracker.next_offset, tracker.note
        told = read_note(offset, note)
        assert {each for each in range(40) if each < offset or each in told} == finished


def noted(tracker: OffsetTracker) -> set[int]:
    assert tracker.next_offset is not None
    note = read_note(tracker.next_offset, tracker.note)
    return {offset for offset in range(30) if offset in note}


def test_a_note_does_not_count_for_records_before_its_offset() -> None:
    """The position was set back: the records are meant to be handled once more."""
    tracker = OffsetTracker()
    tracker.finished_before(read_note(10, "keyed-workers/1:AQE="))
    assert tracker.begin(9)
    assert tracker.begin(11)


def test_behind_a_position_that_goes_back_all_comes_again() -> None:
    tracker = tracking(5, 6, 7)
    tracker.finish(5)
    assert tracker.begin(2)
    tracker.finish(7)
    assert tracker.next_offset == 2
    assert len(tracker) == 1


def test_what_is_unfinished_before_a_position_that_goes_back_keeps_its_place() -> None:
    tracker = tracking(3, 5, 6, 7)
    tracker.finish(6)
    assert tracker.begin(5)
    tracker.finish(7)  # by its first attempt
    tracker.finish(5)
    assert tracker.next_offset == 3
    assert read_note(3, tracker.note).last == 5
    tracker.finish(3)
    assert (tracker.next_offset, tracker.note) == (6, "")


def test_nothing_behind_a_record_that_nobody_handles_is_committed() -> None:
    tracker = tracking(3, 4)
    tracker.stop_before(3)  # some of its records were queued
    tracker.finish(3)
    tracker.finish(4)
    assert len(tracker) == 0
    tracker.stop_before(8)
    assert (tracker.next_offset, len(tracker)) == (8, 1)


@given(st.data())
def test_a_cut_leaves_what_lies_before_it(data: st.DataObject) -> None:
    """As if the records behind it had never come; those that come there now are others."""
    finished = data.draw(st.sets(st.integers(0, 9)))
    offset = data.draw(st.integers(0, 12))
    tracker, other = tracking(*range(10)), tracking(*range(min(offset, 10)))
    tracker.committed(tracker.changes)
    for each in finished:
        tracker.finish(each)
        if each < offset:
            other.finish(each)
    assert tracker.cut(offset) == (offset < 10)
    assert tracker.next_offset == (other.next_offset if offset else None)
    assert tracker.note == other.note
    assert tracker.has_news == (0 < offset < 10 or bool(offset and finished))
    for each in range(min(offset, 10), 12):
        assert tracker.begin(each)
    assert tracker.next_offset == min(({*range(10)} - finished) | {*range(min(offset, 10), 12)})


@given(st.data())
def test_a_note_does_not_outlive_its_log(data: st.DataObject) -> None:
    """Whether the cut is known before the note is read, or after."""
    finished = data.draw(st.sets(st.integers(11, 19), min_size=1))
    offset = data.draw(st.integers(0, 21))
    before = tracking(*range(10, 20))
    for each in finished:
        before.finish(each)
    note = read_note(10, before.note)
    first, second = OffsetTracker(), OffsetTracker()
    first.cut(offset)
    first.finished_before(note)
    second.finished_before(note)
    second.cut(offset)
    for tracker in (first, second):
        handled = [each for each in range(10, 22) if tracker.begin(each)]
        assert handled == [each for each in range(10, 22) if each >= offset or each not in finished]


def test_the_epoch_to_commit_is_the_newest_of_the_topic() -> None:
    tracker = tracking(0)
    assert tracker.leader_epoch == -1
    tracker.finished_before(read_note(0, ""), 2)
    tracker.returned(1)
    assert tracker.leader_epoch == 2, "the note names records of that epoch"
    tracker.returned(3)
    assert tracker.leader_epoch == 3
    tracker.cut(0)
    assert tracker.leader_epoch == -1
