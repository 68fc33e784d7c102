"""What the options kafka.* become: arguments of the clients, faults, or a line in the log."""

import inspect
import logging

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.spark.options import kafka_keys
from aiokafka_lite.spark.options.kafka_keys import (
    CONSUMER,
    PRODUCER,
    SINK_KEYS,
    SOURCE_KEYS,
    boolean,
)

SERVERS = {"kafka.bootstrap.servers": "h:1"}


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kafka_keys, "_said", set())


def test_every_argument_is_one_of_its_client() -> None:
    for keys, client in ((CONSUMER, AIOKafkaConsumer), (PRODUCER, AIOKafkaProducer)):
        parameters = inspect.signature(client.__init__).parameters
        assert {argument for argument, _ in keys.values()} <= parameters.keys()


def test_texts_become_what_the_clients_take() -> None:
    options = {
        **SERVERS,
        "kafka.fetch.max.wait.ms": "10",
        "kafka.check.crcs": "False",
        "kafka.connections.max.idle.ms": "-1",
        "kafka.isolation.level": "read_committed",
        "kafka.security.protocol": "PLAINTEXT",
        "subscribe": "not ours",
    }
    arguments, faults = SOURCE_KEYS.arguments(options)
    assert not faults
    assert arguments == {
        "bootstrap_servers": "h:1",
        "fetch_max_wait_ms": 10,
        "check_crcs": False,
        "connections_max_idle_ms": None,
        "isolation_level": "read_committed",
    }
    ConsumerConfig(**arguments)  # type: ignore[arg-type]
    options = {**SERVERS, "kafka.acks": "all", "kafka.compression.type": "none"}
    arguments, faults = SINK_KEYS.arguments(options)
    assert arguments == {"bootstrap_servers": "h:1", "acks": "all", "compression_type": None}
    ProducerConfig(**arguments)  # type: ignore[arg-type]
    assert SINK_KEYS.arguments({**SERVERS, "kafka.acks": "-1"})[0]["acks"] == -1


@pytest.mark.parametrize(
    "option",
    [
        "kafka.security.protocol",
        "kafka.sasl.jaas.config",
        "kafka.sasl.mechanism",
        "kafka.ssl.truststore.location",
        "kafka.ssl.key.password",
    ],
)
@pytest.mark.parametrize("keys", [SOURCE_KEYS, SINK_KEYS])
def test_security_is_refused_by_name_and_secrets_are_not_shown(
    keys: kafka_keys.KafkaKeys, option: str
) -> None:
    arguments, (fault,) = keys.arguments({**SERVERS, option: "SECRET"})
    assert option in fault
    assert "neither TLS nor SASL yet" in fault
    assert "SECRET" not in fault
    assert arguments == {"bootstrap_servers": "h:1"}


def test_unknown_and_idle_options_are_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    options = {**SERVERS, "kafka.fetch.mx.wait.ms": "1", "kafka.max.poll.records": "1"}
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert SOURCE_KEYS.arguments(options) == ({"bootstrap_servers": "h:1"}, [])
    idle, unknown = [record.getMessage() for record in caplog.records]
    assert idle == "without effect in kafka-lite: kafka.max.poll.records"
    assert "kafka.fetch.mx.wait.ms" in unknown
    assert "kafka.fetch.max.wait.ms" in unknown  # among what is known


def test_truth_is_spelled_out() -> None:
    assert boolean(" True ")
    assert not boolean("false")
    with pytest.raises(ValueError, match="neither true nor false"):
        boolean("1")
