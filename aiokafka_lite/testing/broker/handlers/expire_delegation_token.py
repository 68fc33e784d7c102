"""ExpireDelegationToken: ends a token, now or at another time."""

from aiokafka_lite.protocol.messages.expire_delegation_token import (
    ExpireDelegationTokenRequest,
    ExpireDelegationTokenResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._token_periods import moved_end


def handle(
    context: RequestContext, request: ExpireDelegationTokenRequest
) -> ExpireDelegationTokenResponse:
    expire = context.users.tokens.expire
    period_ms = request.expiry_time_period_ms
    return moved_end(context, ExpireDelegationTokenResponse, expire, request.hmac, period_ms)


HANDLER = Handler(ExpireDelegationTokenRequest, handle, VersionRange(1, 2))

__all__ = ["handle"]
