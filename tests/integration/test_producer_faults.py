"""What a producer must survive on a real three-node Kafka, each accident once (soak: ten times)."""

import asyncio
from pathlib import Path

import pytest

from tests.faults.exactly_once_faults import CopyScenario, broker_killed, client_killed, copy_stage
from tests.faults.producer_fault_scenarios import (
    STRIKING_NODES,
    Scenario,
    connections_cut_and_answers_lost,
    stop_with_dead_brokers,
)
from tests.faults.producer_faults import stage
from tests.support.unreliable_network import ProxiedKafka

# The loops take turns in the soak test; what is at stake here is the brokers.
pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.timeout(600),  # what waits for nodes to come back has shorter bounds of its own
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]


async def survive(scenario: Scenario, kafka: ProxiedKafka, topic: str) -> None:
    async with stage(kafka, topic) as played:
        await scenario(played)
    print(f"{scenario.__name__}: {played.report()}")


async def copy(scenario: CopyScenario, kafka: ProxiedKafka, topic: str, folder: Path) -> None:
    async with copy_stage(kafka, topic, folder) as copying:
        await scenario(copying)
    print(f"{scenario.__name__}: {copying.stage.report()}")


@pytest.mark.needs_kafka("2.5", "offsets of a group's member in a transaction")
async def test_producer_survives_what_spares_the_nodes(
    cluster: ProxiedKafka, topic_name: str, tmp_path: Path
) -> None:
    """Network and clients fail at the same time: what is written shares nothing but the nodes."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(survive(connections_cut_and_answers_lost, cluster, topic_name))
        tasks.create_task(copy(client_killed, cluster, f"{topic_name}-clients", tmp_path))


@pytest.mark.parametrize("scenario", STRIKING_NODES, ids=lambda each: each.__name__)
async def test_producer_survives(
    scenario: Scenario, cluster: ProxiedKafka, topic_name: str
) -> None:
    await survive(scenario, cluster, topic_name)


@pytest.mark.needs_kafka("2.5", "offsets of a group's member in a transaction")
async def test_copy_is_made_exactly_once_although_a_broker_is_killed(
    cluster: ProxiedKafka, topic_name: str, tmp_path: Path
) -> None:
    await copy(broker_killed, cluster, topic_name, tmp_path)


async def test_stop_ends_in_time_with_dead_brokers(cluster: ProxiedKafka, topic_name: str) -> None:
    """The soak test gives it thirty seconds."""
    stopped = await stop_with_dead_brokers(cluster, topic_name, 8000, is_frozen=False)
    print(stopped.took_s)
