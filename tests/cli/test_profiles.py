"""Profiles of a file, and options of the environment."""

from collections.abc import Callable
from pathlib import Path

import pytest

from aiokafka_lite.cli.profiles import environment_options, profile_file, profile_options
from aiokafka_lite.errors import KafkaConfigurationError
from aiokafka_lite.secret import Secret

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write the file of profiles of a home of this test."""
    monkeypatch.setattr("platformdirs.user_config_path", lambda: tmp_path)

    def written(text: str) -> Path:
        profile_file().write_text(text)
        return profile_file()

    return written


TWO = """
profile = "local"
[profiles.local]
bootstrap.servers = "a:1"
linger_ms = 7
[profiles.far]
bootstrap_servers = "b:2"
enable.idempotence = false
"sasl.mechanism" = "PLAIN"
"""


def shown(options: dict[str, Secret]) -> dict[str, str]:
    return {name: text.reveal_text() for name, text in options.items()}


def test_a_profile_is_chosen_by_name_or_by_the_file(write: Write) -> None:
    assert profile_options(None) == {}
    assert write(TWO).name == "aiokafka-lite.toml"
    assert shown(profile_options(None)) == {"bootstrap.servers": "a:1", "linger_ms": "7"}
    assert shown(profile_options("far")) == {
        "bootstrap_servers": "b:2",
        "enable.idempotence": "false",
        "sasl.mechanism": "PLAIN",
    }
    write("[profiles.local]\nlinger_ms = 7\n")
    assert profile_options(None) == {}


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (TWO, "it has: local, far"),
        ("", "it has: none"),
        ("profiles = 3", "it has: none"),
        ('[profiles.near]\npassword = ["hunter2"]', "password is of type list"),
        ("sasl_plain_password = hunter2", "is not TOML"),
    ],
)
def test_a_fault_names_the_file_and_no_value(write: Write, text: str, told: str) -> None:
    path = write(text)
    with pytest.raises(KafkaConfigurationError) as caught:
        profile_options("near")
    assert told in str(caught.value)
    assert str(path) in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.usefixtures("write")
def test_a_profile_without_a_file_is_told() -> None:
    with pytest.raises(KafkaConfigurationError, match="--profile near: there is no file"):
        profile_options("near")


def test_variables_name_options_in_both_spellings() -> None:
    environment = {
        "KAFKA_SECURITY_PROTOCOL": "SASL_SSL",
        "KAFKA_SASL_PLAIN_USERNAME": "alice",
        "KAFKA_SSL_TRUSTSTORE_LOCATION": "/ca.pem",
        "KAFKA_RECONNECT_BACKOFF_MS": "7",
        "KAFKA_BOOTSTRAP_SERVERS": "a:1",
        "KAFKA_OPTS": "-Xmx1g",
        "CLIENT_ID": "x",
    }
    assert shown(environment_options(environment)) == {
        "security.protocol": "SASL_SSL",
        "sasl_plain_username": "alice",
        "ssl.truststore.location": "/ca.pem",
        "reconnect_backoff_ms": "7",
    }


def test_with_jaas_the_names_of_security_are_java_s() -> None:
    environment = {
        "KAFKA_SASL_MECHANISM": "PLAIN",
        "KAFKA_SASL_JAAS_CONFIG": "required;",
        "KAFKA_CLIENT_ID": "x",
    }
    assert shown(environment_options(environment)) == {
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "required;",
        "client_id": "x",
    }
