"""A Spark process asks by blocking calls, once for each schema, with secrets of its own."""

import base64
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from aiokafka_lite.schema_registry import UnknownSchemaError
from aiokafka_lite.spark.decode import blocking_registry
from aiokafka_lite.spark.decode.blocking_registry import (
    BlockingRegistry,
    RegistryConfig,
    registry,
)
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer


@pytest.fixture
def server() -> Iterator[SchemaRegistryServer]:
    with SchemaRegistryServer() as served:
        yield served


@pytest.fixture(autouse=True)
def process(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The worker of this process, which ends with the test."""
    worker = Worker()
    monkeypatch.setattr(blocking_registry, "worker", lambda: worker)
    yield
    worker.close()


def test_a_schema_and_its_references_are_asked_for_once(server: SchemaRegistryServer) -> None:
    server.register("street", "street")
    server.register("all", "all", references=[("Street", "street", 1)])
    asked = BlockingRegistry(RegistryConfig(urls=(f"{server.url}/",)))
    for _ in range(3):
        found = asked.by_id(2)
        assert (found.registered.schema.schema_str, found.references) == ("all", ("street",))
    assert asked.latest("all").registered.version == 1
    assert server.requests == [
        "GET /schemas/ids/2",
        "GET /subjects/street/versions/1?deleted=true",
        "GET /subjects/all/versions/latest",
    ]
    with pytest.raises(UnknownSchemaError):
        asked.by_id(7)


def test_secrets_are_read_in_the_process_that_asks(
    server: SchemaRegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.register("t-value", "string")
    urls = (server.url,)
    basic = BlockingRegistry(RegistryConfig(urls=urls, user="me", password="env:REGISTRY_PASSWORD"))
    token = BlockingRegistry(RegistryConfig(urls=urls, token="env:REGISTRY_TOKEN"))
    monkeypatch.setenv("REGISTRY_PASSWORD", "ü")
    monkeypatch.setenv("REGISTRY_TOKEN", "t0ken")
    basic.by_id(1)
    token.by_id(1)
    pair = base64.b64encode("me:ü".encode()).decode()
    assert server.authorization == [f"Basic {pair}", "Bearer t0ken"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"urls": ()}, "address of the schema registry is missing"),
        ({"urls": ("http://me:hunter2@h",)}, "at h has a user or a password in it"),
        ({"user": "me", "password": "hunter2"}, "password of the schema registry must be env:NAME"),
        ({"token": "hunter2"}, "token of the schema registry must be env:NAME"),
        ({"user": "me"}, "user and password of the schema registry go together"),
        ({"user": "me", "password": "env:P", "token": "env:T"}, "not both"),
    ],
)
def test_wrong_addresses_and_open_secrets_are_refused(options: dict[str, Any], said: str) -> None:
    (fault,) = RegistryConfig(**{"urls": ("http://h:8081",), **options}).faults()
    assert said in fault
    assert "hunter2" not in fault


def test_a_process_has_one_registry_of_a_configuration() -> None:
    config = RegistryConfig(urls=("http://h:1",), token="env:T")
    assert registry(pickle.loads(pickle.dumps(config))) is registry(config)
    assert registry(RegistryConfig(urls=("http://h:2",))) is not registry(config)
