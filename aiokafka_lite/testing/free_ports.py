"""TCP ports for servers that must know their port before they start; nothing is kept open."""

import socket


def free_ports(count: int) -> list[int]:
    """`count` different TCP ports of 127.0.0.1 that were free a moment ago."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
    finally:
        for one in sockets:
            one.close()
