"""A worker of the fault tests as a process of its own, which takes its orders as an argument."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvloop

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

ROOT = Path(__file__).parents[2]


async def started(
    module: str, orders: "DataclassInstance", output: Path
) -> asyncio.subprocess.Process:
    """Start `python -m MODULE ORDERS`, which writes to `output`; return when it has started."""
    with output.open("wb") as file:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", module, json.dumps(asdict(orders))),
            cwd=ROOT,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=file,
            stderr=file,
        )


def run(orders_class: type[Any], live: Callable[[Any, asyncio.Event], Awaitable[None]]) -> None:
    """Run `live` with the orders of the command line, and an event that SIGTERM sets.

    The orders are a dataclass that says by `is_on_uvloop` which loop to run on.
    """
    orders = orders_class(**json.loads(sys.argv[1]))

    async def until_told() -> None:
        leave = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, leave.set)
        await live(orders, leave)

    factory = uvloop.new_event_loop if orders.is_on_uvloop else asyncio.new_event_loop
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(until_told())
