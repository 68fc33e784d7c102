"""DescribeUserScramCredentials: mechanisms and iterations of users."""

import pytest

from aiokafka_lite.protocol.messages.describe_user_scram_credentials import (
    DescribeUserScramCredentialsRequest,
    UserName,
)
from aiokafka_lite.testing.broker.handlers import describe_user_scram_credentials
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.scram_server import ScramCredential
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


@pytest.mark.parametrize("users", [None, []])
def test_all_users_are_told(users: list[UserName] | None) -> None:
    bench = Bench()
    credential = ScramCredential.of_salted("sha512", bytes(64), b"salt", 5000)
    bench.nodes[1].users.scram["SCRAM-SHA-512"].put("carol", credential)
    request = DescribeUserScramCredentialsRequest(users=users)
    told = bench.ask(describe_user_scram_credentials.HANDLER, request, 0)
    (result,) = told.results
    assert result.user == "carol"
    assert [(each.mechanism, each.iterations) for each in result.credential_infos] == [(2, 5000)]


def test_unknown_users_and_those_named_twice_have_errors() -> None:
    names = [UserName(name=name) for name in ("a", "b", "b")]
    request = DescribeUserScramCredentialsRequest(users=names)
    told = Bench().ask(describe_user_scram_credentials.HANDLER, request, 0)
    assert {each.user: each.error_code for each in told.results} == {"a": 91, "b": 92}


def test_the_right_to_describe_the_cluster_is_needed() -> None:
    request = DescribeUserScramCredentialsRequest(users=None)
    bob = session("User:bob")
    assert (
        Bench().ask(describe_user_scram_credentials.HANDLER, request, 0, session=bob).error_code
        == 31
    )
