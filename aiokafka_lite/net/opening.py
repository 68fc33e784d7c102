"""Opens a connection: it tries each address of an endpoint in turn, and runs the handshake there.

If no address leads to a ready node, the error says what happened at each. Only `Opening.run` waits,
in the caller's task.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

from aiokafka_lite.clock import Clock
from aiokafka_lite.concurrency.deadline import deadline
from aiokafka_lite.concurrency.outcome import give, give_error
from aiokafka_lite.errors import (
    AuthenticationFailedError,
    KafkaConnectionError,
    KafkaError,
    KafkaProtocolError,
    NameResolutionError,
    TlsAuthenticationError,
)
from aiokafka_lite.net.connection_config import ConnectionConfig
from aiokafka_lite.net.connection_errors import connection_errors
from aiokafka_lite.net.endpoint import Address, Endpoint
from aiokafka_lite.net.frame_buffer_pool import FrameBufferPool
from aiokafka_lite.net.handshake import (
    FIRST_VERSIONS,
    AuthenticationStep,
    AuthenticationSteps,
    HandshakeRequest,
    IntendedNode,
    NodeWelcome,
    handshake,
)
from aiokafka_lite.net.in_flight_requests import InFlightRequests
from aiokafka_lite.net.security import authenticate
from aiokafka_lite.net.step_runner import run_steps
from aiokafka_lite.net.transport import (
    FrameTransport,
    TlsStart,
    address_of,
    connect,
    resolve,
)
from aiokafka_lite.protocol.frame import SIZE_PREFIX
from aiokafka_lite.protocol.message_header import response_correlation_id
from aiokafka_lite.protocol.request_frame import encode_request
from aiokafka_lite.protocol.versions import NodeApiVersions
from aiokafka_lite.secret import Secret

_HANDSHAKE_HINT: Final = (
    " during the handshake; is this a Kafka broker, and is its listener's security protocol the one"
    " in security_protocol?"
)

NO_LISTENER: Final = (
    "the TCP connection stands, but nothing answers on it; is this a Kafka broker, and is its "
    "listener's security protocol the one in security_protocol?"
)

_EVIDENCE_S: Final = 2.0
"""How long to ask for the certificate that was not accepted, for the text of the error."""

logger = logging.getLogger(__name__)


class Opening:
    """One attempt to open a connection. It handles the transport's events during the handshake."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        name: str,
        client_id: str,
        clock: Clock,
        config: ConnectionConfig,
        frame_pool: FrameBufferPool,
        intended: IntendedNode | None = None,
    ) -> None:
        """`name` names the node in messages. `intended` is the node that must answer, if known."""
        self.transport: FrameTransport | None = None
        """The transport of the newest address; after `run` the one that is ready."""
        self.is_connected = False
        """Whether the TCP connection to the newest address stands."""
        self.correlation_ids = InFlightRequests()
        self._endpoint = endpoint
        self._name = name
        self._client_id = client_id
        self._clock = clock
        self._config = config
        self._frame_pool = frame_pool
        self._intended = intended
        self._given_up: KafkaError | None = None
        self._was_answered = False  # on the newest transport
        self.waits_for_credentials = False
        """Whether the node waits for credentials, or for other work of the authentication."""
        self._token_answer: asyncio.Future[memoryview] | None = None

    async def run(self) -> tuple[FrameTransport, NodeWelcome]:
        """Return the transport of a ready node, to be handed over at once, and what the node said.

        The addresses share what is left of `connection_setup_timeout_ms` equally, so that an
        address which never answers does not use up all of it. A node that closes the connection
        instead of answering ApiVersions is asked again in an older version.

        Raises: KafkaConnectionError if no address led to a ready node, with each address and its
        failure in the text, and the last error as its cause; another KafkaError if the node refuses
        this client, so that other addresses would not help. AuthenticationFailedError names the
        node; TlsAuthenticationError is one.
        Cancelled: the caller closes the socket by `give_up`.
        Source: KIP-601 (timeout), KIP-302 (every address).
        """
        timeout_s = self._config.connection_setup_timeout_ms / 1000
        end_s = self._clock.monotonic() + timeout_s
        try:
            async with deadline(self._clock, timeout_s):
                addresses = await self._addresses()
        except TimeoutError as error:
            raise NameResolutionError(
                f"{self._endpoint} did not answer within {timeout_s * 1000:,.0f} ms: the system has"
                " found no address for its name yet"
            ) from error
        faults: list[str] = []
        last_fault: KafkaError | None = None
        for number, address in enumerate(addresses):
            share_s = (end_s - self._clock.monotonic()) / (len(addresses) - number)
            try:
                with connection_errors(str(address), share_s):
                    async with deadline(self._clock, share_s):
                        return await self._try_versions(address)
            except (KafkaConnectionError, KafkaProtocolError) as fault:
                last_fault = fault
            except TlsAuthenticationError as fault:
                raise await self._with_evidence(fault, address, end_s) from fault.__cause__
            self._raise_if_given_up()
            if self.waits_for_credentials and isinstance(last_fault.__cause__, TimeoutError):
                await self._forget_transport()
                raise self._no_credentials_error(share_s) from last_fault
            faults.append(self._explain(last_fault, address))
            logger.debug("%s: %s", self._name, faults[-1])
            await self._forget_transport()
        is_unknown = isinstance(last_fault, NameResolutionError)  # the user's connector says so
        kind = NameResolutionError if is_unknown else KafkaConnectionError
        raise kind(self._what_happened(addresses, faults)) from last_fault

    async def _addresses(self) -> list[Address]:
        if self._config.connector is not None:
            return [address_of(self._endpoint)]
        return await resolve(self._endpoint)

    def _what_happened(self, addresses: list[Address], faults: list[str]) -> str:
        if [str(address) for address in addresses] == [str(self._endpoint)]:
            # The address and the endpoint are the same text, so it is named once.
            return faults[0].replace(str(self._endpoint), self._name, 1)
        return f"cannot connect to {self._name}: " + ("; ".join(faults) or "it has no address")

    def _no_credentials_error(self, waited_s: float) -> AuthenticationFailedError:
        return AuthenticationFailedError(
            f"{self._name}: the authentication waited {waited_s * 1000:,.0f} ms for its"
            f" credentials from {self._config.security.provider}, such as a token; make their"
            " provider faster, or raise socket_connection_setup_timeout_ms"
        )

    @property
    def silence(self) -> str | None:
        """What a connected node keeps this waiting for, as the end of a sentence; None: nothing."""
        if self.waits_for_credentials:
            return (
                f"the authentication waits for {self._config.security.provider}, which has given "
                f"nothing yet; make that provider faster, or raise the timeouts"
            )
        return NO_LISTENER if self.is_connected else None

    def give_up(self, error: KafkaError) -> None:
        """Make `run`, if it still waits, raise `error` when it goes on. Does not wait."""
        self._given_up = error
        if self.transport is not None:
            self.transport.close()
        self.transport_lost(error)

    async def _try_versions(self, address: Address) -> tuple[FrameTransport, NodeWelcome]:
        *newer, oldest = FIRST_VERSIONS
        for version in newer:
            try:
                return await self._try(address, version)
            except KafkaConnectionError as fault:
                lost = self.transport
                if lost is None or lost.error is not fault or self._was_answered:
                    raise
                self._raise_if_given_up()
                logger.debug("%s: asking in an older version: %s", self._name, fault)
            await self._forget_transport()
        return await self._try(address, oldest)

    async def _try(self, address: Address, version: int) -> tuple[FrameTransport, NodeWelcome]:
        self._was_answered = self.waits_for_credentials = False
        self.is_connected = False
        self.transport = transport = await connect(
            address,
            self,
            frame_pool=self._frame_pool,
            send_buffer_bytes=self._config.send_buffer_bytes,
            receive_buffer_bytes=self._config.receive_buffer_bytes,
            max_frame_bytes=self._config.max_frame_bytes,
            tls=await self._tls_start(),
            client_id=self._client_id,
            connector=self._config.connector,
        )
        self.is_connected = True
        welcome = await run_steps(
            handshake(version, self._intended, self._authenticate(), self._config.max_versions),
            lambda step: self._answer_to(step, transport),
        )
        self._raise_if_lost(transport)
        return transport, welcome

    async def _tls_start(self) -> TlsStart | None:
        next_context = self._config.security.next_tls_context
        if next_context is None:
            return None
        return TlsStart(await next_context(), self._endpoint.host, self._note_connected)

    def _note_connected(self) -> None:
        self.is_connected = True

    def _authenticate(self) -> Callable[[NodeApiVersions], AuthenticationSteps] | None:
        authentication = self._config.security.authentication
        if authentication is None:
            return None
        return lambda versions: authenticate(
            authentication, self._endpoint, versions, node=self._name
        )

    async def _answer_to(self, step: AuthenticationStep, transport: FrameTransport) -> Any:
        """Return the answer to `step`. Only the attempt as a whole has a time limit."""
        self._raise_if_lost(transport)
        self.waits_for_credentials = not isinstance(step, HandshakeRequest | bytes | Secret)
        if isinstance(step, HandshakeRequest):
            return await self._exchange(transport, step)
        if isinstance(step, bytes | Secret):
            return await self._exchange_token(transport, Secret(step))
        return await step

    async def _exchange_token(self, transport: FrameTransport, token: Secret) -> memoryview:
        """Return the token that answers `token`. Tokens have no correlation id."""
        self._token_answer = asyncio.get_running_loop().create_future()
        transport.write([SIZE_PREFIX.pack(len(token.reveal_bytes())), token.reveal_bytes()])
        try:
            return await self._token_answer
        finally:
            self._token_answer = None

    async def _exchange(self, transport: FrameTransport, step: HandshakeRequest) -> memoryview:
        """Return the frame of the response to `step`."""
        answer: asyncio.Future[memoryview] = asyncio.get_running_loop().create_future()
        correlation_id = self.correlation_ids.new_correlation_id()
        logger.debug(
            "%s: -> %s (version %d, correlation id %d)",
            self._name,
            type(step.request).__name__,
            step.version,
            correlation_id,
        )
        self.correlation_ids.add(correlation_id, answer)
        transport.write(  # the bytes, which may be secret, are in no variable while this waits
            encode_request(
                step.request,
                version=step.version,
                correlation_id=correlation_id,
                client_id=self._client_id,
            )
        )
        return await answer

    def _raise_if_lost(self, transport: FrameTransport) -> None:
        """Raise the error that ended the transport while this task was not running."""
        if transport.error is not None:
            raise transport.error
        self._raise_if_given_up()

    def _raise_if_given_up(self) -> None:
        if self._given_up is not None:
            if self.transport is not None:
                self.transport.close()
            raise self._given_up

    async def _forget_transport(self) -> None:
        """Close the transport before the next attempt."""
        self.correlation_ids.drain()
        transport, self.transport = self.transport, None
        if transport is not None:
            transport.close()
            await transport.wait_closed()

    def _explain(self, fault: KafkaError, address: Address) -> str:
        if not isinstance(fault, KafkaConnectionError):
            return f"{address}: {fault.args[0]}"
        if self.transport is not None:
            return f"{fault.args[0]}{_HANDSHAKE_HINT}"
        if not (self.is_connected and isinstance(fault.__cause__, TimeoutError)):
            return str(fault.args[0])
        # The code that explains failures is loaded when there is one.
        from aiokafka_lite.net.tls.tls_failures import SILENT_IN_HANDSHAKE  # noqa: PLC0415

        return f"{fault.args[0]}: {SILENT_IN_HANDSHAKE}"

    async def _with_evidence(
        self, fault: TlsAuthenticationError, address: Address, end_s: float
    ) -> KafkaError:
        """Return the error with the name of the node, and with the facts of the certificate that
        it is about."""
        from aiokafka_lite.net.tls.peer_certificate import peer_certificate  # noqa: PLC0415
        from aiokafka_lite.net.tls.tls_failures import (  # noqa: PLC0415
            wants_certificate,
            with_certificate,
        )

        found: KafkaError = fault
        if wants_certificate(fault) and self._config.connector is None:
            limit_s = min(_EVIDENCE_S, end_s - self._clock.monotonic())
            with suppress(TimeoutError):
                async with deadline(self._clock, limit_s):
                    facts = await peer_certificate(address, self._endpoint.host)
                    found = fault if facts is None else with_certificate(fault, facts)
        text = str(found.args[0])
        if text.startswith(str(self._endpoint)):
            text = text.removeprefix(str(self._endpoint))
            return type(found)(self._name + text)
        return type(found)(f"{self._name}: {text}")

    # Events of the transport…

    def frame_received(self, frame: memoryview) -> None:
        self._was_answered = True
        answer = self._token_answer or self.correlation_ids.complete(response_correlation_id(frame))
        give(answer, frame)

    def writing_resumed(self) -> None:
        """Nothing to do: the next step is written after the answer to this one."""

    def transport_lost(self, error: KafkaError) -> None:
        waiting = self.correlation_ids.drain()
        for answer in waiting if self._token_answer is None else [*waiting, self._token_answer]:
            give_error(answer, error)


__all__ = ["Opening"]
