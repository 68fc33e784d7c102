"""SaslHandshake: begins an authentication, or a re-authentication (KIP-43, KIP-368)."""

from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalSaslStateError,
    UnsupportedSaslMechanismError,
)
from aiokafka_lite.protocol.messages.sasl_handshake import (
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext


def handle(context: RequestContext, request: SaslHandshakeRequest) -> SaslHandshakeResponse:
    sasl = context.session.sasl
    if sasl is None or sasl.is_complete:
        return SaslHandshakeResponse(error_code=IllegalSaslStateError.errno)
    mechanisms = list(sasl.mechanisms)
    try:
        context.injected.raise_for()
    except BrokerResponseError as error:
        sasl.fail()
        return SaslHandshakeResponse(error_code=error.errno, mechanisms=mechanisms)
    has_headers = context.version >= 1
    is_known = sasl.choose(request.mechanism, has_headers=has_headers)
    return SaslHandshakeResponse(
        error_code=0 if is_known else UnsupportedSaslMechanismError.errno, mechanisms=mechanisms
    )


HANDLER = Handler(SaslHandshakeRequest, handle, VersionRange(0, 1))


__all__ = ["handle"]
