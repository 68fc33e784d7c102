"""A registry is asked over real HTTP: once for each schema, and never with secrets in the open."""

import base64
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from aiokafka_lite.spark.decode.schema_registry import (
    RegistryConfig,
    SchemaRegistry,
    SchemaRegistryError,
    UnknownSchemaError,
    registry,
)
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.spark.support.schema_registry_server import RegistryServer, serving


@pytest.fixture
def server() -> Iterator[RegistryServer]:
    with serving() as served:
        yield served


class World:
    def __init__(self, *urls: str, **options: Any) -> None:
        self.clock = FakeClock()
        self.waits: list[float] = []
        config = RegistryConfig(urls=urls, **options)
        assert list(config.faults()) == []
        self.registry = SchemaRegistry(config, clock=self.clock, wait=self.waits.append)


def test_a_schema_is_asked_for_once(server: RegistryServer) -> None:
    server.register(7, "string")
    registry = World(f"{server.url}/").registry
    found = [registry.by_id(7) for _ in range(100)]
    assert {(each.schema_id, each.kind, each.text) for each in found} == {(7, "AVRO", "string")}
    assert server.asked == ["/schemas/ids/7"]


def test_the_newest_of_a_subject_is_asked_for_each_time_and_known_by_its_id(
    server: RegistryServer,
) -> None:
    registry = World(server.url).registry
    server.register(7, "int", subject="a b/c", schemaType="AVRO")
    server.answers["/subjects/a%20b%2Fc/versions/latest"] = server.answers.pop(
        "/subjects/a b/c/versions/latest"
    )
    assert registry.latest("a b/c").text == "int"
    assert registry.by_id(7).text == "int"
    registry.latest("a b/c")
    assert server.asked == ["/subjects/a%20b%2Fc/versions/latest"] * 2


def test_references_come_along_each_after_what_it_needs_itself(server: RegistryServer) -> None:
    def named(subject: str) -> dict[str, object]:
        return {"name": subject.title(), "subject": subject, "version": 1}

    server.register(1, "street", subject="street")
    server.register(2, "city", subject="city", references=[named("street")])
    server.register(3, "all", references=[named("city"), named("street")])
    registry = World(server.url).registry
    assert registry.by_id(3).references == ("street", "city")
    assert len(server.asked) == 3


async def test_an_unknown_id_is_asked_for_again_after_a_minute(server: RegistryServer) -> None:
    world = World(server.url)
    for _ in range(3):
        with pytest.raises(UnknownSchemaError, match="nothing at schemas/ids/7: HTTP 404: Schema"):
            world.registry.by_id(7)
    assert len(server.asked) == 1
    server.register(7, "string")
    await world.clock.advance(60)
    assert world.registry.by_id(7).text == "string"
    assert world.waits == []


def test_a_registry_in_trouble_is_asked_again_and_then_is_an_error(server: RegistryServer) -> None:
    server.register(7, "string")
    world = World(server.url)
    server.failures = [500, 503]
    assert world.registry.by_id(7).text == "string"
    assert world.waits == [0.5, 1.0]
    server.failures = [500] * 9
    for _ in range(2):  # it is remembered of no schema
        with pytest.raises(SchemaRegistryError, match=r"no answer to schemas/ids/8.*HTTP 500: not"):
            world.registry.by_id(8)
    assert len(server.asked) == 3 + 6


def test_another_address_is_tried_where_one_is_silent(server: RegistryServer) -> None:
    server.register(7, "string")
    world = World("http://127.0.0.1:1", server.url)
    assert world.registry.by_id(7).text == "string"
    with pytest.raises(SchemaRegistryError, match=r"127\.0\.0\.1:1: .*refused"):
        World("http://127.0.0.1:1").registry.by_id(7)


def test_secrets_are_read_when_they_are_sent(
    server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.register(7, "string")
    basic = World(server.url, user="me", password="env:REGISTRY_PASSWORD")
    token = World(server.url, token="env:REGISTRY_TOKEN")
    monkeypatch.setenv("REGISTRY_PASSWORD", "ü")
    monkeypatch.setenv("REGISTRY_TOKEN", "t0ken")
    basic.registry.by_id(7)
    token.registry.by_id(7)
    pair = base64.b64encode("me:ü".encode()).decode()
    assert server.authorization == [f"Basic {pair}", "Bearer t0ken"]


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_password_is_no_fault_of_a_schema_and_not_tried_again(
    server: RegistryServer, status: int
) -> None:
    server.failures = [status] * 3
    world = World(server.url)
    with pytest.raises(SchemaRegistryError, match=f"HTTP {status}: not now.*user and password"):
        world.registry.by_id(7)
    assert len(server.asked) == 1


def test_a_redirect_is_not_followed_with_the_password(
    server: RegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_TOKEN", "t0ken")
    server.failures = [302] * 3
    with pytest.raises(SchemaRegistryError, match="HTTP 302"):
        World(server.url, token="env:REGISTRY_TOKEN").registry.by_id(7)
    assert set(server.asked) == {"/schemas/ids/7"}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"id": 7}, "an answer without a schema; is that a schema registry"),
        ({"schema": "string", "references": [{"name": "x"}]}, "its references cannot be read"),
    ],
)
def test_what_is_no_answer_of_a_registry_is_refused(
    server: RegistryServer, answer: dict[str, Any], said: str
) -> None:
    server.answers["/schemas/ids/7"] = answer
    with pytest.raises(SchemaRegistryError, match=said):
        World(server.url).registry.by_id(7)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"urls": ()}, "address of the schema registry is missing"),
        ({"urls": ("h:8081",)}, "not the address of a schema registry"),
        ({"urls": ("file:///etc/passwd",)}, "not the address of a schema registry"),
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
