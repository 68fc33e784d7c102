"""PushTelemetry (key 72): a client reports its metrics (KIP-714).

Flexible from its first version.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Bytes, Int8, Int16, Int32, Uuid, field
from aiokafka_lite.schema.message import Request, Response


class PushTelemetryRequest(
    Request["PushTelemetryResponse"], api_key=72, versions="0", flexible="0+"
):
    """Metrics of one client, for what the broker exports them to."""

    needs = "Kafka 3.7 with KRaft (KIP-714)"

    client_instance_id: Uuid = field(doc="The id that a broker gave to this client.")
    subscription_id: Int32 = field(doc="The subscription that the metrics are for.")
    terminating: Bool = field(doc="The client closes: this is its last push.")
    compression_type: Int8 = field(doc="How `metrics` is compressed, as in record batches.")
    metrics: Bytes = field(doc="A MetricsData message of OpenTelemetry's protocol, v1.")


class PushTelemetryResponse(Response, api_key=72, versions="0", flexible="0+"):
    """The result."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or what happened.")


__all__ = ["PushTelemetryRequest", "PushTelemetryResponse"]
