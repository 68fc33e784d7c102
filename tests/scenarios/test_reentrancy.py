"""A call of a client in the middle of another one: what a finalizer does that the garbage collector
runs, a log handler that ships to Kafka, or a signal handler.
"""

import asyncio
import os
import subprocess
import sys

import pytest

from tests.scenarios.reentering import walk_all
from tests.support.reentry import WAYS


def walk_of_twins(way: str, end: int, step: int) -> str:
    """Walk with the twins in Python, in a process of their own; return the findings."""
    command = [sys.executable, "-m", "tests.scenarios.reentering", way, str(end), str(step)]
    environment = os.environ | {"AIOKAFKA_LITE_PURE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() + done.stderr.strip()


@pytest.mark.parametrize("way", WAYS)
def test_each_call_may_come_in_the_middle_of_each_other(way: str) -> None:
    """Each record that is acknowledged is in the log, once, at the offset of its ack (C1)."""
    assert asyncio.run(walk_all(WAYS[way], range(1, 40, 3))) == []


@pytest.mark.parametrize("way", WAYS)
def test_the_twins_in_python_hold_too(way: str) -> None:
    """Up to Python 3.11 a signal handler and the collector come at other places there (C1)."""
    assert walk_of_twins(way, 90, 7) == ""


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("way", WAYS)
def test_at_every_place(way: str) -> None:
    """As above, at each allocation and each call (C1)."""
    assert asyncio.run(walk_all(WAYS[way], range(1, 2000))) == []
    assert walk_of_twins(way, 2000, 1) == ""
