"""Clients wait for the next task with the same configuration, but not for ever."""

from collections.abc import AsyncIterator

import pytest

from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.spark.client_cache import IDLE_S, ClientCache
from aiokafka_lite.testing.fake_clock import FakeClock


class StubClient:
    def __init__(self, **arguments: object) -> None:
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


async def test_a_client_that_does_not_start_is_not_kept(cache: ClientCache) -> None:
    with pytest.raises(OSError, match="no broker"):
        async with cache.lend(StubClient, {"refuses": True}):
            raise AssertionError("it was lent")
    assert len(cache) == 0
