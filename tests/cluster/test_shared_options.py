"""A client that shares connections takes their options from the client that has them."""

from typing import Any

import pytest

from aiokafka_lite import AIOKafkaAdminClient, AIOKafkaClient, AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.errors import KafkaConfigurationError


@pytest.mark.parametrize("make", [AIOKafkaProducer, AIOKafkaConsumer, AIOKafkaAdminClient])
def test_options_of_the_connections_are_those_of_the_client(make: Any) -> None:
    client = AIOKafkaClient(bootstrap_servers="kafka:1", request_timeout_ms=7_000)
    assert make(client=client, retry_backoff_ms=5)._config.request_timeout_ms == 7_000
    with pytest.raises(KafkaConfigurationError, match="bootstrap_servers, request_timeout_ms can"):
        make(client=client, request_timeout_ms=9_000, bootstrap_servers="kafka:2")
    with pytest.raises(KafkaConfigurationError, match="client='kafka:1' is of type str; set it to"):
        make(client="kafka:1")
    with pytest.raises(KafkaConfigurationError, match="make an AIOKafkaClient to share"):
        make(client=AIOKafkaProducer(bootstrap_servers="kafka:1").client)
