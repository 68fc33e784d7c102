"""Marks a plain function that returns a coroutine as a coroutine function. Does not wait."""

import asyncio.coroutines
import inspect
import sys
from collections.abc import Callable
from typing import Any


def look_like_coroutine_function(function: Callable[..., Any]) -> None:
    """Make `asyncio.iscoroutinefunction(function)` return True.

    A mock that is made from a class with such a method can then be awaited. From Python 3.12 on,
    `inspect.iscoroutinefunction` returns True as well.
    """
    if sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(function)
    else:
        function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]


__all__ = ["look_like_coroutine_function"]
