"""SaslAuthenticate: a token of the client, answered by the mechanism (KIP-152, KIP-368)."""

from aiokafka_lite.errors import (
    BrokerResponseError,
    IllegalSaslStateError,
    SaslAuthenticationFailed,
)
from aiokafka_lite.kafka_error import reason_of
from aiokafka_lite.protocol.messages.sasl_authenticate import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.security.mechanism import LoginRefusedError


def handle(context: RequestContext, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
    sasl = context.session.sasl
    if sasl is None or sasl.is_complete:
        return SaslAuthenticateResponse(
            error_code=IllegalSaslStateError.errno,
            error_message="SaslAuthenticate request received after successful authentication",
        )
    try:
        context.injected.raise_for()
        answer, lifetime_ms = sasl.take(bytes(request.auth_bytes))
    except BrokerResponseError as error:
        sasl.fail()
        return SaslAuthenticateResponse(error_code=error.errno, error_message=reason_of(error))
    except LoginRefusedError as error:
        return SaslAuthenticateResponse(
            error_code=SaslAuthenticationFailed.errno, error_message=str(error)
        )
    return SaslAuthenticateResponse(
        error_message="", auth_bytes=answer, session_lifetime_ms=lifetime_ms
    )


HANDLER = Handler(SaslAuthenticateRequest, handle, VersionRange(0, 2))


__all__ = ["handle"]
