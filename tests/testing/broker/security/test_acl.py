"""One rule: whom it is for, what it is about, and which operations it decides."""

from typing import Any

import pytest

from aiokafka_lite.testing.broker.security.acl import Acl, Operation, ResourceType

EVERY_ROLE = list(Operation)


def test_a_rule_is_written_in_one_line() -> None:
    acl = Acl.allow("alice", "read", "WRITE", topic="orders-", prefixed=True)
    assert acl.principal == "User:alice"
    assert acl.operations == {Operation.READ, Operation.WRITE}
    assert (acl.resource_type, acl.name) == (ResourceType.TOPIC, "orders-")
    assert (acl.is_prefixed, acl.is_allowed, acl.host) == (True, True, "*")
    denied = Acl.deny("User:CN=alice", "ALL", cluster=True, host="10.0.0.1")
    assert (denied.principal, denied.name) == ("User:CN=alice", "kafka-cluster")
    assert (denied.is_prefixed, denied.is_allowed, denied.host) == (False, False, "10.0.0.1")


@pytest.mark.parametrize(
    ("acl", "name", "is_about"),
    [
        (Acl.allow("a", "READ", topic="t"), "t", True),
        (Acl.allow("a", "READ", topic="t"), "t2", False),
        (Acl.allow("a", "READ", topic="*"), "t2", True),
        (Acl.allow("a", "READ", topic="t", prefixed=True), "t2", True),
        (Acl.allow("a", "READ", topic="t", prefixed=True), "u", False),
        (Acl.allow("a", "READ", topic="*", prefixed=True), "t2", False),
        (Acl.allow("a", "READ", group="t"), "t", False),
    ],
)
def test_which_resources_a_rule_is_about(acl: Acl, name: str, is_about: bool) -> None:
    assert acl.is_about(ResourceType.TOPIC, name) is is_about


@pytest.mark.parametrize(
    ("principal", "host", "is_mine"),
    [("a", "*", True), ("*", "*", True), ("b", "*", False), ("a", "h", True), ("a", "g", False)],
)
def test_whom_a_rule_is_for(principal: str, host: str, is_mine: bool) -> None:
    assert Acl.allow(principal, "READ", topic="t", host=host).is_for("User:a", "h") is is_mine


@pytest.mark.parametrize("name", ["READ", "WRITE", "DELETE", "ALTER"])
def test_what_is_allowed_implies_describe_and_what_is_denied_does_not(name: str) -> None:
    assert Acl.allow("a", name, topic="t").covers(Operation.DESCRIBE)
    assert not Acl.deny("a", name, topic="t").covers(Operation.DESCRIBE)
    assert not Acl.allow("a", name, topic="t").covers(Operation.CREATE)


def test_alter_configs_implies_describe_configs() -> None:
    assert Acl.allow("a", "ALTER_CONFIGS", topic="t").covers(Operation.DESCRIBE_CONFIGS)
    assert not Acl.allow("a", "ALTER", topic="t").covers(Operation.DESCRIBE_CONFIGS)


@pytest.mark.parametrize("operation", EVERY_ROLE)
def test_all_covers_each_operation(operation: Operation) -> None:
    assert Acl.allow("a", "ALL", topic="t").covers(operation)
    assert Acl.deny("a", "ALL", topic="t").covers(operation)


@pytest.mark.parametrize(
    ("operations", "resource", "text"),
    [
        (("EAT",), {"topic": "t"}, "operations must be some of ALL, READ, .*; got EAT"),
        ((), {"topic": "t"}, "got none"),
        (("READ",), {}, "exactly one of topic=, .* got 0 of them"),
        (("READ",), {"topic": "t", "group": "g"}, "got 2 of them"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(
    operations: tuple[str, ...], resource: dict[str, Any], text: str
) -> None:
    with pytest.raises(ValueError, match=text):
        Acl.allow("a", *operations, **resource)
    with pytest.raises(ValueError, match=text):
        Acl.deny("a", *operations, **resource)
