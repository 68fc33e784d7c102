"""TLS between a socket and a connection of the broker: a protocol below, a transport above.

Both event loops run this same code, on `ssl.MemoryBIO`. So a test can leave a handshake without an
answer, which the loops' own TLS servers cannot. Does not wait.
"""

import asyncio
import logging
import ssl
from collections.abc import Iterable
from typing import Any, Protocol, cast

logger = logging.getLogger(__name__)

_READ_BYTES = 256 * 1024
_INTERNAL_ERROR = bytes.fromhex("15 03 03 00 02 02 50")
"""The alert that Java sends to a client that does not speak TLS; OpenSSL sends none."""


class Abortable(Protocol):
    """An open connection, as the node keeps it."""

    def abort(self) -> None: ...


class Connections(Protocol):
    """The node's open connections."""

    def opened(self, connection: Abortable) -> None: ...

    def lost(self, connection: Abortable) -> None: ...


class TlsTransport(asyncio.Protocol, asyncio.Transport):
    """One TCP connection. `above` is connected once the handshake is done."""

    def __init__(
        self,
        above: asyncio.Protocol,
        context: ssl.SSLContext,
        connections: Connections,
        *,
        is_mute: bool,
    ) -> None:
        """With `is_mute` it takes what comes and never answers, like a hanging server."""
        super().__init__()
        self._above = above
        self._connections = connections
        self._is_mute = is_mute
        self._received, self._to_send = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._received, self._to_send, server_side=True)
        self._is_open = False
        self._socket: asyncio.Transport | None = None

    # Called by the event loop…

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._socket = cast("asyncio.Transport", transport)
        self._connections.opened(self)

    def data_received(self, data: bytes) -> None:
        if self._is_mute or self._socket is None:
            return
        self._received.write(data)
        try:
            self._read()
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as error:
            self._refuse(error)
        self._flush()

    def pause_writing(self) -> None:
        self._above.pause_writing()

    def resume_writing(self) -> None:
        self._above.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        self._socket = None
        self._connections.lost(self)
        if self._is_open:
            self._above.connection_lost(exc)

    def _refuse(self, error: ssl.SSLError) -> None:
        logger.warning("a TLS client is refused: %s", error)
        if self._socket is None:
            return
        if not self._is_open and not self._to_send.pending:
            self._socket.write(_INTERNAL_ERROR)
        self._flush()
        self._socket.close()

    def _read(self) -> None:
        """Shake hands, then pass on what arrived. Raises: SSLWantReadError at the end of it."""
        if not self._is_open:
            self._tls.do_handshake()
            self._is_open = True
            self._above.connection_made(self)
        while not self.is_closing():
            data = self._tls.read(_READ_BYTES)
            if data:
                self._above.data_received(data)
            else:
                self.close()  # the client has sent close_notify

    # Called by the connection above…

    def write(self, data: bytes | bytearray | memoryview) -> None:
        rest = memoryview(data)
        while rest:
            rest = rest[self._tls.write(rest) :]
        self._flush()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))  # or each part would be a TLS record of its own

    def close(self) -> None:
        """Send what is written and close_notify, then close."""
        if self._socket is None:
            return
        try:
            self._tls.unwrap()
        except ssl.SSLError:
            logger.debug("the client's close_notify is not awaited", exc_info=True)
        self._flush()
        self._socket.close()

    def abort(self) -> None:
        """Close now; unsent bytes are lost."""
        if self._socket is not None:
            self._socket.abort()

    def is_closing(self) -> bool:
        return self._socket is None or self._socket.is_closing()

    def pause_reading(self) -> None:
        if self._socket is not None:
            self._socket.pause_reading()

    def resume_reading(self) -> None:
        if self._socket is not None:
            self._socket.resume_reading()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name == "peercert":
            return self._tls.getpeercert()
        return default if self._socket is None else self._socket.get_extra_info(name, default)

    def _flush(self) -> None:
        if self._to_send.pending and self._socket is not None:
            self._socket.write(self._to_send.read())


__all__ = ["Abortable", "Connections", "TlsTransport"]
