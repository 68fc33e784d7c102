"""Tokens end when they should, and only owners and renewers change them."""

import pytest

from aiokafka_lite.errors import (
    DelegationTokenExpired,
    DelegationTokenNotFound,
    DelegationTokenOwnerMismatch,
)
from aiokafka_lite.testing.broker import BrokerToken
from aiokafka_lite.testing.broker.security.delegation_tokens import (
    EXPIRY_MS,
    MAX_LIFETIME_MS,
    DelegationTokens,
)
from aiokafka_lite.testing.fake_clock import FakeClock

ALICE, BOB, CAROL = "User:alice", "User:bob", "User:carol"


async def test_a_token_logs_in_until_its_end_and_lives_longer_when_renewed() -> None:
    clock = FakeClock()
    tokens = DelegationTokens(clock, {})
    token = tokens.create(ALICE, ALICE, [BOB], -1)
    assert token.max_ms - token.issue_ms == MAX_LIFETIME_MS
    assert token.expiry_ms - token.issue_ms == EXPIRY_MS
    found = tokens.find(token.token_id)
    assert found is not None
    assert (found[0].owner, found[1]) == ("alice", token.expiry_ms)
    await clock.advance(EXPIRY_MS / 2000)
    assert tokens.renew(token.hmac, BOB, -1) == token.issue_ms + 3 * EXPIRY_MS // 2
    await clock.advance(EXPIRY_MS / 1000 + 1)
    assert tokens.find(token.token_id) is None
    with pytest.raises(DelegationTokenExpired):
        tokens.renew(token.hmac, ALICE, -1)
    with pytest.raises(DelegationTokenExpired):
        tokens.expire(token.hmac, ALICE, 5)
    tokens.expire(token.hmac, ALICE, -1)
    with pytest.raises(DelegationTokenNotFound):
        tokens.expire(token.hmac, ALICE, -1)


def test_a_token_never_outlives_its_limit() -> None:
    tokens = DelegationTokens(FakeClock(), {})
    token = tokens.create(ALICE, ALICE, [], 1000)
    assert token.expiry_ms == token.max_ms == token.issue_ms + 1000
    assert tokens.renew(token.hmac, ALICE, 5000) == token.max_ms
    assert tokens.expire(token.hmac, ALICE, 5000) == token.max_ms
    assert tokens.expire(token.hmac, ALICE, 500) == token.issue_ms + 500


def test_others_may_neither_change_nor_see_a_token() -> None:
    tokens = DelegationTokens(FakeClock(), {})
    token = tokens.create(ALICE, CAROL, [BOB], -1)
    for change in (tokens.renew, tokens.expire):
        with pytest.raises(DelegationTokenOwnerMismatch):
            change(token.hmac, CAROL, -1)
    assert list(tokens.described(CAROL, None, lambda _: False)) == []
    assert list(tokens.described(CAROL, None, lambda _: True)) == [token]
    assert list(tokens.described(BOB, [ALICE], lambda _: False)) == [token]
    assert list(tokens.described(BOB, [CAROL], lambda _: False)) == []
    assert "hmac" not in repr(token)


def test_a_token_of_the_options_never_ends() -> None:
    given = BrokerToken("alice", "password")
    assert DelegationTokens(FakeClock(), {"id": given}).find("id") == (given, None)
