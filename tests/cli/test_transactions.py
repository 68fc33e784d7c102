"""`aiokafka-lite transactions`: transactions are listed, described, found hanging and aborted."""

import asyncio
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.admin.support.lenient_kafka import LenientKafka, leave_hanging
from tests.cli.conftest import Invoke, invoke_on


def fence(broker: EmbeddedBroker, *transactional_ids: str) -> None:
    async def fence() -> None:
        async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            (await admin.fence_producers(transactional_ids)).raise_first()

    asyncio.run(fence())


def test_transactions_are_listed_and_described(broker: EmbeddedBroker, invoke: Invoke) -> None:
    fence(broker, "a", "b")
    listed = json.loads(invoke("transactions", "list", "--output", "json").stdout)
    assert listed == [
        {"transactional_id": "a", "producer_id": 0, "state": "Empty"},
        {"transactional_id": "b", "producer_id": 1, "state": "Empty"},
    ]
    for filters, expected in (
        (("--state", "Ongoing"), []),
        (("--state", "Empty", "--producer-id", "1"), ["b"]),
        (("--pattern", "[ac]"), ["a"]),
    ):
        shown = invoke("transactions", "list", "--output", "json", *filters).stdout
        assert [row["transactional_id"] for row in json.loads(shown)] == expected
    described = invoke("transactions", "describe", "c", "b", "--output", "json")
    (row,) = json.loads(described.stdout)
    assert (row["transactional_id"], row["state"]) == ("b", "Empty")
    assert described.exit_code == 1
    assert "'c'" in described.stderr
    assert "TRANSACTIONAL_ID" in invoke("transactions", "list").stdout


def test_a_state_that_is_none_is_named(invoke: Invoke) -> None:
    failed = invoke("transactions", "list", "--state", "over")
    assert failed.exit_code == 1
    assert "'over'" in failed.stderr


def test_a_hanging_transaction_is_found_and_aborted() -> None:
    with EmbeddedBroker.threaded(transaction_partition_verification_enable=False) as broker:
        broker.create_topic("t", 2)
        invoke = invoke_on(broker)
        kafka = LenientKafka(broker.bootstrap_servers, "embedded")
        asyncio.run(leave_hanging(kafka, TopicPartition("t", 1), 7))
        search = ("transactions", "hanging", "--topic", "t", "--output", "json")
        (row,) = json.loads(invoke(*search).stdout)
        assert (row["partition"], row["producer_id"], row["producer_epoch"]) == (1, 7, 3)
        assert row["start_offset"] == 0
        where = ("--topic", "t", "--partition", "1")
        nothing = invoke("transactions", "abort", *where, "--start-offset", "1")
        assert nothing.exit_code == 1
        assert "begins at offset 1" in nothing.stderr
        aborted = invoke("transactions", "abort", *where, "--start-offset", "0")
        assert aborted.stdout == "aborted the transaction of producer 7 in t-1\n"
        assert "hangs: no coordinator lists it, and its last record is of 20" in aborted.stderr
        assert json.loads(invoke(*search).stdout) == []
        assert json.loads(invoke(*search[:2], "--broker", "1", *search[4:]).stdout) == []
        for unclear in ((), ("--partition", "0")):
            refused = invoke("transactions", "hanging", *unclear)
            assert refused.exit_code == 2
            assert "--topic" in refused.stderr


@contextmanager
def open_transaction(broker: EmbeddedBroker) -> Iterator[Callable[[], None]]:
    """A live transaction with one record in t-0; call what is yielded to write and commit more."""
    settings = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "x"}
    producer = confluent_kafka.Producer(settings)
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce("t", b"first", partition=0)
    producer.flush()

    def end() -> None:
        producer.produce("t", b"second", partition=0)
        producer.commit_transaction()

    yield end


ABORT = ("transactions", "abort", "--topic", "t", "--partition", "0", "--start-offset", "0")


@pytest.mark.parametrize("longest", [(), ("--max-transaction-timeout-ms", "0")])
def test_a_transaction_that_is_alive_is_not_aborted(
    broker: EmbeddedBroker, invoke: Invoke, longest: tuple[str, ...]
) -> None:
    broker.create_topic("t")
    with open_transaction(broker) as end:
        refused = invoke(*ABORT, *longest)
        end()
    assert (refused.exit_code, refused.stdout) == (1, "")
    for part in (
        "the transaction of producer 0 in t-0 is alive: its transactional id 'x' is Ongoing at its",
        "coordinator, node 1, which lists t-0 and ends the transaction 60,000 ms after its begin",
        "Its last record is of 20",
        "Nothing was done: let its producer end it, or fence its transactional id. With --force",
    ):
        assert part in refused.stderr
    assert [each.value for each in broker.records("t", committed=True)] == [b"first", b"second"]


def test_a_live_transaction_is_aborted_by_force(broker: EmbeddedBroker, invoke: Invoke) -> None:
    broker.create_topic("t")
    with open_transaction(broker) as end:
        forced = invoke(*ABORT, "--force")
        end()
    assert forced.stdout == "aborted the transaction of producer 0 in t-0\n"
    assert [each.value for each in broker.records("t", committed=True)] == [b"second"]


def test_a_young_transaction_is_not_aborted_because_no_coordinator_is_seen_to_know_it() -> None:
    with EmbeddedBroker.threaded(transaction_partition_verification_enable=False) as broker:
        broker.create_topic("t")
        invoke = invoke_on(broker)
        kafka = LenientKafka(broker.bootstrap_servers, "embedded")
        asyncio.run(leave_hanging(kafka, TopicPartition("t", 0), 7, age_ms=600_000))
        refused = invoke(*ABORT)
        assert refused.exit_code == 1
        assert "no coordinator that this user may see knows its producer" in refused.stderr
        done = invoke(*ABORT, "--max-transaction-timeout-ms", "500000")
        assert done.stdout == "aborted the transaction of producer 7 in t-0\n"
