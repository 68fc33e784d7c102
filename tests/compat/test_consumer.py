"""The consumer under the name `aiokafka` is that of this package."""

from aiokafka_lite.compat.consumer import AIOKafkaConsumer
from aiokafka_lite.compat.installation import found
from aiokafka_lite.testing.broker import EmbeddedBroker


async def test_its_client_sends_requests_of_aiokafka() -> None:
    request = found("protocol.metadata", "MetadataRequest")(None)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaConsumer(bootstrap_servers=broker.bootstrap_servers) as consumer,
    ):
        answer = await consumer.client.send(1, request)
        assert [each[0] for each in answer.brokers] == [1]
