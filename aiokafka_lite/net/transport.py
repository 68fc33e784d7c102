"""Owns the socket of one connection: bytes in become frames, frames out become one write. The one
border where OSError, timeouts and whatever else an event loop may raise become
KafkaConnectionError. It knows frames, not messages.

Receiving is an `asyncio.BufferedProtocol`: the loop reads into memory of ours. Small frames arrive
in a scratch buffer and are copied out of it; a frame announced as large gets a pooled buffer of its
size, is read straight into it, and is handed on uncopied. A scratch is lent for a read, and kept
while a part of a frame lies in it: idle connections have none. There is no reader task: the loop's
callbacks do all the work. Only `resolve`, `connect` and `wait_closed` wait.
"""

import asyncio
import errno
import ipaddress
import os
import socket
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, Protocol, cast

from aiokafka_lite.errors import KafkaConnectionError, KafkaError
from aiokafka_lite.net.endpoint import Address, Endpoint, SocketAddress
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.protocol.frame import MAX_FRAME_BYTES, frame_size

SCRATCH_BYTES: Final = 64 * 1024
LARGE_FRAME_BYTES: Final = 32 * 1024
"""Frames above this get a buffer of their own. At most half the scratch, so that the start of a
small frame, moved to the front, always leaves room for its end."""
_PREFIX_BYTES: Final = 4
_SPARE_SCRATCHES: Final = 4
"""How many are kept for whoever reads next: loops of several threads, and a burst of parts."""
SYSTEM_BUFFER_SIZE: Final = -1
_CONNECTING: Final = frozenset({errno.EINPROGRESS, errno.EINTR})


class FrameHandler(Protocol):
    """Who is told what happens on a transport. Called by the event loop; must not raise for what
    the peer did."""

    def frame_received(self, frame: memoryview) -> None:
        """Take one frame, without its size prefix. The view is the receiver's to keep."""

    def writing_resumed(self) -> None:
        """Hear that everything written so far has left for the kernel; only after `can_write` was
        False."""

    def transport_lost(self, error: KafkaError) -> None:
        """Hear, once, that the transport is gone and why; not when this side closed it."""


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
        # None as soon as there is nothing more to tell.
        self._handler: FrameHandler | None = handler
        self._peer = peer
        self._frame_pool = frame_pool
        self._max_frame_bytes = max_frame_bytes
        self._transport: asyncio.Transport | None = None
        self._gone = asyncio.Event()
        self._eof = False
        self.can_write = True
        """Whether every frame written so far has left completely."""
        self.error: KafkaError | None = None
        """What ended the transport, if it was not `close()`."""
        self._scratch: memoryview | None = None
        self._scratch_end = 0  # bytes received and not used yet; they begin with a size prefix
        self._large_frame: memoryview | None = None
        self._large_end = 0

    def hand_over(self, handler: FrameHandler) -> None:
        """Report to `handler` from now on; for a transport that is not gone."""
        self._handler = handler

    # Sending…

    def write(self, parts: Sequence[bytes | bytearray | memoryview]) -> None:
        """Hand one whole frame to the loop. Does not wait; afterwards `can_write` says whether all
        of it has left.

        Bytes that have not left are read from `parts` later: nobody may change them before
        `writing_resumed`. A failure reaches the handler, not the caller.
        """
        transport = self._transport
        if transport is None or self._handler is None or transport.is_closing():
            return  # the handler knows, or is about to hear of it
        try:
            transport.writelines(parts)
            if self.can_write and transport.get_write_buffer_size():
                # Python 3.12.1 and 3.13.0: `writelines` does not look at the limits; this does.
                transport.set_write_buffer_limits(high=0)
        except (OSError, RuntimeError) as error:
            # RuntimeError is uvloop's word for a transport that has just closed.
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
        except Exception as error:  # noqa: BLE001  the loop would close and tell nobody why
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
                # A copy: the scratch is overwritten by what comes next, the frame may be kept.
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
        """Move what has arrived of a large frame to its own buffer; return where the rest of the
        scratch begins."""
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
        # None when it has closed this transport on account of an earlier frame.
        if self._handler is not None:
            self._handler.frame_received(frame)

    def eof_received(self) -> bool:
        self._eof = True
        return False  # the loop closes the transport: Kafka has no half-closed connections

    # Once the connection is no longer needed…

    def close(self) -> None:
        """Close from this side, at once, and tell the handler nothing more.

        Bytes that have not left yet are dropped: a peer that does not read must not keep a closed
        connection alive.
        """
        self._handler = None
        if self._transport is not None:
            self._transport.abort()

    async def wait_closed(self) -> None:
        """Wait until the loop has let go of the socket. Cancelled: the transport closes all the
        same."""
        await self._gone.wait()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        # With a limit of nothing, "paused" means "a frame has not left completely", which is when
        # the next one must wait (2f-1) and when an unanswered request counts as written.
        self._transport.set_write_buffer_limits(high=0)

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
        # The loop may keep this object for a while; the buffers need not stay with it.
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


# Getting there…


async def resolve(endpoint: Endpoint) -> list[Address]:
    """Return every address the endpoint's name stands for, in the resolver's order, without
    repetitions.

    Waits for the system's resolver, in a thread of the loop, except when the host is an IP address
    already.

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
        # The third shape the type stubs know of comes from Pythons built without IPv6 only.
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
    if "%" in endpoint.host:  # a scope is a name of this machine: the resolver knows its number
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
) -> FrameTransport:
    """Connect to one address and return its transport, which reports to `handler` from then on.

    Waits without a bound of its own. Cancelled: the socket is closed.

    Raises:
        KafkaConnectionError: refused, unreachable, or no more sockets; the OSError is its cause.
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
            )
        except BaseException:
            sock.close()
            raise
    return transport


async def _connect_socket(sock: socket.socket, sockaddr: SocketAddress) -> None:
    """Do what `loop.sock_connect` is for. uvloop's looks the address up again first, an IP address,
    too, in a pool of four threads: a slow name server would hold up connections that need no names,
    and the scope of an IPv6 address would get lost.

    Raises: OSError. Cancelled: the socket is the caller's to close.
    """
    loop = asyncio.get_running_loop()
    if sys.platform == "win32":  # its loop waits for operations, not until a socket is ready
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
    # Before connecting: the receive buffer decides the window scale of the handshake.
    if send_buffer_bytes != SYSTEM_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer_bytes)
    if receive_buffer_bytes != SYSTEM_BUFFER_SIZE:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer_bytes)


@contextmanager
def connection_errors(peer: str, timeout_s: float | None = None) -> Iterator[None]:
    """Turn foreign errors of the block into KafkaConnectionError naming `peer`; a timeout names
    `timeout_s`, too."""
    try:
        yield
    except KafkaError:
        raise
    except (
        OSError,
        RuntimeError,
        UnicodeError,  # a host name that IDNA cannot encode
        OverflowError,  # a port that is none
    ) as error:
        raise connection_error(error, peer, timeout_s) from error


def connection_error(
    error: Exception, peer: str, timeout_s: float | None = None
) -> KafkaConnectionError:
    """Return what `error` means for a connection, with `error` as its cause."""
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
