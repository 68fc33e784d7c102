"""Carries requests over one open connection, in order, and gives each response to its caller.

A request is written in the call of `submit` if fewer than `max_in_flight` requests are unanswered.
Otherwise it waits in the mailbox, a bounded queue. A callback of the event loop writes it when a
response came, or when the socket is writable again. The transport's callback reads the responses.

The channel is a base class of the connection, because a part of its own would cost a call per
request. It does not open or end the connection.
"""

import logging
import struct
from collections import deque
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    IllegalArgumentError,
    KafkaConnectionError,
    KafkaError,
    ProtocolDecodeError,
    TooManyInFlightRequests,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.counters import WorkCounts
from aiokafka_lite.metrics.observer import Observer
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.connection_state import ConnectionState
from aiokafka_lite.net.exchange import Exchange, FrameExchange
from aiokafka_lite.net.frame_stream import FrameStream
from aiokafka_lite.net.handshake import HandshakeRequest
from aiokafka_lite.net.in_flight_requests import InFlightRequests
from aiokafka_lite.net.request_deadlines import RequestDeadlines, timed_out_error
from aiokafka_lite.protocol.request_frame import RequestHead
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Request

_CORRELATION_ID: Final = struct.Struct(">i")
_READY: Final = ConnectionState.READY

logger = logging.getLogger(__name__)


