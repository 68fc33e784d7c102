"""The public client: what it asks, what it remembers, and how it shows who it is."""

import asyncio
import base64
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import trustme

from aiokafka_lite.errors import IllegalStateError, KafkaConfigurationError
from aiokafka_lite.helpers import create_ssl_context
from aiokafka_lite.kafka_error import KafkaError
from aiokafka_lite.schema_registry import (
    IncompatibleSchemaError,
    RegistryAuthorizationError,
    RegistryUnavailableError,
    Schema,
    SchemaReference,
    SchemaRegistryClient,
    SchemaRegistryError,
    UnknownSchemaError,
    schema_registry_client,
)
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer

INT, LONG = Schema('"int"'), Schema('"long"')


async def test_the_schema_of_an_id_is_asked_for_once(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    schema_id = server.register("t-value", {"type": "string"})
    assert registry.known_schema(schema_id) is None
    found = await asyncio.gather(*(registry.get_schema(schema_id) for _ in range(20)))
    found.append(await registry.get_schema(schema_id))
    assert {each.schema.schema_str for each in found} == {'{"type": "string"}'}
    assert registry.known_schema(schema_id) is found[0]
    assert server.requests == [f"GET /schemas/ids/{schema_id}"]
    guid = found[0].guid
    assert guid is not None
    by_guid = [await registry.get_schema_by_guid(guid) for _ in range(2)]
    assert {each.schema_id for each in by_guid} == {schema_id}
    assert server.requests[1:] == [f"GET /schemas/guids/{guid}"]


async def test_a_schema_is_registered_once_and_looked_up(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    with pytest.raises(UnknownSchemaError, match="subject 'a b/c'"):
        await registry.lookup_schema("a b/c", INT)
    registered = [await registry.register_schema("a b/c", INT, normalize=True) for _ in range(3)]
    assert {(each.schema_id, each.version, each.subject) for each in registered} == {
        (1, 1, "a b/c")
    }
    assert (await registry.lookup_schema("a b/c", INT)).schema_id == 1
    assert (await registry.get_schema(1)).schema == INT
    assert server.requests == [
        "POST /subjects/a%20b%2Fc",
        "POST /subjects/a%20b%2Fc/versions?normalize=true",
        "POST /subjects/a%20b%2Fc",
    ]


async def test_a_lookup_finds_the_version_where_a_registration_does_not_tell_it(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", '"int"')
    server.answers["/subjects/t-value/versions"] = {"id": 1}
    assert (await registry.register_schema("t-value", INT)).version is None
    found = [await registry.lookup_schema("t-value", INT) for _ in range(2)]
    assert [(each.schema_id, each.version) for each in found] == [(1, 1)] * 2
    assert (await registry.register_schema("t-value", INT)).version == 1
    assert len(server.requests) == 2, "each asked once"


async def test_versions_and_subjects(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t-value", "int")
    server.register("t-value", "long")
    assert await registry.get_subjects() == ["t-value"]
    assert await registry.get_versions("t-value") == [1, 2]
    assert (await registry.get_latest_version("t-value")).version == 2
    for _ in range(2):
        assert (await registry.get_version("t-value", 1)).schema == Schema("int")
    assert server.requests.count("GET /subjects/t-value/versions/1") == 1
    await registry.delete_version("t-value", 1)
    with pytest.raises(UnknownSchemaError, match="subject 't-value' version 1"):
        await registry.get_version("t-value", 1)
    assert await registry.delete_subject("t-value", permanent=True) == [2]
    assert await registry.get_subjects() == []


async def test_compatibility_is_asked_for_and_set(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    await registry.register_schema("t-value", INT)
    assert await registry.test_compatibility("t-value", LONG)
    server.is_compatible = lambda _subject, _new, old: old != INT.schema_str
    assert not await registry.test_compatibility("t-value", LONG)
    with pytest.raises(IncompatibleSchemaError, match=r"subject 't-value'.*HTTP 409.*compat"):
        await registry.register_schema("t-value", LONG)
    assert await registry.get_compatibility() == "BACKWARD"
    with pytest.raises(UnknownSchemaError):
        await registry.get_compatibility("t-value")
    await registry.set_compatibility("FULL", "t-value")
    assert await registry.get_compatibility("t-value") == "FULL"


async def test_references_come_along_each_after_what_it_needs_itself(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("street", "a")
    server.register("city", "b", references=[("Street", "street", 1)])
    schema = Schema(
        "c", references=(SchemaReference("City", "city", 1), SchemaReference("Street", "street", 1))
    )
    found = await registry.resolve_references(schema)
    assert [(name, each.schema_str) for name, each in found.items()] == [
        ("Street", "a"),
        ("City", "b"),
    ]
    assert len(server.requests) == 2


async def test_references_to_each_other_come_to_an_end(
    server: SchemaRegistryServer,
    registry: SchemaRegistryClient,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server.register("a", "a", references=[("B", "b", 1)])
    server.register("b", "b", references=[("A", "a", 1), ("C", "a", 1), ("D", "a", 1)])
    schema = (await registry.get_version("a", 1)).schema
    assert set(await registry.resolve_references(schema)) == {"A", "B", "C", "D"}
    monkeypatch.setattr(schema_registry_client, "_MOST_REFERENCES", 3)
    with pytest.raises(SchemaRegistryError, match="more than 3 references"):
        await registry.resolve_references(schema)


async def test_an_unknown_id_is_asked_for_again_after_a_minute(
    server: SchemaRegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema_registry_client, "MOST_UNKNOWN", 2)
    clock = FakeClock()
    async with SchemaRegistryClient(server.url, clock=clock) as registry:
        for _ in range(3):
            with pytest.raises(UnknownSchemaError, match=r"schema id 7: GET .*/ids/7.*HTTP 404"):
                await registry.get_schema(7)
        assert len(server.requests) == 1
        server.register("t", "string", schema_id=7)
        await clock.advance(60)
        assert (await registry.get_schema(7)).schema_id == 7
        for number in (1, 2, 3, 1):  # the oldest one of more than two is asked for again
            with pytest.raises(UnknownSchemaError):
                await registry.get_schema(number)
        assert len(server.requests) == 6


async def test_a_registry_in_trouble_is_remembered_of_no_schema(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.register("t", "string")
    server.failures = [500]
    with pytest.raises(RegistryUnavailableError):
        await registry.get_schema(1)
    assert (await registry.get_schema(1)).schema_id == 1


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({}, None),
        (
            {"username": "me", "password": "ü"},
            "Basic " + base64.b64encode("me:ü".encode()).decode(),
        ),
        ({"bearer_token": "t0ken"}, "Bearer t0ken"),
        ({"bearer_token": lambda: b"t0ken"}, "Bearer t0ken"),
    ],
)
async def test_credentials_are_sent(
    server: SchemaRegistryServer, options: dict[str, Any], sent: str | None
) -> None:
    async with SchemaRegistryClient(server.url, **options) as registry:
        await registry.get_subjects()
        assert "t0ken" not in repr(vars(registry))
    assert server.authorization == [sent]


async def test_a_token_may_be_awaited_and_is_asked_for_each_time(
    server: SchemaRegistryServer,
) -> None:
    tokens = iter(["one", "two", "bad\ntoken", "bäd", b"\xff"])

    async def token() -> Any:
        return next(tokens)

    async with SchemaRegistryClient(server.url, bearer_token=token) as registry:
        await registry.get_subjects()
        await registry.get_subjects()
        for _ in range(3):
            with pytest.raises(RegistryAuthorizationError, match="no HTTP header") as raised:
                await registry.get_subjects()
            assert "bad" not in str(raised.value)
    assert server.authorization == ["Bearer one", "Bearer two"]


def test_credentials_without_tls_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        for url in ("https://far", "http://127.0.0.1:1"):
            SchemaRegistryClient(url, username="me", password="hunter2")
        assert not caplog.records
        SchemaRegistryClient("http://far", username="me", password="hunter2")
    assert "at far travel unencrypted" in caplog.text
    assert "hunter2" not in caplog.text


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: SchemaRegistryClient([]), "address of the schema registry is missing"),
        (lambda: SchemaRegistryClient("http://h", username="me"), "go together"),
        (
            lambda: SchemaRegistryClient("http://h", timeout_ms=0),
            "timeout_ms=0 must be an int of 1",
        ),
        (lambda: SchemaRegistryClient("http://h", max_retries=-1), "max_retries=-1"),
    ],
)
def test_wrong_arguments_are_refused(make: Callable[[], object], said: str) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        make()


async def test_https_with_an_authority_of_ones_own(tmp_path: Any) -> None:
    import ssl

    authority = trustme.CA()
    served = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    begin = datetime(2020, 1, 1, tzinfo=UTC)  # the machine's clock may be set back a little
    authority.issue_cert("127.0.0.1", not_before=begin).configure_cert(served)
    ca_file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(str(ca_file))
    with SchemaRegistryServer(ssl_context=served) as server:
        server.register("t", "string")
        context = create_ssl_context(cafile=str(ca_file))
        async with SchemaRegistryClient(server.url, ssl_context=context) as registry:
            assert await registry.get_subjects() == ["t"]
        async with SchemaRegistryClient(server.url, max_retries=0) as distrustful:
            with pytest.raises(RegistryUnavailableError, match=r"(?i)certificate"):
                await distrustful.get_subjects()


async def test_another_form_of_answer_is_no_registry(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    server.answers["/subjects"] = {}
    server.answers["/subjects/t/versions"] = {"version": 1}
    server.answers["/config"] = {"compatibilityLevel": 7}
    with pytest.raises(SchemaRegistryError, match="is that a schema registry"):
        await registry.get_subjects()
    with pytest.raises(SchemaRegistryError, match="is that a schema registry"):
        await registry.register_schema("t", INT)
    with pytest.raises(SchemaRegistryError, match="is that a schema registry"):
        await registry.get_compatibility()
    answers: list[Any] = [[], "text", 3]
    for answer in answers:
        server.answers["/schemas/ids/1"] = answer
        server.answers["/subjects/t/versions"] = answer
        server.answers["/compatibility/subjects/t/versions/latest"] = answer
        for question in (
            registry.get_schema(1),
            registry.register_schema("t", INT),
            registry.test_compatibility("t", INT),
        ):
            with pytest.raises(SchemaRegistryError, match="is that a schema registry"):
                await question


async def test_a_closed_client_asks_no_more_and_still_knows_what_it_knew(
    server: SchemaRegistryServer,
) -> None:
    async with SchemaRegistryClient(server.url) as registry:
        known = await registry.register_schema("t", INT)
    server.requests.clear()
    assert await registry.register_schema("t", INT) == known
    assert (await registry.get_schema(known.schema_id)).schema == INT
    for question in (registry.get_schema(99), registry.register_schema("t", LONG)):
        with pytest.raises(IllegalStateError, match="is closed; keep it open"):
            await question
    assert not server.requests


async def test_a_request_on_its_way_ends_when_the_client_is_closed() -> None:
    asked = asyncio.Event()

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.set()
        await reader.read()
        writer.close()

    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    address = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    async with SchemaRegistryClient(address, clock=FakeClock()) as registry:
        question = asyncio.create_task(registry.get_schema(1))
        await asked.wait()
    with pytest.raises(IllegalStateError, match="is closed"):
        await asyncio.wait_for(question, 10)
    listener.close()
    await listener.wait_closed()


async def test_a_client_that_was_disconnected_connects_again(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    await registry.get_subjects()
    await registry.disconnect()
    assert await registry.get_subjects() == []


MARK = "SECRET" * 200_000
Call = Callable[[Any], Awaitable[object]]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda r: r.register_schema("t", 7), "schema: 7 is no schema"),
        (lambda r: r.register_schema("t", "order.avsc"), "looks like the name of a file"),
        (lambda r: r.register_schema("t", '{"$id": "x"}'), r"give Schema\(text, 'JSON'\)"),
        (lambda r: r.register_schema({"type": "int"}, "t"), "subject: a value of type dict"),
        (lambda r: r.register_schema(Schema("int"), "t"), "subject: a value of type Schema"),
        (lambda r: r.register_schema("", "int"), "subject: '' is no name"),
        (lambda r: r.lookup_schema("t", None), "schema: None is no schema"),
        (lambda r: r.test_compatibility("t", b"int"), "schema: a value of type bytes"),
        (lambda r: r.test_compatibility("t", "int", "newest"), "version: 'newest' is no version"),
        (lambda r: r.get_schema("1"), "schema_id: '1' is no id"),
        (lambda r: r.get_schema_by_guid(7), "guid: 7 is no name; give the guid"),
        (lambda r: r.get_versions(None), "subject: None is no name"),
        (lambda r: r.get_version({}, 1), "subject: a value of type dict"),
        (lambda r: r.get_version("t", "1"), "version: '1' is no version"),
        (lambda r: r.get_latest_version(["t"]), "subject: a value of type list"),
        (lambda r: r.delete_subject(b"t"), "subject: a value of type bytes"),
        (lambda r: r.delete_version("t", -1), "version: -1 is no version"),
        (lambda r: r.get_compatibility(7), "subject: 7 is no name"),
        (lambda r: r.set_compatibility(None), "level: None is no name; give a compatibility level"),
        (lambda r: r.resolve_references(7), "schema: 7 is no schema"),
    ],
)
async def test_arguments_of_calls_are_checked(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, call: Call, said: str
) -> None:
    with pytest.raises(KafkaConfigurationError, match=said):
        await call(registry)
    assert not server.requests


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.register_schema(MARK, "int"),
        lambda r: r.get_versions(MARK),
        lambda r: r.get_schema_by_guid(MARK),
        lambda r: r.get_compatibility(MARK),
        lambda r: r.register_schema("t", {"type": "record", "name": MARK, "fields": 7}),
        lambda r: r.set_compatibility(MARK),
    ],
)
async def test_no_error_quotes_more_than_a_hundred_characters(
    server: SchemaRegistryServer, registry: SchemaRegistryClient, call: Call
) -> None:
    server.failures = [422]
    with pytest.raises(KafkaError) as raised:
        await call(registry)
    assert MARK[:101] not in str(raised.value)


@pytest.mark.parametrize("given", ['{"type": "int"}', {"type": "int"}, ["null", "int"]])
async def test_a_text_or_json_is_registered_as_avro(
    registry: SchemaRegistryClient, given: Any
) -> None:
    found = await registry.register_schema("t", given)
    assert (found.version, found.schema.schema_type) == (1, "AVRO")
    assert await registry.lookup_schema("t", given) == found
    assert await registry.test_compatibility("t", given)
