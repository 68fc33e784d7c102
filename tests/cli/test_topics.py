"""`aiokafka-lite topics`: what a person creates is there, described, and gone when deleted."""

import json

from tests.cli.conftest import Invoke


def test_create_list_describe_delete(invoke: Invoke) -> None:
    created = invoke("topics", "create", "orders", "--partitions", "3")
    assert (created.exit_code, created.stdout) == (0, "created orders\n")
    listed = json.loads(invoke("topics", "list", "--output", "json").stdout)
    assert listed == [{"topic": "orders", "partitions": 3}]
    described = json.loads(invoke("topics", "describe", "orders", "--output", "json").stdout)
    assert [row["partition"] for row in described] == [0, 1, 2]
    assert {"leader", "replicas", "in_sync"} < described[0].keys()
    assert invoke("topics", "delete", "orders").exit_code == 0
    assert json.loads(invoke("topics", "list", "--output", "json").stdout) == []


def test_a_table_for_people(invoke: Invoke) -> None:
    invoke("topics", "create", "orders")
    shown = invoke("topics", "list").stdout
    assert "orders" in shown
    assert "partitions" in shown


def test_a_topic_that_exists_is_named(invoke: Invoke) -> None:
    invoke("topics", "create", "orders")
    again = invoke("topics", "create", "orders")
    assert again.exit_code == 1
    assert again.stderr.startswith("error: ")
    assert again.stderr.count("'orders'") == 1


def test_an_error_is_a_sentence_without_class_and_number(invoke: Invoke) -> None:
    """A person at a terminal reads what happened; the names of classes are for programs."""
    invoke("topics", "create", "orders")
    for command in ("create", "delete"):
        failed = invoke("topics", command, "orders" if command == "create" else "nothing")
        assert failed.exit_code == 1
        assert "Error" not in failed.stderr
        assert "[" not in failed.stderr


def test_a_topic_that_is_not_there_is_named(invoke: Invoke) -> None:
    for command in ("describe", "delete"):
        missing = invoke("topics", command, "nothing")
        assert missing.exit_code == 1
        assert "'nothing'" in missing.stderr


def test_a_setting_without_equals_is_a_usage_error(invoke: Invoke) -> None:
    result = invoke("topics", "create", "orders", "--config", "retention")
    assert result.exit_code == 2
    assert "key=value" in result.stderr
