"""What RenewDelegationToken and ExpireDelegationToken do: they move the end of a token."""

from collections.abc import Callable
from typing import TypeVar

from aiokafka_lite.errors import BrokerResponseError
from aiokafka_lite.protocol.messages.expire_delegation_token import ExpireDelegationTokenResponse
from aiokafka_lite.protocol.messages.renew_delegation_token import RenewDelegationTokenResponse
from aiokafka_lite.testing.broker.handler import RequestContext

Answer = TypeVar("Answer", RenewDelegationTokenResponse, ExpireDelegationTokenResponse)


def moved_end(
    context: RequestContext,
    answer: type[Answer],
    move: Callable[[bytes, str, int], int],
    hmac: bytes,
    period_ms: int,
) -> Answer:
    """Return the answer with the token's new end, which `move` finds, or with an error."""
    session = context.session
    try:
        context.injected.raise_for()
        session.check_tokens_allowed()
    except BrokerResponseError as error:
        return answer(error_code=error.errno, expiry_timestamp_ms=-1)
    try:
        end_ms = move(hmac, session.principal, period_ms)
    except BrokerResponseError as error:
        return answer(error_code=error.errno)
    context.cluster.note_change()
    return answer(expiry_timestamp_ms=end_ms)


__all__ = ["moved_end"]
