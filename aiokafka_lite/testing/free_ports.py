"""TCP ports for servers that must know their port before they start, and for tests of what nobody
serves.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def held_ports(count: int) -> Iterator[list[int]]:
    """`count` different TCP ports of 127.0.0.1 that refuse connections, and that nobody is given
    who asks for any free port, until the block ends.
    """
    with ExitStack() as stack:
        yield [int(stack.enter_context(_bound_socket(0)).getsockname()[1]) for _ in range(count)]


def server_ports(count: int, until: ExitStack) -> list[int]:
    """`count` different TCP ports of 127.0.0.1 that were free a moment ago, for servers that set
    SO_REUSEADDR, as Java's and asyncio's do.

    On Linux nobody else gets them before `until` is closed, whether those servers run or not;
    elsewhere two sockets may not share an address.
    """
    with ExitStack() as stack:
        ports = stack.enter_context(held_ports(count))
        if all(map(_may_share, ports)):
            until.push(stack.pop_all())
    return ports


def _bound_socket(port: int) -> socket.socket:
    """A socket that does not listen, and lets others listen that say that they do not mind it."""
    bound = socket.socket()
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(("127.0.0.1", port))
    except OSError:
        bound.close()
        raise
    return bound


def _may_share(port: int) -> bool:
    try:
        _bound_socket(port).close()
    except OSError:
        return False
    return True


__all__ = ["held_ports", "server_ports"]
