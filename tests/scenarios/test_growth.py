"""What a call about one partition costs with many of them: no more than with few."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, OffsetAndMetadata, TopicPartition
from aiokafka_lite.testing.broker import EmbeddedBroker

FEW, MANY = 500, 8_000
MOST = 3.0
"""So many times as much a call may cost with `MANY` as with `FEW`: 16 if it looks at all."""
CALLS = 60

Consumer = AIOKafkaConsumer[Any, Any]
Call = Callable[[Consumer, TopicPartition], Awaitable[object] | object]


def change(consumer: Consumer, tp: TopicPartition) -> None:
    consumer.incremental_unassign([tp])
    consumer.incremental_assign([tp])
    consumer.seek(tp, 0)


def pause(consumer: Consumer, tp: TopicPartition) -> None:
    consumer.pause(tp)
    consumer.resume(tp)


async def poll(consumer: Consumer, tp: TopicPartition) -> None:
    await consumer.getmany(tp, timeout_ms=0)


OF_ONE: dict[str, Call] = {
    "seek": lambda consumer, tp: consumer.seek(tp, 0),
    "pause": pause,
    "incremental_assign": change,
    "position": lambda consumer, tp: consumer.position(tp),
    "highwater": lambda consumer, tp: consumer.highwater(tp),
    "last_stable_offset": lambda consumer, tp: consumer.last_stable_offset(tp),
    "last_poll_timestamp": lambda consumer, tp: consumer.last_poll_timestamp(tp),
    "current_lag": lambda consumer, tp: consumer.current_lag(tp),
    "getmany": poll,
    "end_offsets": lambda consumer, tp: consumer.end_offsets([tp]),
    "beginning_offsets": lambda consumer, tp: consumer.beginning_offsets([tp]),
    "offsets_for_times": lambda consumer, tp: consumer.offsets_for_times({tp: 0}),
    "seek_to_end": lambda consumer, tp: consumer.seek_to_end(tp),
    "commit": lambda consumer, tp: consumer.commit({tp: OffsetAndMetadata(0, "")}),
    "committed": lambda consumer, tp: consumer.committed(tp),
    "store_offsets": lambda consumer, tp: consumer.store_offsets({tp: 1}),
    "assignment": lambda consumer, tp: consumer.assignment(),
    "paused": lambda consumer, tp: consumer.paused(),
}


async def cost_us(call: Call, broker: EmbeddedBroker, count: int) -> float:
    """Return what a call costs in the thread of the client, with `count` partitions assigned."""
    consumer = Consumer(
        bootstrap_servers=broker.bootstrap_servers,
        group_id="g",
        enable_auto_commit=False,
        enable_auto_offset_store=False,
        fetch_max_wait_ms=10_000,
    )
    partitions = [TopicPartition(f"t{count}", number) for number in range(count)]
    async with consumer:
        consumer.assign(partitions)
        for tp in partitions:
            consumer.seek(tp, 0)
        await consumer.end_offsets(partitions[-1:])  # once the metadata are there
        for _ in range(3):
            await consumer.getmany(timeout_ms=5)  # the fetch that names all is on its way
        best = float("inf")
        for _ in range(3):
            began = time.thread_time()
            for tp in partitions[:CALLS]:
                result = call(consumer, tp)
                if asyncio.iscoroutine(result):
                    await result
            best = min(best, (time.thread_time() - began) / CALLS * 1e6)
    return best


@pytest.mark.parametrize("name", OF_ONE)
def test_a_call_about_one_partition_costs_the_same_of_many(name: str) -> None:
    with EmbeddedBroker.threaded() as broker:
        for count in (FEW, MANY):
            broker.create_topic(f"t{count}", count)
        few, many = (asyncio.run(cost_us(OF_ONE[name], broker, n)) for n in (FEW, MANY))
    print(f"{name}: {few:.1f} us of {FEW}, {many:.1f} us of {MANY}")
    assert many < MOST * few
