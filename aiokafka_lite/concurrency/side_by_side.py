"""Awaits several calls side by side, as parts of the one call that awaits them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from typing import Any


async def side_by_side(calls: Iterable[Callable[[], Coroutine[Any, Any, object]]]) -> None:
    """Return when all have returned. A single one needs no task.

    Raises: what the first call raised that failed, after the others were cancelled and have ended.
    Cancelled: all are cancelled and have ended.
    """
    calls = list(calls)
    if len(calls) == 1:
        await calls[0]()
        return
    try:
        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(call())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


__all__ = ["side_by_side"]
