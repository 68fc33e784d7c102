"""A consumer says why each of its partitions is fetched or not: a reason, its facts, a sentence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import (
    CorruptRecordException,
    KafkaError,
    NoOffsetForPartitionError,
    SaslAuthenticationFailed,
    UnknownError,
)
from aiokafka_lite.metrics.explanation import Explanation, WaitReason
from aiokafka_lite.model import OffsetAndMetadata, TopicPartition
from aiokafka_lite.protocol.messages.fetch import FetchRequest
from aiokafka_lite.protocol.messages.list_offsets import ListOffsetsRequest
from aiokafka_lite.protocol.messages.offset_fetch import OffsetFetchRequest
from aiokafka_lite.protocol.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import PATIENCE_S, consumer_of, embedded, fill
from tests.scenarios.grouping import AsyncListener, Listener, assigned, member_of

P0, P1 = tps(0, 1)
LONG_MS = 60_000
"""Longer than any test: what waits so long is still waiting when it is asked about."""


def told(consumer: AIOKafkaConsumer[Any, Any], tp: TopicPartition | None = P0) -> Explanation:
    """The one value about the partition, or about the whole consumer."""
    (found,) = [each for each in consumer.explain() if each.topic_partition == tp]
    return found


async def until(
    consumer: AIOKafkaConsumer[Any, Any], reason: WaitReason, tp: TopicPartition | None = P0
) -> Explanation:
    """Wait until this is the reason; the value must be whole: a sentence with the partition."""
    async with asyncio.timeout(PATIENCE_S):
        while not any(
            each.reason is reason and each.topic_partition == tp for each in consumer.explain()
        ):
            await asyncio.sleep(0)
    found = next(each for each in consumer.explain() if each.reason is reason)
    assert str(found) == found.text
    if tp is not None:
        assert (found.topic_partition, found.topic) == (tp, tp.topic)
        assert found.text.startswith(f"{tp.topic}-{tp.partition}: ")
    return found


@asynccontextmanager
async def reading(broker: EmbeddedBroker, **options: Any) -> AsyncIterator[Any]:
    """A consumer of P0 that has a position and no fetch on its way."""
    async with consumer_of(broker, fetch_max_wait_ms=1, **options) as consumer:
        consumer.assign([P0])
        await consumer.position(P0)
        yield consumer


# The whole consumer…


async def test_before_the_start_and_after_the_stop_one_value_says_so() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        assert [each.reason for each in consumer.explain()] == [WaitReason.NOT_STARTED]
        await consumer.start()
        assert told(consumer).reason is WaitReason.NO_POSITION, "no poll has asked for one"
        await consumer.stop()
        assert [each.reason for each in consumer.explain()] == [WaitReason.STOPPED]


async def test_nothing_subscribed_and_topics_that_do_not_exist() -> None:
    async with (
        embedded({"t": 1}, auto_create_topics=False) as broker,
        consumer_of(broker) as consumer,
    ):
        assert [each.reason for each in consumer.explain()] == [WaitReason.NOTHING_SUBSCRIBED]
        consumer.subscribe(["gone"])
        found = told(consumer, None)
        assert (found.reason, found.topic) == (WaitReason.TOPIC_UNKNOWN, "gone")
        consumer.unsubscribe()
        consumer.subscribe(pattern="nothing-.*")
        assert "'nothing-.*'" in told(consumer, None).text
        consumer.unsubscribe()
        consumer.assign([TopicPartition("t", 7)])
        await consumer.getmany(timeout_ms=0)
        missing = TopicPartition("t", 7)
        await until(consumer, WaitReason.NO_LEADER, missing)
        async with asyncio.timeout(PATIENCE_S):  # until the topic's metadata has come
            while "the topic has 1 partitions" not in told(consumer, missing).text:
                await asyncio.sleep(0)


async def test_a_member_without_partitions_is_told_that_others_have_them() -> None:
    async with (
        embedded({"t": 1}) as broker,
        member_of(broker, "t") as one,
        member_of(broker, "t") as other,
    ):
        await asyncio.gather(one.getmany(timeout_ms=0), other.getmany(timeout_ms=0))
        async with asyncio.timeout(PATIENCE_S):
            while not one.assignment() ^ other.assignment():
                await asyncio.sleep(0)
        idle = other if one.assignment() else one
        assert "have 1 partitions" in (await until(idle, WaitReason.NOTHING_ASSIGNED, None)).text


async def test_a_failed_background_task_is_named() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t")
        before = asyncio.all_tasks()
        await consumer.start()
        for task in asyncio.all_tasks() - before:
            if "consumer" in task.get_name():
                task.cancel()
        found = await until(consumer, WaitReason.CLIENT_FAILED, None)
        assert found.error
        await consumer.stop()


# Without a position…


async def test_a_reset_whose_answer_has_not_come() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        broker.faults.stall(ListOffsetsRequest)
        await consumer.getmany(timeout_ms=0)
        found = told(consumer)
        assert found.reason is WaitReason.NO_POSITION
        assert found.node_id == broker.leader(P0)
        assert "earliest" in found.text
        broker.faults.release()


async def test_a_reset_that_fails_says_when_the_next_attempt_comes() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(
            broker, "t", retry_backoff_ms=LONG_MS, retry_backoff_max_ms=LONG_MS
        ) as consumer,
    ):
        broker.faults.fail(ListOffsetsRequest, UnknownError)
        await consumer.getmany(timeout_ms=0)
        async with asyncio.timeout(PATIENCE_S):
            while "failures" not in told(consumer).text:
                await asyncio.sleep(0)
        found = told(consumer)
        assert found.reason is WaitReason.NO_POSITION
        assert found.delay_s is not None
        assert 1 < found.delay_s < 2 * LONG_MS / 1000


async def test_without_a_reset_strategy_only_a_seek_helps() -> None:
    async with (
        embedded({"t": 1}) as broker,
        consumer_of(broker, "t", auto_offset_reset="none") as consumer,
    ):
        with pytest.raises(NoOffsetForPartitionError):
            await consumer.getmany(timeout_ms=0)
        assert told(consumer).reason is WaitReason.NEEDS_SEEK
        consumer.seek(P0, 0)
        assert told(consumer).reason is WaitReason.NOT_POLLED


async def test_a_position_that_the_leader_has_to_validate() -> None:
    async with embedded({"t": 1}) as broker, consumer_of(broker, "t") as consumer:
        broker.faults.stall(OffsetForLeaderEpochRequest)
        consumer.seek(P0, OffsetAndMetadata(0, "", 0))
        await consumer.getmany(timeout_ms=0)
        assert told(consumer).reason is WaitReason.VALIDATING
        broker.faults.release()


async def test_a_committed_offset_that_has_not_come() -> None:
    async with embedded({"t": 1}) as broker:
        broker.faults.stall(OffsetFetchRequest)
        async with member_of(broker, "t") as consumer:
            await consumer.getmany(timeout_ms=0)
            assert told(consumer).reason is WaitReason.NO_COMMITTED_OFFSET
            broker.faults.release()


# Held…


async def test_paused_partitions() -> None:
    async with embedded({"t": 1}) as broker, reading(broker) as consumer:
        consumer.pause(P0)
        assert told(consumer).reason is WaitReason.PAUSED
        consumer.resume(P0)
        assert told(consumer).reason is WaitReason.NOT_POLLED


class Slow(AsyncListener):
    """Returns when it may."""

    def __init__(self) -> None:
        super().__init__()
        self.may_return = asyncio.Event()

    async def on_partitions_revoked(self, revoked: set[TopicPartition]) -> None:
        if revoked:
            await self.may_return.wait()

    async def on_partitions_assigned(self, assigned: set[TopicPartition]) -> None:
        await self.may_return.wait()


async def test_partitions_that_a_listener_is_being_told_of() -> None:
    listener = Slow()
    async with embedded({"t": 1, "u": 1}) as broker:
        consumer = member_of(broker)
        consumer.subscribe(["t"], listener=listener)
        starting = asyncio.create_task(consumer.start())
        await until(consumer, WaitReason.BEING_ASSIGNED)
        listener.may_return.set()
        await starting
        listener.may_return.clear()
        consumer.subscribe(["t", "u"], listener=listener)
        await until(consumer, WaitReason.BEING_REVOKED)
        listener.may_return.set()
        consumer.subscribe(["t", "u"], listener=Listener())
        await assigned(consumer, [P0, TopicPartition("u", 0)])
        await consumer.stop()


# Buffered…


async def test_records_that_no_poll_has_taken() -> None:
    async with embedded({"t": 1}) as broker, reading(broker) as consumer:
        fill(broker, P0, 4)
        await consumer.getone()
        found = told(consumer)
        assert found.reason is WaitReason.BUFFERED
        assert found.size_in_bytes == consumer.statistics().unread_bytes
        assert "from offset 1" in found.text


async def test_a_record_that_cannot_be_read() -> None:
    async with embedded({"t": 1}) as broker, reading(broker) as consumer:
        fill(broker, P0, 1)
        broker.log(P0).corrupt(0)
        with pytest.raises(CorruptRecordException):
            await consumer.getmany(timeout_ms=LONG_MS)
        found = told(consumer)
        assert found.reason is WaitReason.BAD_RECORD
        assert found.error is not None
        assert "offset 0" in found.text


async def test_a_deserializer_that_waits() -> None:
    may_return = asyncio.Event()

    class Waiting:
        async def deserialize(self, _topic: str, _headers: object, data: bytes) -> bytes:
            await may_return.wait()
            return data

    async with (
        embedded({"t": 1}) as broker,
        reading(broker, value_deserializer=Waiting()) as consumer,
    ):
        fill(broker, P0, 1)
        polling = asyncio.create_task(consumer.getone())
        await until(consumer, WaitReason.DESERIALIZING)
        may_return.set()
        await asyncio.wait_for(polling, PATIENCE_S)


async def test_a_full_buffer_and_records_that_made_room() -> None:
    async with (
        embedded({"t": 2}) as broker,
        consumer_of(broker, fetch_buffer_bytes=1, fetch_max_wait_ms=1) as consumer,
    ):
        consumer.assign([P0, P1])
        fill(broker, P0, 4)
        await consumer.getone()
        found = await until(consumer, WaitReason.BUFFER_FULL, P1)
        assert found.size_in_bytes == consumer.statistics().unread_bytes
        assert "fetch_buffer_bytes=1" in found.text
        fill(broker, P1, 1)
        await asyncio.wait_for(consumer.getone(P1), PATIENCE_S)
        await until(consumer, WaitReason.SET_ASIDE, P0)


# On its way, or kept from it…


async def test_a_fetch_on_its_way_and_a_partition_behind_it() -> None:
    async with embedded({"t": 2}) as broker, reading(broker) as consumer:
        broker.faults.stall(FetchRequest)
        await consumer.getmany(timeout_ms=0)
        found = told(consumer)
        assert (found.reason, found.node_id) == (WaitReason.FETCHING, broker.leader(P0))
        consumer.assign([P0, P1])
        consumer.seek(P1, 0)
        assert told(consumer, P1).reason is WaitReason.NODE_BUSY
        broker.faults.release()


async def test_a_partition_whose_fetch_the_broker_refused() -> None:
    options = {"retry_backoff_ms": LONG_MS, "retry_backoff_max_ms": LONG_MS}
    async with embedded({"t": 1}) as broker, reading(broker, **options) as consumer:
        broker.faults.fail(FetchRequest, UnknownError, topic_partition=P0)
        await consumer.getmany(timeout_ms=0)
        found = await until(consumer, WaitReason.FETCH_FAILED)
        assert found.delay_s is not None
        assert found.delay_s > 1


async def test_a_node_that_throttles() -> None:
    async with embedded({"t": 1}) as broker, reading(broker) as consumer:
        broker.faults.throttle(FetchRequest, LONG_MS)
        await consumer.getmany(timeout_ms=0)
        found = await until(consumer, WaitReason.THROTTLED)
        assert found.delay_s is not None
        assert found.delay_s > 1
        assert "quota" in found.text


async def test_a_node_that_cannot_be_reached() -> None:
    options = {"reconnect_backoff_ms": LONG_MS, "reconnect_backoff_max_ms": LONG_MS}
    async with embedded({"t": 1}) as broker, reading(broker, **options) as consumer:
        broker.stop_node(broker.leader(P0))
        await consumer.getmany(timeout_ms=0)
        found = await until(consumer, WaitReason.NODE_BACKING_OFF)
        assert found.error is not None
        assert found.error in found.text


async def test_a_node_that_does_not_accept_the_client() -> None:
    options = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "open sesame",
        "reconnect_backoff_max_ms": LONG_MS,
    }
    async with (
        embedded({"t": 1}, security="SASL_PLAINTEXT", users={"alice": "open sesame"}) as broker,
        reading(broker, **options) as consumer,
    ):
        broker.faults.fail(SaslAuthenticateRequest, SaslAuthenticationFailed, times=None)
        broker.drop_connections()
        async with asyncio.timeout(PATIENCE_S):
            # The wait doubles with each refusal, until nobody can miss it.
            while WaitReason.AUTHENTICATION_FAILED not in {e.reason for e in consumer.explain()}:
                with pytest.raises(KafkaError):
                    await consumer.getmany(timeout_ms=LONG_MS)
        found = await until(consumer, WaitReason.AUTHENTICATION_FAILED)
        assert "sesame" not in found.text


# Where it began…


@pytest.mark.parametrize(("reset", "offset"), [("latest", 3), ("earliest", 0)])
async def test_where_reading_began_is_said_until_something_comes(reset: str, offset: int) -> None:
    """Who reads nothing of an old topic learns that reading began behind its records."""
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 3)
        async with reading(broker, auto_offset_reset=reset) as consumer:
            began = f"nothing has come since its position was reset to {reset}, which is offset"
            assert f"{began} {offset}" in told(consumer).text
            if reset == "latest":
                broker.faults.stall(FetchRequest)
                await consumer.getmany(timeout_ms=0)
                found = told(consumer)
                assert found.reason is WaitReason.FETCHING
                assert f"{began} {offset}" in found.text
                broker.faults.clear()
                fill(broker, P0, 1)
            await asyncio.wait_for(consumer.getone(), PATIENCE_S)
            assert "was reset" not in told(consumer).text


async def test_a_position_that_was_sought_has_no_beginning() -> None:
    async with embedded({"t": 1}) as broker, reading(broker) as consumer:
        consumer.seek(P0, 0)
        await consumer.getmany(timeout_ms=0)
        assert "was reset" not in told(consumer).text
