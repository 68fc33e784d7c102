"""A TCP proxy in front of each node of an embedded broker: it splits, delays, swallows and cuts.

It never reorders bytes. Clients find the proxies' addresses in the broker's own answers. The
sockets are real, with buffers as small as the system allows, so that writes stop in the middle.
"""

import asyncio
import random
import socket
import struct
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from aiokafka_lite.testing.broker import EmbeddedBroker

_RESET: Final = struct.pack("ii", 1, 0)
"""SO_LINGER that makes close() send a reset."""
_TINY_PIECES: Final = 400
"""So many pieces of a few bytes in a row; a large frame would take seconds."""
_READ_BYTES: Final = 65_536


class Weather(NamedTuple):
    """What the network does to bytes, until the weather changes."""

    piece_bytes: int = _READ_BYTES
    """So many bytes at a time, or fewer."""
    pause_s: float = 0.0
    """The time between two pieces."""
    buffer_bytes: int = 0
    """Of the sockets of new connections; 0: the system's choice."""


CALM: Final = Weather()


@dataclass(slots=True, eq=False)
class _Link:
    """A connection through a proxy: the client's socket, and the one to the node."""

    client: socket.socket
    node: socket.socket
    is_swallowing: set[bool] = field(default_factory=set)
    """True: bytes of the client vanish. False: those of the node."""
    cut_after: int | None = None
    """The connection ends after so many more bytes, whoever sends them."""

    def cut(self, *, resets: bool) -> None:
        for each in (self.client, self.node):
            with suppress(OSError):
                if resets:
                    each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                each.shutdown(socket.SHUT_RDWR)


class RoughNetwork:
    """The proxies of a cluster, and the weather in them."""

    def __init__(self, broker: EmbeddedBroker, rng: random.Random) -> None:
        self.weather = CALM
        self._broker = broker
        self._rng = rng
        self._listener_name = next(iter(next(iter(broker.cluster.nodes.values())).ports))
        self._inner: dict[int, int] = {}
        self._outer: dict[int, int] = {}
        self._links: set[_Link] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._listeners: list[socket.socket] = []
        self._refuses = False

    @asynccontextmanager
    async def up(self) -> AsyncIterator[None]:
        """Stand in front of all nodes during the block."""
        for node in self._broker.cluster.nodes.values():
            listener = socket.create_server(("127.0.0.1", 0))
            listener.setblocking(False)
            self._listeners.append(listener)
            self._inner[node.node_id] = node.ports[self._listener_name]
            self._outer[node.node_id] = listener.getsockname()[1]
            node.ports[self._listener_name] = self._outer[node.node_id]
            self._spawn(self._accept(listener, node.node_id))
        try:
            yield
        finally:
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            for listener in self._listeners:
                listener.close()

    # What happens to the network…

    def cut(self, after_bytes: int = 0) -> None:
        """End a connection, now or after so many more bytes."""
        if link := self._any_link():
            if after_bytes:
                link.cut_after = after_bytes
            else:
                link.cut(resets=self._rng.random() < 0.5)

    def cut_all(self) -> None:
        for link in self._links:
            link.cut(resets=self._rng.random() < 0.5)

    def swallow(self, *, requests: bool) -> None:
        """Let the bytes of one side of a connection vanish. The connection stays, half-open."""
        if link := self._any_link():
            link.is_swallowing.add(requests)

    def refuse(self, *, refuses: bool) -> None:
        """End each new connection at once."""
        self._refuses = refuses

    def stop_node(self, node_id: int) -> None:
        self._broker.stop_node(node_id)

    def start_node(self, node_id: int) -> None:
        """Start a node where it was: behind its proxy."""
        ports = self._broker.cluster.node(node_id).ports
        ports[self._listener_name] = self._inner[node_id]
        self._broker.start_node(node_id)
        ports[self._listener_name] = self._outer[node_id]

    def heal(self) -> None:
        """Calm all weather. What is half-open ends, as it would in an hour."""
        self.weather = CALM
        self._refuses = False
        for link in self._links:
            link.cut_after = None
            if link.is_swallowing:
                link.cut(resets=True)
        for node_id in self._inner:
            if not self._broker.cluster.node(node_id).is_alive:
                self.start_node(node_id)

    def _any_link(self) -> _Link | None:
        links = sorted(self._links, key=lambda link: link.client.fileno())
        return self._rng.choice(links) if links else None

    # How bytes are carried…

    def _spawn(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listener: socket.socket, node_id: int) -> None:
        loop = asyncio.get_running_loop()
        while True:
            client, _ = await loop.sock_accept(listener)
            self._spawn(self._carry(client, node_id))

    async def _carry(self, client: socket.socket, node_id: int) -> None:
        loop = asyncio.get_running_loop()
        client.setblocking(False)
        with client, socket.socket() as node:
            node.setblocking(False)
            for each in (client, node):
                self._shrink(each)
            try:
                if self._refuses:
                    return
                await loop.sock_connect(node, ("127.0.0.1", self._inner[node_id]))
            except OSError:
                return
            link = _Link(client, node)
            self._links.add(link)
            try:
                async with asyncio.TaskGroup() as both:
                    both.create_task(self._pass_on(link, from_client=True))
                    both.create_task(self._pass_on(link, from_client=False))
            finally:
                self._links.discard(link)

    def _shrink(self, connection: socket.socket) -> None:
        if size := self.weather.buffer_bytes:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, size)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)

    async def _pass_on(self, link: _Link, *, from_client: bool) -> None:
        """Carry one direction to its end; then the connection ends."""
        loop = asyncio.get_running_loop()
        source, target = (link.client, link.node) if from_client else (link.node, link.client)
        with suppress(OSError):
            while data := await loop.sock_recv(source, _READ_BYTES):
                for piece in self._pieces(data):
                    await self._send(link, target, piece, from_client=from_client)
        link.cut(resets=False)

    async def _send(
        self, link: _Link, target: socket.socket, piece: bytes, *, from_client: bool
    ) -> None:
        if link.cut_after is not None:
            piece = piece[: link.cut_after]
            link.cut_after -= len(piece)
        if from_client not in link.is_swallowing:
            await asyncio.get_running_loop().sock_sendall(target, piece)
        if link.cut_after == 0:
            link.cut(resets=self._rng.random() < 0.5)
        if self.weather.pause_s:
            await asyncio.sleep(self.weather.pause_s)

    def _pieces(self, data: bytes) -> Iterator[bytes]:
        """Split what was read, by the weather of each moment."""
        at = pieces = 0
        while at < len(data):
            size = self.weather.piece_bytes if pieces < _TINY_PIECES else _READ_BYTES
            yield data[at : at + size]
            at += size
            pieces += 1


def some_weather(rng: random.Random) -> Weather:
    """Return weather that is mostly calm."""
    return Weather(
        piece_bytes=rng.choice([_READ_BYTES, _READ_BYTES, 1_500, 100, 3, 1]),
        pause_s=rng.choice([0.0, 0.0, 0.0, 0.0005, 0.003]),
        buffer_bytes=rng.choice([0, 0, 2_048, 16_384]),
    )


__all__ = ["CALM", "RoughNetwork", "Weather", "some_weather"]
