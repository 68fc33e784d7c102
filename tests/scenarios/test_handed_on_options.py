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
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
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


OF_ALL: dict[str, Any] = {
    "loop": None,
    "bootstrap_servers": "localhost",
    "client_id": None,
    "metadata_max_age_ms": 300_000,
    "request_timeout_ms": 40_000,
    "api_version": None,
    "retry_backoff_ms": 100,
    "ssl_context": None,
    "security_protocol": "PLAINTEXT",
    "connections_max_idle_ms": 540_000,
    "sasl_mechanism": "PLAIN",
    "sasl_plain_username": None,
    "sasl_plain_password": None,
    "sasl_kerberos_service_name": "kafka",
    "sasl_kerberos_domain_name": None,
    "sasl_oauth_token_provider": None,
}
OF_CONSUMERS: dict[str, Any] = {
    "key_deserializer": None,
    "value_deserializer": None,
    "fetch_max_wait_ms": 500,
    "fetch_max_bytes": 52_428_800,
    "fetch_min_bytes": 1,
    "max_partition_fetch_bytes": 1_048_576,
    "auto_offset_reset": "latest",
    "enable_auto_commit": True,
    "auto_commit_interval_ms": 5000,
    "check_crcs": True,
    "group_instance_id": None,
    "partition_assignment_strategy": (RoundRobinPartitionAssignor,),
    "max_poll_interval_ms": 300_000,
    "rebalance_timeout_ms": None,
    "session_timeout_ms": 10_000,
    "heartbeat_interval_ms": 3000,
    "consumer_timeout_ms": 200,
    "max_poll_records": None,
    "exclude_internal_topics": True,
    "isolation_level": "read_uncommitted",
    "client_rack": None,
}
OF_PRODUCERS: dict[str, Any] = {
    "key_serializer": None,
    "value_serializer": None,
    "compression_type": None,
    "max_batch_size": 16_384,
    "max_request_size": 1_048_576,
    "linger_ms": 0,
    "enable_idempotence": False,
    "transaction_timeout_ms": 60_000,
}
"""The defaults of aiokafka 0.14, but for those of its inside."""


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("client", "options"),
    [
        (AIOKafkaAdminClient, OF_ALL),
        (AIOKafkaClient, OF_ALL),
        (AIOKafkaProducer, OF_ALL | OF_PRODUCERS),
        (AIOKafkaProducer, OF_ALL | OF_PRODUCERS | {"transactional_id": "t"}),
        (AIOKafkaConsumer, OF_ALL | OF_CONSUMERS),
        (AIOKafkaConsumer, OF_ALL | OF_CONSUMERS | {"group_id": "g"}),
        (AIOKafkaConsumer, OF_ALL | OF_CONSUMERS | {"group_id": "g", "group_protocol": "consumer"}),
    ],
)
def test_all_defaults_of_aiokafka_may_be_handed_on(client: Any, options: dict[str, Any]) -> None:
    client(**options)
