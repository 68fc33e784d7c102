"""GetTelemetrySubscriptions: which metrics this client shall report, and how often (KIP-714)."""

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.state.client_telemetry import ACCEPTED


def handle(
    context: RequestContext, request: GetTelemetrySubscriptionsRequest
) -> GetTelemetrySubscriptionsResponse:
    telemetry = context.cluster.telemetry
    try:
        context.injected.raise_for()
        instance_id, subscription = telemetry.subscribe(
            context.session,
            context.client_id,
            request.client_instance_id,
            context.on_node.clock.monotonic(),
        )
    except BrokerResponseError as error:
        return GetTelemetrySubscriptionsResponse(error_code=error.errno)
    return GetTelemetrySubscriptionsResponse(
        client_instance_id=instance_id,
        subscription_id=subscription.subscription_id,
        accepted_compression_types=[int(codec) for codec in ACCEPTED],
        push_interval_ms=subscription.push_interval_ms,
        telemetry_max_bytes=telemetry.max_bytes,
        delta_temporality=True,
        requested_metrics=list(subscription.metrics),
    )


HANDLER = Handler(
    GetTelemetrySubscriptionsRequest, handle, VersionRange(0, 0), is_for_telemetry=True
)


__all__ = ["handle"]
