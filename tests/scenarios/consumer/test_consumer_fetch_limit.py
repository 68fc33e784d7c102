"""A limit of the fetches in flight (`max_fetches_in_flight`)."""

import asyncio

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from tests.consumer.batches import tps
from tests.scenarios.consuming import PATIENCE_S, consumer_of, embedded, fill, offsets

PARTITIONS = tps(0, 1, 2)


@pytest.mark.parametrize("limit", [1, 2])
async def test_no_more_nodes_than_the_limit_are_asked_at_a_time_and_each_gets_its_turn(
    limit: int,
) -> None:
    async with embedded({"t": 3}, nodes=3) as broker:
        for node_id, tp in enumerate(PARTITIONS, start=1):
            broker.move_leader(tp, node_id)
            fill(broker, tp, 3)
        async with consumer_of(
            broker, "t", max_fetches_in_flight=limit, fetch_max_wait_ms=20
        ) as consumer:
            seen: dict[int, list[int]] = {}
            asked: list[int] = []
            async with asyncio.timeout(PATIENCE_S):
                while len(seen) < 3 or set(asked[-3:]) != {1, 2, 3}:
                    for partition, part in offsets(await consumer.getmany(timeout_ms=50)).items():
                        seen.setdefault(partition, []).extend(part)
                    assert len(consumer.statistics().fetching_nodes) <= limit
                    asked = [
                        received.node_id
                        for received in broker.requests
                        if isinstance(received.request, FetchRequest)
                    ]
            assert seen == {0: [0, 1, 2], 1: [0, 1, 2], 2: [0, 1, 2]}


async def test_without_a_limit_all_nodes_are_asked_at_once() -> None:
    async with embedded({"t": 3}, nodes=3) as broker:
        for node_id, tp in enumerate(PARTITIONS, start=1):
            broker.move_leader(tp, node_id)
        async with consumer_of(broker, "t", fetch_max_wait_ms=5_000) as consumer:
            await consumer.getmany(timeout_ms=100)
            assert consumer.statistics().fetching_nodes == {1, 2, 3}


def test_a_limit_is_at_least_one() -> None:
    with pytest.raises(KafkaConfigurationError, match="max_fetches_in_flight=0 is below"):
        AIOKafkaConsumer(max_fetches_in_flight=0)
