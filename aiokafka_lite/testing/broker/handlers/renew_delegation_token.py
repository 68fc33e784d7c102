"""RenewDelegationToken: lets a token live longer."""

from aiokafka_lite.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from aiokafka_lite.schema.version_range import VersionRange
from aiokafka_lite.testing.broker.handler import Handler, RequestContext
from aiokafka_lite.testing.broker.handlers._token_periods import moved_end


def handle(
    context: RequestContext, request: RenewDelegationTokenRequest
) -> RenewDelegationTokenResponse:
    renew = context.users.tokens.renew
    period_ms = request.renew_period_ms
    return moved_end(context, RenewDelegationTokenResponse, renew, request.hmac, period_ms)


HANDLER = Handler(RenewDelegationTokenRequest, handle, VersionRange(1, 2))

__all__ = ["handle"]
