"""UnregisterBroker (key 64): forgets a broker that is gone for good (KIP-631)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response


class UnregisterBrokerRequest(
    Request["UnregisterBrokerResponse"], api_key=64, versions="0", flexible="0+"
):
    """Asks to forget a broker."""

    needs = "Kafka 3.3 with KRaft (KIP-631)"

    broker_id: Int32 = field(doc="Id of the broker.")


class UnregisterBrokerResponse(Response, api_key=64, versions="0", flexible="0+"):
    """The result."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = ["UnregisterBrokerRequest", "UnregisterBrokerResponse"]
