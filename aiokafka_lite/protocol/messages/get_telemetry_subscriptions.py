"""GetTelemetrySubscriptions (key 71): which metrics a client shall report, and how (KIP-714).

Flexible from its first version.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bool, Int8, Int16, Int32, String, Uuid, field
from aiokafka_lite.schema.message import Request, Response


class GetTelemetrySubscriptionsRequest(
    Request["GetTelemetrySubscriptionsResponse"], api_key=71, versions="0", flexible="0+"
):
    """Asks what the subscriptions of the cluster want of this client."""

    needs = "Kafka 3.7 with KRaft (KIP-714)"

    client_instance_id: Uuid = field(
        doc="The id that a broker gave to this client; zero to be given one."
    )


class GetTelemetrySubscriptionsResponse(Response, api_key=71, versions="0", flexible="0+"):
    """The subscriptions that match the client, merged into one."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or what happened.")
    client_instance_id: Uuid = field(doc="The id of this client in all further requests.")
    subscription_id: Int32 = field(doc="Names this set of metrics; a push without it is refused.")
    accepted_compression_types: list[Int8] = field(
        doc="How metrics may be compressed, by the numbers of record batches, best first."
    )
    push_interval_ms: Int32 = field(doc="Milliseconds between two pushes.")
    telemetry_max_bytes: Int32 = field(doc="Most bytes of metrics in a push, compressed.")
    delta_temporality: Bool = field(
        doc="Sums count from the push before; otherwise from the start of the client."
    )
    requested_metrics: list[String] = field(
        doc='Beginnings of the names of metrics; "*" alone for all, none for no metrics.'
    )


__all__ = ["GetTelemetrySubscriptionsRequest", "GetTelemetrySubscriptionsResponse"]
