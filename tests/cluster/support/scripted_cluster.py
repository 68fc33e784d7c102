"""Nodes that answer ApiVersions, and Metadata as the test decides, over real sockets."""

import asyncio
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Self

from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.protocol.message_header import decode_request_header, encode_response
from aiokafka_lite.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from aiokafka_lite.protocol.messages.metadata import MetadataRequest, MetadataResponse
from tests.cluster.support.answers import answer

METADATA, API_VERSIONS = 3, 18
RANGES = {METADATA: (1, 13), API_VERSIONS: (0, 4)}

Script = Callable[[MetadataRequest], MetadataResponse | None]


class ScriptedNode:
    """One node. `script` makes the answer to a Metadata request; None: no answer, ever."""

    def __init__(self, script: Script, ranges: dict[int, tuple[int, int]]) -> None:
        self.script = script
        self.ranges = ranges
        self.requests: list[MetadataRequest] = []
        self.connections = 0
        """How many were ever accepted."""
        self.is_silent = False
        """Accepts, reads and says nothing, not even ApiVersions."""
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Refuse connections from now on and reset those there are. `start` takes the same port."""
        if self._server is None:
            return
        self._server.close()
        self.cut()
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        await self._server.wait_closed()
        self._server = None

    def cut(self) -> None:
        """Reset all connections."""
        for writer in self._writers:
            writer.transport.abort()

    @property
    def open_connections(self) -> int:
        return len(self._writers)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        self.connections += 1
        try:
            while True:
                (size,) = struct.unpack(">i", await reader.readexactly(4))
                self._answer(await reader.readexactly(size), writer)
        except (asyncio.IncompleteReadError, OSError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            self._writers.discard(writer)
            self._tasks.discard(task)

    def _answer(self, frame: bytes, writer: asyncio.StreamWriter) -> None:
        header, body = decode_request_header(memoryview(frame))
        response: Any
        if self.is_silent:
            return
        if header.api_key == API_VERSIONS:
            response = ApiVersionsResponse(
                api_keys=[
                    ApiVersion(api_key=key, min_version=low, max_version=high)
                    for key, (low, high) in self.ranges.items()
                ]
            )
        else:
            request = MetadataRequest.decode(body, header.api_version)
            self.requests.append(request)
            response = self.script(request)
        if response is not None:
            writer.writelines(
                encode_response(
                    response,
                    version=header.api_version,
                    correlation_id=header.correlation_id,
                )
            )


class ScriptedCluster:
    """Nodes 1 to n, which all describe the same cluster; topics as `describe` makes them."""

    def __init__(self, nodes: int = 1) -> None:
        self.nodes = {
            node_id: ScriptedNode(self.script, dict(RANGES)) for node_id in range(1, nodes + 1)
        }
        self.known = set(self.nodes)
        """The nodes named in answers."""
        self.describe: Callable[[str], Any] = lambda name: None
        self.all_topics: list[str] = []
        self.change: Callable[[MetadataResponse], None] = lambda response: None
        """May change any answer at the last moment."""

    def script(self, request: MetadataRequest) -> MetadataResponse | None:
        names = self.all_topics if request.topics is None else [str(t.name) for t in request.topics]
        response = answer(
            *[described for name in names if (described := self.describe(name)) is not None],
            nodes={node_id: ("127.0.0.1", self.nodes[node_id].port) for node_id in self.known},
            controller_id=min(self.known, default=-1),
        )
        self.change(response)
        return response

    async def __aenter__(self) -> Self:
        for node in self.nodes.values():
            await node.start()
        return self

    async def __aexit__(self, *error: object) -> None:
        for node in self.nodes.values():
            await node.stop()

    @property
    def requests(self) -> list[MetadataRequest]:
        """All Metadata requests, node by node."""
        return [request for node in self.nodes.values() for request in node.requests]

    def config(self, **options: Any) -> ClientConfig:
        """Options of a client that has every node as seed."""
        servers = [f"127.0.0.1:{node.port}" for node in self.nodes.values()]
        return ClientConfig(**{"bootstrap_servers": servers, **options})
