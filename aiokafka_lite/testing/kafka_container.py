"""A real Apache Kafka in Docker, for machines that have Docker and no Java.

Blocks, and imports testcontainers lazily. Owns one container from its start to its removal.
testcontainers finds Docker by its own settings (`DOCKER_HOST`, `TESTCONTAINERS_*`).
"""

import importlib
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing.broker_probe import known_brokers
from aiokafka_lite.testing.java_runtime import JavaNotFoundError
from aiokafka_lite.testing.server_properties import server_properties

IMAGE = "apache/kafka"
CLIENT_PORT = 9092
CONTROLLER_PORT = 9093
BROKER_PORT = 9094
READY_TIMEOUT_S = 120.0
POLL_INTERVAL_S = 0.1
# Docker picks the host's port when the container starts, and the broker has to announce it to every
# client. So the container starts a shell that delays the broker until the port is written.
ADDRESS_FILE = "/tmp/advertised-listeners"  # noqa: S108 - a path inside the container
COMMAND = (
    f"until [ -s {ADDRESS_FILE} ]; do sleep 0.1; done; . {ADDRESS_FILE}; exec /etc/kafka/docker/run"
)


@contextmanager
def kafka_container(version: str, no_java: JavaNotFoundError) -> Iterator[str]:
    """Run `apache/kafka:VERSION` in a container and yield its `host:port`.

    The container is removed when the block ends. The image is pulled at first use.

    Raises: JavaNotFoundError with `no_java` and what Docker lacks: testcontainers, a running daemon
    or the image; KafkaConnectionError with the broker's own log when it does not serve within 120
    s.
    """
    container_class, docker_errors = _testcontainers(no_java)
    with ExitStack() as running:
        try:
            container = running.enter_context(_described(container_class, version))
        except docker_errors as error:
            raise JavaNotFoundError(_refusal(version, no_java, error)) from error
        host, port = _address(container)
        _advertise(container, host, port)
        _wait_ready(container, version, host, port)
        yield f"{host}:{port}"


def _testcontainers(no_java: JavaNotFoundError) -> tuple[Any, tuple[type[Exception], ...]]:
    try:
        container: Any = importlib.import_module("testcontainers.core.container")
        errors: Any = importlib.import_module("docker.errors")
    except ImportError as error:
        raise JavaNotFoundError(
            f"{no_java.args[0]}; Docker is the alternative, and it needs"
            f" `pip install testcontainers`"
        ) from error
    return container.DockerContainer, (errors.DockerException, OSError)


def _described(container_class: Any, version: str) -> Any:
    container = container_class(f"{IMAGE}:{version}")
    container.with_exposed_ports(CLIENT_PORT)
    container.with_command(["sh", "-c", COMMAND])
    for name, value in _environment().items():
        container.with_env(name, value)
    return container


def _environment() -> dict[str, str]:
    properties = {
        **server_properties(1),
        "node.id": "1",
        "controller.quorum.voters": f"1@localhost:{CONTROLLER_PORT}",
        "listeners": f"PLAINTEXT://:{CLIENT_PORT},BROKER://:{BROKER_PORT},"
        f"CONTROLLER://:{CONTROLLER_PORT}",
        # The broker sends the end of a transaction to itself over the network. The address of
        # clients does not work inside the container.
        "inter.broker.listener.name": "BROKER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,"
        "CONTROLLER:PLAINTEXT",
    }
    return {f"KAFKA_{name.upper().replace('.', '_')}": value for name, value in properties.items()}


def _refusal(version: str, no_java: JavaNotFoundError, error: Exception) -> str:
    text = f"{no_java.args[0]}; Docker, the alternative, cannot run {IMAGE}:{version}: {error}"
    if "ryuk" in str(error):
        text += (
            "; TESTCONTAINERS_RYUK_DISABLED=true does without ryuk, the container by which "
            "testcontainers cleans up after a killed process"
        )
    return text


def _address(container: Any) -> tuple[str, int]:
    host = container.get_container_host_ip()
    # Docker may pick another port for IPv6, and testcontainers reports IPv4's.
    return "127.0.0.1" if host == "localhost" else host, int(
        container.get_exposed_port(CLIENT_PORT)
    )


def _advertise(container: Any, host: str, port: int) -> None:
    listeners = f"PLAINTEXT://{host}:{port},BROKER://localhost:{BROKER_PORT}"
    line = f"export KAFKA_ADVERTISED_LISTENERS={listeners}"
    container.exec(["sh", "-c", f"echo {line} > {ADDRESS_FILE}"])


def _wait_ready(container: Any, version: str, host: str, port: int) -> None:
    deadline = SYSTEM_CLOCK.monotonic() + READY_TIMEOUT_S
    wrapped = container.get_wrapped_container()
    while known_brokers(host, port) < 1:
        wrapped.reload()
        if wrapped.status != "running" or SYSTEM_CLOCK.monotonic() > deadline:
            log = b"".join(container.get_logs()).decode(errors="replace")
            raise KafkaConnectionError(
                f"Apache Kafka {version} does not serve at {host}:{port}: its container is "
                f"{wrapped.status}, and the limit is {READY_TIMEOUT_S:.0f} s; its log ends with:\n"
                f"{log[-3000:]}"
            )
        time.sleep(POLL_INTERVAL_S)


__all__ = ["kafka_container"]
