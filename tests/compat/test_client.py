"""The client under the name `aiokafka` is that of this package, and sends aiokafka's requests."""

import contextlib

import pytest

import aiokafka_lite
from aiokafka_lite.compat.client import AIOKafkaClient
from aiokafka_lite.compat.installation import found
from aiokafka_lite.compat.module_names import CLIENTS
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.broker import EmbeddedBroker


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_is_one_of_this_package(name: str) -> None:
    kind = found("", name) if name != "AIOKafkaAdminClient" else found("admin", name)
    assert issubclass(kind, getattr(aiokafka_lite, name))
    assert kind is not getattr(aiokafka_lite, name)
    for path in ("producer.producer", "consumer.consumer", "client", "admin.client"):
        with contextlib.suppress(KeyError):
            assert found(path, name) is kind


async def test_it_sends_requests_of_both_kinds() -> None:
    theirs = found("protocol.metadata", "MetadataRequest")(None)
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaClient(bootstrap_servers=broker.bootstrap_servers) as client,
    ):
        answer = await client.send(1, theirs)
        ours = await client.send(1, MetadataRequest(topics=None))
        assert [each[0] for each in answer.brokers] == [each.node_id for each in ours.brokers]
        with pytest.raises(TypeError, match="request=1 is of type int"):
            await client.send(1, 1)
