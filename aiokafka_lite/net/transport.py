"""The socket of one connection: received bytes become frames, and each frame is one write.

Only here OSError, timeouts and other errors of the event loop become KafkaConnectionError. The
transport knows frames, not messages. Only `resolve`, `connect` and `wait_closed` wait.

The transport is an `asyncio.BufferedProtocol`, so the loop reads into memory that the transport
chooses; there is no reader task. Small frames arrive in a scratch buffer and are copied out of it.
A large frame is read straight into a buffer of the pool and is not copied. A connection has a
scratch buffer only during a read, or while it holds a part of a frame. A process with a thousand
consumers has thousands of connections, most of them idle.

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
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ssl import SSLContext, SSLError
from typing import Final, Protocol, cast

from aiokafka_lite.concurrency.loop_network import loop_network
from aiokafka_lite.errors import (
    FeatureNotSupportedError,
    KafkaConfigurationError,
    KafkaConnectionError,
    KafkaError,
)
from aiokafka_lite.light_named_tuple import NamedTuple
from aiokafka_lite.net.endpoint import Address, Connector, Endpoint, SocketAddress
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES, SIZE_PREFIX, frame_size

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
_AWAITED_BYTES: Final = 128 * 1024
"""How many bytes of a large frame are awaited before the loop wakes up (SO_RCVLOWAT of Linux).

A broker sends over TLS in records of 16 KB, and each would wake up the process. With 128 KB a
record of 100 bytes takes 0.41 us instead of 0.77 to read over TLS, from a broker on the same cores.
"""
_JOINS_PARTS: Final = sys.version_info < (3, 12) and sys.platform != "win32"
"""asyncio joins the parts of a frame before it sends them. Later ones hand them to the system."""
_GATHERED_BYTES: Final = 32 * 1024
"""A smaller frame is joined. Of half a megabyte the copy takes a quarter of the time to send it."""
_MOST_PARTS: Final = 1024
"""IOV_MAX of Linux and macOS."""
_HELD_BACK_BYTES: Final = 20_000
"""The most bytes of a frame that TLS holds back: a part of one record."""


class FrameHandler(Protocol):
    """Receives the events of a transport, in callbacks of the event loop. An event that the peer
    causes must not make it raise."""

    def frame_received(self, frame: memoryview) -> None:
        """Take one frame, without its size prefix. The handler may keep the view."""

    def writing_resumed(self) -> None:
        """Called when all written bytes have left for the kernel, if `can_write` was False."""

    def transport_lost(self, error: KafkaError) -> None:
        """Called once when the transport is lost, with the reason. Not called after `close`."""


class TlsStart(NamedTuple):
    """What the TLS handshake of a new connection needs."""

    context: SSLContext
    host: str
    """The certificate of the node has to be for this name or IP address."""
    on_connected: Callable[[], object]
    """Called when the TCP connection stands and the handshake begins."""


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
        self._socket: socket.socket | None = None  # None where bytes cannot be awaited
        self._awaited = 1
        self._gathers_to: socket.socket | None = None  # None where the loop sends all frames

    def await_bytes_of(self, sock: socket.socket) -> None:
        """Let the system collect the bytes of large frames, if it can."""
        if sys.platform == "linux":
            self._socket = sock

    def gather_to(self, sock: socket.socket) -> None:
        """Send large frames by the socket itself, as far as the system takes them at once."""
        if _JOINS_PARTS and type(sock) is socket.socket:
            self._gathers_to = sock

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
            if self._gathers_to is not None and not transport.get_write_buffer_size():
                parts = _send_gathered(self._gathers_to, parts)
            transport.writelines(parts)
            if self.can_write and transport.get_write_buffer_size():
                # `writelines` of Python 3.12.1 and 3.13.0 ignores the limits. This call does not.
                transport.set_write_buffer_limits(self._high_water, 0)
        except (OSError, RuntimeError) as error:
            # uvloop raises RuntimeError for a transport that has just closed. The frames of the
            # error hold `parts`, in which a token can be.
            self._fail(connection_error(error.with_traceback(None), self._peer))

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
                self._await_bytes(len(self._large_frame) - self._large_end)
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
        if (
            _PREFIX_BYTES < end <= min(LARGE_FRAME_BYTES, self._max_frame_bytes)
            and end == SIZE_PREFIX.unpack_from(view)[0] + _PREFIX_BYTES
        ):  # one whole frame, as usual
            frame = memoryview(bytes(view[_PREFIX_BYTES:end]))
            self._scratch_end = 0
            self._scratch = None
            _give_back(view)
            self._deliver(frame)
            return
        while end - start >= _PREFIX_BYTES:
            body = start + _PREFIX_BYTES
            size = SIZE_PREFIX.unpack_from(view, start)[0]
            if not 0 <= size <= self._max_frame_bytes:
                frame_size(view[start:end], self._max_frame_bytes)  # raises
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

    def _await_bytes(self, left: int) -> None:
        """Let the system wake up the loop when enough of a large frame has come.

        `left` bytes are still to come, less those that TLS holds back. The buffer that was offered
        was larger than what was read, unless `left` is 0. So TLS had no whole record left.
        """
        awaited = min(left - _HELD_BACK_BYTES, _AWAITED_BYTES)
        if awaited < _HELD_BACK_BYTES:
            awaited = 1
        if awaited != self._awaited and self._socket is not None:
            self._awaited = awaited
            with suppress(OSError):  # the loop has closed it
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, awaited)

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
        self._transport = self._socket = self._gathers_to = None

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
                if isinstance(loop, asyncio.SelectorEventLoop):
                    made.gather_to(sock)
            else:
                tls.on_connected()
                await _start_tls(sock, made, address, tls)
        except BaseException:
            sock.close()
            raise
    return made


def _send_gathered(
    sock: socket.socket, parts: Sequence[bytes | bytearray | memoryview]
) -> Sequence[bytes | bytearray | memoryview]:
    """Send what the system takes at once of a large frame, without joining it; return the rest."""
    if sum(map(len, parts)) < _GATHERED_BYTES:
        return parts
    try:
        sent = sock.sendmsg(parts[:_MOST_PARTS])
    except OSError:  # the loop meets it again, and waits or fails
        return parts
    for at, part in enumerate(parts):
        if sent < len(part):
            return [memoryview(part)[sent:], *parts[at + 1 :]]
        sent -= len(part)
    return ()


def _awaitable(asked: object, host: str, port: int) -> Awaitable[object]:
    """Return what `connect` returned. Raises: KafkaConfigurationError for a plain function's."""
    if isinstance(asked, Awaitable):
        return asked
    if isinstance(asked, socket.socket):
        asked.close()
    raise KafkaConfigurationError(
        f"connect({host!r}, {port}) returned {type(asked).__name__}, which cannot be awaited; "
        f"make it an `async def`"
    )


