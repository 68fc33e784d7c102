"""Texts become options of a client, under the client's names and under Java's."""

from typing import Any

import pytest

from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.java_config.text_options import options_from_text
from aiokafka_lite.options.declared_options import declared_options
from aiokafka_lite.producer.producer_config import ProducerConfig
from aiokafka_lite.secret import Secret


@pytest.mark.parametrize(
    ("name", "text", "option", "value"),
    [
        ("linger_ms", "7", "linger_ms", 7),
        ("linger.ms", "7", "linger_ms", 7),
        ("acks", "all", "acks", "all"),
        ("acks", "1", "acks", 1),
        ("enable.idempotence", "False", "enable_idempotence", False),
        ("compression.type", "none", "compression_type", "none"),
        ("connections_max_idle_ms", "none", "connections_max_idle_ms", None),
        ("ssl_cafile", "/ca.pem", "ssl_cafile", "/ca.pem"),
    ],
)
def test_a_text_has_the_type_of_its_option(name: str, text: str, option: str, value: Any) -> None:
    assert options_from_text(ProducerConfig, {name: text}) == ({option: value}, [])


def test_java_s_security_is_read_as_java_reads_it() -> None:
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    jaas = f'{module} required username="a" password="b";'
    given = {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas}
    options, unknown = options_from_text(ConsumerConfig, given)
    assert options["sasl_plain_username"] == "a"
    assert options["sasl_plain_password"] == Secret("b")
    assert not unknown


def test_java_s_mechanism_goes_with_a_user_under_the_client_s_names() -> None:
    given = {
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "a",
        "sasl_plain_password": "b",
    }
    options, unknown = options_from_text(ConsumerConfig, given)
    assert not unknown
    assert options == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "a",
        "sasl_plain_password": Secret("b"),
    }
    ConsumerConfig(**options)
    with pytest.raises(KafkaConfigurationError, match=r"needs sasl\.jaas\.config"):
        options_from_text(ConsumerConfig, {**given, "ssl.protocol": "TLS"})


def test_unknown_names_are_told_and_wrong_values_are_faults() -> None:
    assert options_from_text(ConsumerConfig, {"linger.ms": "1", "x": "y"}) == (
        {},
        ["linger.ms", "x"],
    )
    given = {"fetch_max_bytes": "many", "check.crcs": "yes", "key_deserializer": "str"}
    with pytest.raises(KafkaConfigurationError) as raised:
        options_from_text(ConsumerConfig, given)
    for fault in (
        "fetch_max_bytes: 'many' is not a whole number",
        "check.crcs: 'yes' is neither true nor false",
        "key_deserializer: its value is a Python object",
    ):
        assert fault in str(raised.value)


@pytest.mark.parametrize("config", [ConsumerConfig, ProducerConfig])
def test_every_default_that_is_a_text_or_number_can_be_given_as_text(config: type) -> None:
    for option in declared_options(config):
        if isinstance(option.default, str | int):
            options, _ = options_from_text(config, {option.name: str(option.default)})
            assert options == {option.name: option.default}
