"""Requests for and of client metrics get the same answers from the embedded broker and from Apache
Kafka without a reporter: the APIs are not named in ApiVersions, and answered all the same.
"""

from collections.abc import AsyncIterator, Callable
from uuid import UUID

import pytest
import pytest_asyncio

from aiokafka_lite.protocol.messages.api_versions import ApiVersionsRequest
from aiokafka_lite.protocol.messages.get_telemetry_subscriptions import (
    GetTelemetrySubscriptionsRequest,
    GetTelemetrySubscriptionsResponse,
)
from aiokafka_lite.protocol.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from aiokafka_lite.protocol.messages.push_telemetry import PushTelemetryRequest
from aiokafka_lite.schema.field_types import ZERO_UUID
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.testing.broker.bench import WireClient

# The answers are the subject; how they come over uvloop has tests of its own.
pytestmark = pytest.mark.asyncio(loop_factories=["asyncio"])

METRICS = 16
LONG_MS = "3600000"
VERSIONS = ApiVersionsRequest(client_software_name="wire", client_software_version="1")


@pytest_asyncio.fixture
async def addresses(running_kafka: Callable[[str], ApacheKafka]) -> AsyncIterator[list[str]]:
    """The addresses of the embedded broker and of Apache's."""
    async with EmbeddedBroker() as broker:
        yield [broker.bootstrap_servers, running_kafka("4.4.0").bootstrap_servers]


async def subscribe(peer: WireClient, name: str, **settings: str | None) -> None:
    """Set or, with None, delete settings of a subscription."""
    changes = [
        AlterableConfig(
            name=key.replace("_", "."), config_operation=int(value is None), value=value
        )
        for key, value in settings.items()
    ]
    resource = AlterConfigsResource(resource_type=METRICS, resource_name=name, configs=changes)
    answer = await peer.ask(IncrementalAlterConfigsRequest(resources=[resource]))
    assert [each.error_code for each in answer.responses] == [0]


async def asked(
    peer: WireClient, instance_id: UUID = ZERO_UUID
) -> GetTelemetrySubscriptionsResponse:
    return await peer.ask(GetTelemetrySubscriptionsRequest(client_instance_id=instance_id))


async def test_the_apis_are_not_named(addresses: list[str]) -> None:
    for address in addresses:
        async with await WireClient.connect(address) as peer:
            answer = await peer.ask(VERSIONS, 3)
            assert not {71, 72} & {each.api_key for each in answer.api_keys}
    async with (
        EmbeddedBroker(client_telemetry=True) as broker,
        await WireClient.connect(broker.bootstrap_servers) as peer,
    ):
        answer = await peer.ask(VERSIONS, 3)
        assert {71, 72} <= {each.api_key for each in answer.api_keys}


async def test_a_subscription_and_its_pushes(addresses: list[str], topic_name: str) -> None:
    told = []
    for address in addresses:
        async with await WireClient.connect(address) as peer:
            await subscribe(
                peer, topic_name, metrics="org.a.", interval_ms=LONG_MS, match="client_id=w.*e"
            )
            try:
                told.append(await _conversation(peer))
            finally:
                await subscribe(peer, topic_name, metrics=None, interval_ms=None, match=None)
    embedded, apache = told
    assert embedded == apache


async def _conversation(peer: WireClient) -> list[object]:
    """What a broker says to a client: codes, and the facts of its subscription."""
    first = await asked(peer)
    while first.requested_metrics == []:  # a broker learns of settings a moment later
        first = await asked(peer)
    said: list[object] = [
        (
            first.error_code,
            first.accepted_compression_types,
            first.push_interval_ms,
            first.telemetry_max_bytes,
            first.delta_temporality,
            first.requested_metrics,
        )
    ]
    me, number = first.client_instance_id, first.subscription_id
    again = await asked(peer, me)
    said.append((again.error_code, again.client_instance_id, again.subscription_id))
    for instance, subscription, codec, terminating, size in (
        (me, number + 1, 4, False, 0),
        (me, number, 4, False, 0),
        (me, number, 4, False, 0),
        (ZERO_UUID, number, 4, False, 0),
        (UUID(int=1), number, 4, False, 0),
        (UUID(int=9), number, 4, False, 0),
        (me, number, 9, True, 0),
        (me, number, 4, True, 0),
    ):
        push = PushTelemetryRequest(
            client_instance_id=instance,
            subscription_id=subscription,
            compression_type=codec,
            terminating=terminating,
            metrics=bytes(size),
        )
        said.append((await peer.ask(push)).error_code)
    for codec, size in ((4, 1_048_577), (9, 10), (0, 0)):
        told = await asked(peer)
        push = PushTelemetryRequest(
            client_instance_id=told.client_instance_id,
            subscription_id=told.subscription_id,
            compression_type=codec,
            metrics=bytes(size),
        )
        said.append((await peer.ask(push)).error_code)
        said.append((await asked(peer, told.client_instance_id)).error_code)
    return said
