"""A start that waits for Kafka, and a stop meanwhile: the start says that it was stopped."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
)
from aiokafka_lite.client import AIOKafkaClient
from aiokafka_lite.errors import ConsumerStoppedError, IllegalStateError, ProducerClosed
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka


@pytest.mark.parametrize(
    ("make", "options", "error"),
    [
        (AIOKafkaProducer, {}, ProducerClosed),
        (AIOKafkaProducer, {"transactional_id": "x"}, ProducerClosed),
        (AIOKafkaConsumer, {}, ConsumerStoppedError),
        (AIOKafkaConsumer, {"group_id": "g"}, ConsumerStoppedError),
        (AIOKafkaShareConsumer, {"group_id": "g"}, ConsumerStoppedError),
    ],
)
def test_a_start_that_was_stopped_meanwhile_says_so(
    make: Any, options: dict[str, Any], error: type[Exception]
) -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.stop_node(1)
        client = make(**kafka.client_options, bootstrap_timeout_ms=3_600_000, **options)
        starting = asyncio.create_task(client.start())
        await asyncio.sleep(60)
        assert not starting.done()
        await client.stop()
        with pytest.raises(error):
            await starting
        assert kafka.clock.monotonic() < 70

    run_virtual_kafka(main)


@pytest.mark.parametrize("turns", [*range(1, 40, 3), 60, 100])
@pytest.mark.parametrize("make", [AIOKafkaAdminClient, AIOKafkaClient])
def test_a_client_that_was_closed_while_it_started_says_so(make: Any, turns: int) -> None:
    """In each turn of the start: whatever part was closed first, its words are no reason."""

    async def main(kafka: VirtualKafka) -> None:
        client = make(**kafka.client_options)
        start = client.start if make is AIOKafkaAdminClient else client.bootstrap
        starting = asyncio.create_task(start())
        for _ in range(turns):
            await asyncio.sleep(0)
        has_started = starting.done()
        await client.close()
        if has_started:
            await starting
        else:
            with pytest.raises(IllegalStateError, match="closed while it was starting"):
                await starting

    run_virtual_kafka(main)
