"""Trouble on the way: lost connections, moved leaders, dead brokers, damaged bytes, throttling."""

import asyncio
import logging

import pytest

from aiokafka_lite.errors import (
    CorruptRecordException,
    FencedLeaderEpochError,
    InvalidReplicationFactorError,
    KafkaStorageError,
    NotLeaderForPartitionError,
    OffsetNotAvailableError,
    TopicAuthorizationFailedError,
    UnknownError,
    UnknownLeaderEpochError,
    UnsupportedVersionError,
)
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.consumer.batches import batches, tps
from tests.scenarios.consuming import answers_are_there, consumer_of, embedded, fill, offsets, read

P0, P1, P2 = tps(0, 1, 2)
QUICK = {"retry_backoff_ms": 1, "retry_backoff_max_ms": 20, "reconnect_backoff_ms": 1}


@pytest.mark.parametrize(
    "error",
    [
        NotLeaderForPartitionError,
        FencedLeaderEpochError,
        UnknownLeaderEpochError,
        KafkaStorageError,
        OffsetNotAvailableError,
        UnknownError,
    ],
)
async def test_2b_15_reading_goes_on_after_passing_errors(
    error: type[NotLeaderForPartitionError],
) -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **QUICK) as consumer:
        fill(broker, P0, 3)
        fill(broker, P1, 3)
        broker.faults.fail(FetchRequest, error, times=4, topic_partition=P0)
        assert await read(consumer, 6) == {P0: [0, 1, 2], P1: [0, 1, 2]}


async def test_a_broker_that_has_just_started_may_know_too_few_brokers_for_a_topic() -> None:
    """With ZooKeeper it knows no topic yet, and tries to create it for the one who asks."""
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 3)
        broker.faults.fail(MetadataRequest, InvalidReplicationFactorError, times=3)
        async with consumer_of(broker, "t", group_id="g", **QUICK) as consumer:
            assert await read(consumer, 3) == {P0: [0, 1, 2]}
        broker.faults.fail(MetadataRequest, InvalidReplicationFactorError, times=3)
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, retry_backoff_ms=1
        ) as producer:
            assert (await producer.send_and_wait("t", b"v")).offset == 3


async def test_h5_a_partition_that_fails_again_and_again_is_asked_ever_more_rarely() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with consumer_of(broker, "t", clock=clock, fetch_max_wait_ms=0) as consumer:
            broker.faults.fail(FetchRequest, UnknownError, times=None)
            before = clock.monotonic()
            assert await consumer.getmany(timeout_ms=10_000) == {}
            assert clock.monotonic() - before == pytest.approx(10, abs=0.1)
        # 100, 200, 400, 800 ms, then every 1000 ms, ± 20 %: KIP-580
        assert 9 <= len(broker.requests_of(FetchRequest)) <= 16


async def test_authorization_errors_are_raised_and_the_others_go_on() -> None:
    async with embedded({"t": 2}) as broker, consumer_of(broker, "t", **QUICK) as consumer:
        fill(broker, P0, 1)
        fill(broker, P1, 1)
        broker.faults.fail(FetchRequest, TopicAuthorizationFailedError, topic_partition=P0)
        seen: list[tuple[int, list[int]]] = []
        errors = 0
        while len(seen) < 2:
            try:
                seen += list(offsets(await consumer.getmany(timeout_ms=1000)).items())
            except TopicAuthorizationFailedError:
                errors += 1
        assert sorted(seen) == [(0, [0]), (1, [0])]
        assert errors == 1


async def test_f3_after_a_leader_moved_the_new_one_is_asked_and_nothing_is_lost() -> None:
    async with (
        embedded({"t": 1}, nodes=3) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1, **QUICK) as consumer,
    ):
        seen: list[int] = []
        for node_id in (2, 3, 1, 2):
            fill(broker, P0, 2, 2)
            seen += (await read(consumer, 2))[P0]
            broker.move_leader(P0, node_id)
        seen += (await read(consumer, 16 - len(seen))).get(P0, [])
        assert seen == list(range(16))


async def test_a_dead_node_does_not_stop_the_reading_of_the_others() -> None:
    async with embedded({"t": 3}, nodes=3) as broker, consumer_of(broker, "t", **QUICK) as consumer:
        for tp in (P0, P1, P2):
            fill(broker, tp, 2)
        await read(consumer, 6)
        broker.stop_node(broker.leader(P1))
        for tp in (P0, P1, P2):
            fill(broker, tp, 2)
        assert await read(consumer, 6) == {P0: [2, 3], P1: [2, 3], P2: [2, 3]}


