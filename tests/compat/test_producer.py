"""The producer under the name `aiokafka` gives aiokafka's results and raises its errors."""

import asyncio
from typing import Any

import aiokafka
import pytest

from aiokafka_lite.compat.installation import found
from aiokafka_lite.compat.producer import AIOKafkaProducer
from aiokafka_lite.errors import KafkaConnectionError, UnknownTopicOrPartitionError
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.virtual_kafka import VirtualKafka, run_virtual_kafka


async def test_its_client_sends_requests_of_aiokafka() -> None:
    request = found("protocol.metadata", "MetadataRequest")(None)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        answer = await producer.client.send(1, request)
        assert [each[0] for each in answer.brokers] == [1]
        await producer.client.close()  # which is left to stop()
        await producer.send_and_wait("t", b"1")


async def test_without_acks_there_is_no_result() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers, acks=0) as producer,
    ):
        sent = [await producer.send("t", b"%d" % number) for number in range(3)]
        assert all(isinstance(each, asyncio.Future) for each in sent)
        assert await asyncio.gather(*sent) == [None] * 3
        assert await producer.send_and_wait("t", b"3") is None
        batch = producer.create_batch()
        batch.append(key=None, value=b"4", timestamp=None)
        assert await (await producer.send_batch(batch, "t", partition=0)) is None


async def test_without_acks_a_failure_is_told() -> None:
    async with EmbeddedBroker() as broker:
        producer: Any = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, acks=0, linger_ms=60_000
        )
        await producer.start()
        sent = await producer.send("t", b"1")
        cancelled = await producer.send("t", b"2")
        cancelled.cancel()
        await producer.stop(timeout_ms=0)
        assert isinstance(sent.exception(), Exception)


async def test_of_an_empty_batch_the_result_is_none() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        batch = producer.create_batch()
        assert await (await producer.send_batch(batch, "t", partition=0)) is None
        assert batch.closed()


class OwnError(Exception):
    pass


def refuse(value: Any) -> bytes:
    raise OwnError(value)


async def refuse_later(value: Any) -> bytes:
    raise OwnError(value)


@pytest.mark.parametrize("serializer", [refuse, refuse_later])
@pytest.mark.parametrize("field", ["key", "value"])
async def test_a_serializer_s_own_error_is_raised(serializer: Any, field: str) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, **{f"{field}_serializer": serializer}
        ) as producer,
    ):
        record: dict[str, Any] = {"key": b"k", "value": b"v", field: "x"}
        for send in (producer.send, producer.send_and_wait):
            with pytest.raises(OwnError, match="x"):
                await send("t", **record)


@pytest.mark.parametrize("partition", [99, -1])
async def test_a_partition_that_is_not_there_is_refused_at_once(partition: int) -> None:
    errors = []
    async with EmbeddedBroker() as broker:
        for kind in (aiokafka.AIOKafkaProducer, AIOKafkaProducer):
            async with kind(bootstrap_servers=broker.bootstrap_servers) as producer:
                await producer.send_and_wait("t", b"1", partition=0)
                with pytest.raises(AssertionError) as refusal:
                    await producer.send("t", b"1", partition=partition)
                errors.append(refusal.type)
    assert errors == [AssertionError, AssertionError]


def test_a_topic_that_is_not_there_is_waited_for_as_long_as_by_aiokafka() -> None:
    async def main(kafka: VirtualKafka) -> float:
        async with AIOKafkaProducer(**kafka.client_options) as producer:
            began_s = kafka.clock.monotonic()
            with pytest.raises(UnknownTopicOrPartitionError):
                await producer.send("absent", b"1")
            return kafka.clock.monotonic() - began_s

    assert run_virtual_kafka(main, auto_create_topics=False) == pytest.approx(40, abs=1)


async def test_each_producer_has_a_name_of_its_own() -> None:
    names = [AIOKafkaProducer().client._client_id for _ in range(2)]
    assert names[0] != names[1]
    assert all(name.startswith("aiokafka-producer-") for name in names)


async def test_a_start_that_failed_may_be_repeated() -> None:
    producer: Any = AIOKafkaProducer(bootstrap_servers="127.0.0.1:1", value_serializer=refuse)
    with pytest.raises(KafkaConnectionError, match="127"):
        await producer.start()
    assert producer._engine.append_path.serializers.passes_errors
    await producer.stop()
