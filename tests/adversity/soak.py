"""How often the state machines play, and the command that repeats a failure.

In CI most machines play the same schedules each time. Long runs play one seed after the other.
"""

import os
import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

_SEEDS = 2**31


def the_same_each_time(max_examples: int) -> settings:
    """Return settings for schedules that are the same in each run, without a limit of time."""
    return settings(
        max_examples=max_examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
    )


def thorough(max_examples: int) -> settings:
    """Return settings for schedules that are others in each run, without a limit of time."""
    return settings(
        max_examples=max_examples,
        deadline=None,
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )


def play_seeds(
    request: pytest.FixtureRequest,
    judge: Callable[..., None],
    max_examples: int,
    **strategies: st.SearchStrategy[Any],
) -> None:
    """Call `judge` with what the strategies make of one seed after the other.

    It plays `max_examples` schedules of each seed until `--soak-minutes` are over. With
    `--soak-seed` it plays that seed only. A failure names the command that repeats it.
    """
    of_one_seed = settings(the_same_each_time(max_examples), derandomize=False)
    for number in seeds(request):
        with repeatable(request, number):
            seed(number)(of_one_seed(given(**strategies)(judge)))()


def seeds(request: pytest.FixtureRequest) -> Iterator[int]:
    """Give seeds until `--soak-minutes` are over, one at least; only `--soak-seed` if given."""
    asked_for = request.config.getoption("--soak-seed")
    until_s = time.monotonic() + 60 * request.config.getoption("--soak-minutes")
    yield random.randrange(_SEEDS) if asked_for is None else asked_for
    while asked_for is None and time.monotonic() < until_s:
        yield random.randrange(_SEEDS)


@contextmanager
def repeatable(request: pytest.FixtureRequest, number: int) -> Iterator[None]:
    """Print the seed, and add to a failure the command that repeats it."""
    command = f"python -m pytest -m soak --soak-seed={number} '{request.node.nodeid}'"
    if hash_seed := os.environ.get("PYTHONHASHSEED"):
        command = f"PYTHONHASHSEED={hash_seed} {command}"
    print(f"seed {number}", flush=True)
    try:
        yield
    except BaseException as error:
        error.add_note(f"To repeat this: {command}")
        raise


__all__ = ["play_seeds", "repeatable", "seeds", "the_same_each_time", "thorough"]
