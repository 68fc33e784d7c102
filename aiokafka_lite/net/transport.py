"""The socket of one connection, from its address to its end. `frame_stream` reads and writes it.

It knows frames, not messages. Only `resolve`, `connect` and `wait_closed` wait. The transport is an
`asyncio.BufferedProtocol`, so the loop reads into memory that the transport chooses; there is no
reader task.

With TLS it stands on the event loop's own TLS transport. That costs 1.0 us of CPU per KB received
more than plain TCP, and 0.65 us per KB sent. OpenSSL alone takes 0.55 us of each. A layer of our
own on `ssl.MemoryBIO` was measured beside it. On asyncio it saved 0.2 us per KB sent, which is 0.02
us for a record of 100 bytes. It saved nothing beyond the noise elsewhere, nor on uvloop. That is
too little for so much code.
"""

import asyncio
import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from ssl import SSLContext, SSLError
from typing import Final, cast

from aiokafka_lite.checks.quoted import quoted
from aiokafka_lite.concurrency.loop_network import loop_network
from aiokafka_lite.concurrency.outcome import give
from aiokafka_lite.errors import (
    FeatureNotSupportedError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
)
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.net.connection_errors import connection_error, connection_errors
from aiokafka_lite.net.endpoint import Address, Connector, Endpoint, SocketAddress
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.frame_stream import FrameHandler, FrameStream
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES

SYSTEM_BUFFER_SIZE: Final = -1
"""The system chooses the size of a socket buffer, as with aiokafka and librdkafka.

Java's 128 KB and 64 KB split a request of a megabyte into many writes, with a turn of the loop for
each. With the system's sizes a record costs less CPU. Reading takes 0.148 us instead of 0.167 (100
bytes), and 0.81 us instead of 0.89 (1 KB). Sending takes 0.58 us instead of 0.67, and 2.4 us
instead of 4.0. Java's sizes also limit the bytes per round trip to a distant broker.
"""
_CONNECTING: Final = frozenset({errno.EINPROGRESS, errno.EINTR})


class TlsStart(NamedTuple):
    """What the TLS handshake of a new connection needs."""

    context: SSLContext
    host: str
    """The certificate of the node has to be for this name or IP address."""
    on_connected: Callable[[], object]
    """Called when the TCP connection stands and the handshake begins."""


class FrameTransport(FrameStream, asyncio.BufferedProtocol):
    """The frames of one TCP connection. Made by `connect`."""

    def __init__(
        self,
        handler: FrameHandler,
        peer: str,
        frame_pool: FrameBufferPool,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        super().__init__(handler, peer, frame_pool, max_frame_bytes)
        self._gone = asyncio.Event()
        self._eof = False

    def await_bytes_of(self, sock: socket.socket) -> None:
        """Let the system collect the bytes of large frames, if it can."""
        if sys.platform == "linux":
            self._socket = sock

    def send_by(self, sock: socket.socket) -> None:
        """Send frames by the socket itself, as far as the system takes them at once.

        asyncio 3.11 joins the parts of a frame, and copies what it has joined. No loop knows of a
        batch that lies in several places.
        """
        if sys.platform != "win32" and type(sock) is socket.socket:
            self._sends_by = sock

    def hand_over(self, handler: FrameHandler) -> None:
        """Send all later events to `handler`. The transport must not be lost."""
        self._handler = handler

    def eof_received(self) -> bool:
        self._eof = True
        return False  # the loop closes the transport: Kafka has no half-closed connections

    # Closing…

    def give_up(self, sock: socket.socket) -> None:
        """Close the socket of a connection that `connect` does not return.

        Whoever has the socket by now closes it. If it were closed behind the loop's back, the loop
        would take the next socket with the same number for this one, and never read it. With TLS
        the loop by itself would wait for the peer's goodbye, up to 30 seconds.
        """
        is_of_loop = self._transport is not None
        self.close()
        if not is_of_loop:
            sock.close()

    async def wait_closed(self) -> None:
        """Return when the event loop has closed the socket. Cancelled: the transport goes on
        closing."""
        await self._gone.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # With a limit of 0, "paused" means that a frame has not left completely. The next one waits
        # for that (2f-1), and so does the caller of a request without a response.
        if transport.get_extra_info("ssl_object") is not None:
            self._high_water = 1  # a TLS transport pauses at its limit, others above it
        self._transport.set_write_buffer_limits(self._high_water, 0)

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone.set()
        if exc is not None:
            self._fail(connection_error(exc, self._peer))
        elif self._eof and (self._scratch_end or self._large_frame is not None):
            self._fail(
                KafkaConnectionError(f"{self._peer} closed the connection in the middle of a frame")
            )
        else:
            self._fail(KafkaConnectionError(f"{self._peer} closed the connection"))
        # The loop may keep this object for a while, and it should not keep the buffers.
        self._large_frame = self._scratch = None
        self._transport = self._socket = self._sends_by = None


# Connecting…


async def resolve(endpoint: Endpoint) -> list[Address]:
    """Return every address of an endpoint, in the resolver's order, without repetitions.

    Waits for the system's resolver, in a thread of the loop, unless the host is an IP address.

    Raises: KafkaConnectionError if the name cannot be resolved.
    """
    literal = _ip_literal(endpoint)
    if literal is not None:
        return [literal]
    with connection_errors(str(endpoint)):
        found = await asyncio.get_running_loop().getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM
        )
    addresses = (
        # The type stubs have a third form, which only Pythons without IPv6 return.
        Address(family, cast("SocketAddress", sockaddr))
        for family, _, _, _, sockaddr in found
        if _is_tcp(family)
    )
    return list(dict.fromkeys(addresses))


