"""Access rules as Kafka stores them; that a real one obeys them, tests/security/ shows."""

import socket

import pytest

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing import access_rules
from aiokafka_lite.testing.access_rules import create_acls, creations
from aiokafka_lite.testing.broker.security.acl import Acl


def test_a_rule_is_stored_once_for_each_operation() -> None:
    stored = creations(
        [Acl.allow("alice", "READ", "WRITE", topic="orders"), Acl.deny("*", "ALL", cluster=True)]
    )
    assert [
        (each.resource_type, each.resource_name, each.principal, each.host, each.operation)
        for each in stored
    ] == [
        (2, "orders", "User:alice", "*", 3),
        (2, "orders", "User:alice", "*", 4),
        (4, "kafka-cluster", "User:*", "*", 2),
    ]
    assert [each.permission_type for each in stored] == [3, 3, 2]


@pytest.mark.parametrize(("is_prefixed", "pattern_type"), [(False, 3), (True, 4)])
def test_a_rule_knows_its_pattern(is_prefixed: bool, pattern_type: int) -> None:
    [stored] = creations([Acl.allow("alice", "READ", group="team-", prefixed=is_prefixed)])
    assert stored.resource_pattern_type == pattern_type


def test_a_node_that_does_not_answer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access_rules, "ANSWER_WITHIN_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        with pytest.raises(KafkaConnectionError, match=rf"127\.0\.0\.1:{port} does not answer"):
            create_acls([port], [Acl.allow("alice", "READ", topic="t")])
