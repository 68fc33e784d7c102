"""Waits for conditions that depend on real sockets, with a limit for each wait of a test."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

from aiokafka_lite import AIOKafkaAdminClient

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


async def eventually_listed(admin: AIOKafkaAdminClient, *topics: str) -> None:
    """Wait until the brokers know the topics: a real controller says earlier that they are made."""

    async def are_listed() -> bool:
        return set(topics) <= set(await admin.list_topics())

    await eventually_equals(are_listed, True)
