"""Which rules a filter means, and which rules are stored."""

from typing import Any

import pytest

from aiokafka_lite.errors import InvalidRequestError
from aiokafka_lite.protocol.messages.create_acls import AclCreation
from aiokafka_lite.protocol.messages.describe_acls import DescribeAclsRequest
from aiokafka_lite.testing.broker import Acl
from aiokafka_lite.testing.broker.security.acl_filter import filter_of, is_definite, new_acl

EVERYTHING = DescribeAclsRequest(
    resource_type_filter=1,
    resource_name_filter=None,
    pattern_type_filter=1,
    principal_filter=None,
    host_filter=None,
    operation=1,
    permission_type=1,
)
TOPIC = Acl.allow("a", "READ", topic="t")
PREFIX = Acl.allow("a", "READ", topic="t", prefixed=True)
ALL = Acl.deny("a", "READ", topic="*", host="h")
GROUP = Acl.allow("b", "READ", group="t")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({}, [TOPIC, PREFIX, ALL, GROUP]),
        ({"resource_type_filter": 3}, [GROUP]),
        ({"resource_name_filter": "t"}, [TOPIC, PREFIX, GROUP]),
        ({"resource_name_filter": "t", "pattern_type_filter": 2}, [TOPIC, PREFIX, ALL, GROUP]),
        ({"resource_name_filter": "tx", "pattern_type_filter": 2}, [PREFIX, ALL]),
        ({"pattern_type_filter": 4}, [PREFIX]),
        ({"pattern_type_filter": 3, "resource_name_filter": "*"}, [ALL]),
        ({"principal_filter": "User:b"}, [GROUP]),
        ({"host_filter": "h"}, [ALL]),
        ({"operation": 4}, []),
        ({"permission_type": 2}, [ALL]),
    ],
)
def test_a_filter_matches_by_every_field(asked: dict[str, Any], expected: list[Acl]) -> None:
    request = DescribeAclsRequest(
        **{name: getattr(EVERYTHING, name) for name in vars(DescribeAclsRequest)["__slots__"]}
        | asked
    )
    wanted = filter_of(request)
    assert [acl for acl in (TOPIC, PREFIX, ALL, GROUP) if wanted.matches(acl)] == expected


def creation(**changes: Any) -> AclCreation:
    terms: dict[str, Any] = {
        "resource_type": 2,
        "resource_name": "t",
        "principal": "User:a",
        "host": "*",
        "operation": 3,
        "permission_type": 3,
    }
    return AclCreation(**terms | changes)


def test_a_rule_is_stored_as_it_was_sent() -> None:
    assert new_acl(creation()) == TOPIC
    assert new_acl(creation(resource_pattern_type=4)) == PREFIX


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"resource_type": 4}, "The only valid name for the CLUSTER resource is kafka-cluster"),
        ({"resource_name": ""}, "Invalid empty resource name"),
        ({"principal": "a"}, "Could not parse principal from `a`"),
        ({"host": ""}, "Host pattern cannot be null or empty"),
    ],
)
def test_a_rule_that_cannot_be_is_refused(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(InvalidRequestError, match=text):
        new_acl(creation(**changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"resource_type": 1},
        {"resource_pattern_type": 2},
        {"operation": 1},
        {"permission_type": 1},
        {"operation": 99},
    ],
)
def test_what_only_filters_have_is_indefinite(changes: dict[str, Any]) -> None:
    assert is_definite(creation())
    assert not is_definite(creation(**changes))
