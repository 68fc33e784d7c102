"""The node's side of TLS over a scripted connection: the test sees and sends every byte.

The TLS servers of the event loops close without the alert that says why. A broker sends it, and so
does this.
"""

import asyncio
import ssl
import struct
from collections.abc import Callable
from contextlib import suppress

import pytest

from aiokafka_lite.protocol.message_header import decode_request_header
from tests.net.support.scripted_node import ScriptedPeer, answer_bytes, api_versions_response
from tests.support.patience import PATIENCE_S


class TlsPeer:
    """A TLS server in memory behind the socket of a scripted peer."""

    def __init__(self, peer: ScriptedPeer, context: ssl.SSLContext) -> None:
        self.peer = peer
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._unread = b""

    def outgoing(self) -> bytes:
        """Return the bytes that are to be sent."""
        return self._outgoing.read()

    def encrypted(self, data: bytes) -> bytes:
        self.tls.write(data)
        return self.outgoing()

    def goodbye(self) -> bytes:
        """Return the alert close_notify."""
        with suppress(ssl.SSLWantReadError):
            self.tls.unwrap()
        return self.outgoing()

    async def feed(self) -> bool:
        """Read what the client sent; say whether there was anything."""
        async with asyncio.timeout(PATIENCE_S):
            try:
                data = await self.peer.reader.read(65536)
            except ConnectionError:
                return False
        self._incoming.write(data)
        return bool(data)

    async def handshake(self, send: Callable[[bytes], object] | None = None) -> None:
        """Take part in the handshake. A failure is told to the client, and closes."""
        send = send or self.peer.send
        while True:
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                send(self.outgoing())
                if not await self.feed():
                    raise
            except ssl.SSLError:
                send(self.outgoing())
                self.peer.close()
                raise
            else:
                send(self.outgoing())
                return

    async def read_frame(self) -> bytes:
        """Return the next request, without its size."""
        while True:
            if len(self._unread) >= 4:
                (size,) = struct.unpack_from(">i", self._unread)
                if len(self._unread) >= 4 + size:
                    frame, self._unread = self._unread[4 : 4 + size], self._unread[4 + size :]
                    return frame
            try:
                self._unread += self.tls.read(65536)
            except ssl.SSLWantReadError:
                if not await self.feed():
                    raise

    async def read_request(self) -> tuple[int, int, int]:
        """Return api key, api version and correlation id of the next request."""
        header, _ = decode_request_header(memoryview(await self.read_frame()))
        return header.api_key, header.api_version, header.correlation_id

    async def shake_hands(self) -> None:
        """Answer the ApiVersions request that comes first."""
        _, version, correlation_id = await self.read_request()
        answer = answer_bytes(api_versions_response(), version, correlation_id)
        self.peer.send(self.encrypted(answer))


def at_the_end_of_a_handshake(
    monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]
) -> None:
    """Call `action` when the next handshake of a client has ended; the loop does not know yet."""
    do_handshake = ssl.SSLObject.do_handshake

    def and_act(self: ssl.SSLObject) -> None:
        do_handshake(self)
        if not self.server_side:
            monkeypatch.undo()
            action()

    monkeypatch.setattr(ssl.SSLObject, "do_handshake", and_act)
