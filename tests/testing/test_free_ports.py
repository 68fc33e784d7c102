"""Ports for servers of the tests."""

import socket

from aiokafka_lite.testing.free_ports import free_ports


def test_ports_are_different_and_free() -> None:
    ports = free_ports(8)
    assert len(set(ports)) == 8
    with socket.socket() as server:
        server.bind(("127.0.0.1", ports[0]))