def address_of(endpoint: Endpoint) -> Address:
    """Return the endpoint as an address, for a connector that finds the way by itself."""
    return Address(socket.AF_UNSPEC, (endpoint.host, endpoint.port))


def _ip_literal(endpoint: Endpoint) -> Address | None:
    try:
        ip = ipaddress.ip_address(endpoint.host)
    except ValueError:
        return None
    if ip.version == 4:
        return Address(socket.AF_INET, (endpoint.host, endpoint.port))
    if "%" in endpoint.host:  # only the resolver knows the number of a scope
        return None
    return Address(socket.AF_INET6, (endpoint.host, endpoint.port, 0, 0))


async def connect(
    address: Address,
    handler: FrameHandler,
    *,
    frame_pool: FrameBufferPool,
    send_buffer_bytes: int = SYSTEM_BUFFER_SIZE,
    receive_buffer_bytes: int = SYSTEM_BUFFER_SIZE,
    max_frame_bytes: int = MAX_FRAME_BYTES,
    tls: TlsStart | None = None,
    client_id: str = "",
    connector: Connector | None = None,
) -> FrameTransport:
    """Connect to one address and return its transport, which sends its events to `handler`.

    With `tls` the TLS handshake follows. Waits without a timeout of its own. `client_id` is the
    name of the client in the network of a loop without sockets. `connector` makes the socket.

    Raises: KafkaConnectionError, with the OSError as its cause, if the address refuses, cannot be
    reached or breaks the TLS handshake off, or if there is no socket left; TlsAuthenticationError,
    with what OpenSSL raised as its cause, if both sides do not agree in the TLS handshake.
    Cancelled: the socket is closed.
    """
    made = FrameTransport(handler, str(address), frame_pool, max_frame_bytes)
    network = loop_network()
    with connection_errors(str(address)):
        if network is not None:
            if connector is not None:
                raise FeatureNotSupportedError(
                    "an event loop without sockets has a network of its own; leave out `connect`"
                )
            if tls is not None:
                raise FeatureNotSupportedError(
                    "an event loop without sockets has no TLS; use PLAINTEXT or SASL_PLAINTEXT"
                )
            await network.connect(address.sockaddr[1], lambda: made, client_id)
            return made
        if connector is None:
            sock = socket.socket(address.family, socket.SOCK_STREAM)
        else:
            sock = await _socket_of(connector, address)
        try:
            _configure(sock, send_buffer_bytes, receive_buffer_bytes)
            if connector is None:
                await _connect_socket(sock, address.sockaddr)
            made.await_bytes_of(sock)
            if tls is None:
                loop = asyncio.get_running_loop()
                await loop.create_connection(lambda: made, sock=sock)
                made.send_by(sock)
            else:
                tls.on_connected()
                await _start_tls(sock, made, address, tls)
        except BaseException:
            made.give_up(sock)
            raise
    return made


