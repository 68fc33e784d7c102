"""A real Apache Kafka in Docker, for machines that have Docker and no Java; blocks, and imports
testcontainers lazily.
"""

import importlib
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiokafka_lite.testing.free_ports import free_ports
from aiokafka_lite.testing.java_runtime import JavaNotFoundError

IMAGE = "apache/kafka"
CLIENT_PORT = 9092
READY_LINE = "Kafka Server started"
READY_TIMEOUT_S = 120


@contextmanager
def kafka_container(version: str, no_java: JavaNotFoundError) -> Iterator[str]:
    """Run `apache/kafka:VERSION` in a container and give its `host:port`; it is removed when the
    block ends.

    Raises `no_java`, with a word on Docker, where Docker or testcontainers is absent.
    """
    if shutil.which("docker") is None:
        raise JavaNotFoundError(f"{no_java}; Docker, the other way, is not installed either")
    try:
        container_module: Any = importlib.import_module("testcontainers.core.container")
        waiting: Any = importlib.import_module("testcontainers.core.waiting_utils")
    except ImportError as error:
        raise JavaNotFoundError(
            f"{no_java}; to use Docker instead, `pip install testcontainers`"
        ) from error
    # The broker tells clients its own address, so the host's port must be known before it starts.
    (port,) = free_ports(1)
    container = container_module.DockerContainer(f"{IMAGE}:{version}")
    container.with_bind_ports(CLIENT_PORT, port)
    for name, value in _environment(port).items():
        container.with_env(name, value)
    with container:
        waiting.wait_for_logs(container, READY_LINE, timeout=READY_TIMEOUT_S)
        yield f"127.0.0.1:{port}"


def _environment(port: int) -> dict[str, str]:
    return {
        "KAFKA_NODE_ID": "1",
        "KAFKA_PROCESS_ROLES": "broker,controller",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": "1@localhost:9093",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": f"PLAINTEXT://:{CLIENT_PORT},CONTROLLER://:9093",
        "KAFKA_ADVERTISED_LISTENERS": f"PLAINTEXT://127.0.0.1:{port}",
        "KAFKA_LISTENER_SECURITY_PROTOCOL_MAP": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR": "1",
        "KAFKA_TRANSACTION_STATE_LOG_MIN_ISR": "1",
        "KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS": "0",
    }
