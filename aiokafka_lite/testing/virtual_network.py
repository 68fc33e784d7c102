"""A network in memory for a `VirtualLoop`: ports, connections, and how long bytes take.

No address is used on the machine, and no socket is opened. TLS is not supported.
"""

import asyncio
import errno
import os
import socket
from collections.abc import Callable
from typing import Any, cast

from aiokafka_lite.testing.fake_clock import FakeClock

ProtocolFactory = Callable[[], asyncio.BaseProtocol]
_FIRST_PORT = 9092


class VirtualNetwork:
    """The listeners and connections of one loop; a test changes it while clients are connected."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock
        self.latency_s = 0.0
        """Time that bytes need one way, from the next write on. A connection keeps its order."""
        self.bytes_per_s = float("inf")
        """How fast the bytes of one connection leave in each direction, from the next write on."""
        self.isolated: set[str] = set()
        """The ids of clients that can open no connection."""
        self._listeners: dict[int, VirtualListener] = {}
        self._next_port = _FIRST_PORT
        self._connected: dict[str, list[VirtualTransport]] = {}

    def isolate(self, client_id: str) -> None:
        """Break the connections of a client, and refuse new ones until `reconnect`."""
        self.isolated.add(client_id)
        for end in self._connected.pop(client_id, []):
            end.peer_broke()
            end.peer.peer_broke()

    def reconnect(self, client_id: str) -> None:
        """Let an isolated client open connections again."""
        self.isolated.discard(client_id)

    async def connect(self, port: int, factory: ProtocolFactory, client_id: str) -> None:
        """Connect the protocol that `factory` makes to the listener of a port.

        Raises: ConnectionRefusedError without a listener, or for an isolated client.
        """
        await self.clock.sleep(2 * self.latency_s)
        listener = self._listeners.get(port)
        if listener is None or client_id in self.isolated:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        near = VirtualTransport(self, factory())
        far = VirtualTransport(self, listener.new_protocol())
        near.peer, far.peer = far, near
        open_ends = [end for end in self._connected.get(client_id, []) if not end.is_closing()]
        self._connected[client_id] = [*open_ends, near]
        far.protocol.connection_made(far)
        near.protocol.connection_made(near)

    def listen(self, port: int) -> socket.socket:
        """Return a listener for the loop's `create_server`; port 0 is the next free one.

        Raises: OSError for a port that is taken.
        """
        if port in self._listeners:
            raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
        chosen = port or self._next_port
        self._next_port = max(self._next_port, chosen + 1)
        return cast("socket.socket", VirtualListener(self, chosen))

    def open(self, listener: "VirtualListener") -> None:
        """Accept connections for a listener."""
        self._listeners[listener.port] = listener

    def close(self, port: int) -> None:
        """Refuse connections to a port. Harmless for a port without a listener."""
        self._listeners.pop(port, None)


class VirtualListener:
    """A listening socket and its server in one; it has the methods of both that the broker uses."""

    def __init__(self, network: VirtualNetwork, port: int) -> None:
        self.port = port
        self._network = network
        self._factory: ProtocolFactory | None = None

    def serve_with(self, factory: ProtocolFactory) -> None:
        """Make the protocols of new connections by `factory`."""
        self._factory = factory

    def new_protocol(self) -> asyncio.BaseProtocol:
        """Return the protocol of a new connection."""
        assert self._factory is not None
        return self._factory()

    async def start_serving(self) -> None:
        """Accept connections from now on."""
        self._network.open(self)

    def getsockname(self) -> tuple[str, int]:
        """Return the address."""
        return ("127.0.0.1", self.port)

    def shutdown(self, _: int) -> None:
        """Refuse new connections."""
        self.close()

    def close(self) -> None:
        """Refuse new connections."""
        self._network.close(self.port)


class VirtualTransport(asyncio.Transport):
    """One end of a connection."""

    def __init__(self, network: VirtualNetwork, protocol: asyncio.BaseProtocol) -> None:
        super().__init__()
        self.protocol: Any = protocol
        self.peer: VirtualTransport
        self._network = network
        self._free_at_s = 0.0
        """When the newest bytes arrive at the peer: later ones do not overtake them."""
        self._held: list[bytes] | None = None
        self._is_closing = False

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        """Do nothing: the memory takes all bytes at once."""

    def get_write_buffer_size(self) -> int:
        """Return 0."""
        return 0

    def is_closing(self) -> bool:
        """Return whether this end was closed or has broken."""
        return self._is_closing

    def write(self, data: Any) -> None:
        """Send bytes; they arrive after the network's latency."""
        if not self._is_closing:
            arrived = bytes(data)
            self._at_peer(lambda: self.peer._receive(arrived), len(arrived))

    def writelines(self, list_of_data: Any) -> None:
        """Send several parts as one."""
        self.write(b"".join(list_of_data))

    def pause_reading(self) -> None:
        """Keep what arrives until `resume_reading`."""
        self._held = []

    def resume_reading(self) -> None:
        """Pass on what arrived meanwhile."""
        held, self._held = self._held or [], None
        for data in held:
            asyncio.get_running_loop().call_soon(self._receive, data)

    def close(self) -> None:
        """Close this end; the peer learns of it after all bytes that were sent."""
        self._close(self.peer.peer_closed)

    def abort(self) -> None:
        """Break the connection; the peer gets ConnectionResetError."""
        self._close(self.peer.peer_broke)

    def peer_closed(self) -> None:
        """Learn that the other end has closed, after all that it wrote."""
        if not self._is_closing:
            self.protocol.eof_received()
            self._is_closing = True
            self.protocol.connection_lost(None)

    def peer_broke(self) -> None:
        """Learn that the connection has broken."""
        if not self._is_closing:
            self._is_closing = True
            reset = ConnectionResetError(errno.ECONNRESET, os.strerror(errno.ECONNRESET))
            self.protocol.connection_lost(reset)

    def _close(self, tell: Callable[[], None]) -> None:
        if self._is_closing:
            return
        self._is_closing = True
        asyncio.get_running_loop().call_soon(self.protocol.connection_lost, None)
        self._at_peer(tell)

    def _at_peer(self, action: Callable[[], None], size: int = 0) -> None:
        clock, network = self._network.clock, self._network
        self._free_at_s = max(self._free_at_s, clock.monotonic() + network.latency_s)
        self._free_at_s += size / network.bytes_per_s
        clock.call_at(self._free_at_s, action)

    def _receive(self, data: bytes) -> None:
        if self._is_closing:
            return
        if self._held is not None:
            self._held.append(data)
        elif isinstance(self.protocol, asyncio.BufferedProtocol):
            while data and not self._is_closing:
                buffer = memoryview(self.protocol.get_buffer(-1))
                size = min(len(buffer), len(data))
                buffer[:size] = data[:size]
                self.protocol.buffer_updated(size)
                data = data[size:]
        else:
            self.protocol.data_received(data)


__all__ = ["ProtocolFactory", "VirtualListener", "VirtualNetwork", "VirtualTransport"]
