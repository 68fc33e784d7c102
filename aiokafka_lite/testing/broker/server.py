"""One listener of a node over TCP, and its connections, each of which answers in order.

A connection is a plain protocol object and serves frames as they arrive. It has a task only while a
response has to wait (a long poll, a fault). Later frames queue up. Beyond a few, the connection
stops reading. So a slow response delays only its own connection.
"""

import asyncio
import errno
import logging
import socket
from collections import deque
from collections.abc import Callable
from typing import cast

from aiokafka_lite.concurrency.loop_network import loop_network
from aiokafka_lite.concurrency.task_owner import OwnedTask, TaskOwner
from aiokafka_lite.errors import ProtocolDecodeError
from aiokafka_lite.protocol.frame import FrameSplitter
from aiokafka_lite.testing.broker.handler import CloseConnectionError, NodeContext
from aiokafka_lite.testing.broker.router import LaterReply, Reply, Router
from aiokafka_lite.testing.broker.security.listener_security import ListenerSecurity
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION
from aiokafka_lite.testing.broker.tls_transport import Abortable, TlsTransport

logger = logging.getLogger(__name__)

MAX_QUEUED_FRAMES = 16
"""Requests that a connection reads ahead while an earlier one waits for its response."""


class NodeServer:
    """One listener of one node. Start and stop do not wait; a stopped server may start again."""

    def __init__(
        self,
        context: NodeContext,
        router: Router,
        owner: TaskOwner,
        *,
        listen_host: str,
        on_answer: Callable[[], object],
        on_crash: Callable[[Exception], object],
        listener: ListenerSecurity,
    ) -> None:
        self.context = context
        self.listener = listener
        self.router = router
        self.owner = owner
        self._listen_host = listen_host
        self.on_answer = on_answer
        self.on_crash = on_crash
        self.connections: dict[Abortable, None] = {}  # in the order of their accepts
        self._socket: socket.socket | None = None
        self._port_holder: socket.socket | None = None
        self._server: asyncio.Server | None = None
        self._serving: OwnedTask | None = None
        self._has_let_go = asyncio.Event()
        self._has_let_go.set()
        self._all_closed = asyncio.Event()

    def __repr__(self) -> str:
        node, name = self.context.node, self.listener.name
        address = f"{name}://{node.host}:{node.ports[name]}"
        return f"<NodeServer {node.node_id} {address} {len(self.connections)} open>"

    def start(self) -> None:
        """Listen on the node's port for this listener; without one, on any free port, which becomes
        the node's.

        Clients may connect from now on. They are accepted as soon as the loop runs.

        Raises: OSError, with the remedy in it, if the address is not available.
        """
        node, name = self.context.node, self.listener.name
        self._socket, holder = _listen(self._listen_host, node.ports[name], node.node_id)
        node.ports[name] = self._socket.getsockname()[1]
        self.release_port()
        self._port_holder = holder
        self._serving = self.owner.spawn(f"node {node.node_id} accepts", self._serve, self._socket)

    async def wait_serving(self) -> None:
        """Return once connections are accepted."""
        if self._serving is not None:
            await self._serving.wait()

    def stop(self) -> None:
        """Refuse new connections, and drop the existing ones without sending their remaining
        bytes.
        """
        if self._serving is not None:
            self._serving.cancel()
        if self._socket is not None:
            # The port can be used again only once nothing listens on it. A closed server may keep
            # its socket open until the loop has run once more (uvloop).
            try:
                self._socket.shutdown(socket.SHUT_RDWR)
            except OSError:
                logger.debug("the listener of %r was not connected", self, exc_info=True)
        if self._server is not None and self._socket is not None:
            self._has_let_go.clear()
            _close(self._server, self._socket, self._has_let_go)
        elif self._socket is not None:
            self._socket.close()
        self._server = self._socket = self._serving = None
        self.drop_connections()
        self.context.sessions.clear()
        self.context.share_sessions.clear()

    @property
    def is_listening(self) -> bool:
        return self._socket is not None

    def release_port(self) -> None:
        """Release the port of a node that was stopped for good."""
        if self._port_holder is not None:
            self._port_holder.close()
            self._port_holder = None

    def drop_connections(self) -> None:
        """Close every connection now; unsent bytes are lost."""
        for connection in tuple(self.connections):
            connection.abort()

    async def wait_stopped(self) -> None:
        """Return when the listener and every connection are closed."""
        await self._has_let_go.wait()
        while self.connections:
            self._all_closed.clear()
            await self._all_closed.wait()

    async def _serve(self, listener: socket.socket) -> None:
        server = await asyncio.get_running_loop().create_server(
            self._make_protocol, sock=listener, start_serving=False
        )
        if self._socket is listener:
            # from here on stop() closes it, also during the next line's await
            self._server = server
            await server.start_serving()
        else:  # the server was stopped meanwhile
            server.close()

    def _make_protocol(self) -> asyncio.Protocol:
        context = self.listener.tls_context
        connection = BrokerConnection(self)
        if context is None:
            return connection
        return TlsTransport(connection, context, self, is_mute=self.listener.hangs_in_handshakes)

    def opened(self, connection: Abortable) -> None:
        """Keep an open connection; close it if the node was stopped since it was accepted."""
        self.connections[connection] = None
        if not self.is_listening:
            connection.abort()

    def lost(self, connection: Abortable) -> None:
        """Remove a closed connection."""
        self.connections.pop(connection, None)
        if not self.connections:
            self._all_closed.set()


