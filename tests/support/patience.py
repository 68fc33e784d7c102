"""Waits for conditions that depend on real sockets, with a limit for each wait of a test."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

PATIENCE_S = 30  # a test that waits longer than this has failed


async def eventually(condition: Callable[[], object]) -> None:
    """Wait until `condition()` is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0)


async def eventually_equals(ask: Callable[[], Awaitable[object]], wanted: object) -> None:
    """Fail unless a real broker answers so within 10 s. It has no event for what it learns."""
    answer = await ask()
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(10):
            while answer != wanted:
                await asyncio.sleep(0.01)
                answer = await ask()
    assert answer == wanted
