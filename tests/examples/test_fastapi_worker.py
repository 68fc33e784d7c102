"""The FastAPI example, through HTTP: what is posted comes back through Kafka and the worker."""

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from types import ModuleType

import httpx
import pytest

from aiokafka_lite import AIOKafkaProducer
from aiokafka_lite.testing.broker import EmbeddedBroker

Service = tuple[httpx.AsyncClient, str]
EXAMPLE = Path(__file__).parents[2] / "examples" / "fastapi_worker.py"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@asynccontextmanager
async def service(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType | None = None
) -> AsyncIterator[Service]:
    """The app as a server runs it: its lifespan around the requests, in one task."""
    app = (module or load(EXAMPLE)).app
    async with EmbeddedBroker() as broker:
        monkeypatch.setenv("KAFKA_BOOTSTRAP_SERVERS", broker.bootstrap_servers)
        broker.create_topic("orders", partitions=3)
        transport = httpx.ASGITransport(app=app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://service") as client,
            asyncio.timeout(30),
        ):
            yield client, broker.bootstrap_servers


async def test_orders_come_back_as_totals(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = {"ann": 0, "bob": 0}
    async with service(monkeypatch) as (client, _):
        for number in range(40):
            customer = ("ann", "bob")[number % 2]
            answer = await client.post("/orders", json={"customer": customer, "amount": number})
            assert answer.status_code == 201
            expected[customer] += number
        while (await client.get("/totals")).json() != expected:
            await asyncio.sleep(0)  # the worker reads beside us; the timeout bounds this
        assert (await client.get("/health")).json() == {"status": "ok"}


async def test_a_record_that_is_no_order_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    async with service(monkeypatch) as (client, bootstrap_servers):
        async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
            for value in (b"no order at all", None, b'{"customer": "ann", "amount": 2}'):
                await producer.send_and_wait("orders", value, b"one partition")
        while (await client.get("/totals")).json() != {"ann": 2}:
            await asyncio.sleep(0)
        assert (await client.get("/health")).json() == {"status": "ok"}


async def test_a_worker_that_failed_is_seen_and_starts_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = load(EXAMPLE)
    monkeypatch.setattr(module, "RESTART_S", 0)
    add, failures = module.Worker.add, [ZeroDivisionError("once")]

    def add_after_a_failure(worker: object, value: bytes | None) -> None:
        if failures:
            raise failures.pop()
        add(worker, value)

    monkeypatch.setattr(module.Worker, "add", add_after_a_failure)
    async with service(monkeypatch, module) as (client, _):
        await client.post("/orders", json={"customer": "ann", "amount": 3})
        while (answer := await client.get("/health")).status_code == 200:
            await asyncio.sleep(0)
        assert answer.status_code == 503
        assert "once" in answer.json()["detail"]
        while (await client.get("/totals")).json() != {"ann": 3}:
            await asyncio.sleep(0)
        while (await client.get("/health")).status_code == 503:
            await asyncio.sleep(0)
