"""The admin client under the name `aiokafka` is that of this package."""

from aiokafka_lite.compat.admin import AIOKafkaAdminClient
from aiokafka_lite.compat.installation import found
from aiokafka_lite.testing.broker import EmbeddedBroker


async def test_it_administers_a_cluster() -> None:
    assert found("admin.client", "AIOKafkaAdminClient") is AIOKafkaAdminClient
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        assert await admin.list_topics() == []
