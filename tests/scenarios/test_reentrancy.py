"""A call of a client in the middle of another one: what a finalizer does that the garbage collector
runs, a log handler that ships to Kafka, or a signal handler.
"""

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scenarios.reentering import WALKS, walk
from tests.support.reentry import WAYS

CLIENTS = sorted(WALKS)
FEW = {"share", "workers", "share workers"}
"""Their calls pass through the parts that the other walks try more closely."""


def walk_of_twins(client: str, way: str, end: int, step: int) -> str:
    """Walk with the twins in Python, in a process of their own; return the findings."""
    arguments = [client, way, str(end), str(step)]
    command = [sys.executable, "-m", "tests.scenarios.reentering", *arguments]
    environment = os.environ | {"AIOKAFKA_LITE_PURE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.stdout.strip() + done.stderr.strip()


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", CLIENTS)
def test_each_call_may_come_in_the_middle_of_each_other(client: str, way: str) -> None:
    """An acknowledged record is in the log, once, where its ack tells. A record is read once,
    and a seek is not forgotten. Workers handle each record once, and a
    key's in their order (C1).
    """
    places = range(1, 200, 29) if client in FEW else [*range(1, 20), *range(20, 200, 23)]
    assert asyncio.run(walk(client, WAYS[way], places)) == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", CLIENTS)
def test_the_twins_in_python_hold_too(client: str, way: str) -> None:
    """The collector and signal handlers come at other places there (C1)."""
    assert walk_of_twins(client, way, 160, 40 if client in FEW else 11) == ""


PARTS = (
    "consumer/fetch/test_fetch_buffer.py",
    "producer/accumulator/test_record_accumulator.py",
    "producer/batch/test_buffer_pool.py",
    "record/test_batch_builder.py",
)
"""Tests of parts that are compiled, so that only their twins can be interrupted everywhere."""


def test_the_parts_in_python_hold_between_any_two_bytecodes() -> None:
    folder = Path(__file__).parents[1]
    files = [str(folder / part) for part in PARTS]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-k", "in_the_middle", *files]
    environment = os.environ | {"AIOKAFKA_LITE_PURE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("client", CLIENTS)
def test_at_every_place(client: str, way: str) -> None:
    """As above, at each allocation and each call (C1)."""
    assert asyncio.run(walk(client, WAYS[way], range(1, 3000))) == []
    assert walk_of_twins(client, way, 3000, 1) == ""
