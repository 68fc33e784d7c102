"""ExpireDelegationToken (key 40): ends a token, now or earlier than it would (KIP-48).

v1 is the lowest version since Kafka 4.0 (KIP-896); v2 flexible.
"""

from aiokafka_lite.schema.field_types import Bytes, Int16, Int32, Int64, field
from aiokafka_lite.schema.message import Request, Response


class ExpireDelegationTokenRequest(
    Request["ExpireDelegationTokenResponse"], api_key=40, versions="1-2", flexible="2+"
):
    """Asks for another end."""

    needs = "Kafka 1.1, or 3.6 with KRaft (KIP-48)"

    hmac: Bytes = field(doc="The token's HMAC.")
    expiry_time_period_ms: Int64 = field(
        doc="Milliseconds from now until the end; below 0: at once."
    )


class ExpireDelegationTokenResponse(Response, api_key=40, versions="1-2", flexible="2+"):
    """When the token ends now."""

    error_code: Int16 = field(doc="0, or an error code.")
    expiry_timestamp_ms: Int64 = field(doc="When the token ends, in milliseconds since 1970.")
    throttle_time_ms: Int32 = field(
        doc="Milliseconds the client should pause because it exceeded a quota, or 0 (KIP-219)."
    )


__all__ = ["ExpireDelegationTokenRequest", "ExpireDelegationTokenResponse"]
