"""The life of an admin client: start, calls, close; its options and its errors."""

import warnings

import pytest

from aiokafka_lite import AIOKafkaAdminClient
from aiokafka_lite.errors import (
    IllegalArgumentError,
    IllegalStateError,
    KafkaConfigurationError,
    KafkaConnectionError,
)
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.support.leftovers import nothing_left_behind


async def test_a_client_leaves_nothing_behind() -> None:
    async with nothing_left_behind(), EmbeddedBroker() as broker:
        async with AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin:
            await admin.start()  # a second start does nothing
            assert await admin.list_topics() == []
        await admin.close()
        with pytest.raises(IllegalStateError, match="closed"):
            await admin.start()


async def test_calls_need_a_started_client() -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers="127.0.0.1:1")
    with pytest.raises(IllegalStateError, match=r"await start\(\) first"):
        await admin.list_topics()
    await admin.close()
    with pytest.raises(IllegalStateError, match="create another one"):
        await admin.list_topics()


async def test_an_address_without_a_broker_is_named() -> None:
    async with nothing_left_behind():
        admin = AIOKafkaAdminClient(bootstrap_servers="127.0.0.1:1", request_timeout_ms=200)
        with pytest.raises(KafkaConnectionError, match=r"127\.0\.0\.1:1"):
            await admin.start()


def test_options_are_checked_and_shown() -> None:
    with pytest.raises(KafkaConfigurationError, match="retry_backoff_ms=-1"):
        AIOKafkaAdminClient(retry_backoff_ms=-1)
    with pytest.raises(TypeError, match="did you mean 'client_id'"):
        AIOKafkaAdminClient(clientid="a")  # type: ignore[call-arg]
    with pytest.warns(DeprecationWarning, match="api_version has no effect"):
        admin = AIOKafkaAdminClient(client_id="me", api_version="auto")
    assert repr(admin) == "<AIOKafkaAdminClient client_id='me' new>"


@pytest.mark.parametrize("timeout_ms", [0, -1, 2**31, True, "5"])
async def test_a_bound_that_is_none_is_refused(timeout_ms: int) -> None:
    async with (
        EmbeddedBroker() as broker,
        AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as admin,
    ):
        with pytest.raises(IllegalArgumentError, match=f"timeout_ms={timeout_ms!r}"):
            await admin.list_topics(timeout_ms=timeout_ms)


async def test_a_client_that_is_forgotten_warns() -> None:
    async with EmbeddedBroker() as broker:
        admin = AIOKafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
        await admin.start()
        owner = admin.client.owner
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            del admin
        assert any("Unclosed AIOKafkaAdminClient" in str(each.message) for each in caught)
        await owner.close()
