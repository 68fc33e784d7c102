"""AlterUserScramCredentials: each user has its result."""

import pytest

from aiokafka_lite.protocol.messages.alter_user_scram_credentials import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from aiokafka_lite.testing.broker.handlers import alter_user_scram_credentials
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


def upsertion(name: str, iterations: int = 4096, mechanism: int = 1) -> ScramCredentialUpsertion:
    return ScramCredentialUpsertion(
        name=name,
        mechanism=mechanism,
        iterations=iterations,
        salt=b"salt",
        salted_password=bytes(32),
    )


def test_each_user_has_its_result() -> None:
    bench = Bench()
    request = AlterUserScramCredentialsRequest(
        upsertions=[
            upsertion("a"),
            upsertion("b", 4095),
            upsertion("c", 16_385),
            upsertion("d", mechanism=3),
            upsertion("e"),
            upsertion("e", mechanism=2),
            upsertion(""),
        ],
        deletions=[ScramCredentialDeletion(name="f", mechanism=1)],
    )
    told = bench.ask(alter_user_scram_credentials.HANDLER, request, 0)
    codes = {each.user: each.error_code for each in told.results}
    assert codes == {"a": 0, "b": 93, "c": 93, "d": 33, "e": 92, "": 93, "f": 91}
    assert bench.nodes[1].users.scram_names() == ["a"]
    request = AlterUserScramCredentialsRequest(
        deletions=[ScramCredentialDeletion(name="a", mechanism=1)]
    )
    told = bench.ask(alter_user_scram_credentials.HANDLER, request, 0)
    assert [each.error_code for each in told.results] == [0]
    assert bench.nodes[1].users.scram_names() == []


@pytest.mark.parametrize(("who", "code"), [(session("User:bob"), 31), (session(), 0)])
def test_the_right_to_alter_the_cluster_is_needed(who: Session, code: int) -> None:
    request = AlterUserScramCredentialsRequest(upsertions=[upsertion("a")])
    told = Bench().ask(alter_user_scram_credentials.HANDLER, request, 0, session=who)
    assert [each.error_code for each in told.results] == [code]
