"""What a program with several clients reads in its log at INFO: each line names its client."""

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.testing.virtual_kafka import VirtualKafka


def test_each_line_names_its_client(
    virtual_kafka: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "aiokafka_lite")

    async def program(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t")
        async with AIOKafkaProducer(client_id="writes", **kafka.client_options) as producer:
            await producer.send_and_wait("t", b"v")
        kafka.broker.faults.fail("ListOffsets", "NOT_LEADER_OR_FOLLOWER", times=3)
        for _ in range(2):
            async with AIOKafkaConsumer(
                "t",
                client_id="reads",
                group_id="g",
                auto_offset_reset="earliest",
                **kafka.client_options,
            ) as consumer:
                await consumer.getmany(timeout_ms=60_000)

    virtual_kafka(program)
    lines = said_by_clients(caplog)
    assert nameless(lines) == []
    assert sum(" joins: " in line for line in lines) == 2, "once for each start"
    for said in ("connected to cluster", "position reset to 0", "starting at the committed"):
        assert any(said in line for line in lines), said


def said_by_clients(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        each.getMessage()
        for each in caplog.records
        if each.name.startswith("aiokafka_lite") and ".testing." not in each.name
    ]


def nameless(lines: list[str]) -> list[str]:
    return [line for line in lines if "reads" not in line and "writes" not in line]


@pytest.mark.parametrize("group_protocol", ["classic", "consumer"])
def test_each_line_of_an_outage_names_its_client(
    virtual_kafka: Callable[..., Any], caplog: pytest.LogCaptureFixture, group_protocol: str
) -> None:
    """All nodes are gone for two minutes, while records and offsets wait."""
    caplog.set_level(logging.INFO, "aiokafka_lite")

    async def program(kafka: VirtualKafka) -> None:
        kafka.broker.create_topic("t", partitions=2)
        member = {"client_id": "reads", "group_id": "g", "group_protocol": group_protocol}
        options: dict[str, Any] = {**member, "auto_offset_reset": "earliest"}
        async with (
            AIOKafkaProducer(client_id="writes", **kafka.client_options) as producer,
            AIOKafkaConsumer("t", **options, **kafka.client_options) as consumer,
        ):
            await producer.send_and_wait("t", b"1")
            await consumer.getmany(timeout_ms=1_000)
            for node_id in (1, 2, 3):
                kafka.broker.stop_node(node_id)
            ack = await producer.send("t", b"2")
            for _ in range(12):
                await consumer.getmany(timeout_ms=10_000)
            for node_id in (1, 2, 3):
                kafka.broker.start_node(node_id)
            with suppress(KafkaError):
                await ack
            async with AIOKafkaProducer(client_id="writes", **kafka.client_options) as another:
                kafka.broker.faults.fail("InitProducerId", "COORDINATOR_NOT_AVAILABLE", times=3)
                kafka.broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", times=2)
                await another.send_and_wait("t", b"3")
            kafka.broker.faults.fail("OffsetCommit", "COORDINATOR_NOT_AVAILABLE", times=4)
            await consumer.getmany(timeout_ms=10_000)
            await consumer.getmany(timeout_ms=10_000)

    virtual_kafka(program, nodes=3)
    lines = said_by_clients(caplog)
    assert nameless(lines) == []
    assert any("metadata is up to date again" in line for line in lines)
