"""The end of a token is moved, or the answer says why not."""

from aiokafka_lite.errors import DelegationTokenNotFound
from aiokafka_lite.protocol.messages.renew_delegation_token import (
    RenewDelegationTokenRequest,
    RenewDelegationTokenResponse,
)
from aiokafka_lite.testing.broker.handlers import renew_delegation_token
from tests.testing.broker.bench import Bench


def test_a_connection_without_a_user_may_have_no_tokens() -> None:
    request = RenewDelegationTokenRequest(hmac=b"x", renew_period_ms=5)
    answer = Bench().ask(renew_delegation_token.HANDLER, request, 2)
    assert isinstance(answer, RenewDelegationTokenResponse)
    assert answer.error_code not in (0, DelegationTokenNotFound.errno)
    assert answer.expiry_timestamp_ms == -1
