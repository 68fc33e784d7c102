"""A real Kafka in a real container, as `kafka_container` starts it where a machine has no Java.

The engine is started by the test, and the image is made of the machine's Java and jars. So the test
needs neither a registry nor a running Docker.
"""

import asyncio
import gc
import tempfile
from collections.abc import Iterator
from pathlib import Path

import docker
import pytest
from testcontainers.core.config import testcontainers_config

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from aiokafka_lite.testing.java_runtime import JavaNotFoundError
from aiokafka_lite.testing.kafka_container import IMAGE, kafka_container
from tests.conftest import require_kafka
from tests.soak.docker_engine import NoDockerEngineError, docker_engine
from tests.soak.kafka_image import write_image

TIMEOUT_S = 60

pytestmark = [
    pytest.mark.soak,
    pytest.mark.real_kafka,
    pytest.mark.timeout(900),
    # Docker's client leaves sockets to the garbage collector.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[docker.DockerClient]:
    """A Docker engine of this test, which testcontainers finds, with the image of Kafka."""
    require_kafka(DEFAULT_VERSION)
    with tempfile.TemporaryDirectory(prefix="kafka-docker-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            with docker_engine(folder) as client:
                archive = folder / "image.tar"
                write_image(DEFAULT_VERSION, archive)
                client.api.import_image_from_file(
                    str(archive), repository=IMAGE, tag=DEFAULT_VERSION
                )
                archive.unlink()
                monkeypatch.setenv("DOCKER_HOST", f"unix://{folder}/docker.sock")
                monkeypatch.setattr(testcontainers_config, "_ryuk_disabled", True)
                yield client
        except NoDockerEngineError as lacking:
            pytest.skip(str(lacking))
    gc.collect()


def test_a_container_serves_clients_and_transactions_and_goes_with_its_block(
    engine: docker.DockerClient,
) -> None:
    with kafka_container(DEFAULT_VERSION, JavaNotFoundError("Java is left out here")) as address:
        assert len(engine.containers.list()) == 1
        assert asyncio.run(_written_and_read(address)) == [b"plain", b"committed"]
    assert engine.containers.list(all=True) == []


async def _written_and_read(address: str) -> list[bytes | None]:
    async with asyncio.timeout(TIMEOUT_S):
        async with AIOKafkaProducer(bootstrap_servers=address) as producer:
            await producer.send_and_wait("orders", b"plain")
        async with AIOKafkaProducer(bootstrap_servers=address, transactional_id="t") as producer:
            for value in (b"aborted", b"committed"):
                await producer.begin_transaction()
                await producer.send_and_wait("orders", value)
                if value == b"aborted":
                    await producer.abort_transaction()
                else:
                    await producer.commit_transaction()
        async with AIOKafkaConsumer(
            "orders",
            bootstrap_servers=address,
            auto_offset_reset="earliest",
            isolation_level="read_committed",
        ) as consumer:
            return [(await consumer.getone()).value for _ in range(2)]
