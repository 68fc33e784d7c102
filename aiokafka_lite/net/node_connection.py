"""One connection to one node: it sends requests in order and gives each response to its caller.

`cluster/` decides when to connect again, heeds throttles, and closes idle connections.

A connection has no task. A request is written in the call of `request` if fewer than
`max_in_flight` requests are unanswered. Otherwise it waits in the mailbox, a bounded queue. A
callback of the event loop writes it when a response came, or when the socket is writable again. The
transport's callback reads the responses. So nothing is scheduled between a caller and the socket,
and no background task can fail unnoticed. With `max_queued` requests in the mailbox, `request`
raises.
"""

import asyncio
import logging
import struct
from collections import deque
from collections.abc import Callable
from itertools import chain
from typing import Any, Final, TypeVar

from aiokafka_lite.clock import Clock, TimerHandle
from aiokafka_lite.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
    ProtocolDecodeError,
    RequestTimedOutError,
    TooManyInFlightRequests,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.connection_state import ConnectionEvent, ConnectionState, after
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.handshake import IntendedNode
from aiokafka_lite.net.in_flight_requests import InFlightRequests
from aiokafka_lite.net.opening import Opening
from aiokafka_lite.net.pending_request import PendingRequest
from aiokafka_lite.net.transport import FrameTransport
from aiokafka_lite.protocol.message_header import decode_response, encode_request
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Request, Response

R = TypeVar("R", bound=Response)

_CORRELATION_ID: Final = struct.Struct(">i")

logger = logging.getLogger(__name__)


