"""When a client begins to talk of its metrics, and the id that brokers give to it."""

import asyncio

import pytest

from aiokafka_lite.errors import (
    IllegalStateError,
    KafkaTimeoutError,
    UnsupportedVersionError,
)
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest as Subscribe,
)
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka
from tests.cluster.support.telemetry import (
    producer_of,
    pushed,
    run,
)


def test_a_client_that_may_not_push_asks_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka, enable_metrics_push=False) as producer:
            await asyncio.sleep(600)
            with pytest.raises(IllegalStateError, match="enable_metrics_push=True"):
                await producer.client_instance_id()
        assert kafka.broker.requests_of(Subscribe) == []

    run(main)


def test_a_broker_without_plugin_is_asked_nothing() -> None:
    async def main(kafka: VirtualKafka) -> None:
        async with producer_of(kafka) as producer:
            await asyncio.sleep(600)
            assert "telemetry" not in {each.name for each in producer.kafka_client.owner.children}
            with pytest.raises(UnsupportedVersionError, match="no broker that this client"):
                await producer.client_instance_id()
        assert kafka.broker.requests_of(Subscribe) == []

    run_virtual_kafka(main)


def test_the_id_of_a_client_is_waited_for_within_the_bound() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.faults.stall(Subscribe)
        async with producer_of(kafka) as producer:
            with pytest.raises(KafkaTimeoutError, match="timeout_ms=1500"):
                await producer.client_instance_id(1500)
            for wrong in (-1, 1.5, 2**31):
                with pytest.raises(ValueError, match="timeout_ms="):
                    await producer.client_instance_id(wrong)  # type: ignore[arg-type]
            waiting = asyncio.create_task(producer.client_instance_id())
            await asyncio.sleep(1)
            kafka.broker.faults.release()
            named = await waiting
            assert (await pushed(kafka, 1)).client_instance_id == named

    run(main)


def test_a_stop_ends_the_wait_for_the_id() -> None:
    async def main(kafka: VirtualKafka) -> None:
        kafka.broker.faults.stall(Subscribe)
        async with producer_of(kafka) as producer:
            waiting = asyncio.create_task(producer.client_instance_id())
            await asyncio.sleep(1)
        with pytest.raises(UnsupportedVersionError, match="the client was closed"):
            await waiting
        kafka.broker.faults.release()

    run(main)
