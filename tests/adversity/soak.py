"""How the state machines run: the same schedules each time in CI, by seeds in long runs, and the
command that repeats a failure.
"""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, Phase, settings

_SEEDS = 2**31


def the_same_each_time(max_examples: int) -> settings:
    """So many schedules, made without chance and without a limit of time for each."""
    return settings(
        max_examples=max_examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


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
