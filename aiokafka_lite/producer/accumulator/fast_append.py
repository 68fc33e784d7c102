"""Chooses the twin of the fast append: the native one if it was built, the pure one otherwise.

`send` is a plain function, so a record needs no coroutine. It returns a ready awaitable, or the
coroutine of `append_path`. Both are `collections.abc.Coroutine`, so `create_task`, `gather` and
`wait_for` take them. `send` is marked as a coroutine function, so a mock made from the class can be
awaited. Errors are raised at the await. Two things differ from an `async def`. The record is queued
when `send` is called, and nothing warns of a queued record whose call was never awaited.
"""

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from aiokafka_lite.concurrency.coroutine_function import look_like_coroutine_function
from aiokafka_lite.native import native

_twin = native("aiokafka_lite.producer.accumulator._fast_append")

if TYPE_CHECKING or _twin is None:
    from aiokafka_lite.producer.accumulator._fast_append_py import (
        NO_MORE,
        RECORD_OVERHEAD,
        AckRuns,
        FastAppend,
        HeldRoutes,
        OpenBatchSlot,
        RouteQueues,
        SendPaths,
        StickyChoice,
        TopicHold,
    )
else:
    NO_MORE = _twin.NO_MORE
    RECORD_OVERHEAD = _twin.RECORD_OVERHEAD
    AckRuns = _twin.AckRuns
    OpenBatchSlot = _twin.OpenBatchSlot
    RouteQueues = _twin.RouteQueues
    HeldRoutes = _twin.HeldRoutes
    SendPaths = _twin.SendPaths
    FastAppend = _twin.FastAppend
    StickyChoice = _twin.StickyChoice
    TopicHold = _twin.TopicHold

F = TypeVar("F", bound=Callable[..., Any])


def done_by_leaf(method: F) -> F:
    """Return the method of `SendPaths` by that name, with the docstring and the signature of
    `method`, whose body never runs.
    """
    leaf = getattr(SendPaths, method.__name__)
    functools.update_wrapper(leaf, method)
    if inspect.iscoroutinefunction(method):
        look_like_coroutine_function(leaf)
    return cast("F", leaf)


__all__ = [
    "NO_MORE",
    "RECORD_OVERHEAD",
    "AckRuns",
    "FastAppend",
    "HeldRoutes",
    "OpenBatchSlot",
    "RouteQueues",
    "SendPaths",
    "StickyChoice",
    "TopicHold",
    "done_by_leaf",
]
