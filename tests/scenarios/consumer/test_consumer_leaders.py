"""Who is read from: hinted leaders (KIP-951), near replicas (KIP-392), leaders whose log lacks what
was read (KIP-320), and topics that were deleted and created again.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    LogTruncationError,
    OffsetOutOfRangeError,
    UnknownTopicOrPartitionError,
)
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import batch, tps
from tests.scenarios.consuming import (
    PATIENCE_S,
    answers_are_there,
    consumer_of,
    embedded,
    eventually,
    fill,
    offsets,
    read,
)

P0, P1, P2 = tps(0, 1, 2)
QUICK = {"retry_backoff_ms": 1, "retry_backoff_max_ms": 20, "reconnect_backoff_ms": 1}
Seen = list[tuple[int, Any]]
RACKS = ("r1", "r2", "r3")


def fetched_from(broker: EmbeddedBroker) -> list[int]:
    """The nodes that were sent fetches, in order, without repetitions."""
    nodes = [
        received.node_id
        for received in broker.requests
        if isinstance(received.request, FetchRequest)
    ]
    return [node for i, node in enumerate(nodes) if i == 0 or nodes[i - 1] != node]


# Hints: KIP-951…


async def test_2b_9_after_a_hint_the_new_leader_is_asked_at_once_and_without_metadata() -> None:
    """With a backoff of a minute, reading goes on at once only if nobody waits for it."""
    slow = {"retry_backoff_ms": 60_000, "retry_backoff_max_ms": 60_000}
    async with (
        embedded({"t": 1}, nodes=3) as broker,
        consumer_of(broker, "t", **slow) as consumer,
    ):
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [0, 1]}
        asked = len(broker.requests_of(MetadataRequest))
        broker.move_leader(P0, 3)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        assert fetched_from(broker) == [1, 3]
        assert len(broker.requests_of(MetadataRequest)) == asked
        assert len(broker.requests_of(OffsetForLeaderEpochRequest)) == 1, "2b-9: validated"


async def test_2b_9_brokers_without_hints_are_asked_for_metadata() -> None:
    async with (
        embedded({"t": 1}, nodes=3, max_versions={1: 15}) as broker,
        consumer_of(broker, "t", **QUICK) as consumer,
    ):
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [0, 1]}
        broker.move_leader(P0, 3)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        assert fetched_from(broker)[-1] == 3


# Near replicas: KIP-392…


async def test_2b_5_a_consumer_reads_from_the_replica_in_its_rack() -> None:
    async with (
        embedded({"t": 1}, nodes=3, racks=RACKS) as broker,
        consumer_of(broker, "t", client_rack="r2", **QUICK) as consumer,
    ):
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [0, 1]}
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        assert fetched_from(broker) == [1, 2]
        assert all(request.rack_id == "r2" for request in broker.requests_of(FetchRequest))


async def test_2b_5_after_the_lease_the_leader_decides_anew() -> None:
    clock = FakeClock()
    async with (
        embedded({"t": 1}, nodes=3, racks=RACKS) as broker,
        consumer_of(
            broker,
            "t",
            client_rack="r2",
            clock=clock,
            metadata_max_age_ms=60_000,
            fetch_max_wait_ms=0,
        ) as consumer,
    ):
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [0, 1]}
        await answers_are_there(consumer)
        await clock.advance(60)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        assert fetched_from(broker) == [1, 2, 1, 2]


async def test_2a_10_a_follower_that_dies_is_left_for_the_leader() -> None:
    async with (
        embedded({"t": 1}, nodes=3, racks=RACKS) as broker,
        consumer_of(broker, "t", client_rack="r2", **QUICK) as consumer,
    ):
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [0, 1]}
        broker.stop_node(2)
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        assert fetched_from(broker)[-1] == 1


async def test_2b_15_out_of_range_at_a_follower_is_asked_of_the_leader() -> None:
    async with (
        embedded({"t": 1}, nodes=3, racks=RACKS) as broker,
        consumer_of(broker, "t", client_rack="r2", auto_offset_reset="none", **QUICK) as consumer,
    ):
        fill(broker, P0, 2)
        consumer._subscription.seek(P0, 0)
        assert await read(consumer, 2) == {P0: [0, 1]}
        await answers_are_there(consumer)
        broker.faults.fail(FetchRequest, OffsetOutOfRangeError, topic_partition=P0)
        broker.forget_requests()
        fill(broker, P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}
        assert fetched_from(broker)[-2:] == [1, 2], "the leader, which names the follower again"


# Truncation: KIP-320…


async def truncate(
    broker: EmbeddedBroker, consumer: AIOKafkaConsumer[Any, Any], end_offset: int
) -> None:
    """What an unclean election does: node 2 leads, and lacks what is behind `end_offset`."""
    await answers_are_there(consumer)
    broker.cluster.partition(P0).truncate(end_offset)
    broker.move_leader(P0, 2)
    fill(broker, P0, 1, 1)


async def test_2c_3_after_a_truncation_reading_goes_on_where_the_logs_part() -> None:
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        consumer_of(broker, "t", auto_offset_reset="latest", **QUICK) as consumer,
    ):
        await consumer.position(P0)
        fill(broker, P0, 1, 1, 1, 1)
        assert await read(consumer, 4) == {P0: [0, 1, 2, 3]}
        await truncate(broker, consumer, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}


@pytest.mark.parametrize(("taken", "end_offset"), [(3, 2), (3, 1), (1, 1), (2, 3)])
async def test_2c_3_a_truncation_is_seen_from_amidst_records_of_several_leaders(
    taken: int, end_offset: int
) -> None:
    """One answer has the records of two leaders, `taken` of which were taken one by one."""
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        consumer_of(broker, "t", auto_offset_reset="none", **QUICK) as consumer,
    ):
        fill(broker, P0, 1)
        broker.move_leader(P0, 2)
        fill(broker, P0, 1, 1, 1)
        consumer.seek(P0, 0)
        for offset in range(taken):
            assert (await consumer.getone()).offset == offset
        await answers_are_there(consumer)
        broker.cluster.partition(P0).truncate(end_offset)
        broker.move_leader(P0, 1)
        broker.append(P0, batch([b"new"] * 4, end_offset))
        assert consumer.kafka_client is not None
        await consumer.kafka_client.metadata.refresh()
        if end_offset < taken:
            with pytest.raises(LogTruncationError, match=f"differ from offset {end_offset} of"):
                await read(consumer, 1)
        else:
            assert await one(consumer) == [
                (record.offset, record.value)
                for record in broker.log(P0).records()
                if record.offset == taken
            ]


async def test_2c_3_without_a_policy_a_truncation_is_raised_and_a_seek_goes_on() -> None:
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        consumer_of(broker, "t", auto_offset_reset="none", **QUICK) as consumer,
    ):
        fill(broker, P0, 1, 1, 1, 1)
        consumer.seek(P0, 0)
        assert await read(consumer, 4) == {P0: [0, 1, 2, 3]}
        await truncate(broker, consumer, 2)
        with pytest.raises(LogTruncationError, match="differ from offset 2 of") as caught:
            await read(consumer, 1)
        assert (caught.value.topic_partition, caught.value.fetch_offset) == (P0, 4)
        assert caught.value.divergent_offset == 2
        consumer.seek(P0, 2)
        assert await read(consumer, 2) == {P0: [2, 3]}


async def one(consumer: AIOKafkaConsumer[Any, Any]) -> Seen:
    record = await asyncio.wait_for(consumer.getone(), PATIENCE_S)
    return [(record.offset, record.value)]


async def many(consumer: AIOKafkaConsumer[Any, Any]) -> Seen:
    found = await consumer.getmany(timeout_ms=30_000)
    return [(record.offset, record.value) for record in found[P0]]


@pytest.mark.parametrize("options", [{}, {"fetch_max_bytes": 1, "prefetch_max_bytes": 1 << 20}])
@pytest.mark.parametrize("reader", [one, many])
@pytest.mark.parametrize("polls", [0, 1])
async def test_2b_14_what_was_fetched_before_a_truncation_is_not_returned_after_it(
    reader: Callable[[AIOKafkaConsumer[Any, Any]], Awaitable[Seen]],
    polls: int,
    options: dict[str, Any],
) -> None:
    """The position is in the new leader's log; what lies fetched behind it is not (KIP-320)."""
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        consumer_of(broker, "t", max_poll_records=2, **QUICK, **options) as consumer,
    ):
        await consumer.position(P0)
        fill(broker, P0, 4, 4, 4)
        await consumer.getmany(timeout_ms=0)  # asks for them
        await answers_are_there(consumer)
        seen: Seen = []
        for _ in range(polls):
            seen += await reader(consumer)
            await answers_are_there(consumer)
        broker.cluster.partition(P0).truncate(4)
        broker.move_leader(P0, 2)
        broker.append(P0, batch([b"new"] * 9, 4))
        assert consumer.kafka_client is not None
        await consumer.kafka_client.metadata.refresh()
        log = [(record.offset, record.value) for record in broker.log(P0).records()]
        while len(seen) < len(log):
            seen += await reader(consumer)
        assert seen == log


