"""Clients wait for the next task with the same configuration, but not for ever."""

import logging
from collections.abc import AsyncIterator, Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.spark.process.client_cache import IDLE_S, ClientCache
from aiokafka_lite.spark.process.worker import Worker
from aiokafka_lite.testing.broker import EmbeddedBroker
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.support.patience import eventually


class StubConnections:
    def __init__(self) -> None:
        self.listeners: list[Callable[[], object]] = []
        self.owner = SimpleNamespace(close_soon=lambda: None)

    def add_trouble_listener(self, listener: Callable[[], object]) -> None:
        self.listeners.append(listener)


class StubClient:
    def __init__(self, **arguments: object) -> None:
        self.kafka_client: Any = StubConnections()
        self.arguments = arguments
        self.life: list[str] = []

    async def start(self) -> None:
        self.life.append("started")
        if self.arguments.get("refuses"):
            raise OSError("no broker")

    async def stop(self) -> None:
        self.life.append("stopped")
        if self.arguments.get("sticks"):
            raise OSError("stuck")


class OtherClient(StubClient):
    pass


@pytest.fixture
async def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
async def cache(clock: FakeClock) -> AsyncIterator[ClientCache]:
    owner = TaskOwner("test", clock=clock)
    await owner.start()
    cache = ClientCache(owner, clock)
    yield cache
    await cache.close()
    await owner.close()


async def test_a_client_comes_back_for_the_same_kind_and_configuration_only(
    cache: ClientCache,
) -> None:
    same = {"a": 1, "b": 2}
    async with cache.lend(StubClient, same) as first, cache.lend(StubClient, same) as beside:
        assert beside is not first  # one task at a time has it
    async with cache.lend(StubClient, {"b": 2, "a": 1}) as again:
        assert again in (first, beside)
        assert again.life == ["started"]
    for kind, arguments in ((StubClient, {"a": 1}), (OtherClient, {"a": 1, "b": 2})):
        async with cache.lend(kind, arguments) as other:
            assert other not in (first, beside)


async def test_a_client_nobody_uses_is_stopped_after_a_minute(
    cache: ClientCache, clock: FakeClock
) -> None:
    async with cache.lend(StubClient, {}) as client:
        await clock.advance(10 * IDLE_S)
    await clock.advance(IDLE_S - 1)
    async with cache.lend(StubClient, {}) as again:
        assert again is client
    await clock.advance(IDLE_S - 1)
    assert client.life == ["started"]
    await clock.advance(1)
    assert client.life == ["started", "stopped"]
    assert len(cache) == 0


async def test_a_client_is_stopped_when_its_task_fails(cache: ClientCache) -> None:
    with pytest.raises(ValueError, match="mine"):
        async with cache.lend(StubClient, {"sticks": True}) as client:
            raise ValueError("mine")
    assert client.life == ["started", "stopped"]
    assert len(cache) == 0


async def test_a_client_that_loses_a_connection_while_it_waits_is_stopped(
    cache: ClientCache, clock: FakeClock
) -> None:
    async with cache.lend(StubClient, {}) as client:
        (lose,) = client.kafka_client.listeners
        lose()  # its task will see, or not
    assert len(cache) == 1
    async with cache.lend(StubClient, {}) as again:
        assert again is client
    lose()
    assert len(cache) == 0
    lose()
    await clock.advance(2 * IDLE_S)
    assert client.life == ["started", "stopped"]
    assert client.kafka_client.listeners == [lose]


def test_nothing_is_said_of_brokers_that_nobody_asks(
    here: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    with EmbeddedBroker.threaded() as broker:
        broker.create_topic("t")
        for kind in (AIOKafkaConsumer, AIOKafkaProducer):
            with here.lend(kind, {"bootstrap_servers": broker.bootstrap_servers}) as client:
                connected = client.kafka_client
                assert connected is not None
                for lane in Lane:
                    ask = partial(
                        connected.network.request, 1, MetadataRequest(topics=[]), lane=lane
                    )
                    here.run(ask)
        assert len(here.clients) == 2
    here.run(lambda: eventually(lambda: len(here.clients) == 0))
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []


async def test_a_client_that_does_not_start_is_not_kept(cache: ClientCache) -> None:
    with pytest.raises(OSError, match="no broker"):
        async with cache.lend(StubClient, {"refuses": True}):
            raise AssertionError("it was lent")
    assert len(cache) == 0
