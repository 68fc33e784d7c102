"""One connection to one node: it is opened once, takes requests, and ends with a cause.

`request_channel` carries the requests over the open connection. `cluster/` decides when to connect
again, heeds throttles, and closes idle connections.

A connection has no task. So nothing is scheduled between a caller and the socket, and no background
task can fail unnoticed. With `max_queued` requests in the mailbox, `request` raises.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaConnectionError,
    KafkaError,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.metrics.observer import NO_OBSERVER, Observer
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.connection_state import ConnectionEvent, ConnectionState, after
from aiokafka_lite.net.endpoint import Endpoint
from aiokafka_lite.net.exchange import Exchange
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.handshake import IntendedNode, NodeWelcome
from aiokafka_lite.net.in_flight_requests import InFlightRequests
from aiokafka_lite.net.opening import Opening
from aiokafka_lite.net.request_channel import RequestChannel
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.schema.message import Request, Response

if TYPE_CHECKING:
    from aiokafka_lite.net.reauthentication import Reauthentication, SpawnTask

R = TypeVar("R", bound=Response)

_AT_FIRST_REQUEST: Final = (
    "at the first request; if its listener has SASL, set security_protocol to 'SASL_SSL' or"
    " 'SASL_PLAINTEXT'"
)

logger = logging.getLogger(__name__)


class NodeConnection(RequestChannel):
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
        spawn: "SpawnTask | None" = None,
        rng: random.Random | None = None,
        on_close: Callable[["NodeConnection"], None] | None = None,
        was_served: Callable[[], bool] = lambda: False,
    ) -> None:
        """Needs no running loop. `node_id` is None for a seed whose node is not known yet.

        `spawn` starts the task that authenticates the connection again before its session ends;
        None: the session may end. `rng` varies the moment.

        `was_served` says whether nodes have answered requests of this client before. If they have,
        a lost connection is not a matter of its security options.

        With `cluster_id`, another node or a node of another cluster refuses the connection
        (KIP-1242). None: any node may answer.

        The connection calls `on_close` once when it ends after it was open. By then every pending
        request has its error. `on_close` must not raise.
        """
        super().__init__(
            str(endpoint) if node_id is None else f"node {node_id} at {endpoint}",
            node_id=node_id,
            client_id=client_id,
            clock=clock,
            config=config or ConnectionConfig(),
            observer=observer,
        )
        self.endpoint = endpoint
        self.on_close = on_close
        self.cause: KafkaError | None = None
        """Why the connection has ended. None until then, and after `close()` without a cause."""
        self._intended = (
            None if node_id is None or cluster_id is None else IntendedNode(cluster_id, node_id)
        )
        self._frame_pool = frame_pool or FrameBufferPool()
        self._opening: Opening | None = None
        self._first_correlation_id = 0  # after the handshake
        self._was_served = was_served
        self._had_answer = False
        self._spawn = spawn
        self._rng = rng or random.Random()
        self._reauthentication: Reauthentication | None = None

    def becomes(self, node_id: int) -> None:
        """Name the node of a seed's connection, which the metadata has told."""
        self.node_id = node_id
        self.name = f"node {node_id} at {self.endpoint}"

    # Its state…

    @property
    def silence(self) -> str | None:
        """What the handshake waits for once the TCP connection stands, as the end of a sentence.

        None: the connection is not being made, or not accepted yet.
        """
        if self._state is not ConnectionState.CONNECTING or self._opening is None:
            return None
        return self._opening.silence

    @property
    def waits_for_credentials(self) -> bool:
        """Whether the handshake waits for the client's own provider of credentials."""
        return (
            self._state is ConnectionState.CONNECTING
            and self._opening is not None
            and self._opening.waits_for_credentials
        )

    @property
    def has_answered(self) -> bool:
        """Whether the node has answered a request after the handshake. It holds when closed."""
        first_id = self._first_correlation_id
        oldest = next(iter(self._in_flight), None)
        return self._had_answer or (
            self.is_open
            and self._in_flight.next_correlation_id != first_id
            and (oldest is None or oldest.correlation_id != first_id)
        )

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

        Raises: KafkaConnectionError if no address was ready within `connection_setup_timeout_ms`,
        with each address and its failure in the text; RebootstrapRequiredError if another node
        answers there; UnsupportedVersionError or BrokerResponseError if the node refuses this
        client; IllegalStateError if the connection was opened or closed before.
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
            transport, welcome = await opening.run()
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
        self._api_versions = welcome.api_versions
        self._in_flight = InFlightRequests(
            self.config.max_in_flight, opening.correlation_ids.next_correlation_id
        )
        self._first_correlation_id = opening.correlation_ids.next_correlation_id
        self._state = after(self._state, ConnectionEvent.HANDSHAKE_DONE)
        self.last_used_s = self._clock.monotonic()
        logger.debug("%s: connected and ready", self.name)
        if welcome.session_lifetime_ms:
            self._begin_session(welcome)

    def _begin_session(self, welcome: NodeWelcome) -> None:
        authentication = self.config.security.authentication
        if self._spawn is None or authentication is None:
            return
        from aiokafka_lite.net.reauthentication import Reauthentication  # noqa: PLC0415

        self._reauthentication = Reauthentication(
            self,
            authentication,
            welcome.api_versions,
            clock=self._clock,
            rng=self._rng,
            spawn=self._spawn,
            credentials_timeout_s=self.config.connection_setup_timeout_ms / 1000,
        )
        self._reauthentication.session_began(welcome.session_lifetime_ms)

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

        Raises: RequestTimedOutError without a response within the timeout, sent or not;
        KafkaConnectionError if the connection is closed, with the cause chained;
        ProtocolDecodeError if the response cannot be read, after which the connection is closed.
        Without sending it raises: UnsupportedVersionError without a common version, or if the
        request needs a newer one; IllegalArgumentError for a value that does not fit its field,
        which it names; TooManyInFlightRequests if `max_queued` requests wait already.
        Cancelled: a queued request is not sent. Any other leaves completely, and the node may act
        on it. It counts as in flight until its response comes, which is then dropped.
        """
        response: R = await self._ask(Exchange(request, max_version, timeout_s=timeout_s))
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
        await self._ask(Exchange(request, max_version, False, timeout_s))

    async def _ask(self, exchange: Exchange) -> Any:
        self.submit(exchange)
        try:
            return await exchange
        except asyncio.CancelledError:
            self.withdraw(exchange)
            raise

    # Closing…

    def transport_lost(self, error: KafkaError) -> None:
        self.close(self._with_remedy(error))

    def _with_remedy(self, error: KafkaError) -> KafkaError:
        first = next(iter(self._in_flight), None)
        remedy = None if first is None else self._remedy(first.correlation_id)
        if remedy is None or not isinstance(error, KafkaConnectionError):
            return error
        told = KafkaConnectionError(f"{reason_of(error)} {remedy}")
        told.__cause__ = error.__cause__
        return told

    def _remedy(self, oldest_id: int) -> str | None:
        """Return what to say of a node that closed the connection instead of answering the request.

        A listener with SASL closes the connection at the first request of clients without it, and
        at a request after the end of a session. A node that was stopped closes it as well, so the
        first case is not named to a client that was served before.
        """
        if self._reauthentication is not None:
            return self._reauthentication.remedy_of_loss()
        is_first = oldest_id == self._first_correlation_id
        has_sasl = self.config.security.authentication is not None
        may_want_sasl = is_first and not has_sasl and not self._was_served()
        return _AT_FIRST_REQUEST if may_want_sasl else None

    def close(self, cause: KafkaError | None = None) -> None:
        """End the connection at once. Only the first call counts. Does not wait.

        Every pending request, and every later one, gets a KafkaConnectionError chained to `cause`.
        """
        if self._state is ConnectionState.CLOSED:
            return
        was_open, self._had_answer = self.is_open, self.has_answered
        self._state = after(self._state, ConnectionEvent.CLOSE)
        self.cause = cause
        self._deadlines.stop()
        if self._reauthentication is not None:
            self._reauthentication.stop()
        if self._transport is not None:
            self._transport.close()
        elif self._opening is not None:
            self._opening.give_up(self._closed_error())
        pending_requests = self._pending_requests()
        self._in_flight.drain()
        self._mailbox.clear()
        self._unwritten = self._step = None
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

    def _closed_error(self, pending: Exchange | None = None) -> KafkaConnectionError:
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


__all__ = ["ConnectionConfig", "NodeConnection"]
