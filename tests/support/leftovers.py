"""Checks that a test leaves no task and no connection behind."""

import asyncio
import gc
import os
import socket
import stat
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from aiokafka_lite.testing.fake_clock import settle
from tests.support.patience import eventually

INTERNET = (socket.AF_INET, socket.AF_INET6)


class Descriptor(NamedTuple):
    """A socket of this process. Numbers are used again; the inode tells two such sockets apart."""

    number: int
    inode: int


def internet_sockets() -> set[Descriptor]:
    """Return this process's IPv4 and IPv6 sockets.

    Event loops use sockets of other families for themselves.
    """
    found = set()
    for entry in Path("/dev/fd").iterdir():
        # The descriptor was closed since: that of the listing itself, or one of another thread.
        with suppress(OSError):
            status = os.fstat(number := int(entry.name))
            if stat.S_ISSOCK(status.st_mode) and family_of(number) in INTERNET:
                found.add(Descriptor(number, status.st_ino))
    return found


def family_of(number: int) -> int:
    with borrowed(number) as sock:
        return sock.family


@contextmanager
def borrowed(number: int) -> Iterator[socket.socket]:
    """Provide a socket object for a descriptor that other code owns and closes."""
    sock = socket.socket(fileno=number)
    try:
        yield sock
    finally:
        sock.detach()


def described(descriptor: Descriptor) -> str:
    """Return both ends of a connection, for the message of a failed test."""
    ends = []
    with suppress(OSError), borrowed(descriptor.number) as sock:
        ends.append(str(sock.getsockname()))
        ends.append(str(sock.getpeername()))
    return f"descriptor {descriptor.number}: " + " -> ".join(ends)


@asynccontextmanager
async def nothing_left_behind() -> AsyncIterator[None]:
    """Fail if the block leaves a task or an internet socket that did not exist before.

    Sockets get some time, because the kernel and the other side need some to close. Tasks get a few
    turns of the loop to end, but no time. A task that still waits then counts as left behind.
    """
    tasks, sockets = asyncio.all_tasks(), internet_sockets()
    yield
    gc.collect()
    with suppress(TimeoutError):
        await eventually(lambda: internet_sockets() <= sockets)
    left_sockets = [described(descriptor) for descriptor in internet_sockets() - sockets]
    assert not left_sockets, left_sockets
    await settle()
    # One task runs the beginning of a fixture, and another task its end.
    left_tasks = asyncio.all_tasks() - tasks - {asyncio.current_task()}
    assert not left_tasks, left_tasks
