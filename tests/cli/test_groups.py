"""`aiokafka-lite groups`: groups are listed, described, reset and deleted."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import confluent_kafka
import pytest

from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke


@pytest.fixture(autouse=True)
def committed(broker: EmbeddedBroker, invoke: Invoke) -> None:
    """Ten records in the topic `orders`, and the group `billing` at offset 4 of them."""
    broker.create_topic("orders")
    lines = "".join(f"v{number}\n" for number in range(10))
    assert invoke("produce", "-t", "orders", stdin=lines).exit_code == 0
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"}
    )
    consumer.commit(offsets=[confluent_kafka.TopicPartition("orders", 0, 4)], asynchronous=False)
    consumer.close()


@contextmanager
def member(broker: EmbeddedBroker, group: str) -> Iterator[None]:
    """A member of a group, with an assignment."""
    consumer = confluent_kafka.Consumer(
        {
            "bootstrap.servers": broker.bootstrap_servers,
            "group.id": group,
            "client.id": "me",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe(["orders"])
    while not consumer.assignment():
        consumer.poll(0.1)
    yield
    consumer.close()


@pytest.fixture
def joined(broker: EmbeddedBroker) -> Iterator[None]:
    """A member of the group `billing`."""
    with member(broker, "billing"):
        yield


def rows(invoke: Invoke, *arguments: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(
        invoke("groups", *arguments, "--output", "json").stdout
    )
    return found


def test_list_and_delete(invoke: Invoke) -> None:
    row = {"group": "billing", "type": "classic", "protocol": "", "state": "Empty"}
    assert rows(invoke, "list") == [row]
    assert rows(invoke, "list", "--state", "Stable") == []
    assert rows(invoke, "list", "--type", "classic") == [row]
    assert "billing" in invoke("groups", "list").stdout
    deleted = invoke("groups", "delete", "billing", "nothing")
    assert (deleted.exit_code, deleted.stdout) == (1, "deleted billing\n")
    assert "'nothing'" in deleted.stderr
    assert rows(invoke, "list") == []


@pytest.mark.usefixtures("joined")
def test_describe(invoke: Invoke) -> None:
    (found,) = rows(invoke, "describe", "billing")
    assert (found["client"], found["host"]) == ("me", "/127.0.0.1")
    assert found["partitions"] == ["orders-0"]
    assert "MEMBER" in invoke("groups", "describe", "billing").stdout
    unknown = invoke("groups", "describe", "nothing")
    assert unknown.exit_code == 1
    assert "nothing" in unknown.stderr


def test_a_lag_beyond_the_end_is_shown_and_explained(
    invoke: Invoke, broker: EmbeddedBroker
) -> None:
    consumer = confluent_kafka.Consumer(
        {"bootstrap.servers": broker.bootstrap_servers, "group.id": "billing"}
    )
    consumer.commit(offsets=[confluent_kafka.TopicPartition("orders", 0, 17)], asynchronous=False)
    consumer.close()
    shown = invoke("groups", "lag", "billing", "--output", "json")
    assert json.loads(shown.stdout)[0]["lag"] == -7
    assert "orders-0: the committed offset 17 lies beyond the end of the log, 10" in shown.stderr
    assert shown.exit_code == 0
    watched = invoke("groups", "lag", "billing", "--watch", "-n", "1", "--output", "json")
    assert json.loads(watched.stdout)[0]["lag"] == -7


def test_lag(invoke: Invoke) -> None:
    assert rows(invoke, "lag", "billing") == [
        {"topic": "orders", "partition": 0, "current": 4, "end": 10, "lag": 6}
    ]
    unknown = invoke("groups", "lag", "nothing")
    assert unknown.exit_code == 1
    assert "nothing" in unknown.stderr


def test_a_reset_shows_its_plan_and_needs_execute(invoke: Invoke) -> None:
    row = {"topic": "orders", "partition": 0, "current": 4, "new": 0, "end": 10, "lag": 10}
    planned = invoke("groups", "reset-offsets", "billing", "--to", "earliest", "--output", "json")
    assert json.loads(planned.stdout) == [row]
    assert "nothing is changed" in planned.stderr
    assert rows(invoke, "lag", "billing")[0]["current"] == 4
    done = invoke(
        "groups", "reset-offsets", "billing", "--to", "earliest", "--execute", "--output", "json"
    )
    assert (done.exit_code, json.loads(done.stdout), done.stderr) == (0, [row], "")
    assert rows(invoke, "lag", "billing")[0]["current"] == 0


def test_a_reset_of_a_topic_without_an_offset(invoke: Invoke) -> None:
    shown = invoke("groups", "reset-offsets", "fresh", "--to", "3", "-t", "orders:0")
    assert shown.exit_code == 0
    assert " - " in shown.stdout
    assert (
        invoke(
            "groups", "reset-offsets", "fresh", "--to", "3", "-t", "orders", "--execute"
        ).exit_code
        == 0
    )
    assert rows(invoke, "lag", "fresh")[0]["current"] == 3


def test_a_reset_of_nothing_is_an_error(invoke: Invoke) -> None:
    """A name with a slip would otherwise look as if it had been reset."""
    for execute in ((), ("--execute",)):
        unknown = invoke("groups", "reset-offsets", "biling", "--to", "earliest", *execute)
        assert (unknown.exit_code, unknown.stdout) == (1, "")
        assert "biling" in unknown.stderr


def test_a_group_without_offsets_needs_a_topic(broker: EmbeddedBroker, invoke: Invoke) -> None:
    with member(broker, "fresh"):
        told = invoke("groups", "reset-offsets", "fresh", "--to", "earliest")
    assert told.exit_code == 1
    assert "name the topics by --topic" in told.stderr


@pytest.mark.usefixtures("joined")
def test_a_group_with_members_is_not_reset(invoke: Invoke) -> None:
    why = (
        "group 'billing' has 1 member (type classic, state Stable, coordinator 1). Its offsets can"
        " be changed only while it has no members: stop them first; one that was killed leaves"
        " after its session timeout\n"
    )
    planned = invoke("groups", "reset-offsets", "billing", "--to", "latest")
    assert (planned.exit_code, planned.stderr) == (0, f"nothing is changed; {why}")
    refused = invoke("groups", "reset-offsets", "billing", "--to", "latest", "--execute")
    assert (refused.exit_code, refused.stdout, refused.stderr) == (1, "", f"error: {why}")
    kept = invoke("groups", "delete", "billing")
    assert kept.exit_code == 1
    assert "group 'billing' has 1 member (type classic, state Stable" in kept.stderr


def test_wrong_usage(invoke: Invoke) -> None:
    for arguments in (("--to", "soon"), (), ("--to", "1", "-t", "orders:x")):
        assert invoke("groups", "reset-offsets", "billing", *arguments).exit_code == 2


def test_members_are_removed(invoke: Invoke, joined: None) -> None:
    (found,) = rows(invoke, "describe", "billing")
    refused = invoke("groups", "remove-member", "billing", "nobody", "--reason", "a test")
    assert refused.exit_code == 1
    assert "nobody" in refused.stderr
    removed = invoke("groups", "remove-member", "billing", found["member"])
    assert (removed.exit_code, removed.stdout) == (0, f"removed {found['member']}\n")
    for wrong in ((), ("--all", "x")):
        assert invoke("groups", "remove-member", "billing", *wrong).exit_code == 2
    absent = invoke("groups", "remove-member", "nothing", "--all")
    assert absent.exit_code == 1
