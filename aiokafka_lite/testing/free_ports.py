"""TCP ports for servers that must know their port before they start, and for refused
connections.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def held_ports(count: int) -> Iterator[list[int]]:
    """Yield `count` different TCP ports of 127.0.0.1 that refuse connections.

    Until the block ends, no program that asks for any free port gets one of them.
    """
    with ExitStack() as stack:
        yield [int(stack.enter_context(_bound_socket(0)).getsockname()[1]) for _ in range(count)]


def server_ports(count: int, until: ExitStack) -> list[int]:
    """Return `count` different TCP ports of 127.0.0.1 that were free a moment ago.

    They are for servers that set SO_REUSEADDR, like Java's and asyncio's. On Linux no other program
    gets them before `until` is closed, whether those servers run or not. Elsewhere two sockets may
    not share an address.
    """
    with ExitStack() as stack:
        ports = stack.enter_context(held_ports(count))
        if all(map(_may_share, ports)):
            until.push(stack.pop_all())
    return ports


def _bound_socket(port: int) -> socket.socket:
    """Return a socket that does not listen, and shares its port with servers that set
    SO_REUSEADDR.
    """
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
