"""Turns a frame into its response: the table of handlers, the advertised versions, and the faults.

A request is answered without a task if it has no faults and its handler need not wait. Then `serve`
returns a Reply. Otherwise it returns a coroutine function, which the connection runs.

A task would add to the broker's share of a benchmark, which measures the client.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from aiokafka_lite.clock import Clock
from aiokafka_lite.errors import IllegalSaslStateError
from aiokafka_lite.protocol.api_key import ApiKey, api_name
from aiokafka_lite.protocol.frame import SIZE_PREFIX
from aiokafka_lite.protocol.message_header import (
    RequestHeader,
    decode_request_header,
    encode_response,
)
from aiokafka_lite.schema.message import BytesLike, Request, Response
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.schema.wire_helpers import BytesLeftOverError
from aiokafka_lite.testing.broker import handlers as folder
from aiokafka_lite.testing.broker.faults import NOTHING_INJECTED, FaultPlan, Faults
from aiokafka_lite.testing.broker.handler import (
    Answer,
    CloseConnectionError,
    Handler,
    NodeContext,
    RequestContext,
)
from aiokafka_lite.testing.broker.handlers.api_versions import unsupported_version
from aiokafka_lite.testing.broker.request_log import ReceivedRequest
from aiokafka_lite.testing.broker.security.mechanism import LoginRefusedError
from aiokafka_lite.testing.broker.security.sasl_session import SaslSession
from aiokafka_lite.testing.broker.security.session import OPEN_SESSION, Session

HANDLERS: tuple[Handler, ...] = tuple(
    import_module(f"{folder.__name__}.{file.name}").HANDLER
    for file in iter_modules(folder.__path__)
    if file.name[0] != "_"
)
"""The handler of each file in `handlers/`, found by name. A new file adds a handler."""


@dataclass(slots=True)
class Reply:
    """The bytes to write on a connection, and what to do with the connection afterwards."""

    parts: list[BytesLike] = field(default_factory=list)
    cut_after_bytes: int | None = None
    is_silent: bool = False
    mute_s: float = 0.0
    """How long no further request of the connection is served: a quota was exceeded (KIP-219)."""
    closes: bool = False
    """Close the connection after these bytes: the client's authentication has failed."""


LaterReply = Callable[[], Awaitable[Reply]]


class Router:
    """Finds the handler of each request. One router serves all nodes of a cluster."""

    def __init__(
        self,
        faults: Faults,
        on_request: Callable[[ReceivedRequest, int], object],
        *,
        max_versions: Mapping[int, int | None],
        has_telemetry: bool = False,
        handlers: Iterable[Handler] = HANDLERS,
    ) -> None:
        """`max_versions` lowers the versions, to act as an older broker; None hides an API.
        `has_telemetry`: ApiVersions names the APIs of client metrics.

        Raises: ValueError for a version below those served, or for an unknown API.
        """
        self._faults = faults
        self._on_request = on_request
        self._has_telemetry = has_telemetry
        self._handlers = {handler.request_type.api_key: handler for handler in handlers}
        self._served = {key: handler.versions for key, handler in self._handlers.items()}
        for api_key, highest in max_versions.items():
            self._limit(api_key, highest)

    def advertised_versions(self) -> dict[int, VersionRange]:
        """Return the versions for the ApiVersions response: api key -> versions."""
        advertised = {}
        for api_key, served in self._served.items():
            if self._handlers[api_key].is_for_telemetry and not self._has_telemetry:
                continue  # such a broker answers all the same
            lowest = self._handlers[api_key].advertised_min
            advertised[api_key] = served if lowest is None else VersionRange(lowest, served.max)
        return advertised

    def _limit(self, api_key: int, highest: int | None) -> None:
        served = self._served.get(api_key)
        if served is None:
            raise ValueError(f"max_versions names {api_name(api_key)}, which is not served here")
        if highest is None:
            del self._served[api_key]
            return
        if highest not in served:
            raise ValueError(
                f"max_versions[{api_name(api_key)}] is {highest}; this broker serves {served}"
            )
        self._served[api_key] = VersionRange(served.min, highest)

    def serve(
        self, frame: bytes, on_node: NodeContext, session: Session = OPEN_SESSION
    ) -> Reply | LaterReply:
        """Execute the request in `frame`.

        Raises: CloseConnectionError for an unsupported API or version, and for a request that may
        not come at this stage of an authentication; ProtocolDecodeError for bytes that are not a
        request.
        """
        sasl = session.sasl
        if sasl is not None and sasl.awaits_bare_token:
            return _answer_bare_token(frame, sasl, on_node.clock)
        header, body = decode_request_header(frame)
        if sasl is not None:
            _admit(header, sasl)
        served = self._served.get(header.api_key, VersionRange.NONE)
        if header.api_version not in served:
            return self._refuse_version(header, served)
        handler = self._handlers[header.api_key]
        request = _decoded(handler, body, header.api_version)
        node_id = on_node.node.node_id
        self._on_request(
            ReceivedRequest(
                node_id,
                header.api_key,
                header.api_version,
                header.client_id,
                request,
                session.listener,
            ),
            len(frame),
        )
        plan = self._faults.plan(header.api_key, node_id)
        injected = NOTHING_INJECTED if plan is None else plan.injected
        context = RequestContext(
            on_node, header.api_version, injected, header.client_id or "", session
        )
        handle = partial(handler.handle, context, request)
        if plan is not None:
            return partial(_serve_with_faults, handle, header, plan, context)
        answer = handle()
        if answer is None or isinstance(answer, Response):
            reply = _reply(answer, header, context)
            if reply.closes and sasl is not None and sasl.refusal_delay_s:
                return partial(_after_refusal, reply, on_node.clock, sasl)
            return reply
        return partial(_serve_later, answer, header, context)

    def _refuse_version(self, header: RequestHeader, served: VersionRange) -> Reply:
        if header.api_key == ApiKey.API_VERSIONS:
            return _reply(
                unsupported_version(served),
                RequestHeader(header.api_key, 0, header.correlation_id, header.client_id),
            )
        name = api_name(header.api_key)
        if not served:
            raise CloseConnectionError(f"{name} (API key {header.api_key}) is not served here")
        raise CloseConnectionError(
            f"{name} version {header.api_version} is not served here, only {served}"
        )


