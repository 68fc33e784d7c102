"""The first answer of any seed wins; without one, each seed's fate is told."""

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from aiokafka_lite.cluster.bootstrap import STAGGER_S, SeedRound, check_answer
from aiokafka_lite.cluster.network_client import NetworkClient
from aiokafka_lite.concurrency.task_owner import TaskOwner
from aiokafka_lite.errors import (
    KafkaConnectionError,
    MetadataEmptyBrokerList,
    RebootstrapRequiredError,
)
from aiokafka_lite.protocol.messages.metadata import MetadataRequest
from aiokafka_lite.testing.fake_clock import FakeClock
from tests.cluster.support.answers import answer
from tests.cluster.support.scripted_cluster import ScriptedCluster

ASK = MetadataRequest(topics=[])


@asynccontextmanager
async def round_of(
    cluster: ScriptedCluster, seed: int = 0, **options: Any
) -> AsyncIterator[tuple[SeedRound, FakeClock]]:
    clock = FakeClock(autojump_threshold_s=0.02)
    owner = TaskOwner("test", clock=clock)
    await owner.start()
    rng = random.Random(seed)
    network = NetworkClient(cluster.config(**options), clock=clock, rng=rng)
    network.start(owner)
    try:
        yield SeedRound(network, clock=clock, rng=rng, owner=owner), clock
    finally:
        await network.close()
        await owner.close()
        assert clock.pending_timers == 0


async def test_one_good_seed_is_enough_and_the_only_one_asked(three_nodes: ScriptedCluster) -> None:
    async with round_of(three_nodes) as (seeds, clock):
        node_id, response = await seeds.ask(ASK, 30.0)
        assert node_id in {-1, -2, -3}
        assert len(response.brokers) == 3
        assert len(three_nodes.requests) == 1
        assert clock.monotonic() == 0.0


async def test_chance_decides_which_seed_is_asked_first(three_nodes: ScriptedCluster) -> None:
    answered = set()
    for seed in range(12):
        async with round_of(three_nodes, seed) as (seeds, _):
            answered.add((await seeds.ask(ASK, 30.0))[0])
    assert answered == {-1, -2, -3}


async def test_a_seed_that_keeps_silent_is_joined_by_the_next_after_a_moment(
    three_nodes: ScriptedCluster,
) -> None:
    for node in three_nodes.nodes.values():
        node.is_silent = True
    three_nodes.nodes[2].is_silent = False
    async with round_of(three_nodes) as (seeds, clock):
        node_id, _ = await seeds.ask(ASK, 30.0)
        assert node_id == -2
        assert clock.monotonic() <= 2 * STAGGER_S + 0.001


async def test_a_seed_that_refuses_is_followed_by_the_next_at_once(
    three_nodes: ScriptedCluster,
) -> None:
    await three_nodes.nodes[1].stop()
    await three_nodes.nodes[3].stop()
    async with round_of(three_nodes) as (seeds, clock):
        node_id, _ = await seeds.ask(ASK, 30.0)
        assert node_id == -2
        assert clock.monotonic() == 0.0


async def test_every_address_of_a_seeds_name_is_tried(cluster: ScriptedCluster) -> None:
    """ "localhost" is ::1 and 127.0.0.1 on most machines; the node listens on the latter only."""
    async with round_of(cluster, bootstrap_servers=f"localhost:{cluster.nodes[1].port}") as (
        seeds,
        _,
    ):
        node_id, _ = await seeds.ask(ASK, 30.0)
        assert node_id == -1


async def test_the_error_names_each_seed_and_its_own_trouble(three_nodes: ScriptedCluster) -> None:
    await three_nodes.nodes[1].stop()
    three_nodes.nodes[2].is_silent = True
    three_nodes.nodes[3].script = lambda request: answer(nodes=[])
    async with round_of(three_nodes) as (seeds, clock):
        with pytest.raises(KafkaConnectionError) as caught:
            await seeds.ask(ASK, 4.0)
        _, *lines = str(caught.value).splitlines()
        for line, node, trouble in zip(
            lines,
            three_nodes.nodes.values(),
            ["refused", "no answer within 4 s", "names no broker"],
            strict=True,
        ):
            assert f"127.0.0.1:{node.port}" in line
            assert trouble in line
        assert clock.monotonic() == pytest.approx(4.0)
        assert caught.value.__cause__ is not None


async def test_one_address_is_named_once(cluster: ScriptedCluster) -> None:
    (node,) = cluster.nodes.values()
    await node.stop()
    async with round_of(cluster) as (seeds, _):
        with pytest.raises(KafkaConnectionError) as caught:
            await seeds.ask(ASK, 4.0)
    first, line = str(caught.value).splitlines()
    assert "at bootstrap_servers; check the address and" in first
    assert line.startswith(f"  - 127.0.0.1:{node.port} refused the connection")


def test_an_answer_is_refused_for_its_error_or_for_naming_nobody() -> None:
    check_answer(answer())
    with pytest.raises(MetadataEmptyBrokerList):
        check_answer(answer(nodes=[]))
    with pytest.raises(RebootstrapRequiredError):
        check_answer(answer(nodes=[], error_code=129))
