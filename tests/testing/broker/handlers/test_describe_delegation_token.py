"""DescribeDelegationToken: what the user may see."""

import pytest

from aiokafka_lite.protocol.messages.describe_delegation_token import (
    DescribeDelegationTokenOwner,
    DescribeDelegationTokenRequest,
)
from aiokafka_lite.testing.broker.handlers import describe_delegation_token
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_user_sees_its_tokens_and_those_that_it_may_renew(version: int) -> None:
    bench = Bench()
    tokens = bench.nodes[1].users.tokens
    mine = tokens.create("User:bob", "User:root", [], -1)
    renewed = tokens.create("User:a", "User:a", ["User:bob"], -1)
    other = tokens.create("User:a", "User:a", [], -1)

    def ids(who: Session, *owners: str) -> list[str]:
        named = [
            DescribeDelegationTokenOwner(principal_type="User", principal_name=owner)
            for owner in owners
        ]
        request = DescribeDelegationTokenRequest(owners=named or None)
        told = bench.ask(describe_delegation_token.HANDLER, request, version, session=who)
        assert told.error_code == 0
        return [each.token_id for each in told.tokens]

    assert ids(session("User:bob")) == [mine.token_id, renewed.token_id]
    assert ids(session("User:bob"), "a") == [renewed.token_id]
    assert ids(session()) == [mine.token_id, renewed.token_id, other.token_id]
    carol = session("User:carol")
    assert ids(carol) == []


def test_without_a_login_nothing_is_told() -> None:
    request = DescribeDelegationTokenRequest(owners=None)
    told = Bench().ask(describe_delegation_token.HANDLER, request, 3)
    assert (told.error_code, told.tokens) == (64, [])
