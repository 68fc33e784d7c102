"""Type checkers accept what users write: the programs here, those of the README, and the examples.

Pyright is also what Pylance in Visual Studio Code asks. `make check` runs strict mypy over the
programs and examples of the repository; the README's are checked here.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import README, ROOT, python_blocks

PROGRAMS = Path(__file__).parent
EXAMPLES = ROOT / "examples"


def require(checker: str) -> None:
    """Skip the asking test where a checker is not installed; in CI that is a failure."""
    if importlib.util.find_spec(checker) is None:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must run {checker}, which the extra `test` brings: not installed")
        pytest.skip(f"{checker} is not installed here")


def checked(folder: Path, *command: str) -> None:
    """Run a checker in a folder and fail with what it says."""
    done = subprocess.run(
        [sys.executable, "-m", *command],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        cwd=folder,
        # An editable install is found by code that runs at import, which no checker does.
        env={**os.environ, "PYTHONPATH": str(ROOT), "MYPYPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def readme(folder: Path) -> list[str]:
    """Write the README's programs into a folder, as files that keep the page's line numbers."""
    paths = [folder / f"readme_{number}.py" for number in range(len(python_blocks(README)))]
    for path, block in zip(paths, python_blocks(README), strict=True):
        path.write_text(block, encoding="utf-8")
    return [str(path) for path in paths]


def test_pyright_accepts_what_users_write(tmp_path: Path) -> None:
    """Basic mode, which is its default. Names that a module does not export are refused."""
    require("pyright")
    # Away from the sources: of those, names that are not exported may be imported, too.
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    programs = [
        str(shutil.copy(path, tmp_path))
        for path in PROGRAMS.glob("*.py")
        if not path.name.startswith("test_")
    ]
    checked(
        tmp_path,
        *("pyright", "--pythonpath", sys.executable),
        *(*programs, *readme(tmp_path), str(tmp_path / "examples")),
    )


def test_strict_mypy_accepts_the_programs_of_the_readme(tmp_path: Path) -> None:
    require("mypy")
    settings = ("--strict", "--config-file", str(ROOT / "pyproject.toml"))
    cache = ("--cache-dir", str(ROOT / ".mypy_cache" / "readme"))
    checked(tmp_path, "mypy", *settings, *cache, *readme(tmp_path))


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_wrong_option_is_found(checker: str, tmp_path: Path) -> None:
    require(checker)
    program = tmp_path / "wrong.py"
    program.write_text("from aiokafka_lite import AIOKafkaProducer\nAIOKafkaProducer(acks=2)\n")
    with pytest.raises(AssertionError, match="acks"):
        checked(tmp_path, checker, str(program))
