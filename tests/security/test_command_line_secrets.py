"""No secret that a command gets stands in its output, its logs, or the variables of its errors."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from typer.testing import CliRunner

from aiokafka_lite.cli.app import app
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.security.test_secrets import Audit

SECRET: Final = "open-sesame-4711"
WRONG: Final = "wrong-sesame-0815"
PLAIN: Final = "org.apache.kafka.common.security.plain.PlainLoginModule required"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    users = {"alice": SECRET}
    with EmbeddedBroker.threaded(
        security="SASL_PLAINTEXT", users=users, mechanisms=["PLAIN"]
    ) as broker:
        broker.create_topic("t")
        yield broker.bootstrap_servers


def own_names(password: str) -> dict[str, str]:
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": password,
    }


def javas_names(password: str) -> dict[str, str]:
    return {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} username="alice" password="{password}";',
    }


def faults(password: str) -> dict[str, dict[str, str]]:
    """Options that are wrong beside the secret, or with it."""
    right = own_names(password)
    return {
        "unknown name": {**right, "sasl_plain_pasword": password},
        "wrong number": {**right, "request_timeout_ms": "soon"},
        "no text": {**right, "sasl_oauth_token_provider": password},
        "mechanism": {**right, "sasl_mechanism": "NTLM"},
        "jaas": {**javas_names(password), "sasl.jaas.config": f"{PLAIN} password={password}"},
        "protocol": {**right, "security_protocol": "PLAIN"},
        "key": {**right, "security_protocol": "SASL_SSL", "ssl_keyfile": f"{password}\n"},
    }


GIVEN: Final = {
    "own names": (own_names(SECRET), 0),
    "Java's names": (javas_names(SECRET), 0),
    "Java's names, and one of TLS": ({**javas_names(SECRET), "ssl.key.password": SECRET}, 0),
    "wrong password": (own_names(WRONG), 1),
    "wrong password, Java": (javas_names(WRONG), 1),
    **{name: (given, 2) for name, given in faults(SECRET).items()},
}
COMMANDS: Final = (["topics", "list"], ["produce", "-t", "t"], ["users", "list"])


def by_x(given: dict[str, str], _: Path) -> tuple[list[str], dict[str, str]]:
    return [each for name, text in given.items() for each in ("-X", f"{name}={text}")], {}


def by_file(given: dict[str, str], folder: Path) -> tuple[list[str], dict[str, str]]:
    texts = {name: text.replace("\n", "\\n") for name, text in given.items()}
    lines = "".join(f"{name}={text}\n" for name, text in texts.items())
    (folder / "client.properties").write_text(lines)
    return ["-F", str(folder / "client.properties")], {}


def by_profile(given: dict[str, str], folder: Path) -> tuple[list[str], dict[str, str]]:
    lines = "".join(f"\"{name}\" = '''{text}'''\n" for name, text in given.items())
    (folder / "aiokafka-lite.toml").write_text(f"[profiles.p]\n{lines}")
    return ["--profile", "p"], {}


def by_environment(given: dict[str, str], _: Path) -> tuple[list[str], dict[str, str]]:
    return [], {f"KAFKA_{name.replace('.', '_').upper()}": text for name, text in given.items()}


@pytest.mark.parametrize("way", [by_x, by_file, by_profile, by_environment])
@pytest.mark.parametrize("kind", GIVEN)
def test_a_command_shows_no_secret(
    way: object,
    kind: str,
    address: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert callable(way)
    monkeypatch.setattr("platformdirs.user_config_path", lambda: tmp_path)
    given, code = GIVEN[kind]
    words, environment = way(given, tmp_path)
    environment["KAFKA_BOOTSTRAP_SERVERS"] = address
    ran = CliRunner()
    for command in COMMANDS:
        with caplog.at_level(logging.DEBUG):
            audit = Audit(caplog)
            done = ran.invoke(app, [*command, *words], input="one\n", env=environment)
        if way is by_x or kind != "unknown name":  # elsewhere it is a warning, or of others
            assert done.exit_code == code, done.output
        audit.seen += [done.output, done.stderr, str(done.return_value)]
        if done.exception is not None:
            audit.errors(done.exception)
        audit.check(SECRET, WRONG)


@pytest.mark.parametrize("text", [SECRET, f"={SECRET}"])
def test_a_setting_without_a_name_is_not_shown(text: str, caplog: pytest.LogCaptureFixture) -> None:
    audit = Audit(caplog)
    done = CliRunner().invoke(app, ["topics", "list", "-X", text])
    assert done.exit_code == 2
    audit.seen += [done.output, done.stderr, "", ""]
    assert done.exception is not None
    audit.errors(done.exception)
    audit.check(SECRET)


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_shows_no_secret_of_the_environment(word: str) -> None:
    environment = {"KAFKA_SASL_PLAIN_PASSWORD": SECRET, "KAFKA_SSL_PASSWORD": SECRET}
    for command in COMMANDS:
        done = CliRunner().invoke(app, [*command, word], env=environment)
        assert done.exit_code == 0
        assert SECRET not in done.output
