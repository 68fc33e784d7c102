"""The helpers of `aiokafka.util`, at the address where aiokafka's users import them."""

import asyncio
from asyncio import create_task
from typing import Any, Final

from aiokafka_lite.concurrency.running_loop import running_loop

INTEGER_MAX_VALUE: Final = 2**31 - 1
INTEGER_MIN_VALUE: Final = -(2**31)


def create_future(loop: asyncio.AbstractEventLoop | None = None) -> "asyncio.Future[Any]":
    """Return a future of the loop; None: of the running one."""
    return (loop or running_loop()).create_future()


def get_running_loop() -> asyncio.AbstractEventLoop:
    """Return the running loop. Raises: RuntimeError where none runs."""
    return running_loop()


__all__ = [
    "INTEGER_MAX_VALUE",
    "INTEGER_MIN_VALUE",
    "create_future",
    "create_task",
    "get_running_loop",
]
