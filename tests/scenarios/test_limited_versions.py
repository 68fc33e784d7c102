"""Versions that the user limits (`max_api_versions`), for brokers with faults in newer ones."""

import asyncio
from typing import Any

import pytest

from aiokafka_lite.consumer.consumer import AIOKafkaConsumer
from aiokafka_lite.errors import KafkaConfigurationError, UnsupportedVersionError
from aiokafka_lite.producer.producer import AIOKafkaProducer
from aiokafka_lite.protocol.api_key import ApiKey
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.consumer.batches import tps
from tests.scenarios.consuming import consumer_of, embedded, fill

(P0,) = tps(0)


def versions(broker: EmbeddedBroker, api: ApiKey) -> set[int]:
    return {received.api_version for received in broker.requests if received.api_key == api}


async def test_no_request_of_a_limited_api_is_newer() -> None:
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 3)
        limited = {"Fetch": 11, "Metadata": 5}
        async with consumer_of(broker, "t", max_api_versions=limited) as consumer:
            assert [(await consumer.getone()).offset for _ in range(3)] == [0, 1, 2]
        assert versions(broker, ApiKey.FETCH) == {11}
        assert versions(broker, ApiKey.METADATA) == {5}
        assert min(versions(broker, ApiKey.LIST_OFFSETS)) > 5, "the others are not limited"


async def test_limits_hold_in_authentication_too() -> None:
    async with EmbeddedBroker(security="SASL_PLAINTEXT", users={"alice": "secret"}) as broker:
        options: Any = broker.client_options("alice")
        async with AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            max_api_versions={"SaslAuthenticate": 0},
            **options,
        ) as producer:
            await producer.send_and_wait("t", b"v")
        assert versions(broker, ApiKey.SASL_AUTHENTICATE) == {0}


async def test_a_limit_below_what_is_spoken_here_is_told() -> None:
    async with embedded({"t": 1}) as broker:
        consumer = consumer_of(broker, "t", max_api_versions={"ListOffsets": 0})
        async with consumer:
            with pytest.raises(UnsupportedVersionError, match="max_api_versions allows up to 0"):
                await asyncio.wait_for(consumer.getone(), 30)


@pytest.mark.parametrize("limits", [{"Produce": 11}, {"EndTxn": 4}, {"TxnOffsetCommit": 4}])
async def test_limits_below_the_second_protocol_of_transactions_leave_the_first(
    limits: dict[str, int],
) -> None:
    async with EmbeddedBroker() as broker:
        producer = AIOKafkaProducer(
            bootstrap_servers=broker.bootstrap_servers,
            transactional_id="x",
            max_api_versions=limits,
        )
        async with producer, producer.transaction():
            await producer.send("t", b"v")
            await producer.send_offsets_to_transaction({P0: 3}, "g")
        async with consumer_of(broker, "t", group_id="g") as consumer:
            assert await consumer.committed(P0) == 3


async def test_a_limit_without_topic_ids_leaves_the_classic_protocol() -> None:
    limits = {"Metadata": 9}
    async with embedded({"t": 1}) as broker:
        fill(broker, P0, 1)
        async with consumer_of(
            broker, "t", group_id="g", group_protocol="auto", max_api_versions=limits
        ) as consumer:
            assert (await consumer.getone()).offset == 0
        asks_for_it = consumer_of(
            broker, "t", group_id="h", group_protocol="consumer", max_api_versions=limits
        )
        with pytest.raises(UnsupportedVersionError, match=r"needs Kafka 2\.8 \(KIP-516\)"):
            await asks_for_it.start()


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"Fetsch": 12}, "'Fetsch' is no API whose version can be limited"),
        ({"ApiVersions": 2}, "'ApiVersions' is no API whose version can be limited"),
        ({"Fetch": -1}, r"max_api_versions\['Fetch'\]=-1 is below its minimum of 0"),
        ({"Fetch": "12"}, r"max_api_versions\['Fetch'\]='12' is of type str"),
        ("2.8", "max_api_versions='2.8' is of type str"),
    ],
)
def test_what_is_no_limit_is_told(limits: Any, said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        AIOKafkaConsumer(max_api_versions=limits)
