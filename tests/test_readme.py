"""Every Python block of the README runs as it stands."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import README, programs

BLOCKS = programs(README)  # tests/spark has a session for the others


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize(
    "number", [n for n, block in enumerate(BLOCKS) if "def test_" not in block]
)
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


@pytest.mark.parametrize("number", [n for n, block in enumerate(BLOCKS) if "def test_" in block])
def test_a_test_passes_with_the_plugin_alone(number: int, tmp_path: Path) -> None:
    (tmp_path / "test_block.py").write_text(BLOCKS[number])
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=180, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
