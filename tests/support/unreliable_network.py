"""A network between a client and a real Kafka that loses responses and cuts connections.

Each node has a second address, which leads through a small TCP proxy in the test's process.
"""

import asyncio
import re
import struct
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.apache_kafka import ApacheKafka

STRIKE_WITHIN_S = 60.0


class Accident(Enum):
    """What the network does to the next Produce request."""

    REQUEST_CUT = "connection cut in the middle of a request"
    ANSWER_CUT = "connection cut in the middle of an answer"
    ANSWER_LOST = "connection cut instead of an answer"
    SILENCE = "no answers any more, the connection stays"


class ProxiedKafka(ApacheKafka):
    """A cluster that names the addresses of the proxies to clients that connect through a proxy."""

    def __init__(
        self,
        version: str,
        *,
        nodes: int,
        properties: dict[str, str] | None = None,
        racks: Sequence[str] | None = None,
    ) -> None:
        super().__init__(version, nodes=nodes, properties=properties, racks=racks)
        self.links: dict[int, int] = {}
        """The port of each node's proxy, and the port of the node behind it."""

    def _make_nodes(self, folder: Path, controllers: Any) -> None:
        super()._make_nodes(folder, controllers)
        ports = self._ports(2 * len(self.nodes))
        for node in self.nodes:
            inner, outer = ports.pop(), ports.pop()
            config = node.folder / "server.properties"
            text = config.read_text()
            for name, more in (
                ("listeners", f"PROXIED://127.0.0.1:{inner}"),
                ("advertised.listeners", f"PROXIED://127.0.0.1:{outer}"),
                ("listener.security.protocol.map", "PROXIED:PLAINTEXT"),
            ):
                text = re.sub(rf"^({re.escape(name)}=.*)$", rf"\1,{more}", text, flags=re.MULTILINE)
            config.write_text(text)
            self.links[outer] = inner

    @property
    def proxied_servers(self) -> str:
        """The addresses of all proxies, as `127.0.0.1:PORT` separated by commas."""
        return ",".join(f"127.0.0.1:{port}" for port in self.links)


class _Cut(Exception):
    """Ends a connection."""


class _Connection:
    """The state of one connection through a proxy."""

    def __init__(self) -> None:
        self.produces: set[int] = set()
        self.is_silent = False


class UnreliableNetwork:
    """The proxies of a cluster. They pass frames on unchanged, except by `strike`."""

    def __init__(self, kafka: ProxiedKafka) -> None:
        self._links = kafka.links
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._due: Accident | None = None
        self._has_struck = asyncio.Event()

    async def strike(self, accident: Accident) -> None:
        """Let the accident happen to the next Produce request, and wait until it has."""
        self._due = accident
        self._has_struck.clear()
        async with asyncio.timeout(STRIKE_WITHIN_S):
            await self._has_struck.wait()

    async def __aenter__(self) -> Self:
        for outer, inner in self._links.items():
            self._servers.append(await self._listen(outer, inner))
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _listen(self, outer: int, inner: int) -> asyncio.Server:
        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.create_task(self._carry(reader, writer, inner))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

        return await asyncio.start_server(connected, "127.0.0.1", outer)

    async def _carry(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, inner: int
    ) -> None:
        """Pass frames on in both directions until a side or an accident ends the connection."""
        connection = _Connection()
        writers = [writer]
        try:
            node_reader, node_writer = await asyncio.open_connection("127.0.0.1", inner)
            writers.append(node_writer)
            async with asyncio.TaskGroup() as both_ways:
                both_ways.create_task(self._requests(connection, reader, node_writer))
                both_ways.create_task(self._answers(connection, node_reader, writer))
        except* (_Cut, OSError, asyncio.IncompleteReadError):
            pass
        finally:
            for each in writers:
                each.close()

    async def _requests(
        self, connection: _Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            frame = await _read_frame(reader)
            api_key, _, correlation_id = struct.unpack_from(">hhi", frame, 4)
            if api_key == ApiKey.PRODUCE:
                if self._strikes(Accident.REQUEST_CUT):
                    await _cut_short(frame, writer)
                connection.produces.add(correlation_id)
            writer.write(frame)
            await writer.drain()

    async def _answers(
        self, connection: _Connection, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while True:
            frame = await _read_frame(reader)
            (correlation_id,) = struct.unpack_from(">i", frame, 4)
            if correlation_id in connection.produces:
                connection.produces.remove(correlation_id)
                if self._strikes(Accident.ANSWER_CUT):
                    await _cut_short(frame, writer)
                if self._strikes(Accident.ANSWER_LOST):
                    raise _Cut
                if self._strikes(Accident.SILENCE):
                    connection.is_silent = True
            if not connection.is_silent:
                writer.write(frame)
                await writer.drain()

    def _strikes(self, accident: Accident) -> bool:
        if self._due is not accident:
            return False
        self._due = None
        self._has_struck.set()
        return True


async def _read_frame(reader: asyncio.StreamReader) -> bytes:
    size = await reader.readexactly(4)
    return size + await reader.readexactly(int.from_bytes(size, "big"))


async def _cut_short(frame: bytes, writer: asyncio.StreamWriter) -> None:
    writer.write(frame[: len(frame) // 2])
    await writer.drain()
    raise _Cut
