"""The socket of one connection: received bytes become frames, and each frame is one write.

Only here OSError, timeouts and other errors of the event loop become KafkaConnectionError. The
transport knows frames, not messages. Only `resolve`, `connect` and `wait_closed` wait.

The transport is an `asyncio.BufferedProtocol`, so the loop reads into memory that the transport
chooses; there is no reader task. Small frames arrive in a scratch buffer and are copied out of it.
A large frame is read straight into a buffer of the pool and is not copied. A connection has a
scratch buffer only during a read, or while it holds a part of a frame. A process with a thousand
consumers has thousands of connections, most of them idle.
"""

import asyncio
import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from ssl import SSLContext
from typing import Final, Protocol, cast

from aiokafka_lite.errors import KafkaConnectionError, KafkaError
from aiokafka_lite.net.endpoint import Address, Endpoint, SocketAddress
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES, frame_size

SCRATCH_BYTES: Final = 64 * 1024
LARGE_FRAME_BYTES: Final = 32 * 1024
"""A frame above this size gets a buffer of its own. The limit is at most half of the scratch
buffer. So the start of a smaller frame, moved to the front, leaves room for the rest."""
_PREFIX_BYTES: Final = 4
_SPARE_SCRATCHES: Final = 4
"""How many free scratch buffers are kept, for the loops of several threads and for bursts."""
SYSTEM_BUFFER_SIZE: Final = -1
"""The system chooses the size of a socket buffer, as with aiokafka and librdkafka.

Java's 128 KB and 64 KB split a request of a megabyte into many writes, with a turn of the loop for
each. With the system's sizes a record costs less CPU. Reading takes 0.148 us instead of 0.167 (100
bytes), and 0.81 us instead of 0.89 (1 KB). Sending takes 0.58 us instead of 0.67, and 2.4 us
instead of 4.0. Java's sizes also limit the bytes per round trip to a distant broker.
"""
_CONNECTING: Final = frozenset({errno.EINPROGRESS, errno.EINTR})


class FrameHandler(Protocol):
    """Receives the events of a transport, in callbacks of the event loop. An event that the peer
    causes must not make it raise."""

    def frame_received(self, frame: memoryview) -> None:
        """Take one frame, without its size prefix. The handler may keep the view."""

    def writing_resumed(self) -> None:
        """Called when all written bytes have left for the kernel, if `can_write` was False."""

    def transport_lost(self, error: KafkaError) -> None:
        """Called once when the transport is lost, with the reason. Not called after `close`."""


_spare_scratches: list[memoryview] = []


