"""DeleteAcls: removes what matches, and tells it."""

import pytest

from aiokafka_lite.protocol.messages.delete_acls import DeleteAclsFilter, DeleteAclsRequest
from aiokafka_lite.testing.broker.handlers import delete_acls
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session
from tests.testing.broker.bench import Bench


def session(principal: str = "User:root") -> Session:
    rules = Authorizer([], ["root"], allows_without_acl=False)
    return Session(principal, authorizer=rules)


def about(name: str) -> DeleteAclsFilter:
    return DeleteAclsFilter(
        resource_type_filter=1,
        resource_name_filter=name,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )


@pytest.mark.parametrize("version", [1, 2, 3])
def test_what_matches_is_removed_and_told(version: int) -> None:
    root = session()
    root.authorizer.add([Acl.allow("a", "READ", topic="t"), Acl.allow("b", "READ", topic="u")])
    request = DeleteAclsRequest(filters=[about("t"), about("x")])
    told = Bench().ask(delete_acls.HANDLER, request, version, session=root)
    removed = [[rule.principal for rule in each.matching_acls] for each in told.filter_results]
    assert removed == [["User:a"], []]
    assert [acl.name for acl in root.authorizer.acls] == ["u"]


@pytest.mark.parametrize("part", ["resource_type_filter", "operation", "permission_type"])
def test_an_unknown_part_is_the_error_of_its_filter(part: str) -> None:
    root, bad = session(), about("t")
    root.authorizer.add([Acl.allow("a", "READ", topic="t")])
    setattr(bad, part, 99)
    told = Bench().ask(
        delete_acls.HANDLER, DeleteAclsRequest(filters=[bad, about("t")]), 3, session=root
    )
    codes = [(each.error_code, len(each.matching_acls)) for each in told.filter_results]
    assert codes == [(42, 0), (0, 1)]


@pytest.mark.parametrize(("who", "code"), [(session("User:bob"), 31), (Session(), 54)])
def test_rights_and_an_authorizer_are_needed(who: Session, code: int) -> None:
    request = DeleteAclsRequest(filters=[about("t")])
    told = Bench().ask(delete_acls.HANDLER, request, 3, session=who)
    assert [each.error_code for each in told.filter_results] == [code]
