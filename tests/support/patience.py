"""Waits for real sockets, and bounds how long a test may wait for them."""

import asyncio
from collections.abc import Callable

PATIENCE_S = 30  # a test that waits longer than this has failed


async def eventually(condition: Callable[[], object]) -> None:
    """Return once `condition()` is true."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():
            await asyncio.sleep(0)
