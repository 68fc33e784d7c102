"""The note in a commit's metadata: what is finished behind the committed offset."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aiokafka_lite.workers.finished_note import (
    MOST_BYTES,
    PREFIX,
    FinishedOffsets,
    read_note,
    written_note,
)

Lengths = list[tuple[int, int]]
lengths = st.lists(st.tuples(st.integers(1, 2**20), st.integers(1, 2**20)), max_size=40)
BROKERS_LIMIT = 4096


def ranges(base: int, runs: Lengths) -> list[tuple[int, int]]:
    found, place = [], base
    for unfinished, finished in runs:
        found.append((place + unfinished, place + unfinished + finished))
        place += unfinished + finished
    return found


@given(base=st.integers(0, 2**60), runs=lengths)
def test_what_is_written_is_read_again(base: int, runs: Lengths) -> None:
    finished = ranges(base, runs)
    read = read_note(base, written_note(base, finished))
    for first, end in finished:
        assert first in read
        assert end - 1 in read
        assert first - 1 not in read
        assert end not in read
    assert read.last == (finished[-1][1] - 1 if finished else -1)


def test_nothing_finished_is_no_note() -> None:
    assert written_note(5, []) == ""


def test_a_note_ends_before_it_is_too_long_for_a_broker() -> None:
    finished = [(n, n + 1) for n in range(1, 20_000, 2)]
    text = written_note(0, finished)
    assert len(text) <= BROKERS_LIMIT
    read = read_note(0, text)
    assert 2 * MOST_BYTES // 3 < read.last < 20_000
    assert [n for n in range(read.last + 1) if n in read] == list(range(1, read.last + 1, 2))


@pytest.mark.parametrize("text", ["", "another program's", PREFIX, PREFIX + "gA==", PREFIX + "ä"])
def test_metadata_that_is_no_note_names_nothing(text: str) -> None:
    assert read_note(0, text).last == -1


@given(st.text(max_size=60))
def test_damaged_notes_raise_nothing(text: str) -> None:
    assert isinstance(read_note(3, PREFIX + text), FinishedOffsets)


def test_a_varint_without_an_end_is_refused() -> None:
    assert read_note(0, PREFIX + "gICAgICAgICAgICAgIA=").last == -1