async def test_2b_14_after_an_ordinary_change_of_the_leader_what_was_fetched_is_fetched_again() -> (
    None
):
    """And nothing is lost or repeated: that is what a leader that is sure costs."""
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        consumer_of(broker, "t", max_poll_records=2, **QUICK) as consumer,
    ):
        fill(broker, P0, 3, 3)
        assert await read(consumer, 2) == {P0: [0, 1]}
        broker.move_leader(P0, 2)
        assert consumer.kafka_client is not None
        await consumer.kafka_client.metadata.refresh()
        assert await read(consumer, 4) == {P0: [2, 3, 4, 5]}
        assert fetched_from(broker)[-1] == 2


# Topics that go and come again…


async def recreate(broker: EmbeddedBroker, partitions: int = 1) -> None:
    broker.delete_topic("t")
    broker.create_topic("t", partitions)
    fill(broker, P0, 3)


@pytest.mark.parametrize("version", [12, 18], ids=["by name", "by id"])
@pytest.mark.parametrize("is_assigned", [True, False])
async def test_a_topic_created_anew_is_read_from_where_the_policy_says(
    is_assigned: bool, version: int
) -> None:
    async with embedded({"t": 1}, max_versions={1: version}) as broker:
        consumer = consumer_of(
            broker, *([] if is_assigned else ["t"]), metadata_max_age_ms=200, **QUICK
        )
        if is_assigned:
            consumer.assign([P0])
        async with consumer:
            fill(broker, P0, 2, 2)
            assert await read(consumer, 4) == {P0: [0, 1, 2, 3]}
            await recreate(broker)
            assert await read(consumer, 3) == {P0: [0, 1, 2]}