class FrameTransport(asyncio.BufferedProtocol):
    """The frames of one TCP connection. Made by `connect`."""

    def __init__(
        self,
        handler: FrameHandler,
        peer: str,
        frame_pool: FrameBufferPool,
        max_frame_bytes: int = MAX_FRAME_BYTES,
    ) -> None:
        # None after the last event.
        self._handler: FrameHandler | None = handler
        self._peer = peer
        self._frame_pool = frame_pool
        self._max_frame_bytes = max_frame_bytes
        self._transport: asyncio.Transport | None = None
        self._high_water = 0
        self._gone = asyncio.Event()
        self._eof = False
        self.can_write = True
        """Whether every frame written so far has left completely."""
        self.error: KafkaError | None = None
        """The reason why the transport was lost; None after `close()`."""
        self._scratch: memoryview | None = None
        self._scratch_end = 0  # bytes received and not used yet; they begin with a size prefix
        self._large_frame: memoryview | None = None
        self._large_end = 0

    def hand_over(self, handler: FrameHandler) -> None:
        """Send all later events to `handler`. The transport must not be lost."""
        self._handler = handler

    # Sending…

    def write(self, parts: Sequence[bytes | bytearray | memoryview]) -> None:
        """Write one whole frame. Does not wait; `can_write` then says whether all of it has left.

        Bytes that have not left are read from `parts` later, so `parts` must not change before
        `writing_resumed`. The handler learns of a failure; the call does not raise.
        """
        transport = self._transport
        if transport is None or self._handler is None or transport.is_closing():
            return  # the handler knows, or learns of it soon
        try:
            transport.writelines(parts)
            if self.can_write and transport.get_write_buffer_size():
                # `writelines` of Python 3.12.1 and 3.13.0 ignores the limits. This call does not.
                transport.set_write_buffer_limits(self._high_water, 0)
        except (OSError, RuntimeError) as error:
            # uvloop raises RuntimeError for a transport that has just closed.
            self._fail(connection_error(error, self._peer))

    def pause_writing(self) -> None:
        self.can_write = False

    def resume_writing(self) -> None:
        self.can_write = True
        if self._handler is not None:
            self._handler.writing_resumed()

    # Receiving…

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002  the loop's interface
        if self._large_frame is not None:
            return self._large_frame[self._large_end :]
        scratch = self._scratch
        if scratch is None:
            scratch = self._scratch = _take_scratch()
        return scratch[self._scratch_end :] if self._scratch_end else scratch

    def buffer_updated(self, nbytes: int) -> None:
        try:
            if self._large_frame is None:
                self._scratch_end += nbytes
                self._split_scratch()
            else:
                self._large_end += nbytes
                self._finish_large_frame()
        except KafkaError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001  the loop would close without a reason
            fault = KafkaConnectionError(
                f"{self._peer}: an answer could not be processed: {error!r}"
            )
            fault.__cause__ = error
            self._fail(fault)

    def _split_scratch(self) -> None:
        start, end = 0, self._scratch_end
        view = self._scratch
        assert view is not None
        while end - start >= _PREFIX_BYTES:
            body = start + _PREFIX_BYTES
            size = frame_size(view[start:end], self._max_frame_bytes)
            if size > LARGE_FRAME_BYTES:
                start = self._begin_large_frame(view, size, body)
            elif body + size <= end:
                start = body + size
                # The next read overwrites the scratch buffer, and the handler may keep the frame.
                self._deliver(memoryview(bytes(view[body:start])))
            else:
                break
        rest = end - start
        if start and rest:
            view[:rest] = view[start:end]
        self._scratch_end = rest
        if not rest:
            self._scratch = None
            _give_back(view)

    def _begin_large_frame(self, view: memoryview, size: int, body: int) -> int:
        """Move the received part of a large frame to a buffer of its own; return where the rest of
        the scratch buffer begins."""
        arrived = min(size, self._scratch_end - body)
        self._large_frame = memoryview(self._frame_pool.take(size))[:size]
        self._large_frame[:arrived] = view[body : body + arrived]
        self._large_end = arrived
        self._finish_large_frame()
        return body + arrived

    def _finish_large_frame(self) -> None:
        frame = self._large_frame
        if frame is not None and self._large_end == len(frame):
            self._large_frame = None
            self._deliver(frame)

    def _deliver(self, frame: memoryview) -> None:
        # None if the handler has closed this transport because of an earlier frame.
        if self._handler is not None:
            self._handler.frame_received(frame)

    def eof_received(self) -> bool:
        self._eof = True
        return False  # the loop closes the transport: Kafka has no half-closed connections

    # Closing…

    def close(self) -> None:
        """Close the socket at once. The handler gets no more events.

        Bytes that have not left are dropped, because a peer that does not read must not keep the
        connection open.
        """
        self._handler = None
        if self._transport is not None:
            self._transport.abort()

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
        self._transport = None

    def _fail(self, error: KafkaError) -> None:
        handler, self._handler = self._handler, None
        if handler is None:
            return
        self.error = error
        if self._transport is not None:
            self._transport.abort()
        handler.transport_lost(error)


def _take_scratch() -> memoryview:
    try:
        return _spare_scratches.pop()
    except IndexError:
        return memoryview(bytearray(SCRATCH_BYTES))


def _give_back(scratch: memoryview) -> None:
    if len(_spare_scratches) < _SPARE_SCRATCHES:
        _spare_scratches.append(scratch)


# Connecting…


