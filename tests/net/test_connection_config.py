"""The limits of a connection: their defaults, and that the socket gets its part of them."""

import asyncio
import dataclasses
import socket

import pytest

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.node_connection import NodeConnection
from tests.net.support.scripted_node import ScriptedNode


def test_the_defaults_are_those_of_apaches_clients() -> None:
    """socket.connection.setup.timeout.ms, request.timeout.ms and
    max.in.flight.requests.per.connection."""
    config = ConnectionConfig()
    assert config.connection_setup_timeout_ms == 10_000
    assert config.request_timeout_ms == 30_000
    assert config.max_in_flight == 5


def test_a_config_may_be_shared_as_nobody_can_change_it() -> None:
    config = ConnectionConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.max_in_flight = 1  # type: ignore[misc]  # what must not be possible


async def socket_options(
    node: ScriptedNode, config: ConnectionConfig, *options: tuple[int, int]
) -> list[int]:
    """Return these options of the socket of a connection that was opened with `config`."""
    connection = NodeConnection(node.endpoint, client_id="test", clock=SYSTEM_CLOCK, config=config)
    opening = asyncio.ensure_future(connection.open())
    await (await node.accept()).shake_hands()
    await opening
    assert connection._transport is not None
    assert connection._transport._transport is not None
    sock = connection._transport._transport.get_extra_info("socket")
    values = [sock.getsockopt(*option) for option in options]
    connection.close()
    await connection.wait_closed()
    return values


SEND_BUFFER = (socket.SOL_SOCKET, socket.SO_SNDBUF)
RECEIVE_BUFFER = (socket.SOL_SOCKET, socket.SO_RCVBUF)
NO_DELAY = (socket.IPPROTO_TCP, socket.TCP_NODELAY)
KEEP_ALIVE = (socket.SOL_SOCKET, socket.SO_KEEPALIVE)


async def test_buffer_sizes_are_the_sockets(node: ScriptedNode) -> None:
    config = ConnectionConfig(send_buffer_bytes=20_000, receive_buffer_bytes=30_000)
    sent, received = await socket_options(node, config, SEND_BUFFER, RECEIVE_BUFFER)
    # Linux reports twice what was asked for: the other half is for its own bookkeeping.
    assert sent in (20_000, 40_000)
    assert received in (30_000, 60_000)


async def test_buffer_sizes_left_out_are_not_touched(
    node: ScriptedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A size that is set ends the system's own tuning, even if it is the system's default."""
    touched = []
    set_option = socket.socket.setsockopt

    def setsockopt(sock: socket.socket, level: int, option: int, value: int) -> None:
        touched.append((level, option))
        set_option(sock, level, option, value)

    monkeypatch.setattr(socket.socket, "setsockopt", setsockopt)
    await socket_options(node, ConnectionConfig())
    assert not {SEND_BUFFER, RECEIVE_BUFFER} & set(touched)


async def test_a_connection_sends_at_once_and_notices_a_dead_peer(node: ScriptedNode) -> None:
    no_delay, keep_alive = await socket_options(node, ConnectionConfig(), NO_DELAY, KEEP_ALIVE)
    assert no_delay != 0
    assert keep_alive != 0