class BrokerConnection(asyncio.Protocol):
    """One client connection to one node."""

    def __init__(self, server: NodeServer) -> None:
        self._server = server
        self._splitter = FrameSplitter()
        self._frames: deque[bytes] = deque()
        self._transport: asyncio.Transport | None = None
        self._waiting: OwnedTask | None = None
        self._is_write_paused = False
        self._is_read_paused = False
        self._is_silent = False
        self._session = OPEN_SESSION

    # Called by the event loop…

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._session = self._server.listener.open_session(transport)
        self._server.opened(self)

    def data_received(self, data: bytes) -> None:
        try:
            self._frames.extend(self._splitter.feed(data))
        except ProtocolDecodeError as error:
            self._refuse(error)
            return
        self._advance()

    def pause_writing(self) -> None:
        self._is_write_paused = True

    def resume_writing(self) -> None:
        self._is_write_paused = False
        self._advance()

    def connection_lost(self, _: Exception | None) -> None:
        self._transport = None
        self._frames.clear()
        if self._waiting is not None:
            self._waiting.cancel()
        self._server.context.disconnected(self._session)
        self._server.lost(self)

    # Serving…

    def abort(self) -> None:
        """Close now; unsent bytes are lost."""
        if self._transport is not None:
            self._transport.abort()

    def _advance(self) -> None:
        """Serve queued frames until one has to wait, or the client reads too slowly."""
        while self._frames and self._waiting is None and not self._is_write_paused:
            if self._transport is None or self._transport.is_closing():
                return
            frame = self._frames.popleft()
            try:
                reply = self._server.router.serve(frame, self._server.context, self._session)
            except Exception as error:  # noqa: BLE001 - sorted out there; none may reach the loop
                self._refuse(error)
                return
            if isinstance(reply, Reply):
                self._answer(reply)
            else:
                self._waiting = self._server.owner.spawn("answer later", self._finish, reply)
        self._throttle_reading()

    def _answer(self, reply: Reply) -> None:
        self._send(reply)
        if reply.mute_s:
            self._waiting = self._server.owner.spawn("is muted", self._mute, reply.mute_s)

    async def _mute(self, seconds: float) -> None:
        try:
            await self._server.context.clock.sleep(seconds)
        finally:
            self._waiting = None
        self._advance()

    async def _finish(self, later: LaterReply) -> None:
        try:
            reply = await later()
        except Exception as error:  # noqa: BLE001
            self._refuse(error)
            return
        finally:
            self._waiting = None
        self._answer(reply)
        self._advance()

    def _throttle_reading(self) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        wants_pause = len(self._frames) >= MAX_QUEUED_FRAMES
        if wants_pause and not self._is_read_paused:
            self._transport.pause_reading()
        elif self._is_read_paused and not wants_pause:
            self._transport.resume_reading()
        self._is_read_paused = wants_pause

    def _send(self, reply: Reply) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        self._is_silent |= reply.is_silent
        if reply.cut_after_bytes is not None:
            self._transport.write(b"".join(reply.parts)[: reply.cut_after_bytes])
            self._transport.close()
        elif reply.parts and not self._is_silent:
            self._transport.writelines(reply.parts)
            if reply.closes:
                self._transport.close()
        self._server.on_answer()

    def _refuse(self, error: Exception) -> None:
        """Close the connection. A client's fault is logged; a broker's fault is also remembered."""
        node_id = self._server.context.node.node_id
        if isinstance(error, (CloseConnectionError, ProtocolDecodeError)):
            logger.warning("node %s closes a connection: %s", node_id, error)
        else:
            logger.error("node %s failed to serve a request", node_id, exc_info=error)
            self._server.on_crash(error)
        if self._transport is not None:
            self._transport.close()
        self._server.on_answer()


def _close(server: asyncio.Server, listener: socket.socket, has_let_go: asyncio.Event) -> None:
    """Accept nothing more.

    Set the event when each accepted connection has started and the port is free.

    A selector loop makes a connection of an accepted socket one turn later. It loses the socket if
    the server was closed in between: https://github.com/python/cpython/issues/109564
    """
    loop = asyncio.get_running_loop()
    if isinstance(loop, asyncio.SelectorEventLoop):
        loop.remove_reader(listener)
        loop.call_soon(server.close)
    else:
        server.close()
    loop.call_soon(has_let_go.set)


def _holder(host: str, port: int) -> socket.socket | None:
    """Return a socket that never listens, but reserves the port while the node is down.

    Return None except on Linux, because elsewhere two sockets may not share an address.
    """
    holder = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind((host, port))
    except OSError:
        holder.close()
        return None
    return holder


def _listen(host: str, port: int, node_id: int) -> tuple[socket.socket, socket.socket | None]:
    network = loop_network()
    if network is not None:
        return network.listen(port), None
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    holder: socket.socket | None = None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setblocking(False)
        listener.bind((host, port))
        holder = _holder(host, listener.getsockname()[1])  # not once another socket listens
        listener.listen(128)
    except OSError as error:
        listener.close()
        if holder is not None:
            holder.close()
        if error.errno == errno.EADDRINUSE:
            remedy = "stop the program that listens there, or pass port=0 for any free port"
        else:
            remedy = "pass an address of this machine, such as 127.0.0.1, and a port it may use"
        raise OSError(
            error.errno,
            f"node {node_id} cannot listen on {host}:{port} ({error.strerror}): {remedy}",
        ) from error
    return listener, holder


__all__ = ["BrokerConnection", "NodeServer"]
