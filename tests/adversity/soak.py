"""Seeds for long runs of the state machines, and the command that repeats a failure."""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_SEEDS = 2**31


def seeds(request: pytest.FixtureRequest) -> Iterator[int]:
    """Seeds until `--soak-minutes` are over, one at least; only `--soak-seed`, if it is given."""
    asked_for = request.config.getoption("--soak-seed")
    until_s = time.monotonic() + 60 * request.config.getoption("--soak-minutes")
    yield random.randrange(_SEEDS) if asked_for is None else asked_for
    while asked_for is None and time.monotonic() < until_s:
        yield random.randrange(_SEEDS)


@contextmanager
def repeatable(request: pytest.FixtureRequest, seed: int) -> Iterator[None]:
    """Print the seed, and add to what fails how to make it fail again."""
    command = f"python -m pytest -m soak --soak-seed={seed} '{request.node.nodeid}'"
    if hash_seed := os.environ.get("PYTHONHASHSEED"):
        command = f"PYTHONHASHSEED={hash_seed} {command}"
    print(f"seed {seed}", flush=True)
    try:
        yield
    except BaseException as error:
        error.add_note(f"To repeat this: {command}")
        raise