async def _socket_of(connector: Connector, address: Address) -> socket.socket:
    """Return the socket that the user's function makes.

    Raises: KafkaConnectionError with what the function raised as its cause; KafkaConfigurationError
    for anything but a socket, and for a function that is no coroutine function.
    """
    host, port = address.sockaddr[:2]
    try:
        made: object = await _awaitable(connector(host, port), host, port)
    except (OSError, KafkaError):
        raise
    except Exception as error:
        raise connection_error(error, str(address), None) from error
    if not isinstance(made, socket.socket):
        raise KafkaConfigurationError(
            f"connect({host!r}, {port}) returned {made!r} of type {type(made).__name__}; return a "
            f"connected socket.socket"
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


@contextmanager
def connection_errors(peer: str, timeout_s: float | None = None) -> Iterator[None]:
    """Turn other errors of the block into KafkaError, which names `peer`, and after a timeout
    `timeout_s`."""
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


def connection_error(error: Exception, peer: str, timeout_s: float | None = None) -> KafkaError:
    """Return the KafkaConnectionError for `error`, with `error` as its cause.

    A certificate that the node refused is a TlsAuthenticationError.
    """
    if isinstance(error, SSLError):
        from aiokafka_lite.net.tls.tls_failures import later_error  # noqa: PLC0415 - TLS alone

        return later_error(error, peer)
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
    "TlsStart",
    "address_of",
    "connect",
    "connection_error",
    "connection_errors",
    "resolve",
]
