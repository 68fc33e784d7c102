"""Tells functions that have to be awaited from plain ones, and marks a plain function that returns
a coroutine. Does not wait.
"""

import asyncio.coroutines
import functools
import inspect
import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, Final

_LAMBDA: Final = (lambda: None).__name__
_AWAITABLE: Final = ("Awaitable", "Coroutine", "Future", "Task", "Any")
"""Words in the annotation of a result that may be awaited."""


def look_like_coroutine_function(function: Callable[..., Any]) -> None:
    """Make `asyncio.iscoroutinefunction(function)` return True.

    A mock that is made from a class with such a method can then be awaited. From Python 3.12 on,
    `inspect.iscoroutinefunction` returns True as well.
    """
    if sys.version_info >= (3, 12):
        inspect.markcoroutinefunction(function)
    else:
        function._is_coroutine = asyncio.coroutines._is_coroutine  # type: ignore[attr-defined]


def is_coroutine_function(function: object) -> bool:
    """Return whether a call of `function` certainly gives a coroutine.

    `function` may be a `partial`, a method, a wrapper by `functools.wraps`, or an object with an
    `async __call__`.
    """
    return any(map(_is_coroutine_function, _layers(function)))


def is_plain_function(function: object) -> bool:
    """Return whether `function` is a `def` that says nothing of an awaitable result.

    A lambda, a builtin, a class and a `def` with an annotation such as `Awaitable[None]` may return
    an awaitable, and are not plain.
    """
    if is_coroutine_function(function):
        return False
    *_, innermost = _layers(function)
    if not isinstance(innermost, FunctionType) or innermost.__name__ == _LAMBDA:
        return False
    annotation = str(innermost.__annotations__.get("return", ""))
    return not any(word in annotation for word in _AWAITABLE)


def _is_coroutine_function(function: object) -> bool:
    if inspect.iscoroutinefunction(function):
        return True
    code = getattr(function, "__code__", None)
    if getattr(code, "co_flags", 0) & inspect.CO_ITERABLE_COROUTINE:  # by types.coroutine
        return True
    marker = getattr(asyncio.coroutines, "_is_coroutine", None)  # of compiled functions, too
    return marker is not None and getattr(function, "_is_coroutine", None) is marker


def _layers(function: object) -> list[object]:
    """Return `function` and what it calls, as far as that can be seen."""
    layers = [function]
    while True:
        newest = layers[-1]
        inner: object
        if isinstance(newest, functools.partial):
            inner = newest.func
        elif isinstance(newest, MethodType):
            inner = newest.__func__
        elif isinstance(newest, FunctionType):
            inner = getattr(newest, "__wrapped__", None)
        elif isinstance(newest, type):
            inner = None
        else:
            inner = getattr(type(newest), "__call__", None)  # noqa: B004 - its own
            inner = inner if isinstance(inner, FunctionType) else None
        if inner is None or any(inner is each for each in layers):
            return layers
        layers.append(inner)


__all__ = ["is_coroutine_function", "is_plain_function", "look_like_coroutine_function"]