def _awaitable(asked: object, host: str, port: int) -> Awaitable[object]:
    """Return what `connect` returned. Raises: KafkaConfigurationError for a plain function's."""
    if isinstance(asked, Awaitable):
        return asked
    if isinstance(asked, socket.socket):
        asked.close()
    raise KafkaConfigurationError(
        f"connect({quoted(host)}, {port}) returned {type(asked).__name__}, which cannot be "
        "awaited; make it an `async def`"
    )


def _close_made(asked: object) -> None:
    """Close the socket of a future that was done before the cancellation reached its waiter."""
    if isinstance(asked, asyncio.Future):
        with suppress(Exception, asyncio.CancelledError):
            made = asked.result()
            if isinstance(made, socket.socket):
                made.close()


async def _socket_of(connector: Connector, address: Address) -> socket.socket:
    """Return the socket that the user's function makes.

    Raises: KafkaConnectionError with what the function raised as its cause; KafkaConfigurationError
    for anything but a socket, and for a function that is no coroutine function. Cancelled: no
    socket stays behind.
    """
    host, port = address.sockaddr[:2]
    asked: object = None
    try:
        asked = _awaitable(connector(host, port), host, port)
        made: object = await asked
    except asyncio.CancelledError:
        _close_made(asked)
        raise
    except (OSError, KafkaError):
        raise
    except Exception as error:
        raise connection_error(error, str(address), None) from error
    if not isinstance(made, socket.socket):
        raise KafkaConfigurationError(
            f"connect({quoted(host)}, {port}) returned {quoted(made)} of type "
            f"{type(made).__name__}; return a connected socket.socket"
        )
    return made


async def _start_tls(
    sock: socket.socket, made: FrameTransport, address: Address, tls: TlsStart
) -> None:
    # For connections with TLS alone: others need not load them.
    from aiokafka_lite.net.tls.tls_failures import handshake_error  # noqa: PLC0415
    from aiokafka_lite.net.tls.tls_name import tls_name  # noqa: PLC0415

    name = tls_name(tls.host)
    try:
        await asyncio.get_running_loop().create_connection(
            lambda: made, sock=sock, ssl=tls.context, server_hostname=name
        )
    except (SSLError, ConnectionError) as error:
        raise handshake_error(error, str(address), name) from error


async def _connect_socket(sock: socket.socket, sockaddr: SocketAddress) -> None:
    """Connect a socket, in place of `loop.sock_connect`.

    uvloop's `sock_connect` first looks up the address again, even an IP address, in a pool of four
    threads. So a slow name server would delay connections that need no names, and the scope of an
    IPv6 address would be lost.

    Raises: OSError. Cancelled: the caller closes the socket.
    """
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":  # its loop has no add_writer
        await loop.sock_connect(sock, sockaddr)
        return
    error = sock.connect_ex(sockaddr)
    if error in _CONNECTING:
        decided: asyncio.Future[None] = loop.create_future()
        loop.add_writer(sock, give, decided, None)
        try:
            await decided
        finally:
            loop.remove_writer(sock)
        error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, os.strerror(error))


def _is_tcp(family: int) -> bool:
    return family in (socket.AF_INET, socket.AF_INET6)


def _configure(sock: socket.socket, send_buffer_bytes: int, receive_buffer_bytes: int) -> None:
    sock.setblocking(False)
    if _is_tcp(sock.family):
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Before connecting, because the receive buffer decides the window scale of TCP's handshake.
    if send_buffer_bytes != SYSTEM_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    if receive_buffer_bytes != SYSTEM_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)


__all__ = ["FrameTransport", "TlsStart", "address_of", "connect", "resolve"]
