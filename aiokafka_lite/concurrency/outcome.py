"""Gives a future its outcome, unless it has one.

Between the look at `done()` and the call that sets a result, a signal handler or a finalizer may
cancel who waits: asyncio's own handler of Ctrl+C cancels the main task there.
"""

import asyncio
from typing import Any, Protocol


class Settable(Protocol):
    """A future, or what has its methods."""

    def done(self) -> bool:
        """Say whether it has an outcome."""

    def set_result(self, result: Any, /) -> None:
        """Take a result."""

    def set_exception(self, error: Any, /) -> None:
        """Take an error."""


def give(future: Settable, result: object) -> bool:
    """Give the future its result; say whether it had no outcome yet."""
    if future.done():
        return False
    try:
        future.set_result(result)
    except asyncio.InvalidStateError:
        return False
    return True


def give_error(future: Settable, error: BaseException) -> bool:
    """Give the future an error; say whether it had no outcome yet."""
    if future.done():
        return False
    try:
        future.set_exception(error)
    except asyncio.InvalidStateError:
        return False
    return True


__all__ = ["Settable", "give", "give_error"]
