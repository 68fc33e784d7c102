"""A scripted node per test, and the proof that nothing is left behind."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.net.support.scripted_node import ScriptedNode
from tests.support.leftovers import nothing_left_behind


@pytest_asyncio.fixture
async def node() -> AsyncIterator[ScriptedNode]:
    async with nothing_left_behind(), ScriptedNode() as scripted:
        yield scripted
