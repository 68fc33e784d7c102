"""`aiokafka-lite transactions`: transactions are listed, described, found hanging and aborted."""

import asyncio
import json

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
        assert json.loads(invoke(*search).stdout) == []
        assert json.loads(invoke(*search[:2], "--broker", "1", *search[4:]).stdout) == []
        for unclear in ((), ("--partition", "0")):
            refused = invoke("transactions", "hanging", *unclear)
            assert refused.exit_code == 2
            assert "--topic" in refused.stderr
