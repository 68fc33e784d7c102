"""What a program with several clients reads in its log at INFO: each line names its client."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
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
    lines = [
        each.getMessage()
        for each in caplog.records
        if each.name.startswith("aiokafka_lite") and ".testing." not in each.name
    ]
    nameless = [line for line in lines if "reads" not in line and "writes" not in line]
    assert nameless == []
    assert sum(" joins: " in line for line in lines) == 2, "once for each start"
    for said in ("connected to cluster", "position reset to 0", "starting at the committed"):
        assert any(said in line for line in lines), said
