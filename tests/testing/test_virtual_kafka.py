"""Clients and a cluster in virtual time, as a user's tests run them."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.admin import AIOKafkaAdminClient
from aiokafka_lite.errors import DeliveryTimeoutError, KafkaConnectionError
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from aiokafka_lite.testing.virtual_loop import LeftBehindError, StuckError

HOUR_S = 3600.0


def test_hours_of_timeouts_pass_at_once(virtual_kafka: Callable[..., Any]) -> None:
    async def main(kafka: VirtualKafka) -> float:
        kafka.broker.create_topic("orders")
        kafka.broker.faults.drop("Produce", times=None)
        async with AIOKafkaProducer(
            delivery_timeout_ms=int(2 * HOUR_S * 1000), **kafka.client_options
        ) as producer:
            with pytest.raises(DeliveryTimeoutError):
                await producer.send_and_wait("orders", b"1")
        return kafka.clock.time() - 1_767_225_600

    assert 2 * HOUR_S <= virtual_kafka(main) < 2.1 * HOUR_S


def test_a_group_rebalances_after_the_session_of_a_lost_member() -> None:
    async def main(kafka: VirtualKafka) -> tuple[float, list[bytes | None]]:
        kafka.broker.create_topic("orders", partitions=2)
        options = {**kafka.client_options, "group_id": "g", "session_timeout_ms": 45_000}
        lost = AIOKafkaConsumer("orders", client_id="lost", **options)
        async with AIOKafkaConsumer(
            "orders", client_id="left", auto_offset_reset="earliest", **options
        ) as left:
            await lost.start()
            await kafka.broker.wait_until(lambda: len(kafka.broker.group("g").members) == 2)
            kafka.network.isolate("lost")
            began_s = kafka.clock.monotonic()
            for partition in range(2):
                kafka.broker.produce("orders", str(partition), partition=partition)
            values = [(await left.getone()).value for _ in range(2)]
            took_s = kafka.clock.monotonic() - began_s
            kafka.network.reconnect("lost")
            await lost.stop()
        return took_s, sorted(value or b"" for value in values)

    took_s, values = run_virtual_kafka(main)
    assert values == [b"0", b"1"]
    assert 30 < took_s < 60


def test_the_same_seed_runs_the_same_way_and_another_one_need_not() -> None:
    async def main(kafka: VirtualKafka) -> str:
        kafka.network.latency_s = 0.001
        kafka.broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=5)
        async with AIOKafkaProducer(linger_ms=0, **kafka.client_options) as producer:
            for number in range(20):
                await producer.send_and_wait("orders", b"%d" % number)
        return str([(r.timestamp, r.value, r.partition) for r in kafka.broker.records("orders")])

    runs = [run_virtual_kafka(main, num_partitions=3, nodes=3, seed=seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]


def test_asyncios_own_sleeps_and_timeouts_follow_the_time() -> None:
    async def main(kafka: VirtualKafka) -> float:
        await asyncio.sleep(HOUR_S)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(HOUR_S):
                await asyncio.Event().wait()
        return kafka.clock.monotonic()

    assert 2 * HOUR_S <= run_virtual_kafka(main) < 2 * HOUR_S + 1


def test_the_admin_client_and_sasl_work_too() -> None:
    async def main(kafka: VirtualKafka) -> list[str]:
        login = kafka.broker.client_options("alice", mechanism="SCRAM-SHA-256")
        async with AIOKafkaAdminClient(**kafka.client_options, **login) as admin:
            return sorted(await admin.list_topics())

    users = {"alice": "secret"}
    assert run_virtual_kafka(main, security="SASL_PLAINTEXT", users=users) == []


def test_a_node_that_is_down_refuses_connections_until_it_is_back() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.stop_node(1)
        with pytest.raises(KafkaConnectionError, match="9092 refused the connection"):
            await AIOKafkaProducer(**kafka.client_options).start()
        kafka.broker.start_node(1)
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            await producer.send_and_wait("orders", b"")

    run_virtual_kafka(main)


def test_tls_is_refused_with_what_to_use() -> None:
    async def main(kafka: VirtualKafka) -> None:
        raise AssertionError("it must not run")

    with pytest.raises(ValueError, match="no TLS; use PLAINTEXT or SASL_PLAINTEXT"):
        run_virtual_kafka(main, security="SSL")


def test_the_error_of_the_program_is_raised() -> None:
    async def main(kafka: VirtualKafka) -> None:
        raise LookupError(kafka.bootstrap_servers)

    with pytest.raises(LookupError, match=r"127\.0\.0\.1:9092,127\.0\.0\.1:9093"):
        run_virtual_kafka(main, nodes=2)


def test_a_program_that_never_ends_is_stuck() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with AIOKafkaConsumer("orders", **kafka.client_options) as consumer:
            await consumer.getone()

    with pytest.raises(StuckError, match=r"max_time_s of 60, .* > main:\d+ > getone:\d+"):
        run_virtual_kafka(main, max_time_s=60.0)


def test_a_task_that_was_not_ended_is_told() -> None:
    tasks: list[asyncio.Task[bool]] = []

    async def main(kafka: VirtualKafka) -> None:
        forgotten = asyncio.Event()
        tasks.append(asyncio.get_running_loop().create_task(forgotten.wait(), name="forgotten"))

    with pytest.raises(LeftBehindError, match=r"left behind.*: forgotten in wait:\d+$"):
        run_virtual_kafka(main)
    assert tasks[0].cancelled()
