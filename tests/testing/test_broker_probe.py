"""One question tells whether a broker serves, and nothing else is taken for a broker."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.broker_probe import known_brokers
from aiokafka_lite.testing.free_ports import held_ports


@contextmanager
def _answering(answer: bytes) -> Iterator[int]:
    """A port whose only connection gets `answer` and is closed, as a proxy without its broker."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        thread.join(timeout=5)


@pytest.mark.parametrize("nodes", [1, 3])
def test_every_broker_of_the_cluster_is_counted(nodes: int) -> None:
    with EmbeddedBroker.threaded(nodes) as broker:
        host, port = broker.bootstrap_servers.split(",")[0].rsplit(":", 1)
        assert known_brokers(host, int(port)) == nodes


def test_a_closed_port_is_no_broker() -> None:
    with held_ports(1) as (port,):
        assert known_brokers("127.0.0.1", port) == 0


@pytest.mark.parametrize("answer", [b"", b"\x00\x00\x00\x08"])
def test_a_proxy_that_hangs_up_is_no_broker(answer: bytes) -> None:
    with _answering(answer) as port:
        assert known_brokers("127.0.0.1", port) == 0
