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

from aiokafka_lite.protocol.api_registry import ApiKey, api_name
from aiokafka_lite.protocol.message_header import (
    RequestHeader,
    decode_request_header,
    encode_response,
)
from aiokafka_lite.schema.message import BytesLike, Response
from aiokafka_lite.schema.version_range import VersionRange
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


LaterReply = Callable[[], Awaitable[Reply]]


class Router:
    """Finds the handler of each request. One router serves all nodes of a cluster."""

    def __init__(
        self,
        faults: Faults,
        on_request: Callable[[ReceivedRequest, int], object],
        *,
        max_versions: Mapping[int, int | None],
        handlers: Iterable[Handler] = HANDLERS,
    ) -> None:
        """`max_versions` lowers the versions, to act as an older broker; None hides an API.

        Raises: ValueError for a version below those served, or for an unknown API.
        """
        self._faults = faults
        self._on_request = on_request
        self._handlers = {handler.request_type.api_key: handler for handler in handlers}
        self._served = {key: handler.versions for key, handler in self._handlers.items()}
        for api_key, highest in max_versions.items():
            self._limit(api_key, highest)

    def advertised_versions(self) -> dict[int, VersionRange]:
        """Return the versions for the ApiVersions response: api key -> versions."""
        advertised = {}
        for api_key, served in self._served.items():
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

    def serve(self, frame: bytes, on_node: NodeContext) -> Reply | LaterReply:
        """Execute the request in `frame`.

        Raises: CloseConnectionError for an unsupported API or version; ProtocolDecodeError for
        bytes that are not a request.
        """
        header, body = decode_request_header(frame)
        served = self._served.get(header.api_key, VersionRange.NONE)
        if header.api_version not in served:
            return self._refuse_version(header, served)
        handler = self._handlers[header.api_key]
        request = handler.request_type.decode(body, header.api_version)
        node_id = on_node.node.node_id
        self._on_request(
            ReceivedRequest(node_id, header.api_key, header.api_version, header.client_id, request),
            len(frame),
        )
        plan = self._faults.plan(header.api_key, node_id)
        injected = NOTHING_INJECTED if plan is None else plan.injected
        context = RequestContext(on_node, header.api_version, injected, header.client_id or "")
        handle = partial(handler.handle, context, request)
        if plan is not None:
            return partial(_serve_with_faults, handle, header, plan, on_node)
        answer = handle()
        if answer is None or isinstance(answer, Response):
            return _reply(answer, header)
        return partial(_serve_later, answer, header)

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


async def _serve_later(
    later: Callable[[], Awaitable[Response | None]], header: RequestHeader
) -> Reply:
    return _reply(await later(), header)


async def _serve_with_faults(
    handle: Callable[[], Answer], header: RequestHeader, plan: FaultPlan, on_node: NodeContext
) -> Reply:
    if plan.stall is not None:
        await plan.stall.wait()
    answer = handle()
    if answer is not None and not isinstance(answer, Response):
        answer = await answer()
    if plan.delay_s:
        await on_node.clock.sleep(plan.delay_s)
    if plan.throttle_time_ms and answer is not None and hasattr(answer, "throttle_time_ms"):
        answer.throttle_time_ms = plan.throttle_time_ms
    reply = _reply(answer, header)
    reply.cut_after_bytes = plan.cut_after_bytes
    reply.is_silent = plan.is_silent
    return reply


def _reply(response: Response | None, header: RequestHeader) -> Reply:
    if response is None:
        return Reply()
    return Reply(
        encode_response(response, version=header.api_version, correlation_id=header.correlation_id)
    )


__all__ = ["LaterReply", "Reply", "Router"]