async def test_nothing_of_the_old_topic_is_returned_once_the_new_one_is_known() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", max_poll_records=2, **QUICK) as consumer,
    ):
        fill(broker, P0, 2, 2, 2)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1]}
        await answers_are_there(consumer)
        await recreate(broker)
        engine = consumer._engine
        assert engine is not None
        await engine.client.metadata.refresh()
        seen = await read(consumer, 3)
        assert seen == {P0: [0, 1, 2]}


async def test_without_a_policy_a_topic_created_anew_is_an_error_until_a_seek() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(
            broker, "t", auto_offset_reset="none", metadata_max_age_ms=200, **QUICK
        ) as consumer,
    ):
        fill(broker, P0, 2, 2)
        consumer.seek(P0, 0)
        assert await read(consumer, 4) == {P0: [0, 1, 2, 3]}
        await recreate(broker)
        with pytest.raises(OffsetOutOfRangeError, match="the topic was created again"):
            await read(consumer, 1)
        consumer.seek(P0, 0)
        assert await read(consumer, 3) == {P0: [0, 1, 2]}


@pytest.mark.parametrize("is_assigned", [True, False])
async def test_a_topic_that_goes_is_an_error_to_who_named_its_partitions_only(
    is_assigned: bool,
) -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with embedded({"t": 1}, auto_create_topics=False) as broker:
        consumer = consumer_of(
            broker,
            *([] if is_assigned else ["t"]),
            clock=clock,
            default_api_timeout_ms=10_000,
            request_timeout_ms=5000,
        )
        if is_assigned:
            consumer.assign([P0])
        async with consumer:
            fill(broker, P0, 1)
            await read(consumer, 1)
            broker.delete_topic("t")
            if is_assigned:
                with pytest.raises(UnknownTopicOrPartitionError, match="does not exist after 10 s"):
                    await consumer.getmany(timeout_ms=60_000)
            else:
                assert await consumer.getmany(timeout_ms=60_000) == {}
            broker.create_topic("t", 1)
            fill(broker, P0, 2)
            assert await read(consumer, 2) == {P0: [0, 1]}


async def test_b1_a_topic_that_comes_again_with_fewer_partitions_is_read_on() -> None:
    clock = FakeClock(autojump_threshold_s=0.05)
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(
            broker, "t", clock=clock, default_api_timeout_ms=10_000, request_timeout_ms=5000
        ) as consumer,
    ):
        fill(broker, P0, 1)
        fill(broker, P1, 1)
        await read(consumer, 2)
        await recreate(broker)
        assert await read(consumer, 3) == {P0: [0, 1, 2]}
        assert await consumer.getmany(timeout_ms=60_000) == {}


# Resets by duration: KIP-1106…


async def test_2c_6_by_duration_starts_as_long_ago_as_it_says() -> None:
    """The records are of 1970: nothing is as young as an hour, everything as a century."""
    for option, expected in (("by_duration:PT1H", 3), ("by_duration:P36500D", 0)):
        async with embedded({"t": 1}) as broker:
            fill(broker, P0, 3)
            async with consumer_of(broker, "t", auto_offset_reset=option) as consumer:
                assert await consumer.position(P0) == expected


