"""Gives the TLS context of the next connection, and makes it anew when a file has changed.

Certificates are replaced while a client runs, such as those that Kubernetes mounts. At each new
connection the files' status is compared with that of the last reading. Only a change, and the first
use, cost a reading, which takes place in a thread of the event loop.

Sessions are not resumed: each connection makes a full handshake. With OpenSSL 3, TLS 1.3 and P-256,
that takes 0.8 ms of the client's CPU, and a resumed one 0.6 ms. With a certificate of the client it
is 1.1 and 0.5 ms. Connections live for minutes to months, so nobody would notice. asyncio's
`create_connection(ssl=…)` takes no session, so it would need a hook below the loop's TLS transport.
"""

import asyncio
import logging
import threading
from pathlib import Path
from ssl import SSLContext
from typing import TypeAlias

from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.net.tls.tls_settings import TlsSettings, make_context

logger = logging.getLogger(__name__)

_Status: TypeAlias = list[tuple[int, int, int, int] | None]


class TlsContexts:
    """The contexts of one client's connections. All its methods may be called in any thread."""

    def __init__(self, settings: TlsSettings) -> None:
        """Does not read the files yet."""
        self._settings = settings
        self._making = threading.Lock()
        self._made: tuple[SSLContext, _Status] | None = None
        self._complaint: str | None = None

    async def next_context(self) -> SSLContext:
        """Return the context for a new connection.

        Files that cannot be used any more are a warning: the context made before stays in use, and
        the next connection reads them again.

        Raises: KafkaConfigurationError if the files could not be used when they were first read.
        Cancelled: a reading that has begun goes on.
        """
        made = self._made
        if made is not None and made[1] == _status(self._settings):
            return made[0]
        return await asyncio.get_running_loop().run_in_executor(None, self._read)

    def _read(self) -> SSLContext:
        with self._making:
            status = _status(self._settings)
            if self._made is not None and self._made[1] == status:
                return self._made[0]  # another connection has read them meanwhile
            try:
                context = make_context(self._settings)
            except KafkaConfigurationError as error:
                if self._made is None:
                    raise
                self._complain(str(error.args[0]))
                return self._made[0]
            if self._made is not None:
                logger.info("a certificate or key has changed; new connections use the new one")
            self._made = context, status
            self._complaint = None
            return context

    def _complain(self, text: str) -> None:
        if text != self._complaint:  # once, not at each connection
            logger.warning("%s; new connections go on with what was read before", text)
        self._complaint = text


class FixedContext:
    """A context that the user has made. It is used as it is."""

    def __init__(self, context: SSLContext) -> None:
        self._context = context

    async def next_context(self) -> SSLContext:
        """Return the context. Does not wait."""
        return self._context


def _status(settings: TlsSettings) -> _Status:
    """Return what tells a file from its replacement; None for one that is not there."""
    found: _Status = []
    for path in settings.files():
        try:
            status = Path(path).stat()
        except (OSError, ValueError):
            found.append(None)
        else:
            found.append((status.st_mtime_ns, status.st_ino, status.st_dev, status.st_size))
    return found


__all__ = ["FixedContext", "TlsContexts"]