class RequestChannel:
    """The mailbox, the requests in flight and their deadlines; handles the transport's events."""

    def __init__(
        self,
        name: str,
        *,
        node_id: int | None,
        client_id: str,
        clock: Clock,
        config: ConnectionConfig,
        observer: Observer,
    ) -> None:
        """`name` names the node in messages."""
        self.name = name
        self.node_id = node_id
        self.client_id = client_id
        self.config = config
        self.last_used_s = clock.monotonic()
        """When the last request was sent or the last response came, in the clock's seconds."""
        self._clock = clock
        self._monotonic = clock.monotonic
        self._observer = observer
        self._counts = observer if isinstance(observer, WorkCounts) else None
        self._state = ConnectionState.NEW
        self._transport: FrameStream | None = None
        self._in_flight = InFlightRequests(config.max_in_flight)
        self._mailbox: deque[Exchange] = deque()
        self._unwritten: Exchange | None = None  # posted, and not all bytes have left
        self._step: Exchange | None = None  # of an authentication; not sent yet
        self._holds_requests = False
        self._odd_responses: set[type[Request[Any]]] = set()
        self._is_sending = False  # what sends meanwhile, such as a log handler, has to queue
        self._api_versions: NodeApiVersions | None = None
        self._heads: dict[tuple[type[Request[Any]], int | None], RequestHead] = {}
        self._request_timeout_s = config.request_timeout_ms / 1000
        self._deadlines = RequestDeadlines(clock, self._pending_requests, self._fail_late)

    def close(self, cause: KafkaError | None = None) -> None:
        """End the connection."""
        raise NotImplementedError

    def _closed_error(self, exchange: Exchange | None = None) -> KafkaConnectionError:
        """Return the error for a request of a connection that has ended."""
        raise NotImplementedError

    def _not_open_error(self) -> KafkaError:
        """Return the error for a request of a connection that is not open."""
        raise NotImplementedError

    # Its state…

    @property
    def is_open(self) -> bool:
        """Whether the connection takes requests."""
        return self.takes_requests()

    def takes_requests(self) -> bool:
        """Say whether the connection is open. For compiled callers, whom a property costs more."""
        return self._state is _READY

    @property
    def can_send(self) -> bool:
        """Whether a request would be written at once."""
        return self._is_free()

    def _is_free(self) -> bool:
        transport = self._transport
        return (
            self._state is _READY
            and not self._mailbox
            and not self._holds_requests
            and not self._is_sending
            and not self._in_flight.has_most()
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

    # Sending…

    def submit(self, exchange: Exchange) -> None:
        """Send a request, or queue it, and let `exchange` take its outcome. Does not wait.

        The outcome is what `request` or, without an expected response, `post` returns or raises. It
        is taken in the callbacks of the event loop, for a response in the one that has read it, and
        never within this call.

        Raises: what keeps the request from being queued, as `request`.
        """
        if self._state is not _READY or self._api_versions is None:
            raise self._not_open_error()
        request_type = type(exchange.request)
        head = self._heads.get((request_type, exchange.max_version))
        if head is None:
            version = self._api_versions.pick(request_type, exchange.max_version)
            head = RequestHead(request_type, version, self.client_id)
            self._heads[request_type, exchange.max_version] = head
        if len(self._mailbox) >= self.config.max_queued:
            raise TooManyInFlightRequests(
                f"{self.name} has {self.in_flight} requests in flight and {self.queued} waiting;"
                " wait for some answers before sending more"
            )
        exchange.begin(head, self._monotonic(), self._request_timeout_s)
        # The timer first: sending may find the connection dead, which ends all timers.
        self._deadlines.watch(exchange.deadline_s)
        transport = self._transport
        if transport is not None and self._is_free():
            self._send(exchange, transport)
            if self._mailbox:  # what was sent in the middle of this
                self._send_queued()
        else:
            self._mailbox.append(exchange)

    def withdraw(self, exchange: Exchange) -> None:
        """Take a request out of the mailbox if it was not sent yet."""
        if not exchange.was_sent and exchange in self._mailbox:
            self._mailbox.remove(exchange)

    def _send(self, exchange: Exchange, transport: FrameStream) -> None:
        self._is_sending = True
        try:
            self._send_now(exchange, transport)
        finally:
            self._is_sending = False

    def _send_now(self, exchange: Exchange, transport: FrameStream) -> None:
        correlation_id = self._in_flight.new_correlation_id()
        try:
            parts = exchange.frame(correlation_id)
        except KafkaError as error:
            exchange.fail(error)
            return
        except Exception as error:  # noqa: BLE001  the fault of the request, so its caller's
            fault = IllegalArgumentError(str(error))
            fault.__cause__ = error
            exchange.fail(fault)
            return
        exchange.correlation_id = correlation_id
        exchange.sent_at_s = self._monotonic()
        if exchange.is_use:
            self.last_used_s = exchange.sent_at_s
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("%s: -> %s, %d bytes", self.name, exchange, sum(map(len, parts)))
        # Added first, because a write that fails at once fails all requests in flight.
        if exchange.expects_response:
            self._in_flight.add(correlation_id, exchange)
            transport.write(parts)
            return
        self._unwritten = exchange
        transport.write(parts)
        if transport.can_write:
            self.writing_resumed()

    def _send_queued(self) -> None:
        """Send what the mailbox holds while there is room."""
        transport = self._transport
        mailbox = self._mailbox
        while mailbox and transport is not None and transport.can_write:
            if (
                self._in_flight.has_most()
                or self._holds_requests
                or self._is_sending
                or self._state is not _READY
            ):
                return
            exchange = mailbox.popleft()
            if exchange.is_wanted():
                self._send(exchange, transport)

    # Authenticating again…

    def hold_requests(self) -> None:
        """Keep all requests in the mailbox until `release_requests`. Does not wait."""
        self._holds_requests = True

    def release_requests(self) -> None:
        """Send requests again, those of the mailbox first. Does not wait."""
        self._holds_requests = False
        self._send_queued()

    def send_step(self, request: HandshakeRequest) -> Exchange:
        """Send a request of an authentication, after those that were sent before.

        Its time counts from when those must be answered: the node answers it after them.
        """
        transport = self._transport
        if self._state is not _READY or transport is None:
            raise self._closed_error()
        step = FrameExchange(request.request, request.version)
        step.is_use = False  # an idle connection stays idle when it authenticates again
        now_s = self._clock.monotonic()
        step.begin(
            RequestHead(type(request.request), request.version, self.client_id),
            max([sent.deadline_s for sent in self._sent_requests()], default=now_s),
            self._request_timeout_s,
        )
        self._deadlines.watch(step.deadline_s)
        if transport.can_write:
            self._send(step, transport)
        else:
            self._step = step
        return step

    # Events of the transport…

    def frame_received(self, frame: memoryview) -> None:
        if len(frame) < _CORRELATION_ID.size:
            raise ProtocolDecodeError(f"a frame of {len(frame)} bytes has no correlation id")
        exchange = self._in_flight.complete(_CORRELATION_ID.unpack_from(frame)[0])
        now_s = self._monotonic()
        if exchange.is_use:
            self.last_used_s = now_s
        if logger.isEnabledFor(logging.DEBUG):
            elapsed_ms = (now_s - exchange.sent_at_s) * 1000
            dropped = "" if exchange.is_wanted() else ", dropped: its caller has gone"
            logger.debug(
                "%s: <- %s, %d bytes, %.1f ms%s",
                *(self.name, exchange, len(frame), elapsed_ms, dropped),
            )
        counts = self._counts
        if counts is None or counts.is_heard:
            self._observer.request_answered(
                -1 if self.node_id is None else self.node_id,
                exchange.request.api_key,
                now_s - exchange.sent_at_s,
                len(frame),
            )
        else:
            counts.response_counted(now_s - exchange.sent_at_s, len(frame))
        exchange.received(frame)
        if exchange.oddity is not None:
            self._note_oddity(exchange)
        if self._mailbox:
            self._send_queued()

    def _note_oddity(self, exchange: Exchange) -> None:
        """Log what is odd about a response, once for each kind of response."""
        kind = type(exchange.request)
        if exchange.oddity is not None and kind not in self._odd_responses:
            self._odd_responses.add(kind)
            logger.warning(
                "%s: %s. The response was read all the same, as other clients do; is this Apache"
                " Kafka, and is a proxy in between? This is logged once for each kind of response"
                " and connection.",
                *(self.name, reason_of(exchange.oddity)),
            )

    def writing_resumed(self) -> None:
        exchange, self._unwritten = self._unwritten, None
        if exchange is not None:
            exchange.has_left()
        step, transport = self._step, self._transport
        if step is not None and transport is not None and transport.can_write:
            self._step = None
            self._send(step, transport)
        if self._mailbox:
            self._send_queued()

    # Deadlines…

    def _fail_late(self, late: list[Exchange]) -> None:
        """End the connection if a request that was sent is late. Otherwise the late ones fail."""
        errors = [timed_out_error(self.name, exchange, self.in_flight) for exchange in late]
        sent = [error for exchange, error in zip(late, errors, strict=True) if exchange.was_sent]
        for exchange, error in zip(late, errors, strict=True):
            if exchange.was_sent or not sent:
                self.withdraw(exchange)
                exchange.fail(error)
                self._observer.failed("request", error)
        if sent:
            self.close(sent[0])

    def _sent_requests(self) -> list[Exchange]:
        unwritten = [] if self._unwritten is None else [self._unwritten]
        return [*self._in_flight, *unwritten]

    def _pending_requests(self) -> list[Exchange]:
        step = [] if self._step is None else [self._step]
        return [*self._sent_requests(), *step, *self._mailbox]


__all__ = ["RequestChannel"]
