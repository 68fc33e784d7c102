"""Docker, the way for machines without Java: what the container is told, what is said when Docker
is not there, and the real thing where it is.
"""

import asyncio
import gc
import sys
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, Self

import confluent_kafka
import pytest

from aiokafka_lite import AIOKafkaConsumer
from aiokafka_lite.errors import KafkaConnectionError
from aiokafka_lite.testing import kafka_container as module
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.free_ports import held_ports
from aiokafka_lite.testing.java_runtime import JavaNotFoundError
from aiokafka_lite.testing.kafka_container import kafka_container
from tests.support.other_clients import CONSUMERS, EXPECTED, OURS, PRODUCERS

NO_JAVA = JavaNotFoundError("no Java was found")
TIMEOUT_S = 60


class FakeDockerError(Exception):
    """Stands for docker.errors.DockerException."""


class FakeContainer:
    """As much of testcontainers' DockerContainer as is used; its port is that of a test's own."""

    made: "list[FakeContainer]"
    host = "localhost"
    port = 0
    status = "running"
    fault: str | None = None

    def __init__(self, image: str) -> None:
        self.image = image
        self.env: dict[str, str] = {}
        self.ports: tuple[int, ...] = ()
        self.command: list[str] = []
        self.executed: list[list[str]] = []
        self.is_running = False
        self.made.append(self)

    def with_exposed_ports(self, *ports: int) -> None:
        self.ports = ports

    def with_command(self, command: list[str]) -> None:
        self.command = command

    def with_env(self, name: str, value: str) -> None:
        self.env[name] = value

    def __enter__(self) -> Self:
        if self.fault is not None:
            raise FakeDockerError(self.fault)
        self.is_running = True
        return self

    def __exit__(self, *_: object) -> None:
        self.is_running = False

    def get_container_host_ip(self) -> str:
        return self.host

    def get_exposed_port(self, port: int) -> int:
        assert port in self.ports
        return self.port

    def get_wrapped_container(self) -> Any:
        return SimpleNamespace(reload=lambda: None, status=self.status)

    def get_logs(self) -> tuple[bytes, bytes]:
        return b"on stdout\n", b"Exiting Kafka due to fatal exception\n"

    def exec(self, command: list[str]) -> None:
        self.executed.append(command)


@pytest.fixture
def docker(monkeypatch: pytest.MonkeyPatch) -> type[FakeContainer]:
    """A testcontainers whose containers are fakes, listed in `made`."""

    class Container(FakeContainer):
        made: "list[FakeContainer]" = []

    containers = SimpleNamespace(DockerContainer=Container)
    monkeypatch.setitem(sys.modules, "testcontainers.core.container", containers)
    errors = SimpleNamespace(DockerException=FakeDockerError)
    monkeypatch.setitem(sys.modules, "docker.errors", errors)
    return Container


def test_without_testcontainers_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "testcontainers.core.container", None)
    with (
        pytest.raises(
            JavaNotFoundError, match=r"no Java was found; .*Docker.*pip install testcontainers"
        ),
        kafka_container("4.3.1", NO_JAVA),
    ):
        pass


def test_without_docker_both_ways_are_named(docker: type[FakeContainer]) -> None:
    docker.fault = "the daemon does not answer"
    with (
        pytest.raises(JavaNotFoundError) as caught,
        kafka_container("4.3.1", NO_JAVA),
    ):
        pass
    assert str(caught.value) == (
        "JavaNotFoundError: no Java was found; Docker, the alternative, cannot run "
        "apache/kafka:4.3.1: the daemon does not answer"
    )


def test_where_only_ryuk_cannot_be_pulled_its_switch_is_named(docker: type[FakeContainer]) -> None:
    docker.fault = "no such image: testcontainers/ryuk:0.8.1"
    with (
        pytest.raises(JavaNotFoundError, match="TESTCONTAINERS_RYUK_DISABLED=true"),
        kafka_container("4.3.1", NO_JAVA),
    ):
        pass


def test_the_address_is_given_when_the_broker_serves_and_the_container_goes_with_the_block(
    docker: type[FakeContainer],
) -> None:
    with EmbeddedBroker.threaded() as broker:
        docker.port = int(broker.bootstrap_servers.rpartition(":")[2])
        with kafka_container("4.3.1", NO_JAVA) as bootstrap_servers:
            (container,) = docker.made
            assert bootstrap_servers == broker.bootstrap_servers
            assert container.image == "apache/kafka:4.3.1"
            assert container.is_running
        assert not container.is_running