async def test_with_all_brokers_dead_polls_keep_their_time_and_reading_resumes() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t", **QUICK) as consumer:
        fill(broker, P0, 2)
        await read(consumer, 2)
        broker.stop_node(1)
        async with asyncio.timeout(30):
            assert await consumer.getmany(timeout_ms=200) == {}
        pending = asyncio.create_task(consumer.getone())
        broker.start_node(1)
        fill(broker, P0, 2)
        assert (await asyncio.wait_for(pending, 30)).offset == 2


async def test_a_node_that_does_not_answer_is_warned_about_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t", **QUICK) as consumer:
        fill(broker, P0, 1)
        await read(consumer, 1)
        await answers_are_there(consumer)
        with caplog.at_level(logging.INFO):
            for _ in range(4):
                broker.faults.cut(FetchRequest)
                await consumer.getmany(timeout_ms=60)
            fill(broker, P0, 1)
            await read(consumer, 1)
        texts = [r.getMessage() for r in caplog.records if r.name.endswith("fetch.fetcher")]
        assert sum("a fetch from node 1 failed" in text for text in texts) <= 4
        assert any("node 1 answers fetches again" in text for text in texts)


async def test_a_request_that_is_never_answered_times_out_and_reading_resumes() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with consumer_of(broker, "t", clock=clock, request_timeout_ms=2000) as consumer:
            fill(broker, P0, 2)
            await consumer.seek_to_beginning()
            broker.faults.drop(FetchRequest)
            assert offsets(await consumer.getmany(timeout_ms=60_000)) == {0: [0, 1]}


async def test_answers_cut_at_any_length_lose_and_repeat_nothing() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", fetch_max_bytes=1, **QUICK) as consumer,
    ):
        fill(broker, P0, *[3] * 20)
        await consumer.seek_to_beginning()
        seen: list[int] = []
        for after_bytes in (0, 1, 3, 4, 7, 20, 60, 100, 150, 250):
            broker.faults.cut(FetchRequest, after_bytes=after_bytes)
            seen += (await read(consumer, 3, max_records=3))[P0]
        seen += (await read(consumer, 60 - len(seen)))[P0]
        assert seen == list(range(60))


async def test_damaged_bytes_are_an_error_naming_topic_partition_and_offset() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        fill(broker, P0, 3)
        broker.faults.corrupt(P0)
        with pytest.raises(CorruptRecordException) as caught:
            await consumer.getone()
        assert (caught.value.topic, caught.value.partition, caught.value.offset) == ("t", 0, 0)
        with pytest.raises(CorruptRecordException):
            await consumer.getmany(timeout_ms=10)
        consumer.seek(P0, 0)
        assert offsets(await consumer.getmany(timeout_ms=30_000)) == {0: [0, 1, 2]}


async def test_without_check_crcs_damaged_values_are_returned() -> None:
    damaged = bytearray(batches(0, 3))
    damaged[-2] ^= 1  # the last byte of the last value, b"v2"; the CRC does not fit any more
    async with embedded({"t": 1}) as broker:
        broker.append(P0, damaged)
        async with consumer_of(broker, "t", check_crcs=False) as consumer:
            values = [(await consumer.getone()).value for _ in range(3)]
            assert values == [b"v0", b"v1", b"v3"]
        async with consumer_of(broker, "t") as careful:
            with pytest.raises(CorruptRecordException):
                await careful.getone()


async def test_kip_219_a_throttled_consumer_is_quiet_for_as_long() -> None:
    async with embedded({"t": 1}) as broker:
        clock = FakeClock(autojump_threshold_s=0.1)
        async with consumer_of(broker, "t", clock=clock) as consumer:
            fill(broker, P0, 2, 2)
            await consumer.seek_to_beginning()
            broker.faults.throttle(FetchRequest, 5000)
            assert offsets(await consumer.getmany(timeout_ms=60_000)) == {0: [0, 1, 2, 3]}
            before = clock.monotonic()
            fill(broker, P0, 1)
            assert offsets(await consumer.getmany(timeout_ms=60_000)) == {0: [4]}
            assert clock.monotonic() - before >= 4.9


async def test_a_broker_too_old_to_fetch_from_is_said_to_the_user() -> None:
    async with (
        embedded({"t": 1}, max_versions={FetchRequest.api_key: None}) as broker,
        consumer_of(broker, "t") as consumer,
    ):
        with pytest.raises(UnsupportedVersionError, match="Fetch"):
            await consumer.getone()
