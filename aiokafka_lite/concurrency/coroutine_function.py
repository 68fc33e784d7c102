"""Lets a plain function that returns a coroutine be told for a coroutine function. Never waits."""

import asyncio.coroutines
import inspect
import sys
from collections.abc import Callable
from typing import Any


def look_like_coroutine_function(function: Callable[..., Any]) -> None:
    """Have `asyncio.iscoroutinefunction(function)` say yes, so that a mock made after a class with
    it as a method can be awaited. From Python 3.12 on `inspect` says so, too.
    """
    if sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(function)
    else:
        function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]


__all__ = ["look_like_coroutine_function"]
