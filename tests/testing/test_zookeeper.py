"""The ZooKeeper of older releases: who needs it, and that nothing of it is left."""

import socket
from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing import zookeeper as module
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker.security.acl import Acl
from aiokafka_lite.testing.free_ports import held_ports
from aiokafka_lite.testing.zookeeper import ZooKeeper, needs_zookeeper
from tests.conftest import MAIN_VERSION, require_kafka


@pytest.mark.parametrize(
    ("version", "needed"),
    [("2.1.0", True), ("3.2.3", True), ("3.3.2", False), ("3.10.0", False), ("4.4.0", False)],
)
def test_releases_before_3_3_need_it(version: str, needed: bool) -> None:
    assert needs_zookeeper(version) is needed


def test_older_releases_are_started_without_security() -> None:
    with pytest.raises(ValueError, match=r"Kafka 2\.8\.2 is started without security here"):
        ApacheKafka("2.8.2", security="SASL_PLAINTEXT", users={"a": "b"})
    with pytest.raises(ValueError, match="without security"):
        ApacheKafka("2.8.2", acls=[Acl.allow("a", "READ", topic="t")])


def test_one_that_ends_shows_its_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = tmp_path / "java"
    java.write_text("#!/bin/sh\necho no such class; exit 3\n")
    java.chmod(0o755)
    monkeypatch.setattr(module, "find_java", lambda: java)
    monkeypatch.setattr(module, "zookeeper_jars", lambda: tmp_path)
    with held_ports(1) as (port,):
        server = ZooKeeper(tmp_path / "zookeeper", port)
        with pytest.raises(KafkaConnectionError, match=r"exit code 3.*\n.*no such class"):
            server.start()
        server.stop()
        server.kill()


@pytest.mark.real_kafka
def test_a_cluster_with_it_leaves_nothing() -> None:
    if not needs_zookeeper(MAIN_VERSION):
        pytest.skip(f"Kafka {MAIN_VERSION} has no ZooKeeper here")
    require_kafka(MAIN_VERSION)
    with ApacheKafka(MAIN_VERSION) as kafka:
        assert kafka._zookeeper is not None
        process, port = kafka._zookeeper.process, kafka._zookeeper.port
        assert process is not None
    assert process.poll() is not None
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port))
