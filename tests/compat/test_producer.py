"""The producer under the name `aiokafka` is that of this package."""

from aiokafka_lite.compat.installation import found
from aiokafka_lite.compat.producer import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker


async def test_its_client_sends_requests_of_aiokafka() -> None:
    request = found("protocol.metadata", "MetadataRequest")(None)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer,
    ):
        answer = await producer.client.send(1, request)
        assert [each[0] for each in answer.brokers] == [1]
