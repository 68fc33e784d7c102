"""Ports for servers of the tests."""

import errno
import socket
import sys
from contextlib import ExitStack

import pytest

from aiokafka_lite.testing.free_ports import held_ports, server_ports

only_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="two sockets may share an address on Linux only"
)


def listening(port: int) -> socket.socket:
    """A server's socket as Java and asyncio make it."""
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", port))
    server.listen()
    return server


def test_held_ports_refuse_and_are_nobody_elses_until_the_block_ends() -> None:
    with held_ports(8) as ports:
        assert len(set(ports)) == 8
        for port in ports:
            with socket.socket() as client, pytest.raises(ConnectionRefusedError):
                client.connect(("127.0.0.1", port))
            with socket.socket() as other, pytest.raises(OSError, match="in use") as caught:
                other.bind(("127.0.0.1", port))
            assert caught.value.errno == errno.EADDRINUSE


@only_linux
def test_servers_may_come_and_go_on_ports_that_are_held_for_them() -> None:
    with ExitStack() as held:
        (port,) = server_ports(1, held)
        for _ in range(2):
            with listening(port), socket.create_connection(("127.0.0.1", port)):
                pass
            with socket.socket() as other, pytest.raises(OSError, match="in use"):
                other.bind(("127.0.0.1", port))


def test_released_ports_may_be_used() -> None:
    with ExitStack() as held:
        ports = server_ports(2, held)
    with listening(ports[0]):
        pass
