"""What a group must survive on a real three-node Kafka, each accident once (soak: ten times)."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests import group_fault_scenarios as scenarios
from tests.conftest import require_kafka
from tests.group_fault_scenarios import Scenario
from tests.group_faults import stage

pytestmark = [pytest.mark.real_kafka, pytest.mark.timeout(180)]


@pytest.fixture(scope="module")
def newest() -> Iterator[ApacheKafka]:
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION, nodes=3) as kafka:
        yield kafka


@pytest.mark.asyncio(loop_factories=["asyncio"])
@pytest.mark.parametrize("scenario", scenarios.SCENARIOS, ids=lambda each: each.__name__)
async def test_group_survives(
    scenario: Scenario, newest: ApacheKafka, topic_name: str, tmp_path: Path
) -> None:
    async with stage(newest, topic_name, tmp_path) as played:
        await scenario(played)
    for group in played.groups:
        print(f"{scenario.__name__} {group.name}: {group.figures}")
