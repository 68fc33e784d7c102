"""SaslHandshake (key 17): choose a SASL mechanism (KIP-43).

v0 is followed by bare SASL tokens, v1 by SaslAuthenticate requests (KIP-152). Never flexible
(KAFKA-9577).
"""

from __future__ import annotations

from aiokafka_lite.schema.field_types import Int16, String, field
from aiokafka_lite.schema.message import Request, Response


class SaslHandshakeRequest(
    Request["SaslHandshakeResponse"], api_key=17, versions="0-1", flexible="none"
):
    """Names the mechanism the client wants."""

    mechanism: String = field(doc="Name of the mechanism, such as SCRAM-SHA-512.")


class SaslHandshakeResponse(Response, api_key=17, versions="0-1", flexible="none"):
    """Yes, or the mechanisms the broker does have."""

    error_code: Int16 = field(doc="0, or the error that stands in place of a result.")
    mechanisms: list[String] = field(doc="The mechanisms this listener accepts.")


__all__ = ["SaslHandshakeRequest", "SaslHandshakeResponse"]
