"""What the options kafka.* become: arguments of the clients, faults, or a line in the log."""

import inspect
import logging
import pickle
from pathlib import Path

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.secret import Secret
from aiokafka_lite.spark.options import kafka_keys
from aiokafka_lite.spark.options.kafka_keys import (
    CONSUMER,
    PRODUCER,
    SINK_KEYS,
    SOURCE_KEYS,
    boolean,
)
from aiokafka_lite.spark.options.sealed_properties import client_arguments

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


@pytest.mark.parametrize("keys", [SOURCE_KEYS, SINK_KEYS])
def test_security_properties_travel_sealed(keys: kafka_keys.KafkaKeys) -> None:
    jaas = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice"'
    options = {
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": f'{jaas} password="hunter2";',
    }
    arguments, faults = keys.arguments({**SERVERS, **options})
    assert not faults
    assert "hunter2" not in repr(arguments)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert b"hunter2" not in pickle.dumps(arguments, protocol)
    given = client_arguments(pickle.loads(pickle.dumps(arguments)))
    assert given["sasl_plain_password"] == Secret("hunter2")
    assert given["bootstrap_servers"] == "h:1"


def test_a_secret_may_be_named_and_travels_sealed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jaas = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    (tmp_path / "jaas").write_text(f'{jaas} username="alice" password="hunter2";\n')
    options = {
        **SERVERS,
        "kafka.security.protocol": "SASL_PLAINTEXT",
        "kafka.sasl.mechanism": "PLAIN",
        "kafka.sasl.jaas.config": f"file:{tmp_path}/jaas",
    }
    arguments, faults = SOURCE_KEYS.arguments(options)
    assert not faults
    assert client_arguments(arguments)["sasl_plain_password"] == Secret("hunter2")
    monkeypatch.setenv("JAAS", (tmp_path / "jaas").read_text())
    again, _ = SOURCE_KEYS.arguments({**options, "kafka.sasl.jaas.config": "env:JAAS"})
    monkeypatch.delenv("JAAS")  # an executor does not have it
    (tmp_path / "jaas").unlink()
    for each in (arguments, again):
        carried = client_arguments(pickle.loads(pickle.dumps(each)))
        assert carried["sasl_plain_password"] == Secret("hunter2")


def test_a_reference_to_nothing_is_a_fault_and_other_properties_are_no_references() -> None:
    lost = {
        "kafka.ssl.key.password": "env:NOT_THERE",
        "kafka.sasl.jaas.config": "file:/not/there",
    }
    faults = SOURCE_KEYS.arguments({**SERVERS, **lost})[1]
    jaas, password = faults
    assert "option kafka.sasl.jaas.config: the secret file:/not/there: the file" in jaas
    assert "there is no environment variable NOT_THERE here; the driver needs it" in password
    url = {"kafka.sasl.oauthbearer.token.endpoint.url": "file:/run/token"}
    assert SOURCE_KEYS.arguments({**SERVERS, **url})[1] == []


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
