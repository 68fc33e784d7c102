"""No test of this folder may leave a task or a connection behind."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.cluster.support.scripted_cluster import ScriptedCluster
from tests.support.leftovers import nothing_left_behind


@pytest_asyncio.fixture
async def clean() -> AsyncIterator[None]:
    async with nothing_left_behind():
        yield


@pytest_asyncio.fixture
async def cluster(clean: None) -> AsyncIterator[ScriptedCluster]:
    """One scripted node."""
    async with ScriptedCluster() as scripted:
        yield scripted


@pytest_asyncio.fixture
async def three_nodes(clean: None) -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster(3) as scripted:
        yield scripted
