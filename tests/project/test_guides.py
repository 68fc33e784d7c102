"""Every Python block of the guides runs as it stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.documents import GUIDES, programs

PROGRAM = """
import sys
from pathlib import Path

for path in sys.argv[1:]:
    code = compile(Path(path).read_text(), path, "exec")
    exec(code, {"__name__": "__main__"})
    print(f"{path} has ended")
"""


def pages(*, of_tests: bool) -> list[Path]:
    """Return the pages with blocks that are tests, or with blocks that are programs."""
    return [
        page
        for page in GUIDES
        if any(("def test_" in block) is of_tests for block in programs(page))
    ]


@pytest.mark.parametrize("page", pages(of_tests=False), ids=lambda page: page.stem)
def test_programs_run(page: Path, tmp_path: Path) -> None:
    """Each program prints something. One interpreter runs those of a page one after the other."""
    paths = []
    for number, block in enumerate(programs(page)):
        if "def test_" not in block:
            path = tmp_path / f"program_{number}.py"
            path.write_text(block)
            paths.append(str(path))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, *paths],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    before = ""
    for line in done.stdout.splitlines():
        assert not (line.endswith("has ended") and before.endswith("has ended")), line
        before = line


@pytest.mark.parametrize("page", pages(of_tests=True), ids=lambda page: page.stem)
def test_tests_pass_with_the_plugin_alone(page: Path, tmp_path: Path) -> None:
    for number, block in enumerate(programs(page)):
        if "def test_" in block:
            (tmp_path / f"test_block_{number}.py").write_text(block)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    with EmbeddedBroker.threaded() as kafka:  # what `real_kafka()` borrows
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=180,
            cwd=tmp_path,
            check=False,
            env={**os.environ, "KAFKA_BOOTSTRAP_SERVERS": kafka.bootstrap_servers},
        )
    assert done.returncode == 0, done.stdout + done.stderr
