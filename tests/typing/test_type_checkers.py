"""Type checkers accept what users write: the programs here, those of the pages, and the examples.

Pyright is also what Pylance in Visual Studio Code asks. `make check` runs strict mypy over the
programs and examples of the repository; the pages' are checked here.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.documents import GUIDES, README, ROOT, python_blocks
from tests.support.language_server import language_server

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


def pages(folder: Path) -> list[str]:
    """Write the pages' programs into a folder, as files that keep the pages' line numbers."""
    paths = []
    for page in (README, *GUIDES):
        for number, block in enumerate(python_blocks(page)):
            path = folder / f"{page.stem.replace('-', '_')}_{number}.py"
            path.write_text(block, encoding="utf-8")
            paths.append(str(path))
    return paths


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
        *(*programs, *pages(tmp_path), str(tmp_path / "examples")),
    )


def test_strict_mypy_accepts_the_programs_of_the_pages(tmp_path: Path) -> None:
    require("mypy")
    settings = ("--strict", "--config-file", str(ROOT / "pyproject.toml"))
    cache = ("--cache-dir", str(ROOT / ".mypy_cache" / "pages"))
    checked(tmp_path, "mypy", *settings, *cache, *pages(tmp_path))


def test_pyright_finds_a_wrong_option(tmp_path: Path) -> None:
    require("pyright")
    program = tmp_path / "wrong.py"
    program.write_text(WRONG, encoding="utf-8")
    with pytest.raises(AssertionError, match='parameter "acks"'):
        checked(tmp_path, "pyright", "--pythonpath", sys.executable, str(program))


def test_mypy_finds_a_wrong_option_and_shows_the_types_of_all(tmp_path: Path) -> None:
    require("mypy")
    program = tmp_path / "wrong.py"
    program.write_text(WRONG, encoding="utf-8")
    with pytest.raises(AssertionError, match='Argument "acks"') as info:
        checked(tmp_path, "mypy", str(program))
    for option in ("'linger_ms'?: int", "'transactional_id'?: str | None", "'acks'?: Literal["):
        assert option in str(info.value)


WRONG = """
from aiokafka_lite import AIOKafkaProducer
AIOKafkaProducer(acks=2)
reveal_type(AIOKafkaProducer)
"""


def test_an_editor_shows_what_is_declared_of_an_option(tmp_path: Path) -> None:
    """Type, text, default, unit and Java's name, over the name in a call."""
    require("pyright")
    program = tmp_path / "program.py"
    program.write_text(HOVERED, encoding="utf-8")
    with language_server(program) as server:
        for name, expected in SHOWN.items():
            text = server.hover(program, name)
            for part in expected:
                assert part in text


HOVERED = """
from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker
AIOKafkaProducer(linger_ms=10, acks="all")
AIOKafkaConsumer("orders", max_poll_records=10)
EmbeddedBroker(num_partitions=3)
"""
SHOWN = {
    "linger_ms": (
        "linger_ms: int",
        "How long a batch that is not full waits for more records.",
        "Default: 5 milliseconds. Java: linger.ms.",
    ),
    "acks": ("acks: Literal['all', -1, 0, 1]", 'Default: "all". Java: acks.'),
    "max_poll_records": ("max_poll_records: int | None", "Default: 500 records."),
    "num_partitions": ("num_partitions: int", "Default: 1. Java: num.partitions."),
}