async def test_2c_2_a_validation_that_is_not_answered_holds_up_its_partition_only() -> None:
    async with (
        embedded({"t": 2}, nodes=3) as broker,
        consumer_of(broker, "t", **QUICK) as consumer,
    ):
        fill(broker, P0, 1)
        fill(broker, P1, 1)
        await read(consumer, 2)
        broker.faults.stall(OffsetForLeaderEpochRequest)
        broker.move_leader(P0, 3)
        fill(broker, P0, 1)
        fill(broker, P1, 1)
        assert await read(consumer, 1) == {P1: [1]}
        await eventually(consumer, lambda: len(broker.requests_of(OffsetForLeaderEpochRequest)) > 0)
        broker.faults.release()
        assert await read(consumer, 1) == {P0: [1]}


async def test_a_cancelled_poll_leaves_its_validation_to_the_next() -> None:
    async with (
        embedded({"t": 1}, nodes=3) as broker,
        consumer_of(broker, "t", **QUICK) as consumer,
    ):
        fill(broker, P0, 1)
        await read(consumer, 1)
        broker.faults.stall(OffsetForLeaderEpochRequest)
        broker.move_leader(P0, 3)
        fill(broker, P0, 1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await consumer.getone()
        broker.faults.release()
        record = await consumer.getone()
        assert TopicPartition(record.topic, record.partition) == P0
        assert record.offset == 1
        assert len(broker.requests_of(OffsetForLeaderEpochRequest)) == 1


@pytest.mark.parametrize("seed", range(4))
async def test_whoever_leads_every_record_comes_once_and_in_order(seed: int) -> None:
    """Leaders that move, nodes that die and come back, near replicas: 60 accidents at random."""
    rng = random.Random(seed)
    partitions = (P0, P1, P2)
    async with (
        embedded({"t": 3}, nodes=3, racks=RACKS) as broker,
        consumer_of(
            broker, "t", client_rack=rng.choice((None, *RACKS)), fetch_max_wait_ms=10, **QUICK
        ) as consumer,
    ):
        seen: dict[TopicPartition, list[int]] = {tp: [] for tp in partitions}
        down: int | None = None
        for _ in range(60):
            tp, node = rng.choice(partitions), rng.randint(1, 3)
            if down is not None and rng.random() < 0.5:
                broker.start_node(down)
                down = None
            elif down is None and rng.random() < 0.2:
                broker.stop_node(node)
                down = node
            elif node != down:
                broker.move_leader(tp, node)
            fill(broker, tp, rng.randint(1, 4))
            for part, records in (await consumer.getmany(timeout_ms=20)).items():
                seen[part] += [record.offset for record in records]
        if down is not None:
            broker.start_node(down)
        left = sum(broker.log(tp).high_watermark - len(seen[tp]) for tp in partitions)
        for part, found in (await read(consumer, left)).items() if left else ():
            seen[part] += found
        assert seen == {tp: list(range(broker.log(tp).high_watermark)) for tp in partitions}


@pytest.mark.parametrize("seed", range(3))
async def test_2c_3_whatever_is_truncated_what_was_read_last_is_what_the_log_has(seed: int) -> None:
    """Elections that lose records, at random, while new records take their offsets."""
    rng = random.Random(seed)
    async with (
        embedded({"t": 1}, nodes=2) as broker,
        consumer_of(broker, "t", fetch_max_wait_ms=10, max_poll_records=3, **QUICK) as consumer,
    ):
        seen: dict[int, bytes | None] = {}
        written = 0

        async def poll() -> None:
            for records in (await consumer.getmany(timeout_ms=20)).values():
                for record in records:
                    for offset in [known for known in seen if known > record.offset]:
                        del seen[offset]  # read again from here on
                    seen[record.offset] = record.value

        for _ in range(60):
            if rng.random() < 0.3:
                log = broker.log(P0)
                end = max(log.high_watermark - rng.randint(0, 6), 0)
                broker.cluster.partition(P0).truncate(end)
                broker.move_leader(P0, rng.randint(1, 2))
            for _ in range(rng.randint(0, 3)):
                broker.append(P0, batch([b"%d" % written]))
                written += 1
            await poll()
        broker.append(P0, batch([b"last"]))
        async with asyncio.timeout(PATIENCE_S):
            while b"last" not in seen.values():
                await poll()
        assert seen == {record.offset: record.value for record in broker.log(P0).records()}