def _decoded(handler: Handler, body: bytes | memoryview, version: int) -> Request[Any]:
    """Read a request. Apache's broker steps over bytes after its end, so this one does, too.

    librdkafka sends three of them when it asks for the metadata of all topics.
    """
    try:
        return handler.request_type.decode(body, version)
    except BytesLeftOverError as error:
        request: Request[Any] = error.message
        return request


async def _serve_later(
    later: Callable[[], Awaitable[Response | None]], header: RequestHeader, context: RequestContext
) -> Reply:
    return _reply(await later(), header, context)


async def _after_refusal(
    outcome: Reply | CloseConnectionError, clock: Clock, sasl: SaslSession
) -> Reply:
    """Return the reply to a refused client, or raise the error, after the delay of KIP-306."""
    await clock.sleep(sasl.refusal_delay_s)
    if isinstance(outcome, CloseConnectionError):
        raise outcome
    return outcome


async def _serve_with_faults(
    handle: Callable[[], Answer], header: RequestHeader, plan: FaultPlan, context: RequestContext
) -> Reply:
    if plan.stall is not None:
        await plan.stall.wait()
    answer = handle()
    if answer is not None and not isinstance(answer, Response):
        answer = await answer()
    if plan.delay_s:
        await context.on_node.clock.sleep(plan.delay_s)
    if plan.throttle_time_ms and answer is not None and hasattr(answer, "throttle_time_ms"):
        answer.throttle_time_ms = plan.throttle_time_ms
    sasl = context.session.sasl
    reply = _reply(answer, header, context)
    if reply.closes and sasl is not None:
        await context.on_node.clock.sleep(sasl.refusal_delay_s)
    reply.cut_after_bytes = plan.cut_after_bytes
    reply.is_silent = plan.is_silent
    return reply


def _reply(
    response: Response | None, header: RequestHeader, context: RequestContext | None = None
) -> Reply:
    mute_s = 0.0 if context is None else context.mute_s
    if response is None:
        return Reply(mute_s=mute_s)
    sasl = None if context is None else context.session.sasl
    return Reply(
        encode_response(response, version=header.api_version, correlation_id=header.correlation_id),
        mute_s=mute_s,
        closes=sasl is not None and sasl.has_failed,
    )


def _admit(header: RequestHeader, sasl: SaslSession) -> None:
    try:
        sasl.admit(header.api_key)
    except IllegalSaslStateError as error:
        raise CloseConnectionError(str(error)) from error


def _answer_bare_token(token: bytes, sasl: SaslSession, clock: Clock) -> Reply | LaterReply:
    """Answer a token without a header. A refusal has no response: the connection closes."""
    try:
        answer, _ = sasl.take(token)
    except LoginRefusedError as error:
        refusal = CloseConnectionError(str(error))
        if sasl.refusal_delay_s:
            return partial(_after_refusal, refusal, clock, sasl)
        raise refusal from error
    return Reply([SIZE_PREFIX.pack(len(answer)), answer])


__all__ = ["LaterReply", "Reply", "Router"]
