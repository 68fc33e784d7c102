"""A connection's client, as the handlers see it."""

import pytest

from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.testing.broker.security.acl import Acl, Operation, ResourceType
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import ANONYMOUS, OPEN_SESSION, Session


def test_a_client_is_anonymous_until_it_has_authenticated() -> None:
    assert Session().principal == OPEN_SESSION.principal == ANONYMOUS == "User:ANONYMOUS"
    assert OPEN_SESSION.sasl is None


def session(*acls: Acl) -> Session:
    rules = Authorizer(acls, (), allows_without_acl=False)
    return Session("User:alice", host="h", authorizer=rules)


def test_without_an_authorizer_everything_is_allowed() -> None:
    OPEN_SESSION.check_cluster(Operation.ALTER)
    assert OPEN_SESSION.may_write_without_transaction()
    assert OPEN_SESSION.operations(ResourceType.TOPIC, "t") == 0xDF8
    assert OPEN_SESSION.cluster_operations() == 0x1FA0


def test_each_resource_has_its_own_error_which_names_it() -> None:
    nobody = session()
    with pytest.raises(TopicAuthorizationFailedError, match="User:alice may not READ topic 't'"):
        nobody.check_topic(Operation.READ, "t")
    with pytest.raises(GroupAuthorizationFailedError, match="DESCRIBE group 'g'"):
        nobody.check_group(Operation.DESCRIBE, "g")
    with pytest.raises(TransactionalIdAuthorizationFailed, match="WRITE transactional_id 'x'"):
        nobody.check_transactional_id(Operation.WRITE, "x")
    with pytest.raises(ClusterAuthorizationFailedError, match="CREATE cluster 'kafka-cluster'"):
        nobody.check_cluster(Operation.CREATE)


def test_operations_are_told_by_their_bits() -> None:
    reader = session(Acl.allow("alice", "READ", topic="t"))
    assert reader.operations(ResourceType.TOPIC, "t") == 1 << 3 | 1 << 8
    assert reader.cluster_operations() == 0
    operator = session(Acl.allow("alice", "ALTER", cluster=True))
    assert operator.cluster_operations() == 1 << 7 | 1 << 8
    creator = session(Acl.allow("alice", "CREATE", cluster=True))
    assert creator.cluster_operations() == 0  # which needs DESCRIBE


def test_a_producer_without_transaction_may_write_somewhere_or_in_the_cluster() -> None:
    assert not session().may_write_without_transaction()
    assert session(Acl.allow("alice", "WRITE", topic="t")).may_write_without_transaction()
    assert session(
        Acl.allow("alice", "IDEMPOTENT_WRITE", cluster=True)
    ).may_write_without_transaction()


def test_the_operations_of_a_group() -> None:
    assert OPEN_SESSION.operations(ResourceType.GROUP, "g") == 0b110101001000
