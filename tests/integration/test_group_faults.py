"""What a group must survive on a real three-node Kafka, each accident once (soak: ten times)."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import KAFKA_VERSIONS, require_kafka
from tests.faults import group_fault_scenarios as scenarios
from tests.faults.group_fault_scenarios import Scenario
from tests.faults.group_faults import ALL_PROTOCOLS, CLASSIC, stage

OLDER_VERSION = KAFKA_VERSIONS[-1]
WITH_BOTH_PROTOCOLS = (scenarios.member_killed, scenarios.coordinator_killed)
"""Where a group of the consumer protocol plays, too. It does so everywhere in the soak tests."""

# What waits for nodes to come back has shorter bounds of its own.
pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(600)]


@pytest.fixture(scope="module", name="older")
def _older() -> Iterator[ApacheKafka]:
    """One cluster for all scenarios; each finds it whole."""
    require_kafka(OLDER_VERSION)
    with ApacheKafka(OLDER_VERSION, nodes=3) as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()  # there is nothing left to end in order, which takes seconds


async def survive(scenario: Scenario, kafka: ApacheKafka, topic: str, folder: Path) -> None:
    has_both = kafka.version == DEFAULT_VERSION and scenario in WITH_BOTH_PROTOCOLS
    protocols = ALL_PROTOCOLS if has_both else CLASSIC
    async with stage(kafka, topic, folder, protocols) as played:
        await scenario(played)
    print(f"{scenario.__name__}:\n{played.report()}")


@pytest.mark.needs_kafka("2.4", "moves of partitions")
@pytest.mark.asyncio(loop_factories=["asyncio"])
async def test_group_survives_what_spares_the_nodes(
    cluster: ApacheKafka, topic_name: str, tmp_path: Path
) -> None:
    """All such accidents at the same time: their groups share nothing but the nodes."""
    async with asyncio.TaskGroup() as tasks:
        for scenario in scenarios.SPARING_NODES:
            name = scenario.__name__
            playing = survive(scenario, cluster, f"{topic_name}-{name}", tmp_path / name)
            tasks.create_task(playing, name=name)


@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("scenario", scenarios.STRIKING_NODES, ids=lambda each: each.__name__)
async def test_group_survives(
    scenario: Scenario, cluster: ApacheKafka, topic_name: str, tmp_path: Path
) -> None:
    await survive(scenario, cluster, topic_name, tmp_path)


@pytest.mark.asyncio(loop_factories=["uvloop"])
@pytest.mark.parametrize(
    "scenario",
    [scenarios.member_killed, scenarios.coordinator_killed],
    ids=lambda each: each.__name__,
)
async def test_group_survives_on_an_older_kafka(
    scenario: Scenario, older: ApacheKafka, topic_name: str, tmp_path: Path
) -> None:
    await survive(scenario, older, topic_name, tmp_path)
