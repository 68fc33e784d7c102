"""One node as a process: what it says when it fails, and that it ends. `test_apache_kafka.py` has
the nodes of a real Kafka.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.kafka_node import KafkaNode, run_java
from tests.conftest import require_jars

VERSION = "4.4.0"
DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(); time.sleep(60)"


@pytest.fixture
def node(tmp_path: Path) -> KafkaNode:
    """A node that was not started."""
    require_jars(VERSION)
    return KafkaNode(1, VERSION, tmp_path / "node", {"PLAINTEXT": 1, "SSL": 2}, {"a": "b"})


def test_a_node_writes_its_properties(node: KafkaNode) -> None:
    assert (node.folder / "server.properties").read_text() == "a=b\n"
    assert (node.port, node.ports["SSL"]) == (1, 2)


def test_a_node_that_ends_shows_its_output(node: KafkaNode) -> None:
    (node.folder / "server.log").write_text("the disk is full")
    node.process = subprocess.Popen([sys.executable, "-c", "raise SystemExit(3)"])
    with pytest.raises(KafkaConnectionError, match=r"(?s)exit code 3.*the disk is full"):
        node.wait_ready(1)


def test_a_node_that_does_not_end_is_killed(node: KafkaNode) -> None:
    process = subprocess.Popen([sys.executable, "-c", DEAF], stdout=subprocess.PIPE)
    assert process.stdout is not None
    with process.stdout as output:
        output.readline()
        node.process = process
        node.stop(timeout_s=0.05)
    assert node.process is None
    assert process.returncode == -9


@pytest.mark.real_kafka
def test_a_program_that_fails_says_what_it_said() -> None:
    require_jars(VERSION)
    with pytest.raises(KafkaConnectionError, match="NoSuchClass"):
        run_java(VERSION, "NoSuchClass")
