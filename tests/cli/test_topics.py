"""`aiokafka-lite topics`: what a person creates is there, described, and gone when deleted."""

import json

import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
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
    assert "PARTITIONS" in shown


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


@pytest.mark.parametrize(
    "command",
    [
        ("create", "orders", "-c", "retention.ms=1", "-c", "retention.ms=2"),
        ("alter", "orders", "--set", "retention.ms=1", "--set", "retention.ms=2"),
        ("alter", "orders", "--set", "retention.ms=1", "--delete", "retention.ms"),
    ],
)
def test_a_setting_with_two_meanings_is_a_usage_error(
    invoke: Invoke, command: tuple[str, ...]
) -> None:
    refused = invoke("topics", *command)
    assert refused.exit_code == 2
    assert "'retention.ms' " in refused.stderr


def test_offsets_of_each_partition(invoke: Invoke) -> None:
    invoke("topics", "create", "orders", "--partitions", "2")
    assert invoke("produce", "-t", "orders", stdin="a\nb\n").exit_code == 0
    ends = json.loads(invoke("topics", "offsets", "orders", "--output", "json").stdout)
    assert [row["partition"] for row in ends] == [0, 1]
    assert sum(row["offset"] for row in ends) == 2
    newest = invoke("topics", "offsets", "orders", "--at", "max-timestamp", "--output", "json")
    assert any(row["timestamp"] for row in json.loads(newest.stdout))
    assert [row["timestamp"] for row in ends] == [None, None]
    later = invoke("topics", "offsets", "orders", "--time", str(2**60), "--output", "json")
    assert [row["offset"] for row in json.loads(later.stdout)] == [-1, -1]
    a_day_ago = invoke("topics", "offsets", "orders", "--time", "-1d", "--output", "json")
    assert 0 in {row["offset"] for row in json.loads(a_day_ago.stdout)}
    assert invoke("topics", "offsets", "orders", "--time", "end").exit_code == 2
    committed = invoke("topics", "offsets", "orders", "--committed", "--output", "json")
    assert json.loads(committed.stdout) == ends
    missing = invoke("topics", "offsets", "nothing")
    assert missing.exit_code == 1
    assert "'nothing'" in missing.stderr


def test_settings_are_altered_and_shown(invoke: Invoke) -> None:
    invoke("topics", "create", "orders")
    change = ("topics", "alter", "orders", "--set", "retention.ms=5000")
    assert invoke(*change, "--validate-only").stdout == "checked topic orders\n"
    assert invoke(*change).stdout == "altered topic orders\n"
    shown = json.loads(invoke("topics", "configs", "orders", "--output", "json").stdout)
    assert {"name": "retention.ms", "value": "5000", "source": "topic_config"} in shown
    back = invoke("topics", "alter", "orders", "--delete", "retention.ms")
    assert back.exit_code == 0
    assert invoke("topics", "alter", "orders").exit_code == 2


def test_partitions_are_added(invoke: Invoke, broker: EmbeddedBroker) -> None:
    invoke("topics", "create", "orders", "--partitions", "2")
    more = ("topics", "add-partitions", "orders", "-p", "3")
    assert invoke(*more, "--validate-only").stdout == "orders may have 3 partitions\n"
    assert invoke(*more).stdout == "orders has 3 partitions\n"
    assert invoke(*more).exit_code == 1
    assert len(json.loads(invoke("topics", "describe", "orders", "--output", "json").stdout)) == 3


def test_records_are_deleted_before_a_place(invoke: Invoke) -> None:
    invoke("topics", "create", "orders")
    lines = "".join(f'{{"value": "{n}", "timestamp": {n + 1}}}\n' for n in range(5))
    assert invoke("produce", "-t", "orders", "-J", stdin=lines).exit_code == 0

    def first(before: str) -> str:
        done = invoke("topics", "delete-records", "orders", "--before", before, "--output", "json")
        assert done.exit_code == 0, done.stderr
        (row,) = json.loads(done.stdout)
        return str(row["offset"])

    assert first("1") == "1"
    assert first("@4") == "3"
    assert first("end") == "5"
    beyond = invoke("topics", "delete-records", "orders", "--before", "99")
    assert beyond.exit_code == 1
    for wrong in ("start", "-3"):
        assert invoke("topics", "delete-records", "orders", f"--before={wrong}").exit_code == 2
    missing = invoke("topics", "delete-records", "orders", "--before", "1", "-p", "7")
    assert missing.exit_code == 1
    assert "[7]" in missing.stderr
