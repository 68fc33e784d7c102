"""UnregisterController (key 94): forgets a controller that is gone for good (KIP-1312)."""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, Int32, String, field
from aiokafka_lite.schema.message import Request, Response


class UnregisterControllerRequest(
    Request["UnregisterControllerResponse"], api_key=94, versions="0", flexible="0+"
):
    """Asks to forget a controller."""

    needs = "Kafka 4.4 (KIP-1312)"

    controller_id: Int32 = field(doc="Id of the controller.")


class UnregisterControllerResponse(Response, api_key=94, versions="0", flexible="0+"):
    """The result."""

    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )
    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")


__all__ = ["UnregisterControllerRequest", "UnregisterControllerResponse"]
