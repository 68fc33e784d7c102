"""SaslHandshake (key 17): chooses a SASL mechanism (KIP-43).

After v0 the SASL tokens follow without a header, after v1 as SaslAuthenticate requests (KIP-152).
Never flexible (KAFKA-9577).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, String, field
from aiokafka_lite.schema.message import Request, Response


class SaslHandshakeRequest(
    Request["SaslHandshakeResponse"], api_key=17, versions="0-1", flexible="none"
):
    """Names the mechanism that the client wants."""

    mechanism: String = field(doc="Name of the requested mechanism, such as SCRAM-SHA-512.")


class SaslHandshakeResponse(Response, api_key=17, versions="0-1", flexible="none"):
    """0, or an error together with the mechanisms that the broker supports."""

    error_code: Int16 = field(doc="0, or an error code.")
    mechanisms: list[String] = field(doc="The mechanisms this listener accepts.")


__all__ = ["SaslHandshakeRequest", "SaslHandshakeResponse"]