class NodeConnection:
    """One connection to one node, to be opened once. It belongs to one event loop.

    Any number of tasks may send requests. They leave in the order of the calls. Each is sent when
    the one before has left completely and fewer than `max_in_flight` are unanswered (2f-1).
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        client_id: str,
        clock: Clock,
        node_id: int | None = None,
        cluster_id: str | None = None,
        config: ConnectionConfig | None = None,
        frame_pool: FrameBufferPool | None = None,
        observer: Observer = NO_OBSERVER,
        on_close: Callable[["NodeConnection"], None] | None = None,
    ) -> None:
        """Needs no running loop. `node_id` is None for a seed whose node is not known yet.

        With `cluster_id`, another node or a node of another cluster refuses the connection
        (KIP-1242). None: any node may answer.

        The connection calls `on_close` once when it ends after it was open. By then every pending
        request has its error. `on_close` must not raise.
        """
        self.endpoint = endpoint
        self.node_id = node_id
        self.client_id = client_id
        self.config = config or ConnectionConfig()
        self.on_close = on_close
        self.cause: KafkaError | None = None
        """Why the connection has ended. None until then, and after `close()` without a cause."""
        self.last_used_s = clock.monotonic()
        """When the last request was sent or the last response came, in the clock's seconds."""
        self.name = str(endpoint) if node_id is None else f"node {node_id} at {endpoint}"
        self._intended = (
            None if node_id is None or cluster_id is None else IntendedNode(cluster_id, node_id)
        )
        self._clock = clock
        self._observer = observer
        self._frame_pool = frame_pool or FrameBufferPool()
        self._state = ConnectionState.NEW
        self._opening: Opening | None = None
        self._transport: FrameTransport | None = None
        self._api_versions: NodeApiVersions | None = None
        self._in_flight: InFlightRequests[PendingRequest] = InFlightRequests(
            self.config.max_in_flight
        )
        self._mailbox: deque[PendingRequest] = deque()
        self._unwritten: PendingRequest | None = None  # posted, and not all bytes have left
        self._timer: TimerHandle | None = None
        self._timer_at_s = 0.0

    # Its state…

    @property
    def is_open(self) -> bool:
        """Whether the connection takes requests."""
        return self._state is ConnectionState.READY

    @property
    def is_unanswered(self) -> bool:
        """Whether the TCP connection stands, and the handshake has no response yet."""
        opening = self._opening
        return (
            self._state is ConnectionState.CONNECTING
            and opening is not None
            and opening.transport is not None
        )

    @property
    def can_send(self) -> bool:
        """Whether a request would be written at once."""
        transport = self._transport
        return (
            self._state is ConnectionState.READY
            and not self._mailbox
            and not self._in_flight.is_full
            and transport is not None
            and transport.can_write
        )

    @property
    def in_flight(self) -> int:
        """How many requests have no response yet, including those of cancelled callers."""
        return len(self._in_flight)

    @property
    def queued(self) -> int:
        """How many requests wait in the mailbox."""
        return len(self._mailbox)

    @property
    def api_versions(self) -> NodeApiVersions:
        """The API versions and features of the node. Raises: IllegalStateError before `open`."""
        if self._api_versions is None:
            raise IllegalStateError(f"{self.name} has not been asked for its versions yet; open()")
        return self._api_versions

    def __repr__(self) -> str:
        return (
            f"<NodeConnection {self.name} {self._state.name}"
            f" in_flight={self.in_flight} queued={self.queued}>"
        )

    # Opening…

    async def open(self) -> None:
        """Connect and negotiate versions. Try each address of the endpoint until one is ready.

        Raises:
            KafkaConnectionError: no address was ready within `connection_setup_timeout_ms`; names
                each and what happened there.
            RebootstrapRequiredError: another node answers there.
            UnsupportedVersionError, BrokerResponseError: the node refuses this client.
            IllegalStateError: the connection was opened or closed before.
        Cancelled: the connection is closed; nothing stays behind after `wait_closed`.
        """
        self._state = after(self._state, ConnectionEvent.OPEN)
        self._opening = opening = Opening(
            self.endpoint,
            name=self.name,
            client_id=self.client_id,
            clock=self._clock,
            config=self.config,
            frame_pool=self._frame_pool,
            intended=self._intended,
        )
        try:
            transport, self._api_versions = await opening.run()
        except KafkaError as error:
            self.close(error)
            raise
        except BaseException as error:
            given_up = KafkaConnectionError(f"opening the connection to {self.name} was given up")
            given_up.__cause__ = error
            self.close(given_up)
            raise
        transport.hand_over(self)
        self._transport = transport
        self._in_flight = InFlightRequests(
            self.config.max_in_flight, opening.correlation_ids.next_correlation_id
        )
        self._state = after(self._state, ConnectionEvent.HANDSHAKE_DONE)
        self.last_used_s = self._clock.monotonic()
        logger.debug("%s: connected and ready", self.name)

    # Sending…

    async def request(
        self,
        request: Request[R],
        *,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> R:
        """Send a request and return its decoded response. It is sent, or queued, before the first
        wait.

        The newest version that both sides know is used, `max_version` at most. `timeout_s` (None:
        `request_timeout_ms`) counts from this call. A request without a response by then closes
        the connection, because the peer is stuck (2f-5). A request that was never sent fails alone.
        The records of a request are read, not copied, until it has left.

        Raises:
            RequestTimedOutError: no response, or not even sent, within the timeout.
            KafkaConnectionError: the connection is closed; the cause is chained.
            UnsupportedVersionError: no common version, or the request needs a newer one; not sent.
            IllegalArgumentError: a value does not fit its field, which it names; not sent.
            ProtocolDecodeError: the response cannot be read; the connection is closed.
            TooManyInFlightRequests: `max_queued` requests wait already; not sent.
        Cancelled: a queued request is not sent. Any other leaves completely, and the node may act
        on it. It counts as in flight until its response comes, which is then dropped.
        """
        pending = self._new_pending(request, timeout_s, max_version)
        self._submit(pending)
        try:
            response: R = await pending.answer
        except asyncio.CancelledError:
            self._withdraw(pending)
            raise
        return response

    async def post(
        self,
        request: Request[Any],
        *,
        timeout_s: float | None = None,
        max_version: int | None = None,
    ) -> None:
        """Send a request that has no response (Produce with acks=0), and return once all its bytes
        have left.

        Raises: as `request`. Cancelled: as `request`.
        """
        pending = self._new_pending(request, timeout_s, max_version, expects_response=False)
        self._submit(pending)
        try:
            await pending.answer
        except asyncio.CancelledError:
            self._withdraw(pending)
            raise

    def submit(
        self, request: Request[R], *, max_version: int | None = None, expects_response: bool = True
    ) -> "asyncio.Future[R | None]":
        """Send a request, or queue it, and return a future for its response. Does not wait.

        For callers without a task to wait in. The future gets what `request` or, with
        `expects_response=False`, `post` returns or raises. It must not be cancelled.

        Raises: what keeps the request from being queued, as `request`.
        """
        pending = self._new_pending(request, None, max_version, expects_response=expects_response)
        self._submit(pending)
        return pending.answer

    def _new_pending(
        self,
        request: Request[R],
        timeout_s: float | None,
        max_version: int | None,
        *,
        expects_response: bool = True,
    ) -> PendingRequest:
        if self._state is not ConnectionState.READY or self._api_versions is None:
            raise self._not_open_error()
        version = self._api_versions.pick(type(request), max_version)
        if timeout_s is None:
            timeout_s = self.config.request_timeout_ms / 1000
        return PendingRequest(
            request,
            version,
            asyncio.get_running_loop().create_future(),
            now_s=self._clock.monotonic(),
            timeout_s=timeout_s,
            expects_response=expects_response,
        )

    def _submit(self, pending: PendingRequest) -> None:
        """Send a request now, or leave it in the mailbox for a callback to send."""
        if len(self._mailbox) >= self.config.max_queued:
            raise TooManyInFlightRequests(
                f"{self.name} has {self.in_flight} requests in flight and {self.queued} waiting;"
                " wait for some answers before sending more"
            )
        # The timer first: sending may find the connection dead, which ends all timers.
        if self._timer is None or pending.deadline_s < self._timer_at_s:
            self._set_timer(pending.deadline_s)
        transport = self._transport
        if self.can_send and transport is not None:
            self._send(pending, transport)
        else:
            self._mailbox.append(pending)

    def _withdraw(self, pending: PendingRequest) -> None:
        """Take a request out of the mailbox if it was not sent yet."""
        if not pending.was_sent and pending in self._mailbox:
            self._mailbox.remove(pending)

    def _send(self, pending: PendingRequest, transport: FrameTransport) -> None:
        correlation_id = self._in_flight.new_correlation_id()
        try:
            parts = encode_request(
                pending.request,
                version=pending.version,
                correlation_id=correlation_id,
                client_id=self.client_id,
            )
        except KafkaError as error:
            pending.fail(error)
            return
        except Exception as error:  # noqa: BLE001  the fault of the request, so its caller's
            fault = IllegalArgumentError(str(error))
            fault.__cause__ = error
            pending.fail(fault)
            return
        pending.correlation_id = correlation_id
        pending.sent_at_s = self.last_used_s = self._clock.monotonic()
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: -> %s, %d bytes", self.name, pending, sum(map(len, parts)))
        # Added first, because a write that fails at once fails all requests in flight.
        if pending.expects_response:
            self._in_flight.add(correlation_id, pending)
            transport.write(parts)
            return
        self._unwritten = pending
        transport.write(parts)
        if transport.can_write:
            self.writing_resumed()

    def _send_queued(self) -> None:
        """Send what the mailbox holds while there is room."""
        transport = self._transport
        mailbox = self._mailbox
        while mailbox and transport is not None and transport.can_write:
            if self._in_flight.is_full or self._state is not ConnectionState.READY:
                return
            pending = mailbox.popleft()
            if not pending.answer.done():
                self._send(pending, transport)

    # Events of the transport…

    def frame_received(self, frame: memoryview) -> None:
        if len(frame) < _CORRELATION_ID.size:
            raise ProtocolDecodeError(f"a frame of {len(frame)} bytes has no correlation id")
        pending = self._in_flight.complete(_CORRELATION_ID.unpack_from(frame)[0])
        self.last_used_s = self._clock.monotonic()
        if logger.isEnabledFor(logging.DEBUG):
            elapsed_ms = (self.last_used_s - pending.sent_at_s) * 1000
            dropped = ", dropped: its caller has gone" if pending.answer.done() else ""
            logger.debug(
                "%s: <- %s, %d bytes, %.1f ms%s",
                *(self.name, pending, len(frame), elapsed_ms, dropped),
            )
        self._observer.request_answered(
            -1 if self.node_id is None else self.node_id,
            pending.request.api_key,
            self.last_used_s - pending.sent_at_s,
            len(frame),
        )
        if not pending.answer.done():
            pending.answer.set_result(_decode(pending, frame))
        if self._mailbox:
            self._send_queued()

    def writing_resumed(self) -> None:
        pending, self._unwritten = self._unwritten, None
        if pending is not None:
            pending.succeed(None)
        if self._mailbox:
            self._send_queued()

    def transport_lost(self, error: KafkaError) -> None:
        self.close(error)

    # Deadlines…

    def _set_timer(self, at_s: float) -> None:
        """Check the deadlines at `at_s`. One timer serves all requests. It stays when the request
        that it was set for is answered, which saves a timer per request."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at_s = at_s
        self._timer = self._clock.call_at(at_s, self._check_deadlines)

    def _check_deadlines(self) -> None:
        self._timer = None
        now_s = self._clock.monotonic()
        stuck = [pending for pending in self._sent_requests() if pending.deadline_s <= now_s]
        if stuck:
            errors = [self._timed_out_error(pending) for pending in stuck]
            for pending, error in zip(stuck, errors, strict=True):
                pending.fail(error)
            self.close(errors[0])
            return
        for pending in [pending for pending in self._mailbox if pending.deadline_s <= now_s]:
            self._mailbox.remove(pending)
            pending.fail(self._timed_out_error(pending))
        waiting = chain(self._sent_requests(), self._mailbox)
        next_s = min((pending.deadline_s for pending in waiting), default=None)
        if next_s is not None:
            self._set_timer(next_s)

    def _sent_requests(self) -> list[PendingRequest]:
        unwritten = [] if self._unwritten is None else [self._unwritten]
        return [*self._in_flight, *unwritten]

    def _timed_out_error(self, pending: PendingRequest) -> RequestTimedOutError:
        within = f"within {pending.timeout_s * 1000:,.0f} ms"
        if not pending.was_sent:
            return RequestTimedOutError(
                f"{pending} could not be sent to {self.name} {within}:"
                f" {self.in_flight} requests are unanswered"
            )
        failed = "did not answer" if pending.expects_response else "did not take all bytes of"
        return RequestTimedOutError(
            f"{self.name} {failed} {pending} {within}; the connection is closed. If the"
            " broker is only slow, raise request_timeout_ms"
        )

    # Closing…

    def close(self, cause: KafkaError | None = None) -> None:
        """End the connection at once. Only the first call counts. Does not wait.

        Every pending request, and every later one, gets a KafkaConnectionError chained to `cause`.
        """
        if self._state is ConnectionState.CLOSED:
            return
        was_open = self.is_open
        self._state = after(self._state, ConnectionEvent.CLOSE)
        self.cause = cause
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._transport is not None:
            self._transport.close()
        elif self._opening is not None:
            self._opening.give_up(self._closed_error())
        pending_requests = [*self._sent_requests(), *self._mailbox]
        self._in_flight.drain()
        self._mailbox.clear()
        self._unwritten = None
        for pending in pending_requests:
            pending.fail(self._closed_error(pending))
        logger.debug(
            "%s: closed, %d requests pending: %s",
            self.name,
            len(pending_requests),
            "by this client" if cause is None else reason_of(cause),
        )
        if was_open and self.on_close is not None:
            self.on_close(self)

    async def wait_closed(self) -> None:
        """Return when the socket is closed, at once if there was none.

        Cancelled: the connection goes on closing.
        """
        transport = self._opening.transport if self._opening is not None else None
        if transport is not None:
            await transport.wait_closed()

    def _closed_error(self, pending: PendingRequest | None = None) -> KafkaConnectionError:
        """Return a new error. A shared one would collect the tracebacks of all callers."""
        lost = f"; {pending} is lost" if pending is not None else ""
        if self.cause is None:
            return KafkaConnectionError(f"this client closed the connection to {self.name}{lost}")
        error = KafkaConnectionError(
            f"the connection to {self.name} has ended: {reason_of(self.cause)}{lost}"
        )
        error.__cause__ = self.cause
        return error

    def _not_open_error(self) -> KafkaError:
        if self._state is ConnectionState.CLOSED:
            return self._closed_error()
        return IllegalStateError(f"cannot send to {self.name} while {self._state.name}; open()")


def _decode(pending: PendingRequest, frame: memoryview) -> Response:
    """Return the decoded response. An error reaches the caller as it is. The transport closes the
    connection because of it, and so it reaches the other requests."""
    try:
        response: Response
        _, response = decode_response(pending.request.response_type, frame, pending.version)
    except Exception as error:
        pending.fail(error)
        raise
    return response


__all__ = ["ConnectionConfig", "NodeConnection"]