def test_the_broker_waits_for_the_port_that_docker_picked(docker: type[FakeContainer]) -> None:
    with EmbeddedBroker.threaded() as broker:
        docker.port = int(broker.bootstrap_servers.rpartition(":")[2])
        with kafka_container("4.3.1", NO_JAVA):
            (container,) = docker.made
    ((_, _, line),) = container.executed
    assert f"KAFKA_ADVERTISED_LISTENERS=PLAINTEXT://127.0.0.1:{docker.port}," in line
    assert line.endswith(f"> {module.ADDRESS_FILE}")
    assert container.command[2].startswith(f"until [ -s {module.ADDRESS_FILE} ]")
    assert "KAFKA_ADVERTISED_LISTENERS" not in container.env


def test_a_docker_elsewhere_is_reached_by_its_own_address(docker: type[FakeContainer]) -> None:
    docker.host, docker.port = "docker.example", 32768
    container = module._described(docker, "4.3.1")
    assert module._address(container) == ("docker.example", 32768)


@pytest.mark.parametrize("status", ["exited", "running"])
def test_a_broker_that_does_not_serve_shows_its_own_log_and_is_removed(
    docker: type[FakeContainer], monkeypatch: pytest.MonkeyPatch, status: str
) -> None:
    monkeypatch.setattr(module, "READY_TIMEOUT_S", 120.0 if status == "exited" else 0.0)
    docker.status = status
    with (
        held_ports(1) as (docker.port,),
        pytest.raises(KafkaConnectionError, match=rf"{status}[^$]*due to fatal exception"),
        kafka_container("4.3.1", NO_JAVA),
    ):
        pass
    (container,) = docker.made
    assert not container.is_running


def test_the_broker_reaches_itself_inside_the_container() -> None:
    """The clients' address leads nowhere from there: a transaction could never end."""
    environment = module._environment()
    assert environment["KAFKA_INTER_BROKER_LISTENER_NAME"] == "BROKER"
    assert "BROKER://:9094" in environment["KAFKA_LISTENERS"]
    assert "BROKER:PLAINTEXT" in environment["KAFKA_LISTENER_SECURITY_PROTOCOL_MAP"]


def test_a_property_is_named_as_the_image_reads_it() -> None:
    assert module._environment()["KAFKA_TRANSACTION_STATE_LOG_MIN_ISR"] == "1"
    assert module._environment()["KAFKA_NODE_ID"] == "1"


# In a real container. Docker is optional, in CI too…


@pytest.fixture
def real_container() -> Iterator[str]:
    """The address of a real Kafka in a container; skips where Docker cannot run one."""
    lacking = ""
    try:
        with kafka_container(
            DEFAULT_VERSION, JavaNotFoundError("Java is left out here")
        ) as address:
            yield address
    except JavaNotFoundError as no_docker:
        lacking = " ".join(str(no_docker.args[0]).split())
    if lacking:
        gc.collect()  # Docker's client leaves the socket of a failed attempt open; it goes here
        pytest.skip(lacking)


@pytest.mark.real_kafka
@pytest.mark.timeout(600)  # the first run pulls the image
@pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning")  # as above: not our socket
def test_a_container_serves_clients_and_transactions(
    real_container: str, new_topic: Callable[[str], str]
) -> None:
    topic = new_topic(real_container)
    PRODUCERS[OURS](real_container, topic, None)
    assert CONSUMERS[OURS](real_container, topic) == EXPECTED
    _produce_in_transaction(real_container, f"{topic}-committed")
    assert asyncio.run(_first_committed(real_container, f"{topic}-committed")) == b"committed"


def _produce_in_transaction(address: str, topic: str) -> None:
    producer = confluent_kafka.Producer(
        {"bootstrap.servers": address, "transactional.id": topic, "log_level": 0}
    )
    producer.init_transactions(TIMEOUT_S)
    producer.begin_transaction()
    producer.produce(topic, b"committed")
    producer.commit_transaction(TIMEOUT_S)


async def _first_committed(address: str, topic: str) -> bytes | None:
    async with AIOKafkaConsumer(
        topic,
        bootstrap_servers=address,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
    ) as consumer:
        record = await asyncio.wait_for(consumer.getone(), TIMEOUT_S)
        return record.value
