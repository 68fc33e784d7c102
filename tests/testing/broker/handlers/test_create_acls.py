"""CreateAcls: each rule has its result, and holds at once."""

import pytest

from aiokafka_lite.protocol.messages.create_acls import AclCreation, CreateAclsRequest
from aiokafka_lite.testing.broker.handlers import create_acls
from aiokafka_lite.testing.broker.security.acl import Operation, ResourceType
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


def rule(name: str) -> AclCreation:
    return AclCreation(
        resource_type=2,
        resource_name=name,
        principal="User:a",
        host="*",
        operation=3,
        permission_type=3,
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_each_rule_has_its_result(version: int) -> None:
    root = session()
    request = CreateAclsRequest(creations=[rule("t"), rule("")])
    told = Bench().ask(create_acls.HANDLER, request, version, session=root)
    assert [each.error_code for each in told.results] == [0, 42]
    assert root.authorizer.allows("User:a", "h", Operation.READ, ResourceType.TOPIC, "t")


def test_an_indefinite_rule_fails_the_whole_request() -> None:
    root = session()
    of_any = rule("u")
    of_any.operation = 1
    request = CreateAclsRequest(creations=[rule("t"), of_any])
    told = Bench().ask(create_acls.HANDLER, request, 3, session=root)
    assert [each.error_code for each in told.results] == [-1, -1]
    assert root.authorizer.acls == ()


@pytest.mark.parametrize(("who", "code"), [(session("User:bob"), 31), (Session(), 54)])
def test_rights_and_an_authorizer_are_needed(who: Session, code: int) -> None:
    request = CreateAclsRequest(creations=[rule("t")])
    told = Bench().ask(create_acls.HANDLER, request, 3, session=who)
    assert [each.error_code for each in told.results] == [code]
