"""The model complains of each broken rule, and of nothing else."""

from aiokafka_lite.model import OffsetAndMetadata
from aiokafka_lite.workers.finished_note import written_note
from tests.adversity.workers.workers_model import Place, Stored, WorkersModel

NOTHING: Stored = {}


def model() -> WorkersModel:
    made = WorkersModel(lambda place: (place[0], place[1] % 2), lambda: 0.0)
    made.wrote(0, 6)
    return made


def handle(made: WorkersModel, member: str, *places: Place, stored: Stored = NOTHING) -> None:
    for place in places:
        made.begins(member, place, stored)
        made.finishes(member, place)


def test_two_chains_side_by_side_are_fine() -> None:
    made = model()
    made.begins("a", (0, 0), NOTHING)
    handle(made, "a", (0, 1), (0, 3))
    made.stops("a", (0, 0))
    handle(made, "b", (0, 0), (0, 2))
    made.seen({0: OffsetAndMetadata(1, written_note(1, [(2, 4)]))})
    assert not made.complaints


def test_a_record_before_the_one_before_it_is_a_fault() -> None:
    made = model()
    made.begins("a", (0, 2), NOTHING)
    assert "before (0, 0) is finished" in made.complaints[0]


def test_two_records_of_a_chain_at_once_are_a_fault() -> None:
    made = model()
    made.begins("a", (0, 0), NOTHING)
    made.begins("b", (0, 0), NOTHING)
    assert "while a works on (0, 0)" in made.complaints[0]


def test_members_that_are_cut_off_or_dead_are_excused() -> None:
    made = model()
    made.begins("a", (0, 0), NOTHING)
    made.begins("b", (0, 1), NOTHING)
    made.excuse("a")
    made.died("b")
    handle(made, "c", (0, 0), (0, 1))
    made.begins("a", (0, 4), NOTHING)
    assert not made.complaints


def test_a_repeated_record_is_a_fault_unless_its_member_died() -> None:
    made = model()
    handle(made, "a", (0, 0), (0, 0))
    assert "which a has finished in order" in made.complaints[0]
    made = model()
    handle(made, "a", (0, 0))
    made.died("a")
    handle(made, "b", (0, 0))
    assert not made.complaints
    assert made.repeats == 1


def test_commits_that_fail_excuse_repeats_but_not_of_what_is_stored() -> None:
    made = model()
    made.commits_fail()
    handle(made, "a", (0, 0), (0, 0))
    assert not made.complaints
    made.begins("a", (0, 0), {0: OffsetAndMetadata(1, "")})
    assert "which is stored as finished" in made.complaints[0]


def test_what_is_stored_must_be_finished() -> None:
    made = model()
    handle(made, "a", (0, 0))
    made.seen({0: OffsetAndMetadata(1, "")})
    assert not made.complaints
    made.seen({0: OffsetAndMetadata(1, written_note(1, [(3, 4)]))})
    assert made.complaints == ["(0, 3) is stored as finished, and is not"]


def test_all_is_done_when_all_is_finished_and_stored() -> None:
    made = model()
    handle(made, "a", *((0, n) for n in range(6)))
    assert not made.is_done(NOTHING)
    assert not made.is_done({0: OffsetAndMetadata(5, "")})
    assert made.is_done({0: OffsetAndMetadata(6, "")})
