"""No test of this folder may leave a task or a connection behind."""

import asyncio
import gc
import os
import socket
import stat
from collections.abc import AsyncIterator

import pytest_asyncio

from tests.cluster.scripted_cluster import ScriptedCluster, eventually


@pytest_asyncio.fixture
async def clean() -> AsyncIterator[None]:
    tasks, sockets = asyncio.all_tasks(), inet_sockets()
    yield
    gc.collect()
    tasks.add(asyncio.current_task())
    await eventually(lambda: not inet_sockets() - sockets)
    assert asyncio.all_tasks() - tasks == set()


@pytest_asyncio.fixture
async def cluster(clean: None) -> AsyncIterator[ScriptedCluster]:
    """One scripted node."""
    async with ScriptedCluster() as scripted:
        yield scripted


@pytest_asyncio.fixture
async def three_nodes(clean: None) -> AsyncIterator[ScriptedCluster]:
    async with ScriptedCluster(3) as scripted:
        yield scripted


def inet_sockets() -> set[int]:
    """Return the descriptors of TCP sockets; the event loop's own sockets are of another family."""
    return {fd for fd in range(256) if family_of(fd) in (socket.AF_INET, socket.AF_INET6)}


def family_of(fd: int) -> int | None:
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            return None
    except OSError:
        return None
    with socket.socket(fileno=os.dup(fd)) as duplicate:
        return duplicate.family
