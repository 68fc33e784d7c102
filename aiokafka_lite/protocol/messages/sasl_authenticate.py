"""SaslAuthenticate (key 36): one SASL token in each direction, wrapped as a request (KIP-152).

v1 the session's lifetime, for re-authentication (KIP-368); v2 flexible.
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Bytes, Int16, Int64, String, field
from aiokafka_lite.schema.message import Request, Response


class SaslAuthenticateRequest(
    Request["SaslAuthenticateResponse"], api_key=36, versions="0-2", flexible="2+"
):
    """One token of the client."""

    auth_bytes: Bytes = field(doc="The token, in the mechanism's format.")


class SaslAuthenticateResponse(Response, api_key=36, versions="0-2", flexible="2+"):
    """One token of the broker, or the reason of its refusal."""

    error_code: Int16 = field(doc="0, or an error code.")
    error_message: String | None = field(doc="What went wrong, in the broker's words, or null.")
    auth_bytes: Bytes = field(doc="The token, in the mechanism's format.")
    session_lifetime_ms: Int64 = field(
        versions="1+",
        ignorable=True,
        doc=(
            "Milliseconds until the client must have authenticated again, or 0 for no limit "
            "(KIP-368)."
        ),
    )


__all__ = ["SaslAuthenticateRequest", "SaslAuthenticateResponse"]
