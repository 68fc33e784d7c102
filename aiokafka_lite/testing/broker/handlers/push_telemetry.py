"""PushTelemetry: a client reports its metrics, which stay in the log of requests (KIP-714)."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.protocol.messages.push_telemetry import (
    PushTelemetryRequest,
    PushTelemetryResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext


def handle(context: RequestContext, request: PushTelemetryRequest) -> PushTelemetryResponse:
    try:
        context.injected.raise_for()
        context.cluster.telemetry.push(
            context.session,
            context.client_id,
            request.client_instance_id,
            context.on_node.clock.monotonic(),
            subscription_id=request.subscription_id,
            compression_type=request.compression_type,
            size=len(request.metrics),
            terminating=request.terminating,
        )
    except BrokerResponseError as error:
        return PushTelemetryResponse(error_code=error.errno)
    return PushTelemetryResponse()


HANDLER = Handler(PushTelemetryRequest, handle, VersionRange(0, 0), is_for_telemetry=True)


__all__ = ["handle"]
