"""`aiokafka-lite acls`: rules are listed, added and removed."""

import json
from collections.abc import Iterator

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke


@pytest.fixture
def broker() -> Iterator[EmbeddedBroker]:
    """A broker with an authorizer, on which everybody may do everything."""
    with EmbeddedBroker.threaded(acls=[], super_users=["ANONYMOUS"]) as broker:
        yield broker


def listed(invoke: Invoke, *words: str) -> list[tuple[str, ...]]:
    shown = invoke("acls", "list", "--output", "json", *words)
    assert shown.exit_code == 0, shown.stderr
    columns = ("resource", "name", "pattern", "principal", "host", "operation", "permission")
    rows = json.loads(shown.stdout)
    assert all(tuple(row) == columns for row in rows)
    return [tuple(row[name] for name in ("name", "principal", "operation")) for row in rows]


ALICE_READS = ("orders", "User:alice", "READ")


def test_rules_are_added_listed_and_removed(invoke: Invoke) -> None:
    words = ("--allow-principal", "User:alice", "--operation", "Read", "--topic", "orders")
    dry = invoke("acls", "add", *words, "--dry-run")
    assert "User:alice" in dry.stdout
    assert "nothing is changed" in dry.stderr
    assert listed(invoke) == []

    assert invoke("acls", "add", *words).exit_code == 0
    denied = ("--deny-principal", "User:bob", "--deny-host", "10.0.0.1", "--cluster")
    assert invoke("acls", "add", *denied).exit_code == 0
    assert listed(invoke) == [ALICE_READS, ("kafka-cluster", "User:bob", "ALL")]
    assert listed(invoke, "--topic", "orders") == [ALICE_READS]
    assert listed(invoke, "--permission", "deny", "--host", "10.0.0.1", "--cluster") != []
    assert listed(invoke, "--operation", "Write") == []

    planned = invoke("acls", "remove", "--principal", "User:alice")
    assert "orders" in planned.stdout
    assert "--execute" in planned.stderr
    assert ALICE_READS in listed(invoke)
    removed = invoke("acls", "remove", "--principal", "User:alice", "--execute")
    assert "orders" in removed.stdout
    assert removed.stderr == ""
    assert listed(invoke) == [("kafka-cluster", "User:bob", "ALL")]


def test_the_rules_that_apply_to_a_topic(invoke: Invoke) -> None:
    words = ("--allow-principal", "User:alice", "--operation", "Read")
    for topic, pattern in (("ord", "prefixed"), ("*", "literal"), ("refunds", "literal")):
        more = ("--topic", topic, "--resource-pattern-type", pattern)
        assert invoke("acls", "add", *words, *more).exit_code == 0
    assert listed(invoke, "--topic", "orders") == []
    found = listed(invoke, "--topic", "orders", "--resource-pattern-type", "match")
    assert [name for name, *_ in found] == ["*", "ord"]


def test_what_producers_and_consumers_need(invoke: Invoke) -> None:
    words = ("--allow-principal", "User:alice", "--topic", "orders", "--group", "billing")
    assert invoke("acls", "add", *words, "--producer", "--consumer").exit_code == 0
    assert {(name, operation) for name, _, operation in listed(invoke)} == {
        ("orders", "WRITE"),
        ("orders", "CREATE"),
        ("orders", "DESCRIBE"),
        ("orders", "READ"),
        ("billing", "READ"),
    }


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("add", "--topic", "t"), "--allow-principal"),
        (("add", "--allow-principal", "User:a"), "name a resource"),
        (("add", "--topic", "t", "--allow-principal", "a"), "TYPE:NAME"),
        (("add", "--topic", "t", "--consumer", "--allow-principal", "User:a"), "--group"),
        (("add", "--topic", "t", "--producer"), "take --allow-principal"),
        (
            ("add", "--producer", "--cluster", "--topic", "t", "--allow-principal", "User:a"),
            "no other resources",
        ),
        (("remove", "--execute"), "name what to remove"),
        (("list", "--operation", "Reed"), "'Reed' is unknown"),
    ],
)
def test_wrong_words_are_refused(invoke: Invoke, words: tuple[str, ...], fault: str) -> None:
    refused = invoke("acls", *words)
    assert refused.exit_code == 2
    assert fault in refused.stderr
    assert listed(invoke) == []


def test_a_broker_without_an_authorizer_says_so() -> None:
    from tests.cli.conftest import invoke_on

    with EmbeddedBroker.threaded() as open_broker:
        refused = invoke_on(open_broker)("acls", "list")
    assert refused.exit_code == 1
    assert "authorizer" in refused.stderr.lower()
