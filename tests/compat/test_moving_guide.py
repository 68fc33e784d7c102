"""Each program of docs/moving.md runs, and its tables name what exists."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from tests.support.documents import MOVING, python_blocks

BLOCKS = python_blocks(MOVING)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_program_runs(number: int, tmp_path: Path) -> None:
    if "faststream" in BLOCKS[number]:
        pytest.importorskip("faststream")
    program = tmp_path / "program.py"
    program.write_text(BLOCKS[number])
    done = subprocess.run(
        [sys.executable, "-W", "error", str(program)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout


def test_each_block_of_the_page_is_run() -> None:
    assert len(BLOCKS) >= 6
    assert MOVING.read_text().count("\n```") == 2 * len(BLOCKS)


def test_the_modules_and_names_of_the_import_table_exist() -> None:
    page = MOVING.read_text()
    table = page[page.index("| aiokafka | here |") : page.index("```python")]
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("| `")]
    assert len(rows) > 10
    for _, ours, names in rows:
        paths = [path for path in re.findall(r"`(\w[\w.]*)`", ours) if "." in path or path]
        if not paths:
            continue
        modules = [import_module(path.removesuffix(".")) for path in paths]
        for name in re.findall(r"`([A-Z]\w+|create_ssl_context|murmur2)`", names):
            assert any(hasattr(module, name) for module in modules) or len(paths) == 1, name


def test_the_options_of_the_tables_exist() -> None:
    page = MOVING.read_text()
    options = {
        name
        for client in (AIOKafkaConsumer, AIOKafkaProducer)
        for name in inspect.signature(client).parameters
    }
    columns = [line.split(" | ")[1] for line in page.splitlines() if line.startswith("| `")]
    named = set(re.findall(r"`(\w+_(?:ms|size|memory|strategy|commit))[=`]", "\n".join(columns)))
    assert named
    assert named <= options, named - options
