"""Positions as a user and a broker see them: what a new partition knows (B2), who is asked (B8)."""

import asyncio
from collections import Counter

from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.find_coordinator import FindCoordinatorRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import (
    answers_are_there,
    consumer_of,
    embedded,
    fill,
    offsets,
    read,
)

P0, P1, P2 = tps(0, 1, 2)


def kinds(broker: EmbeddedBroker) -> Counter[str]:
    """What the broker was asked, and how often."""
    return Counter(type(received.request).__name__ for received in broker.requests)


def reset(broker: EmbeddedBroker) -> list[int]:
    """The partitions whose leader was asked for an offset, in order."""
    return [
        partition.partition_index
        for request in broker.requests_of(ListOffsetsRequest)
        for topic in request.topics
        for partition in topic.partitions
    ]


async def test_b2_a_partition_knows_nothing_at_first_and_nothing_again_once_let_go() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, fetch_max_wait_ms=5) as consumer,
    ):
        fill(broker, P0, 4)
        fill(broker, P1, 2)

        def known(tp: TopicPartition) -> tuple[object, ...]:
            return (
                consumer.highwater(tp),
                consumer.last_stable_offset(tp),
                consumer.last_poll_timestamp(tp),
                tp in consumer.paused(),
            )

        nothing = (None, None, None, False)
        consumer.assign([P0, P1])
        assert (known(P0), known(P1)) == (nothing, nothing)
        consumer.pause(P1)
        await read(consumer, 4)
        await answers_are_there(consumer)
        assert known(P0)[:2] == (4, 4)
        assert known(P1) == (None, None, None, True), "what is read of one says nothing of others"
        before = known(P0)
        consumer.assign([P0])
        assert known(P0) == before, "what stays keeps what it knows"
        assert await consumer.position(P0) == 4
        consumer.assign([P0, P1])
        assert known(P1) == nothing
        consumer.assign([P1])
        consumer.assign([P0, P1])
        assert known(P0) == nothing
        assert await read(consumer, 6) == {P0: [0, 1, 2, 3], P1: [0, 1]}, "from its start again"


async def test_b6_a_seek_clears_the_strategy_and_a_reset_empties_the_position() -> None:
    """The answer to what is no longer wanted changes nothing, whenever it comes (B5)."""
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", auto_offset_reset="none", fetch_max_wait_ms=5) as consumer,
    ):
        fill(broker, P0, 5)
        broker.faults.stall(ListOffsetsRequest)
        resetting = asyncio.create_task(consumer.seek_to_end(P0))
        await broker.wait_until(lambda: bool(broker.requests_of(ListOffsetsRequest)))
        assert consumer.statistics().free == (), "no position, nothing to fetch"
        consumer.seek(P0, 2)
        assert await resetting, "nothing is pending any more"
        assert await consumer.position(P0) == 2
        broker.faults.release()
        assert await read(consumer, 3) == {P0: [2, 3, 4]}
        assert await consumer.seek_to_beginning(P0)
        assert await read(consumer, 5) == {P0: [0, 1, 2, 3, 4]}
        assert reset(broker) == [0, 0]


async def test_b8_only_the_missing_positions_are_asked_for_and_each_once() -> None:
    """Six steps: subscribed, all positions?, the missing, ask for them, fetchable now, fetch."""
    async with (
        embedded({"t": 3}) as broker,
        consumer_of(broker, fetch_max_wait_ms=5) as consumer,
    ):
        for tp in (P0, P1, P2):
            fill(broker, tp, 2)
        assert await consumer.getmany(timeout_ms=10) == {}
        assert kinds(broker).keys() <= {"ApiVersionsRequest", "MetadataRequest"}, "not subscribed"
        consumer.assign([P0, P1])
        consumer.seek(P0, 1)
        assert await read(consumer, 3) == {P0: [1], P1: [0, 1]}
        assert reset(broker) == [1]
        consumer.assign([P0, P1, P2])
        assert await read(consumer, 2) == {P2: [0, 1]}
        assert reset(broker) == [1, 2]
        order = [
            type(received.request)
            for received in broker.requests
            if isinstance(received.request, MetadataRequest | ListOffsetsRequest | FetchRequest)
        ]
        assert order.index(MetadataRequest) < order.index(FetchRequest)


async def test_b8_polls_with_all_positions_ask_nobody_but_the_leaders_for_records() -> None:
    """Whatever the poll, and over many of them: neither coordinator nor ListOffsets."""
    async with (
        embedded({"t": 3}, nodes=2) as broker,
        consumer_of(broker, "t", max_poll_records=2, fetch_max_wait_ms=5) as consumer,
    ):
        for tp in (P0, P1, P2):
            fill(broker, tp, 2)
        await read(consumer, 6)
        await consumer.position(P2)
        await answers_are_there(consumer)
        broker.forget_requests()
        for first in (2, 4, 6):
            for tp in (P0, P1, P2):
                fill(broker, tp, 2)
            seen = [(await consumer.getone()).offset, (await consumer.getone(P1)).offset]
            async for record in consumer:
                seen.append(record.offset)
                break
            while len(seen) < 6:
                for numbers in offsets(await consumer.getmany(timeout_ms=1000)).values():
                    seen += numbers
            assert sorted(seen) == [first] * 3 + [first + 1] * 3
            for tp in (P0, P1, P2):
                assert await consumer.position(tp) == first + 2
        assert kinds(broker).keys() == {FetchRequest.__name__}
        assert not broker.requests_of(FindCoordinatorRequest)


async def test_b8_a_position_that_is_lost_is_looked_for_and_no_other() -> None:
    async with (
        embedded({"t": 3}) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=5) as consumer,
    ):
        for tp in (P0, P1, P2):
            fill(broker, tp, *[1] * 5)
        await read(consumer, 15)
        broker.forget_requests()
        broker.delete_records(P1, 4)
        consumer.seek(P1, 1)
        assert await read(consumer, 1) == {P1: [4]}
        assert reset(broker) == [1]
