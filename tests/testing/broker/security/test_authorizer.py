"""Many rules together: deny goes first, and silence refuses."""

import pytest

from aiokafka_lite.testing.broker.security.acl import Acl, Operation, ResourceType
from aiokafka_lite.testing.broker.security.authorizer import Authorizer

READ, WRITE, DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE
TOPIC = ResourceType.TOPIC


def may(
    *acls: Acl, operation: Operation = READ, name: str = "topic", principal: str = "User:a"
) -> bool:
    rules = Authorizer(acls, ["root", "User:CN=root"], allows_without_acl=False)
    return rules.allows(principal, "h", operation, TOPIC, name)


def test_what_no_rule_allows_is_refused() -> None:
    assert not may()
    assert not may(Acl.allow("b", "READ", topic="topic"))
    assert may(Acl.allow("a", "READ", topic="topic"))


@pytest.mark.parametrize("principal", ["User:root", "User:CN=root"])
def test_super_users_may_everything(principal: str) -> None:
    assert may(Acl.deny("*", "ALL", topic="*"), principal=principal)


@pytest.mark.parametrize(
    "denied",
    [
        Acl.deny("a", "READ", topic="topic"),
        Acl.deny("*", "ALL", topic="*"),
        Acl.deny("a", "READ", topic="to", prefixed=True),
        Acl.deny("a", "READ", topic="topic", host="h"),
    ],
)
def test_a_denial_goes_before_each_permission(denied: Acl) -> None:
    allowed = Acl.allow("a", "ALL", topic="topic")
    assert may(allowed)
    assert not may(allowed, denied)
    assert not may(denied, allowed)


def test_a_denial_of_reading_leaves_describing() -> None:
    rules = (Acl.allow("a", "READ", topic="topic"), Acl.deny("a", "READ", topic="topic"))
    assert not may(*rules)
    assert may(*rules, operation=DESCRIBE)


def test_everybody_may_use_what_no_rule_is_about_if_the_broker_says_so() -> None:
    rules = Authorizer([Acl.allow("b", "READ", topic="x")], [], allows_without_acl=True)
    assert rules.allows("User:a", "h", READ, TOPIC, "topic")
    assert not rules.allows("User:a", "h", READ, TOPIC, "x")  # a rule is about it


@pytest.mark.parametrize(
    ("acls", "is_allowed"),
    [
        ((), False),
        ((Acl.allow("a", "WRITE", topic="t"),), True),
        ((Acl.allow("a", "ALL", topic="t", prefixed=True),), True),
        ((Acl.allow("a", "READ", topic="t"),), False),
        ((Acl.allow("a", "WRITE", group="t"),), False),
        ((Acl.allow("a", "WRITE", topic="t"), Acl.deny("a", "WRITE", topic="t")), False),
        ((Acl.allow("a", "WRITE", topic="t"), Acl.deny("a", "WRITE", topic="u")), True),
        ((Acl.allow("a", "WRITE", topic="t"), Acl.deny("*", "ALL", topic="*")), False),
        (
            (Acl.allow("a", "WRITE", topic="tx"), Acl.deny("a", "WRITE", topic="t", prefixed=True)),
            False,
        ),
        (
            (Acl.allow("a", "WRITE", topic="t", prefixed=True), Acl.deny("a", "WRITE", topic="t")),
            True,
        ),
        ((Acl.allow("a", "WRITE", topic="*"), Acl.deny("a", "WRITE", topic="t")), True),
    ],
)
def test_who_may_write_somewhere(acls: tuple[Acl, ...], is_allowed: bool) -> None:
    rules = Authorizer(acls, ["root"], allows_without_acl=False)
    assert rules.allows_somewhere("User:a", "h", WRITE, TOPIC) is is_allowed
    assert rules.allows_somewhere("User:root", "h", WRITE, TOPIC)
