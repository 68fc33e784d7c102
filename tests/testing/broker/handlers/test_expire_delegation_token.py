"""ExpireDelegationToken: another end, for owner and renewers."""

import pytest

from aiokafka_lite.protocol.messages.expire_delegation_token import ExpireDelegationTokenRequest
from aiokafka_lite.testing.broker.handlers import expire_delegation_token
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


@pytest.mark.parametrize("version", [1, 2])
def test_the_owner_changes_the_end(version: int) -> None:
    bench = Bench()
    token = bench.nodes[1].users.tokens.create("User:root", "User:root", [], -1)
    request = ExpireDelegationTokenRequest(hmac=token.hmac, expiry_time_period_ms=5000)
    told = bench.ask(expire_delegation_token.HANDLER, request, version, session=session())
    assert told.error_code == 0
    assert 0 <= told.expiry_timestamp_ms - token.issue_ms - 5000 < 60_000


@pytest.mark.parametrize(
    ("who", "is_known", "code", "expiry_ms"),
    [
        (session("User:bob"), True, 63, 0),
        (session(), False, 62, 0),
        (Session(), True, 64, -1),
    ],
)
def test_others_are_refused(who: Session, is_known: bool, code: int, expiry_ms: int) -> None:
    bench = Bench()
    token = bench.nodes[1].users.tokens.create("User:root", "User:root", [], -1)
    mac = token.hmac if is_known else b"x"
    request = ExpireDelegationTokenRequest(hmac=mac, expiry_time_period_ms=5000)
    told = bench.ask(expire_delegation_token.HANDLER, request, 2, session=who)
    assert (told.error_code, told.expiry_timestamp_ms) == (code, expiry_ms)
