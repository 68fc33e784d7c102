"""What a group must survive on a real three-node Kafka, each accident once (soak: ten times)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests import group_fault_scenarios as scenarios
from tests.conftest import KAFKA_VERSIONS, require_kafka
from tests.group_fault_scenarios import Scenario
from tests.group_faults import stage

OLDER_VERSION = KAFKA_VERSIONS[1]

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(180)]


@pytest.fixture(scope="module", name="newest")
def _newest() -> Iterator[ApacheKafka]:
    yield from three_nodes(DEFAULT_VERSION)


@pytest.fixture(scope="module", name="older")
def _older() -> Iterator[ApacheKafka]:
    yield from three_nodes(OLDER_VERSION)


def three_nodes(version: str) -> Iterator[ApacheKafka]:
    """One cluster for all scenarios of a release; each finds it whole."""
    require_kafka(version)
    with ApacheKafka(version, nodes=3) as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()  # there is nothing left to end in order, which takes seconds


@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("scenario", scenarios.SCENARIOS, ids=lambda each: each.__name__)
async def test_group_survives(
    scenario: Scenario, newest: ApacheKafka, topic_name: str, tmp_path: Path
) -> None:
    async with stage(newest, topic_name, tmp_path) as played:
        await scenario(played)
    print(played.report())


@pytest.mark.asyncio(loop_factories=["uvloop"])
@pytest.mark.parametrize(
    "scenario",
    [scenarios.member_killed, scenarios.coordinator_killed],
    ids=lambda each: each.__name__,
)
async def test_group_survives_on_an_older_kafka(
    scenario: Scenario, older: ApacheKafka, topic_name: str, tmp_path: Path
) -> None:
    async with stage(older, topic_name, tmp_path) as played:
        await scenario(played)
    print(played.report())
