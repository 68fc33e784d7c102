"""Frameworks hand on all options that they know, whether their user has chosen them or not.

A value that is a default, here or in aiokafka, raises nothing, warns of nothing and does nothing,
beside any other option.
"""

import inspect
from dataclasses import fields
from typing import Any

import pytest

from aiokafka_lite import (
    AIOKafkaAdminClient,
    AIOKafkaClient,
    AIOKafkaConsumer,
    AIOKafkaProducer,
    AIOKafkaShareConsumer,
)
from aiokafka_lite.admin.admin_config import AdminConfig
from aiokafka_lite.cluster.client_config import ClientConfig
from aiokafka_lite.compat.defaults import DEFAULTS
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.share.share_config import ShareConsumerConfig

CLIENTS: dict[Any, Any] = {
    AIOKafkaAdminClient: AdminConfig,
    AIOKafkaClient: ClientConfig,
    AIOKafkaConsumer: ConsumerConfig,
    AIOKafkaProducer: ProducerConfig,
    AIOKafkaShareConsumer: ShareConsumerConfig,
}
BESIDE: list[dict[str, Any]] = [
    {},
    {"group_id": "g"},
    {"group_id": "g", "group_protocol": "consumer"},
    {"group_id": "g", "session_timeout_ms": 2000},
    {"transactional_id": "t"},
    {"acks": 0},
    {"compression_type": "gzip"},
    {"request_timeout_ms": 300},
    {"request_timeout_ms": 200_000},
    {"retry_backoff_ms": 2000, "socket_connection_setup_timeout_ms": 60_000},
    {"max_batch_size": 1000},
    {"partitioner": "murmur2"},
]
"""What a user may have chosen beside the defaults."""


def defaults(config: Any) -> dict[str, Any]:
    return {each.name: each.default for each in fields(config) if each.init}


def as_of(client: Any, chosen: dict[str, Any]) -> dict[str, Any] | None:
    """Return the chosen options if the client has them all."""
    names = inspect.signature(client).parameters
    return chosen if chosen.keys() <= names.keys() else None


CASES = [
    (client, chosen) for client in CLIENTS for chosen in BESIDE if as_of(client, chosen) is not None
]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("client", "chosen"), CASES)
def test_a_default_that_is_handed_on_is_no_choice(client: Any, chosen: dict[str, Any]) -> None:
    """The same values by another path: as ints that no longer are the objects of the defaults."""
    if client is AIOKafkaShareConsumer:
        chosen = {"group_id": "g"} | chosen
    alone = client(**chosen)._config
    handed_on = {
        name: int(str(value)) if type(value).__name__ == "DefaultInt" else value
        for name, value in defaults(CLIENTS[client]).items()
        if name not in ("client_id", "reconnect_backoff_ms")
    }
    together = client(**handed_on | chosen)._config
    for name in handed_on:
        assert getattr(together, name) == getattr(alone, name), name


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("client", "chosen"),
    [
        (AIOKafkaAdminClient, {}),
        (AIOKafkaClient, {}),
        (AIOKafkaProducer, {}),
        (AIOKafkaProducer, {"transactional_id": "t"}),
        (AIOKafkaConsumer, {}),
        (AIOKafkaConsumer, {"group_id": "g"}),
        (AIOKafkaConsumer, {"group_id": "g", "group_protocol": "consumer"}),
    ],
)
def test_all_defaults_of_aiokafka_may_be_handed_on(client: Any, chosen: dict[str, Any]) -> None:
    client(**{**DEFAULTS[client.__name__], **chosen})
