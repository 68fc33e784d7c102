"""Docker, the way for machines without Java: what is said when it is not there either."""

from pathlib import Path

import pytest

from aiokafka_lite.testing import kafka_container as module
from aiokafka_lite.testing.java_runtime import JavaNotFoundError
from aiokafka_lite.testing.kafka_container import kafka_container

NO_JAVA = JavaNotFoundError("no Java was found")


def test_without_docker_both_ways_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(JavaNotFoundError, match=r"no Java was found; Docker"),
        kafka_container("4.3.1", NO_JAVA),
    ):
        pass


def test_without_testcontainers_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(module.shutil, "which", lambda name: "/usr/bin/docker")
    monkeypatch.setattr(module.importlib, "import_module", absent)
    with (
        pytest.raises(JavaNotFoundError, match="pip install testcontainers"),
        kafka_container("4.3.1", NO_JAVA),
    ):
        pass


def test_clients_are_told_the_port_of_the_host() -> None:
    assert module._environment(12345)["KAFKA_ADVERTISED_LISTENERS"] == "PLAINTEXT://127.0.0.1:12345"
