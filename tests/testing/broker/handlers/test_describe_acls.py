"""DescribeAcls: the rules that match, by resource."""

import pytest

from aiokafka_lite.protocol.messages.describe_acls import DescribeAclsRequest
from aiokafka_lite.testing.broker.handlers import describe_acls
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


def request(kind: int = 1) -> DescribeAclsRequest:
    return DescribeAclsRequest(
        resource_type_filter=kind,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_rules_are_told_by_resource(version: int) -> None:
    root = session()
    root.authorizer.add(
        [Acl.allow("a", "READ", "WRITE", topic="t"), Acl.deny("b", "ALL", group="g")]
    )
    told = Bench().ask(describe_acls.HANDLER, request(), version, session=root)
    assert [(each.resource_type, each.resource_name) for each in told.resources] == [
        (2, "t"),
        (3, "g"),
    ]
    assert [each.operation for each in told.resources[0].acls] == [3, 4]
    assert told.resources[1].acls[0].permission_type == 2
    told = Bench().ask(describe_acls.HANDLER, request(3), version, session=root)
    assert [each.resource_name for each in told.resources] == ["g"]


@pytest.mark.parametrize(("who", "code"), [(session("User:bob"), 31), (Session(), 54)])
def test_rights_and_an_authorizer_are_needed(who: Session, code: int) -> None:
    assert Bench().ask(describe_acls.HANDLER, request(), 3, session=who).error_code == code
