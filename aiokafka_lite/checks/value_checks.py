"""Checks values that users pass, and words the error that lists all their faults. Does not wait."""

import operator
from collections.abc import Sequence
from enum import Enum
from typing import Any, TypeGuard

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.concurrency.coroutine_function import is_coroutine_function
from aiokafka_lite.errors import IllegalArgumentError


def is_int(value: object) -> TypeGuard[int]:
    """Return whether `value` is an int and not a bool; `whole` makes ints of other integers."""
    return isinstance(value, int) and not isinstance(value, bool)


def whole(value: Any) -> Any:
    """Return an integer of another kind as an int, such as one of NumPy; and the rest as it is.

    Other kinds are those that `operator.index` takes, and subclasses of int. Members of enums and
    bools stay what they are.
    """
    kind = type(value)
    if kind is int or kind is bool or isinstance(value, Enum) or not hasattr(kind, "__index__"):
        return value
    try:
        return operator.index(value)
    except Exception:  # noqa: BLE001 - of the user's class; arrays of several numbers have it, too
        return value


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


__all__ = ["check_callback", "is_int", "text_of_faults", "whole"]
