"""A node that says exactly what the test tells it to say, byte for byte, over a real socket."""

import asyncio
import socket
import ssl
import struct
from contextlib import suppress
from typing import Self

from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.protocol.message_header import decode_request_header, encode_response
from aiokafka_lite.protocol.messages.api_versions import ApiVersion, ApiVersionsResponse
from aiokafka_lite.schema.message import Response
from tests.support.patience import PATIENCE_S

METADATA, PRODUCE, API_VERSIONS = 3, 0, 18
DEFAULT_RANGES = {PRODUCE: (3, 13), METADATA: (0, 13), API_VERSIONS: (0, 4)}


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


class ScriptedPeer:
    """The node's side of one connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def read_frame(self) -> bytes:
        """Return the next request, without its size."""
        async with asyncio.timeout(PATIENCE_S):
            (size,) = struct.unpack(">i", await self.reader.readexactly(4))
            return await self.reader.readexactly(size)

    async def read_request(self) -> tuple[int, int, int]:
        """Return api key, api version and correlation id of the next request."""
        header, _ = decode_request_header(memoryview(await self.read_frame()))
        return header.api_key, header.api_version, header.correlation_id

    async def read_to_end(self) -> bytes:
        """Return everything up to the end of the connection."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def send_slowly(self, data: bytes) -> None:
        """Send each byte in a packet of its own (TCP_NODELAY is asyncio's default)."""
        for byte in data:
            self.send(bytes([byte]))
            await asyncio.sleep(0)

    def answer(self, response: Response, version: int, correlation_id: int) -> None:
        self.send(answer_bytes(response, version, correlation_id))

    async def shake_hands(self, ranges: dict[int, tuple[int, int]] = DEFAULT_RANGES) -> None:
        """Answer the ApiVersions request that comes first."""
        api_key, version, correlation_id = await self.read_request()
        assert api_key == API_VERSIONS
        self.answer(api_versions_response(ranges), version, correlation_id)

    def close(self) -> None:
        self.writer.close()

    def reset(self) -> None:
        self.writer.transport.abort()


class ScriptedNode:
    """Listens; each connection is handed to the test by `accept`."""

    def __init__(
        self, host: str = "127.0.0.1", *, tls_context: ssl.SSLContext | None = None
    ) -> None:
        self._host = host
        self._tls_context = tls_context
        self._arrived: asyncio.Queue[ScriptedPeer] = asyncio.Queue()
        self._peers: list[ScriptedPeer] = []
        self._server: asyncio.Server | None = None
        self.endpoint = Endpoint(host, 0)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(
            self._connected, self._host, 0, ssl=self._tls_context, family=socket.AF_INET
        )
        self.endpoint = Endpoint(self._host, self._server.sockets[0].getsockname()[1])
        return self

    async def __aexit__(self, *error: object) -> None:
        assert self._server is not None
        self._server.close()
        for peer in self._peers:
            peer.reset()
        await self._server.wait_closed()
        for peer in self._peers:
            with suppress(ConnectionError, RuntimeError):
                await peer.writer.wait_closed()

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = ScriptedPeer(reader, writer)
        self._peers.append(peer)
        self._arrived.put_nowait(peer)

    async def accept(self) -> ScriptedPeer:
        async with asyncio.timeout(PATIENCE_S):
            return await self._arrived.get()


def answer_bytes(response: Response, version: int, correlation_id: int) -> bytes:
    return b"".join(encode_response(response, version=version, correlation_id=correlation_id))


def api_versions_response(
    ranges: dict[int, tuple[int, int]] = DEFAULT_RANGES, error_code: int = 0
) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        error_code=error_code,
        api_keys=[
            ApiVersion(api_key=api_key, min_version=low, max_version=high)
            for api_key, (low, high) in ranges.items()
        ],
    )
