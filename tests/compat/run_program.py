"""Runs a program of `programs/` in a process of its own."""

import subprocess
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parent / "programs"
TIMEOUT_S = 120


def run_on_this_package(program: str, *arguments: str) -> str:
    """Run it with this package under the name `aiokafka`; return what it printed."""
    return run("-m", "aiokafka_lite.compat", str(PROGRAMS / program), *arguments)


def run(*arguments: str) -> str:
    """Run the interpreter with these arguments; return what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    return done.stdout + done.stderr
