"""A producer says why records are not written yet: a reason, its facts, a sentence."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.cluster.metadata import absences
from aiokafka_lite.errors import (
    GroupCoordinatorNotAvailableError,
    KafkaError,
    NotEnoughReplicasError,
    SaslAuthenticationFailed,
    TransactionalIdAuthorizationFailed,
)
from aiokafka_lite.metrics.explanation import Explanation, WaitReason
from aiokafka_lite.model import TopicPartition
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from aiokafka_lite.protocol.messages.init_producer_id import InitProducerIdRequest
from aiokafka_lite.protocol.messages.produce import ProduceRequest
from aiokafka_lite.protocol.messages.sasl_authenticate import SaslAuthenticateRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.producer.world import kafka, producing, written
from tests.scenarios.transacting import transacting
from tests.support.patience import PATIENCE_S

ORDERS = TopicPartition("orders", 0)
LONG_MS = 60_000
"""Longer than any test: what waits so long is still waiting when it is asked about."""
SLOW = {"retry_backoff_ms": LONG_MS, "retry_backoff_max_ms": LONG_MS}


async def until(
    producer: AIOKafkaProducer[Any, Any], reason: WaitReason, tp: TopicPartition | None = ORDERS
) -> Explanation:
    """Wait until this is a reason, and return its value."""
    async with asyncio.timeout(PATIENCE_S):
        while True:
            for each in producer.explain():
                if each.reason is reason and each.topic_partition == tp:
                    if tp is not None:
                        assert each.topic == tp.topic
                        assert each.size_in_bytes
                        assert str(each).startswith(f"{tp.topic}-{tp.partition}: ")
                    return each
            await asyncio.sleep(0)


def reasons(producer: AIOKafkaProducer[Any, Any]) -> list[WaitReason]:
    return [each.reason for each in producer.explain()]


# The whole producer…


async def test_before_the_start_while_nothing_waits_and_after_the_stop() -> None:
    async with kafka() as broker:
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
        assert reasons(producer) == [WaitReason.NOT_STARTED]
        await producer.start()
        assert reasons(producer) == [WaitReason.NOTHING_QUEUED]
        await producer.send_and_wait("orders", b"1")
        assert reasons(producer) == [WaitReason.NOTHING_QUEUED]
        await producer.stop()
        assert reasons(producer) == [WaitReason.STOPPED]


async def test_calls_that_wait_for_the_metadata_of_a_topic() -> None:
    async with kafka(auto_create_topics=False) as broker, producing(broker) as producer:
        sending = asyncio.create_task(producer.send("orders", b"1"))
        found = await until(producer, WaitReason.TOPIC_UNKNOWN, None)
        assert found.topic == "orders"
        broker.create_topic("orders", 1)
        await asyncio.wait_for((await sending), PATIENCE_S)
        assert reasons(producer) == [WaitReason.NOTHING_QUEUED]


async def test_calls_that_wait_for_memory() -> None:
    size = 16_384
    async with (
        kafka() as broker,
        producing(broker, buffer_memory=size, max_batch_size=size) as producer,
    ):
        await producer.send_and_wait("orders", b"0")
        broker.faults.stall(ProduceRequest)
        first = await producer.send("orders", bytes(size // 2))
        sending = asyncio.create_task(producer.send("orders", bytes(size // 2)))
        found = await until(producer, WaitReason.NO_MEMORY, None)
        assert f"buffer_memory={size}" in found.text
        broker.faults.release()
        await asyncio.wait_for(first, PATIENCE_S)
        await asyncio.wait_for(await sending, PATIENCE_S)


async def test_a_failed_background_task_is_named() -> None:
    async with kafka() as broker:
        before = asyncio.all_tasks()
        producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, client_id="app")
        await producer.start()
        for task in asyncio.all_tasks() - before:
            if "app" in task.get_name():
                task.cancel()
        assert (await until(producer, WaitReason.CLIENT_FAILED, None)).error
        await producer.stop()


# A batch…


async def test_a_batch_that_lingers() -> None:
    async with kafka() as broker, producing(broker, linger_ms=LONG_MS) as producer:
        await producer.send("orders", b"1")
        found = await until(producer, WaitReason.LINGERING)
        assert found.delay_s is not None
        assert 1 < found.delay_s <= LONG_MS / 1000
        await producer.flush()
        assert reasons(producer) == [WaitReason.NOTHING_QUEUED]


async def test_a_batch_on_its_way_one_behind_it_and_one_that_is_muted() -> None:
    async with kafka() as broker, producing(broker) as producer:
        broker.faults.stall(ProduceRequest)
        first = await producer.send("orders", b"1")
        assert (await until(producer, WaitReason.SENT)).node_id == broker.leader(ORDERS)
        second = await producer.send("orders", b"2")
        await until(producer, WaitReason.OUT_OF_TURN)
        broker.faults.release()
        await asyncio.wait_for(asyncio.gather(first, second), PATIENCE_S)
    async with (
        kafka() as broker,
        producing(broker, max_in_flight_requests_per_connection=1) as producer,
    ):
        broker.faults.stall(ProduceRequest)
        first = await producer.send("orders", b"1")
        await until(producer, WaitReason.SENT)
        second = await producer.send("orders", b"2")
        await until(producer, WaitReason.MUTED)
        broker.faults.release()
        await asyncio.wait_for(asyncio.gather(first, second), PATIENCE_S)
        assert written(broker) == [b"1", b"2"]


async def test_a_batch_that_was_sent_in_vain() -> None:
    async with kafka() as broker, producing(broker, **SLOW) as producer:
        broker.create_topic("orders")
        broker.faults.fail(ProduceRequest, NotEnoughReplicasError)
        await producer.send("orders", b"1")
        found = await until(producer, WaitReason.BACKING_OFF)
        assert found.error is not None
        assert found.delay_s is not None
        assert found.delay_s > 1
        assert "attempt 1 failed" in found.text
        await producer.stop(timeout_ms=0)


async def test_a_batch_whose_partition_has_no_leader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(absences, "PATIENCE_S", 0.0)
    async with kafka(auto_create_topics=False) as broker:
        broker.create_topic("orders", 1)
        async with producing(broker, **SLOW) as producer:
            await producer.send_and_wait("orders", b"0")
            broker.delete_topic("orders")
            await producer.send("orders", b"1")
            found = await until(producer, WaitReason.NO_LEADER)
            assert "UNKNOWN_TOPIC_OR_PARTITION" in found.text
            await producer.stop(timeout_ms=0)


async def test_no_producer_id() -> None:
    async with kafka() as broker, producing(broker) as producer:
        broker.faults.fail(InitProducerIdRequest, GroupCoordinatorNotAvailableError, times=None)
        acknowledged = await producer.send("orders", b"1")
        async with asyncio.timeout(PATIENCE_S):
            while (await until(producer, WaitReason.NO_PRODUCER_ID)).error is None:
                await asyncio.sleep(0)
        broker.faults.clear()
        await asyncio.wait_for(acknowledged, PATIENCE_S)


# A node…


async def test_as_many_requests_as_allowed() -> None:
    async with kafka(num_partitions=3) as broker:
        options = {"max_in_flight_requests_per_connection": 2, "enable_idempotence": False}
        async with producing(broker, **options) as producer:
            await producer.partitions_for("orders")
            broker.faults.stall(ProduceRequest, times=None)
            acks = []
            for partition in range(3):
                acks.append(await producer.send("orders", b"1", partition=partition))
                if partition < 2:
                    await until(producer, WaitReason.SENT, TopicPartition("orders", partition))
            found = await until(producer, WaitReason.IN_FLIGHT_FULL, TopicPartition("orders", 2))
            assert "max_in_flight_requests_per_connection=2" in found.text
            broker.faults.clear()
            await asyncio.wait_for(asyncio.gather(*acks), PATIENCE_S)


async def test_a_node_that_throttles() -> None:
    async with kafka() as broker, producing(broker) as producer:
        broker.faults.throttle(ProduceRequest, LONG_MS)
        await producer.send_and_wait("orders", b"0")
        await producer.send("orders", b"1")
        found = await until(producer, WaitReason.THROTTLED)
        assert found.delay_s is not None
        await producer.stop(timeout_ms=0)


async def test_a_node_that_cannot_be_reached() -> None:
    options = {"reconnect_backoff_ms": LONG_MS, "reconnect_backoff_max_ms": LONG_MS}
    async with kafka() as broker, producing(broker, **options) as producer:
        await producer.send_and_wait("orders", b"0")
        broker.stop_node(broker.leader(ORDERS))
        await producer.send("orders", b"1")
        found = await until(producer, WaitReason.NODE_BACKING_OFF)
        assert found.error is not None
        await producer.stop(timeout_ms=0)


async def test_a_node_that_does_not_accept_the_client() -> None:
    users = {"alice": "open sesame"}
    options = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "open sesame",
        "reconnect_backoff_max_ms": LONG_MS,
    }
    async with (
        kafka(security="SASL_PLAINTEXT", users=users) as broker,
        producing(broker, **options) as producer,
    ):
        await producer.send_and_wait("orders", b"0")
        broker.faults.fail(SaslAuthenticateRequest, SaslAuthenticationFailed, times=None)
        broker.drop_connections()
        await producer.send("orders", b"1")
        found = await until(producer, WaitReason.AUTHENTICATION_FAILED)
        assert "sesame" not in found.text
        await producer.stop(timeout_ms=0)


# A transaction…


async def test_a_partition_that_the_coordinator_has_to_hear_of() -> None:
    async with (
        kafka(transaction_version=1) as broker,
        transacting(broker) as producer,
    ):
        broker.faults.stall(AddPartitionsToTxnRequest)
        async with producer.transaction():
            await producer.send("orders", b"1")
            await until(producer, WaitReason.NOT_IN_TRANSACTION)
            broker.faults.release()


async def test_a_transaction_that_can_only_be_aborted() -> None:
    async with kafka() as broker, transacting(broker) as producer:
        await producer.begin_transaction()
        broker.faults.fail(ProduceRequest, TransactionalIdAuthorizationFailed)
        with pytest.raises(KafkaError):
            await producer.send_and_wait("orders", b"1")
        found = await until(producer, WaitReason.TRANSACTION_FAILED, None)
        assert found.error is not None
        assert "'t'" in found.text


async def test_what_waits_for_a_slow_link() -> None:
    """A node gets as much at a time as it has shown to take in a part of the time (2d-23)."""
    clock = FakeClock()
    options: dict[str, Any] = {"acks": 1, "request_timeout_ms": 3000, "clock": clock}
    async with (
        kafka(num_partitions=2, clock=clock) as broker,
        producing(broker, **options) as producer,
    ):
        await producer.partitions_for("orders")
        broker.faults.stall(ProduceRequest, times=None)
        for _ in range(50):
            await producer.send("orders", b"v" * 5000, partition=0)
            await producer.send("orders", b"v" * 5000, partition=1)
        found = await until(producer, WaitReason.IN_FLIGHT_FULL, TopicPartition("orders", 1))
        assert "on their way to node 1, which has shown that it takes 65536" in str(found)
        broker.faults.release()
        await producer.flush()
