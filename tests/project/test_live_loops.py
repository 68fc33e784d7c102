"""No loop of a client runs over what a call in the middle of it may change."""

import re
from pathlib import Path

import pytest

import aiokafka_lite
from tests.project.live_loops import live_loops

PACKAGE = Path(aiokafka_lite.__file__).parent
ROOMS = (
    *("admin", "cluster", "concurrency", "consumer", "metrics", "net", "observe", "producer"),
    *("schema_registry", "share", "workers"),
)
OF_ONE_CALL = "consumer/assignors/"
"""What is computed there belongs to one call, and nobody else has it."""
FIRST_ONLY = {
    ("producer/accumulator/incomplete_batches.py", "self._batches"),
    ("consumer/fetch/fetch_buffer.py", "self._completed_fetches"),
}
"""Loops that end at the first item."""


@pytest.mark.parametrize("room", ROOMS)
def test_no_loop_runs_over_what_a_finalizer_may_change(room: str) -> None:
    """A `list(…)` or a `.copy()` of a dict, set or deque is looped over instead (C1)."""
    found = {
        (path, text): line
        for file in sorted((PACKAGE / room).rglob("*.py"))
        if not (path := file.relative_to(PACKAGE).as_posix()).startswith(OF_ONE_CALL)
        for line, text in live_loops(file)
    }
    assert found.keys() <= FIRST_ONLY, found


LOOPS = """
class Owner:
    def __init__(self):
        self.waiting: dict[str, int] = {}
        self.lines: deque[int] = deque()
        self.rows: list[int] = []

    def all(self):
        for name in LOOPED:
            print(name)
"""


@pytest.mark.parametrize(
    ("looped", "is_found"),
    [
        ("self.waiting", True),
        ("self.waiting.items()", True),
        ("tuple(self.waiting.values())", True),
        ("list(self.waiting.items())", True),
        ("[line for line in self.lines]", True),
        ("list(self.waiting)", False),
        ("list(self.waiting.values())", False),
        ("self.waiting.copy().items()", False),
        ("sorted(self.lines)", False),
        ("self.rows", False),
    ],
)
def test_it_finds_them(looped: str, is_found: bool, tmp_path: Path) -> None:
    file = tmp_path / "loops.py"
    file.write_text(LOOPS.replace("LOOPED", looped), encoding="utf-8")
    assert bool(list(live_loops(file))) == is_found


def test_one_function_gives_futures_their_outcome() -> None:
    """Who waits may be cancelled between `done()` and the result (C1)."""
    sets = re.compile(r"\.set_(result|exception)\(")
    found = [
        file.relative_to(PACKAGE).as_posix()
        for file in sorted(PACKAGE.rglob("*.py*"))
        if file.suffix in {".py", ".pyx"} and "testing" not in file.parts
        if sets.search(file.read_text(encoding="utf-8"))
    ]
    assert found == ["concurrency/outcome.py"]
