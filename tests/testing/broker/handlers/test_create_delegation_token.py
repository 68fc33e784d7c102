"""CreateDelegationToken: for the user itself, or for an owner that it may make them for."""

import pytest

from aiokafka_lite.protocol.messages.create_delegation_token import (
    CreatableRenewers,
    CreateDelegationTokenRequest,
)
from aiokafka_lite.testing.broker.handlers import create_delegation_token
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


@pytest.mark.parametrize("version", [1, 2, 3])
def test_a_token_is_made_for_the_user(version: int) -> None:
    renewer = CreatableRenewers(principal_type="User", principal_name="bob")
    request = CreateDelegationTokenRequest(renewers=[renewer], max_lifetime_ms=5000)
    bench = Bench()
    told = bench.ask(create_delegation_token.HANDLER, request, version, session=session())
    assert (told.error_code, told.principal_type, told.principal_name) == (0, "User", "root")
    assert told.expiry_timestamp_ms - told.issue_timestamp_ms == 5000
    stored = list(bench.nodes[1].users.tokens.described("User:bob", None, lambda _: False))
    assert [(each.token_id, each.hmac) for each in stored] == [(told.token_id, told.hmac)]


@pytest.mark.parametrize(
    ("who", "owner", "renewer_type", "code"),
    [
        (session(), "bob", "User", 0),
        (session("User:bob"), "root", "User", 65),
        (session("User:bob"), "bob", "Group", 67),
        (Session(), None, "User", 64),
    ],
)
def test_some_may_make_no_token(
    who: Session, owner: str | None, renewer_type: str, code: int
) -> None:
    request = CreateDelegationTokenRequest(
        owner_principal_type=None if owner is None else "User",
        owner_principal_name=owner,
        renewers=[CreatableRenewers(principal_type=renewer_type, principal_name="x")],
        max_lifetime_ms=-1,
    )
    told = Bench().ask(create_delegation_token.HANDLER, request, 3, session=who)
    assert told.error_code == code
    assert bool(told.hmac) == (code == 0)
