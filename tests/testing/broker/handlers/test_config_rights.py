"""Which right the settings of each kind need."""

import pytest

from aiokafka_lite.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
)
from aiokafka_lite.testing.broker.handlers._config_rights import check_right
from aiokafka_lite.testing.broker.security.acl import Acl, Operation
from aiokafka_lite.testing.broker.security.authorizer import Authorizer
from aiokafka_lite.testing.broker.security.session import Session

ALTER = Operation.ALTER_CONFIGS
OF_TOPIC = Acl.allow("me", "ALTER_CONFIGS", topic="x")
OF_GROUP = Acl.allow("me", "ALTER_CONFIGS", group="x")
OF_CLUSTER = Acl.allow("me", "ALTER_CONFIGS", cluster=True)


def session(*acls: Acl) -> Session:
    return Session("User:me", authorizer=Authorizer(acls, (), allows_without_acl=False))


@pytest.mark.parametrize(
    ("kind", "right", "error"),
    [
        (2, OF_TOPIC, TopicAuthorizationFailedError),
        (4, OF_CLUSTER, ClusterAuthorizationFailedError),
        (8, OF_CLUSTER, ClusterAuthorizationFailedError),
        (16, OF_CLUSTER, ClusterAuthorizationFailedError),
        (32, OF_GROUP, GroupAuthorizationFailedError),
    ],
)
def test_each_kind_has_its_right(kind: int, right: Acl, error: type[Exception]) -> None:
    check_right(session(right), ALTER, kind, "x")
    others = [each for each in (OF_TOPIC, OF_GROUP, OF_CLUSTER) if each is not right]
    with pytest.raises(error):
        check_right(session(*others), ALTER, kind, "x")
