"""What an import costs: in the CPU time `import asyncio` takes in the same process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import json, sys, time
spent = {}
def clock(name, action):
    before = time.process_time()
    action()
    spent[name] = time.process_time() - before
clock("asyncio", lambda: __import__("asyncio"))
clock("package", lambda: __import__("aiokafka_lite"))
package = sys.modules["aiokafka_lite"]
clock("clients", lambda: (package.AIOKafkaConsumer, package.AIOKafkaProducer))
print(json.dumps([spent, sorted(sys.modules)]))
"""

# What is loaded when it is used for the first time, or never.
HEAVY = {"numpy", "pyarrow", "pytest", "rich", "typer", "uvloop", "unittest"}
CODECS = {"cramjam", "lz4", "backports.zstd", "isal"}
OURS = {
    "aiokafka_lite.consumer.group.consumer_group",
    "aiokafka_lite.protocol.api_key",
    "aiokafka_lite.protocol.api_registry",
    "aiokafka_lite.protocol.messages.create_topics",
    "aiokafka_lite.protocol.messages.sync_group",
}
"""Of ours: the group of who is in one, the messages that only brokers read."""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[dict[str, float], list[str]]]:
    """Five fresh interpreters, after one that wrote the byte code."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path_factory.mktemp("bytecode"))}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    found = []
    for _ in range(6):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM],
            cwd=Path(__file__).parents[2],
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
            check=True,
        )
        spent, modules = json.loads(done.stdout)
        found.append((spent, modules))
    return found[1:]


@pytest.mark.parametrize(("what", "most"), [("package", 0.5), ("clients", 5)])
def test_import_is_a_small_part_of_a_programs_start(
    runs: list[tuple[dict[str, float], list[str]]], what: str, most: float
) -> None:
    """Measured: the package a hundredth of asyncio's import, both clients with it 2.5 times."""
    ratio = min(spent[what] / spent["asyncio"] for spent, _ in runs)
    assert ratio < most


def test_what_a_client_may_never_need_is_not_loaded(
    runs: list[tuple[dict[str, float], list[str]]],
) -> None:
    _, modules = runs[0]
    assert "aiokafka_lite.consumer.consumer" in modules
    assert not (HEAVY | CODECS | OURS) & set(modules)