async def resolve(endpoint: Endpoint) -> list[Address]:
    """Return every address of an endpoint, in the resolver's order, without repetitions.

    Waits for the system's resolver, in a thread of the loop, unless the host is an IP address.

    Raises:
        KafkaConnectionError: the name cannot be resolved.
    """
    literal = _ip_literal(endpoint)
    if literal is not None:
        return [literal]
    with connection_errors(str(endpoint)):
        found = await asyncio.get_running_loop().getaddrinfo(
            endpoint.host, endpoint.port, type=socket.SOCK_STREAM
        )
    families = (socket.AF_INET, socket.AF_INET6)
    addresses = (
        # The type stubs have a third form, which only Pythons without IPv6 return.
        Address(family, cast("SocketAddress", sockaddr))
        for family, _, _, _, sockaddr in found
        if family in families
    )
    return list(dict.fromkeys(addresses))


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
    tls_context: SSLContext | None = None,
    tls_name: str | None = None,
) -> FrameTransport:
    """Connect to one address and return its transport, which sends its events to `handler`.

    With `tls_context` the TLS handshake follows; the node's certificate has to be that of
    `tls_name`. Waits without a timeout of its own.

    Raises:
        KafkaConnectionError: refused, unreachable, no more sockets, or the TLS handshake failed;
            the OSError is its cause.
    Cancelled: the socket is closed.
    """
    loop = asyncio.get_running_loop()
    with connection_errors(str(address)):
        sock = socket.socket(address.family, socket.SOCK_STREAM)
        try:
            _configure(sock, send_buffer_bytes, receive_buffer_bytes)
            await _connect_socket(sock, address.sockaddr)
            _, transport = await loop.create_connection(
                lambda: FrameTransport(handler, str(address), frame_pool, max_frame_bytes),
                sock=sock,
                ssl=tls_context,
                server_hostname=None if tls_context is None else tls_name,
            )
        except BaseException:
            sock.close()
            raise
    return transport


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
        loop.add_writer(sock, _decide, decided)
        try:
            await decided
        finally:
            loop.remove_writer(sock)
        error = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
    if error:
        raise OSError(error, os.strerror(error))


def _decide(outcome: asyncio.Future[None]) -> None:
    if not outcome.done():
        outcome.set_result(None)


def _configure(sock: socket.socket, send_buffer_bytes: int, receive_buffer_bytes: int) -> None:
    sock.setblocking(False)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Before connecting, because the receive buffer decides the window scale of TCP's handshake.
    if send_buffer_bytes != SYSTEM_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    if receive_buffer_bytes != SYSTEM_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)


@contextmanager
def connection_errors(peer: str, timeout_s: float | None = None) -> Iterator[None]:
    """Turn other errors of the block into KafkaConnectionError, which names `peer`, and after a
    timeout `timeout_s`."""
    try:
        yield
    except KafkaError:
        raise
    except (
        OSError,
        RuntimeError,
        UnicodeError,  # a host name that IDNA cannot encode
        OverflowError,  # a number that is not a port
    ) as error:
        raise connection_error(error, peer, timeout_s) from error


def connection_error(
    error: Exception, peer: str, timeout_s: float | None = None
) -> KafkaConnectionError:
    """Return the KafkaConnectionError for `error`, with `error` as its cause."""
    translated = KafkaConnectionError(f"{peer} {_what_happened(error, timeout_s)}")
    translated.__cause__ = error
    return translated


def _what_happened(error: Exception, timeout_s: float | None) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "refused the connection; does a broker listen there?"
    if isinstance(error, TimeoutError):
        within = "in time" if timeout_s is None else f"within {timeout_s * 1000:,.0f} ms"
        return f"did not answer {within}"
    if isinstance(error, ConnectionError):
        return f"broke the connection ({error})"
    if isinstance(error, socket.gaierror):
        return f"cannot be resolved to an address ({error.strerror})"
    if isinstance(error, UnicodeError):
        return f"is no valid host name ({error})"
    if isinstance(error, OverflowError):
        return f"is no valid address ({error})"
    return f"cannot be used ({type(error).__name__}: {error})"


__all__ = [
    "FrameHandler",
    "FrameTransport",
    "connect",
    "connection_error",
    "connection_errors",
    "resolve",
]
