"""Every example that is a program runs as it stands, alone and against an address."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHOWN = {
    "quickstart.py": "read greetings 2 b'hello 2'",
    "walkthrough_tables.py": "P1 P2 P0\n",
    "exactly_once.py": "50 orders, 50 invoices",
    "keyed_workers.py": "10 accounts, in order: True\nside by side: True\na dead letter",
    "schemas.py": "read roof 21.5",
}

SECURE = ("amazon_msk.py", "confluent_cloud.py", "kubernetes_mount.py", "tls_fastapi.py")
"""`test_secure_programs` runs these."""


def run(*arguments: str) -> str:
    command = [sys.executable, "-W", "error", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", SHOWN)
def test_a_program_runs_alone(name: str) -> None:
    assert SHOWN[name] in run(str(EXAMPLES / name))


@pytest.mark.parametrize("name", SHOWN)
def test_a_program_prints_the_same_on_every_broker(name: str, any_kafka: str) -> None:
    assert run(str(EXAMPLES / name), any_kafka) == run(str(EXAMPLES / name))


def test_no_example_is_forgotten() -> None:
    elsewhere = {"fastapi_worker.py", *SECURE}
    assert {path.name for path in EXAMPLES.glob("*.py")} == {*SHOWN, *elsewhere}
