"""What a producer must survive on a real three-node Kafka, each accident once (soak: ten times)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from tests.conftest import require_kafka
from tests.exactly_once_faults import COPY_SCENARIOS, CopyScenario, copy_stage
from tests.producer_fault_scenarios import SCENARIOS, Scenario, stop_with_dead_brokers
from tests.producer_faults import stage, three_nodes
from tests.unreliable_network import ProxiedKafka

# The loops take turns in the soak test; what is at stake here is the brokers.
pytestmark = [
    pytest.mark.real_kafka,
    pytest.mark.timeout(180),
    pytest.mark.asyncio(loop_factories=["asyncio"]),
]


@pytest.fixture(scope="module", name="cluster")
def _cluster() -> Iterator[ProxiedKafka]:
    """One cluster for all scenarios; each finds it whole."""
    require_kafka(DEFAULT_VERSION)
    with three_nodes() as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()  # there is nothing left to end in order, which takes seconds


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
async def test_producer_survives(
    scenario: Scenario, cluster: ProxiedKafka, topic_name: str
) -> None:
    async with stage(cluster, topic_name) as played:
        await scenario(played)
    print(played.report())


@pytest.mark.parametrize("scenario", COPY_SCENARIOS, ids=lambda each: each.__name__)
async def test_copy_is_made_exactly_once(
    scenario: CopyScenario, cluster: ProxiedKafka, topic_name: str, tmp_path: Path
) -> None:
    async with copy_stage(cluster, topic_name, tmp_path) as copying:
        await scenario(copying)
    print(copying.stage.report())


async def test_stop_ends_in_time_with_dead_brokers(cluster: ProxiedKafka, topic_name: str) -> None:
    """The soak test gives it thirty seconds."""
    stopped = await stop_with_dead_brokers(cluster, topic_name, 8000, is_frozen=False)
    print(stopped.took_s)
