"""Callers of one lane pass its gate in order, and none is forgotten there."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from aiokafka_lite.cluster.connection_pool import ConnectionPool
from aiokafka_lite.cluster.lane import Lane
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import KafkaConnectionError, KafkaError
from aiokafka_lite.model import Node
from aiokafka_lite.testing.fake_clock import FakeClock, settle
from tests.cluster.support.scripted_cluster import ScriptedCluster
from tests.support.patience import eventually


@asynccontextmanager
async def pool_of(
    cluster: ScriptedCluster,
) -> AsyncIterator[tuple[ConnectionPool, FakeClock, TaskOwner]]:
    clock = FakeClock()
    owner = TaskOwner("test", clock=clock)
    await owner.start()
    pool = ConnectionPool(
        cluster.config(),
        clock=clock,
        rng=random.Random(1),
        on_trouble=lambda: None,
        on_misrouted=lambda: None,
        max_in_flight=5,
    )
    pool.start(owner)
    pool.take_nodes({1: Node(1, "127.0.0.1", cluster.nodes[1].port)})
    try:
        yield pool, clock, owner
    finally:
        await pool.close()
        await owner.close()
        assert clock.pending_timers == 0


async def pass_gate(pool: ConnectionPool, name: str, passed: list[str]) -> None:
    """What a request does: without a free connection it goes to the gate."""
    if pool.free(1, Lane.GENERAL) is None:
        await pool.acquire(1, Lane.GENERAL, 30.0)
    passed.append(name)


async def test_callers_pass_in_the_order_they_came(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, _, _):
        passed: list[str] = []
        await asyncio.gather(*[pass_gate(pool, f"{n:02}", passed) for n in range(30)])
        assert passed == sorted(passed)
        assert cluster.nodes[1].connections == 1


async def test_nobody_overtakes_those_who_wait_at_the_gate(cluster: ScriptedCluster) -> None:
    """An idempotent producer's batches must reach the node in the order of their sequences."""
    async with pool_of(cluster) as (pool, _, _):
        passed: list[str] = []
        waiting = [asyncio.create_task(pass_gate(pool, f"early {n}", passed)) for n in range(3)]

        async def come_late() -> None:
            while pool.connected(1, Lane.GENERAL) is None:  # the very moment it is there
                await asyncio.sleep(0)
            await pass_gate(pool, "late", passed)

        await asyncio.gather(come_late(), *waiting)
        assert passed == ["early 0", "early 1", "early 2", "late"]
        assert pool.free(1, Lane.GENERAL) is not None


async def test_a_prepared_connection_is_the_one_that_callers_get(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, _, _):
        pool.prepare(1, Lane.GENERAL)
        pool.prepare(1, Lane.GENERAL)
        await eventually(lambda: pool.free(1, Lane.GENERAL))
        pool.prepare(1, Lane.GENERAL)
        assert await pool.acquire(1, Lane.GENERAL, 30.0) is pool.free(1, Lane.GENERAL)
        assert cluster.nodes[1].connections == 1


async def test_a_node_that_fails_or_is_unknown_is_not_prepared(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, clock, _):
        pool.prepare(7, Lane.GENERAL)
        now_s = clock.monotonic()
        pool.states.connecting(1, now_s)
        pool.states.failed(1, now_s, now_s, KafkaConnectionError("refused"))
        pool.prepare(1, Lane.GENERAL)
        await settle()
        assert not pool.is_connecting(1, Lane.GENERAL)
        assert not pool.is_connecting(7, Lane.GENERAL)
        assert cluster.nodes[1].connections == 0


async def test_a_throttle_holds_callers_and_lets_them_pass_in_order(
    cluster: ScriptedCluster,
) -> None:
    """Callers wait out a throttle and go on in the order of their calls (2f-7)."""
    async with pool_of(cluster) as (pool, clock, _):
        connection = await pool.acquire(1, Lane.GENERAL, 30.0)
        pool.mute(1, Lane.GENERAL, clock.monotonic() + 2.0)
        assert pool.free(1, Lane.GENERAL) is None
        passed: list[str] = []
        waiting = [asyncio.create_task(pass_gate(pool, str(n), passed)) for n in range(3)]
        await clock.advance(1.5)
        pool.mute(1, Lane.GENERAL, clock.monotonic() + 1.0)  # throttled again meanwhile
        await clock.advance(0.9)
        assert passed == []
        await clock.advance(0.2)
        await asyncio.gather(*waiting)
        assert passed == ["0", "1", "2"]
        assert pool.free(1, Lane.GENERAL) is connection


async def test_a_cancelled_caller_leaves_its_place(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, _, _):
        passed: list[str] = []
        waiting = [asyncio.create_task(pass_gate(pool, str(n), passed)) for n in range(3)]
        await asyncio.sleep(0)
        waiting[1].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        assert passed == ["0", "2"]


async def test_the_end_of_the_owner_lets_nobody_wait_for_ever(cluster: ScriptedCluster) -> None:
    cluster.nodes[1].is_silent = True
    async with pool_of(cluster) as (pool, _, owner):
        asking = asyncio.create_task(pool.acquire(1, Lane.GENERAL, 30.0))
        await eventually(lambda: cluster.nodes[1].connections)
        await owner.close()
        with pytest.raises(KafkaConnectionError):
            await asking


async def test_a_dead_client_says_so_at_the_gate(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, _, owner):

        async def fail() -> None:
            raise ZeroDivisionError("a bug")

        owner.spawn("bad", fail)
        await settle()
        with pytest.raises(KafkaError, match="a bug"):
            await pool.acquire(1, Lane.GENERAL, 30.0)


async def test_a_new_connection_remembers_what_the_node_speaks(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, _, _):
        assert 1 not in pool.api_versions
        await pool.acquire(1, Lane.FETCH, 30.0)
        assert pool.api_versions[1].ranges[3] == (1, 13)
        assert pool.connected(1, Lane.FETCH) is not None
        assert pool.connected(1, Lane.GENERAL) is None
        assert not pool.is_connecting(1, Lane.FETCH)


async def test_connections_end_with_their_owner(cluster: ScriptedCluster) -> None:
    """A client dropped without close() has nobody else who could close its sockets."""
    async with pool_of(cluster) as (pool, _, owner):
        await pool.acquire(1, Lane.GENERAL, 30.0)
        owner.close_soon()
        await eventually(lambda: not cluster.nodes[1].open_connections)
        await owner.close()
        assert owner.failure is None


async def test_a_failed_owner_leaves_no_connection(cluster: ScriptedCluster) -> None:
    async with pool_of(cluster) as (pool, _, owner):
        await pool.acquire(1, Lane.GENERAL, 30.0)

        async def fail() -> None:
            raise ZeroDivisionError("a bug")

        owner.spawn("bad", fail)
        await eventually(lambda: not cluster.nodes[1].open_connections)
        with pytest.raises(KafkaError, match="a bug"):
            owner.check()
