"""Retries, refusals and bounds of requests over real HTTP."""

import asyncio
import random
from typing import Any

import pytest

from aiokafka_lite.schema_registry import SchemaRegistryClient, registry_exchange
from aiokafka_lite.schema_registry.registry_errors import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    RegistryAuthorizationError,
    RegistryUnavailableError,
    SchemaRegistryError,
    UnknownSchemaError,
)
from aiokafka_lite.schema_registry.registry_exchange import RegistryExchange
from aiokafka_lite.secret import Secret
from aiokafka_lite.testing.fake_clock import FakeClock
from aiokafka_lite.testing.schema_registry_server import SchemaRegistryServer


class NoWait(FakeClock):
    """Notes the waits between attempts, and skips them."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    async def sleep(self, delay_s: float) -> None:
        self.waits.append(delay_s)
        await asyncio.sleep(0)


async def ask(
    *urls: str, path: str = "schemas/ids/1", clock: FakeClock | None = None, **options: Any
) -> Any:
    async def authorization() -> Secret | None:
        return Secret("Bearer t0ken")

    exchange = RegistryExchange(
        urls,
        authorization=authorization,
        verify=False,
        clock=clock or NoWait(),
        rng=random.Random(1),
        **{
            "timeout_s": 10.0,
            "max_retries": 2,
            "retry_wait_s": 0.5,
            "retry_max_wait_s": 5.0,
            **options,
        },
    )
    try:
        return await exchange.ask("GET", path, "schema id 1")
    finally:
        await exchange.close()


@pytest.mark.parametrize("status", [429, 500, 503])
async def test_a_registry_in_trouble_is_asked_again(
    server: SchemaRegistryServer, status: int
) -> None:
    server.register("t-value", "string")
    server.failures = [status, status]
    clock = NoWait()
    assert (await ask(server.url, clock=clock))["schema"] == "string"
    first, second = clock.waits
    assert 0.4 <= first <= 0.6
    assert 0.8 <= second <= 1.2
    server.failures = [status] * 3
    with pytest.raises(RegistryUnavailableError) as raised:
        await ask(server.url)
    for fact in ("schema id 1", "GET schemas/ids/1", "in 3 attempts", server.url, str(status)):
        assert fact in str(raised.value)


async def test_another_address_is_tried_where_one_is_silent(server: SchemaRegistryServer) -> None:
    server.register("t-value", "string")
    clock = NoWait()
    await ask("http://127.0.0.1:1", f"{server.url}/", clock=clock)
    assert not clock.waits
    with pytest.raises(RegistryUnavailableError, match=r"127\.0\.0\.1:1: .*check its address"):
        await ask("http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("status", "kind", "remedy"),
    [
        (401, RegistryAuthorizationError, "check user and password"),
        (403, RegistryAuthorizationError, "rights"),
        (404, UnknownSchemaError, "check the name or id"),
        (409, IncompatibleSchemaError, "compatibility"),
        (422, InvalidSchemaError, "correct the schema"),
        (302, SchemaRegistryError, "is that a schema registry"),
        (400, SchemaRegistryError, "is that a schema registry"),
    ],
)
async def test_a_refusal_is_an_error_at_once(
    server: SchemaRegistryServer, status: int, kind: type[SchemaRegistryError], remedy: str
) -> None:
    server.failures = [status]
    with pytest.raises(SchemaRegistryError, match=remedy) as raised:
        await ask(server.url)
    assert type(raised.value) is kind
    assert (raised.value.status, raised.value.error_code) == (status, 50001)
    assert (
        f"schema id 1: GET {server.url}/schemas/ids/1 was answered with HTTP {status}: not now"
        in (str(raised.value))
    )
    assert len(server.requests) == 1
    assert server.authorization == ["Bearer t0ken"]
    assert "t0ken" not in str(raised.value)


async def test_a_conflict_about_something_deleted_says_nothing_of_schemas(
    server: SchemaRegistryServer, registry: SchemaRegistryClient
) -> None:
    """Apicurio answers so to a version that was deleted before."""
    server.failures = [409]
    with pytest.raises(SchemaRegistryError, match="HTTP 409: not now; it may be deleted") as raised:
        await registry.delete_version("t-value", 1)
    assert type(raised.value) is SchemaRegistryError


async def test_a_silent_registry_is_given_up_after_the_timeout() -> None:
    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connected.set()
        await done.wait()
        writer.close()

    connected, done = asyncio.Event(), asyncio.Event()
    listener = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    clock = FakeClock()
    asked = asyncio.create_task(
        ask(f"http://127.0.0.1:{port}", clock=clock, timeout_s=3.0, max_retries=0)
    )
    await connected.wait()
    await clock.advance(3.0)
    with pytest.raises(RegistryUnavailableError, match="no answer within 3 s"):
        await asked
    done.set()
    listener.close()
    await listener.wait_closed()


async def test_an_answer_is_read_up_to_a_bound(
    server: SchemaRegistryServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_exchange, "MOST_BYTES", 1000)
    server.answers["/schemas/ids/1"] = {"schema": "x" * 2000}
    with pytest.raises(SchemaRegistryError, match="an answer of more than 1,000 bytes"):
        await ask(server.url)


async def test_what_is_not_json_is_no_registry() -> None:
    async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\n<ht>")
        writer.close()

    listener = await asyncio.start_server(web, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    with pytest.raises(SchemaRegistryError, match="HTTP 200; is that a schema registry"):
        await ask(url)
    listener.close()
    await listener.wait_closed()
