"""Every async test of the suite runs twice: on asyncio's own event loop and on uvloop."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop

pytest_plugins: list[str] = []


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
