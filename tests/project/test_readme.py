"""The README is short, and its Python runs as it stands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import README, programs

BLOCKS = programs(README)
MAX_LINES = 90  # a screen and a half; the guides have the rest


def test_it_is_short_and_has_a_program() -> None:
    assert BLOCKS
    assert len(README.read_text(encoding="utf-8").splitlines()) <= MAX_LINES


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_program_runs(number: int, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(BLOCKS[number])
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
