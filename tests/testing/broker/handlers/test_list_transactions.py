"""ListTransactions: which transactional ids pass the filters (KIP-664, KIP-994, KIP-1152)."""

from typing import Any

import pytest

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from aiokafka_lite.testing.broker.handlers import list_transactions
from tests.testing.broker.bench import Bench


def ask(bench: Bench, version: int = 2, node: int = 1, **fields: Any) -> ListTransactionsResponse:
    return bench.ask(list_transactions.HANDLER, ListTransactionsRequest(**fields), version, node)


def names(answer: ListTransactionsResponse) -> list[str]:
    return sorted(each.transactional_id for each in answer.transaction_states)


def populated() -> Bench:
    """An empty id, an open transaction, and one that was committed; the producers 0, 1, 2."""
    bench = Bench()
    bench.topic()
    txns = bench.transactions
    txns.init_producer_id("empty", 100_000, None)
    for name in ("open", "done"):
        producer = txns.init_producer_id(name, 100_000, None)
        txns.add(name, producer, partitions=[TopicPartition("t", 0)])
    txns.end("done", producer, is_commit=True, bumps_epoch=True)
    return bench


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ["done", "empty", "open"]),
        ({"state_filters": ["Ongoing", "CompleteCommit"]}, ["done", "open"]),
        ({"state_filters": ["Dead"]}, []),
        ({"producer_id_filters": [0, 2, 9]}, ["done", "empty"]),
        ({"producer_id_filters": [1], "state_filters": ["Empty"]}, []),
        ({"duration_filter": 9_999}, ["done", "empty", "open"]),
        ({"duration_filter": 10_000}, ["empty"]),
        ({"transactional_id_pattern": "o.*"}, ["open"]),
        ({"transactional_id_pattern": "o"}, []),
        ({"transactional_id_pattern": ""}, ["done", "empty", "open"]),
    ],
)
async def test_filters(fields: dict[str, Any], expected: list[str]) -> None:
    bench = populated()
    await bench.clock.advance(10)
    assert names(ask(bench, **fields)) == expected


async def test_states_that_are_none_are_named() -> None:
    answer = ask(populated(), state_filters=["ongoing", "Ongoing", "PrepareEpochFence"])
    assert (answer.unknown_state_filters, names(answer)) == (["ongoing"], ["open"])


@pytest.mark.parametrize("pattern", ["(", "(?=o)open", r"(o)\1"])
async def test_expressions_that_are_none(pattern: str) -> None:
    assert ask(populated(), transactional_id_pattern=pattern).error_code == 128


async def test_each_node_has_its_own_ids() -> None:
    bench = Bench(nodes=2)
    bench.transactions.init_producer_id("a", 1000, None)
    bench.transactions.nodes.move("a", 2)
    assert [names(ask(bench, node=node)) for node in (1, 2)] == [[], ["a"]]


async def test_a_fault() -> None:
    bench = populated()
    bench.faults.fail(ListTransactionsRequest, 14)
    assert [ask(bench).error_code for _ in range(2)] == [14, 0]
