"""Strategies of hypothesis that the schedules of producers, groups and sessions share."""

from typing import TypeVar

from hypothesis import strategies as st

T = TypeVar("T")

random_seeds = st.integers(0, 2**31 - 1)
"""What a `random.Random` begins with: it decides each random choice of clients and brokers."""


def several(step: st.SearchStrategy[T]) -> st.SearchStrategy[list[T]]:
    """Return lists of steps. Half of them are long; one that fails is shrunk to a short one."""
    return st.one_of(st.lists(step, max_size=24), st.lists(step, min_size=12, max_size=30))


def weighted(*choices: tuple[int, st.SearchStrategy[T]]) -> st.SearchStrategy[T]:
    """Return one of the (weight, strategy) pairs; the first is the simplest."""
    return st.sampled_from([chosen for weight, chosen in choices for _ in range(weight)]).flatmap(
        lambda chosen: chosen
    )


__all__ = ["random_seeds", "several", "weighted"]
