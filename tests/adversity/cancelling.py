"""Cancels a call after a while, perhaps twice."""

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any

from aiokafka_lite.testing.fake_clock import FakeClock
from tests.adversity.group.group_steps import Cancel


class CallCancelled(Exception):
    """The call was cancelled, and ended so."""


async def cancelled(
    call: Coroutine[Any, Any, None], cancels: Sequence[Cancel], clock: FakeClock
) -> None:
    """Make a call, and cancel it at these moments, each counted from the one before.

    Raises CallCancelled when the call ended cancelled, and what it raises. Cancelled itself: the
    call is, too.
    """
    task = asyncio.create_task(call)
    canceller = asyncio.create_task(_cancel(task, cancels, clock))
    try:
        await task
    except asyncio.CancelledError:
        current = asyncio.current_task()
        if not task.cancelled() or (current is not None and current.cancelling()):
            task.cancel()
            raise
        raise CallCancelled from None
    finally:
        canceller.cancel()


async def _cancel(task: asyncio.Task[None], cancels: Sequence[Cancel], clock: FakeClock) -> None:
    for when in cancels:
        await clock.sleep(when.ms / 1000)
        for _ in range(when.turns):
            await asyncio.sleep(0)
        task.cancel()


__all__ = ["CallCancelled", "cancelled"]
