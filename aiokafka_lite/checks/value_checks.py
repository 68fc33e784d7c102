"""Checks values that users pass, and words the error that lists all their faults. Does not wait."""

from collections.abc import Sequence
from operator import index
from typing import TypeGuard

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.concurrency.coroutine_function import is_coroutine_function
from aiokafka_lite.errors import IllegalArgumentError


def is_int(value: object) -> TypeGuard[int]:
    """Return whether `value` is an integer and not a bool, regardless of its declared type.

    Integers of other kinds count by their `__index__`, such as those of numpy and pandas.
    """
    if isinstance(value, int):
        return not isinstance(value, bool)
    try:
        index(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def check_callback(name: str, function: object) -> None:
    """Raise IllegalArgumentError unless `function` is None or can be called without an await."""
    if function is None:
        return
    if not callable(function):
        raise IllegalArgumentError(f"{name}={quoted(function)} cannot be called; give a function")
    if is_coroutine_function(function):
        raise IllegalArgumentError(
            f"{name}={quoted(function)} is an `async def`, and nobody awaits it; give a plain "
            "function, which may start a task"
        )


def text_of_faults(what: str, faults: Sequence[str]) -> str:
    """Return the one fault, or "`what` has 2 faults:" with a line for each."""
    if len(faults) == 1:
        return faults[0]
    listed = "".join(f"\n  - {fault}" for fault in faults)
    return f"{what} has {len(faults)} faults:{listed}"


__all__ = ["check_callback", "is_int", "text_of_faults"]
