"""The cluster is described as aiokafka does, on the embedded broker and on real Kafka."""

import aiokafka.admin
import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.errors import KafkaConnectionError, KafkaTimeoutError
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker


async def test_the_dict_is_that_of_aiokafka(any_kafka: str) -> None:
    theirs_admin = aiokafka.admin.AIOKafkaAdminClient(bootstrap_servers=any_kafka)
    await theirs_admin.start()
    try:
        theirs = await theirs_admin.describe_cluster()
    finally:
        await theirs_admin.close()
    async with AIOKafkaAdminClient(bootstrap_servers=any_kafka) as admin:
        assert await admin.describe_cluster() == theirs


async def test_a_node_that_is_down_is_left_out_and_another_is_asked() -> None:
    async with (
        EmbeddedBroker(nodes=2) as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        both = await admin.describe_cluster()
        assert [each["node_id"] for each in both["brokers"]] == [1, 2]
        broker.stop_node(1)
        left = await admin.describe_cluster()
        assert ([each["node_id"] for each in left["brokers"]], left["controller_id"]) == ([2], 2)


async def test_no_answer_ends_a_call_at_its_bound() -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        broker.faults.drop(MetadataRequest, times=None)
        with pytest.raises((KafkaTimeoutError, KafkaConnectionError)):
            await admin.describe_cluster(timeout_ms=200)
