"""A command reaches a cluster by a file of options, by -X and by --security."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from aiokafka_lite.cli.app import app
from aiokafka_lite.cli.client_setting import parse_setting
from aiokafka_lite.cli.connection import Connection, connected, connection
from aiokafka_lite.consumer.consumer_config import ConsumerConfig
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.cli.conftest import Invoke


@pytest.fixture
def secured() -> Iterator[EmbeddedBroker]:
    users = {"alice": "secret"}
    with EmbeddedBroker.threaded(security="SASL_SSL", users=users, mechanisms=["PLAIN"]) as broker:
        yield broker


def test_a_file_of_kafka_s_own_tools_reaches_a_secured_cluster(
    secured: EmbeddedBroker, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text(secured.ca_pem)
    file = tmp_path / "client.properties"
    file.write_text(f"""
        bootstrap.servers={secured.bootstrap_servers}
        security.protocol=SASL_SSL
        ssl.truststore.type=PEM
        ssl.truststore.location={tmp_path / "ca.pem"}
        sasl.mechanism=PLAIN
        sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \\
            username="alice" password="secret";
    """)
    runner = CliRunner()
    environment = {"KAFKA_CONFIG_FILE": str(file)}
    sent = runner.invoke(app, ["produce", "-t", "t"], input="one\ntwo\n", env=environment)
    assert sent.exit_code == 0, sent.stderr
    read = runner.invoke(app, ["consume", "-t", "t", "-o", "start", "-e"], env=environment)
    assert read.stdout.split() == ["one", "two"], read.stderr
    listed = runner.invoke(app, ["topics", "list", "-F", str(file), "--output", "json"])
    assert '"t"' in listed.stdout, listed.stderr


def test_single_options_reach_a_secured_cluster(secured: EmbeddedBroker, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text(secured.ca_pem)
    options = [
        *("-b", secured.bootstrap_servers, "--security", "sasl_ssl"),
        *("-X", f"ssl_cafile={tmp_path / 'ca.pem'}", "-X", "sasl_mechanism=PLAIN"),
        *("-X", "sasl_plain_username=alice", "-X"),
    ]
    runner = CliRunner()
    good = runner.invoke(app, ["topics", "list", *options, "sasl_plain_password=secret"])
    assert good.exit_code == 0, good.stderr
    bad = runner.invoke(app, ["topics", "list", *options, "sasl_plain_password=hunter2"])
    assert bad.exit_code == 1
    assert "hunter2" not in bad.stderr
    assert "PLAIN" in bad.stderr


def test_an_unknown_name_is_refused_in_x_and_ignored_in_a_file(
    invoke: Invoke, tmp_path: Path
) -> None:
    refused = invoke("topics", "list", "-X", "linger_msec=1")
    assert refused.exit_code == 2
    assert "linger_msec" in refused.stderr
    (tmp_path / "file").write_text("linger.ms=1\nlinger.msec=hunter2")
    ignored = invoke("topics", "list", "-F", str(tmp_path / "file"))
    assert ignored.exit_code == 0
    assert ignored.stderr.startswith("warning: ")
    assert ignored.stderr.endswith(": linger.msec\n")  # producers know the other name


def test_a_file_that_is_not_utf_8_is_told(invoke: Invoke, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"sasl_plain_password=hunter2\xff")
    refused = invoke("topics", "list", "-F", str(tmp_path / "file"))
    assert refused.exit_code == 2
    assert "is not UTF-8" in refused.stderr
    assert "hunter2" not in refused.stderr


def test_a_wrong_value_is_a_usage_error(invoke: Invoke) -> None:
    refused = invoke("topics", "list", "-X", "request.timeout.ms=soon")
    assert refused.exit_code == 2
    assert "'soon' is not a whole number" in refused.stderr


def test_options_of_the_command_come_after_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("bootstrap.servers=a:1\nclient.id=file\nfetch.max.bytes=7\n")
    given = connection(
        "b:2", tmp_path / "file", [parse_setting("client_id=x")], config=ConsumerConfig
    )
    assert given.options(ConsumerConfig) == {
        "security_protocol": "PLAINTEXT",
        "bootstrap_servers": "b:2",
        "client_id": "x",
        "fetch_max_bytes": 7,
    }
    assert "fetch_max_bytes" not in given.options()


def test_later_places_replace_earlier_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Profile, environment, file, -X, and the options of a command; each may use Java's names."""
    monkeypatch.setattr("platformdirs.user_config_path", lambda: tmp_path)
    (tmp_path / "aiokafka-lite.toml").write_text(
        """
        [profiles.p]
        bootstrap.servers = "profile:1"
        client.id = "profile"
        fetch_max_bytes = 1
        fetch.min.bytes = 1
        fetch.max.wait.ms = 1
        """
    )
    (tmp_path / "file").write_text("fetch.min.bytes=3\nfetch.max.wait.ms=3\n")
    monkeypatch.setenv("KAFKA_FETCH_MAX_BYTES", "2")
    monkeypatch.setenv("KAFKA_FETCH_MIN_BYTES", "2")
    given = connection(
        None,
        tmp_path / "file",
        [parse_setting("fetch_max_wait_ms=4")],
        None,
        "p",
        config=ConsumerConfig,
    )
    assert given.options(ConsumerConfig) == {
        "security_protocol": "PLAINTEXT",
        "bootstrap_servers": "profile:1",
        "client_id": "profile",
        "fetch_max_bytes": 2,
        "fetch_min_bytes": 3,
        "fetch_max_wait_ms": 4,
    }
    told = connection("localhost:9092", tmp_path / "file", profile="p", config=ConsumerConfig)
    assert told.bootstrap_servers == "localhost:9092"
    assert connection(profile="p").bootstrap_servers == "profile:1"


def test_a_connected_command_has_its_own_options_and_those_of_the_connection() -> None:
    seen: list[object] = []

    @connected(ConsumerConfig)
    def count(client: Connection, topic: str, most: int = 3) -> None:
        """Count."""
        seen.extend([client.options(ConsumerConfig)["fetch_max_bytes"], topic, most])

    small = typer.Typer()
    small.command("count")(count)
    runner = CliRunner()
    assert runner.invoke(small, ["t", "--most", "4", "-X", "fetch.max.bytes=7"]).exit_code == 0
    assert seen == [7, "t", 4]
    refused = runner.invoke(small, ["t", "-X", "linger.ms=1"])
    assert refused.exit_code == 2
    assert "linger.ms" in refused.stderr
    assert len(seen) == 3
