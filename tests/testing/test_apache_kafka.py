"""The real Kafka of the suite: it starts, serves its own tools, survives a kill, and leaves
nothing.
"""

import os
import socket
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing import apache_kafka as module
from aiokafka_lite.testing.apache_kafka import ApacheKafka, ExternalKafka, real_kafka
from aiokafka_lite.testing.kafka_node import KafkaNode
from tests.conftest import ON_NEWEST_FIRST

TOPICS = "org.apache.kafka.tools.TopicCommand"


def _refuses(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.real_kafka
def test_a_node_serves_javas_tools(apache_kafka: ApacheKafka) -> None:
    apache_kafka.run_tool(TOPICS, "--create", "--topic", "served", "--partitions", "3")
    assert "served" in apache_kafka.run_tool(TOPICS, "--list").split()
    described = apache_kafka.run_tool(TOPICS, "--describe", "--topic", "served")
    assert "PartitionCount: 3" in described


@pytest.mark.real_kafka
def test_a_failing_tool_says_what_it_said(apache_kafka: ApacheKafka) -> None:
    with pytest.raises(KafkaConnectionError, match="exit code 1"):
        apache_kafka.run_tool(TOPICS, "--describe", "--topic", "never-made")


@pytest.mark.real_kafka
@ON_NEWEST_FIRST
@pytest.mark.timeout(600)  # six Java processes; the bound on each says which one was slow
def test_three_nodes_survive_a_kill_and_leave_nothing(apache_kafka: ApacheKafka) -> None:
    # The shared node is asked for only because it skips where Java is absent.
    with ApacheKafka(apache_kafka.version, nodes=3) as cluster:
        ports = [node.port for node in cluster.nodes]
        folders = {node.folder.parent for node in cluster.nodes}
        cluster.run_tool(TOPICS, "--create", "--topic", "spread", "--partitions", "3")
        victim = cluster.nodes[0]
        victim.kill()
        assert _refuses(victim.port)
        victim.spawn()
        victim.wait_ready(brokers=3)
        described = cluster.run_tool(TOPICS, "--describe", "--topic", "spread")
        assert "ReplicationFactor: 3" in described
    assert all(_refuses(port) for port in ports)
    assert not any(folder.exists() for folder in folders)


def test_racks_that_do_not_fit_the_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="2 racks do not fit 3 nodes"):
        ApacheKafka(nodes=3, racks=["a", "b"])


def test_a_cluster_without_tls_has_no_certificates() -> None:
    with pytest.raises(ValueError, match="pass security='SASL_SSL'"):
        _ = ApacheKafka().ca_pem


@pytest.mark.real_kafka
def test_a_broker_that_cannot_start_shows_its_own_log(
    apache_kafka: ApacheKafka, tmp_path: Path
) -> None:
    broken = ApacheKafka(apache_kafka.version, properties={"num.io.threads": "0"})
    with pytest.raises(KafkaConnectionError, match=r"num\.io\.threads"):
        broken.start()
    assert broken.nodes == []


def test_two_nodes_are_refused() -> None:
    with pytest.raises(ValueError, match="nodes=2"):
        ApacheKafka(nodes=2)


def test_an_address_in_the_environment_is_borrowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", "broker.example:9092")
    with real_kafka() as kafka:
        assert isinstance(kafka, ExternalKafka)
        assert kafka.bootstrap_servers == "broker.example:9092"


def test_a_forgotten_cluster_is_killed(tmp_path: Path) -> None:
    node = KafkaNode(1, "4.3.1", tmp_path / "node-1", {"PLAINTEXT": 1}, {})
    node.process = subprocess.Popen(["sleep", "60"])
    pid = node.process.pid
    module._kill_left([node], tmp_path, ExitStack())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not (tmp_path / "node-1").exists()
