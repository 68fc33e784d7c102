"""Plays each accident of a group ten times in a row, on both tested releases of Apache Kafka.

Groups of both protocols play side by side; the older release has the classic one only. The two
event loops take turns. The test prints the seconds until every partition made progress. The
environment variable `SOAK_ROUNDS` sets another number of rounds.
"""

import asyncio
import os
import secrets
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvloop

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import KAFKA_VERSIONS, require_kafka
from tests.faults.group_fault_scenarios import SCENARIOS, Scenario, group_migrated
from tests.faults.group_faults import ALL_PROTOCOLS, CLASSIC, GROUP_PROPERTIES, stage

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "10"))
LOOPS: tuple[Callable[[], asyncio.AbstractEventLoop], ...] = (
    asyncio.new_event_loop,
    uvloop.new_event_loop,
)

Figures = dict[str, list[float]]

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module", params=KAFKA_VERSIONS, name="cluster")
def _cluster(request: pytest.FixtureRequest) -> Iterator[ApacheKafka]:
    """One cluster for all scenarios of a release. Each scenario restores it at its end."""
    require_kafka(request.param)
    with ApacheKafka(request.param, nodes=3, properties=GROUP_PROPERTIES) as kafka:
        yield kafka


def protocols(scenario: Scenario, version: str) -> tuple[str, ...]:
    """Return what the groups begin with. A migration begins with the classic protocol."""
    has_both = version == DEFAULT_VERSION
    if scenario is group_migrated and not has_both:
        pytest.skip(f"Kafka {version} has the classic protocol only")
    return ALL_PROTOCOLS if has_both and scenario is not group_migrated else CLASSIC


async def play(scenario: Scenario, kafka: ApacheKafka, folder: Path, figures: Figures) -> None:
    topic = f"{scenario.__name__}-{secrets.token_hex(4)}"
    async with stage(kafka, topic, folder, protocols(scenario, kafka.version)) as played:
        await scenario(played)
    for group in played.groups:
        for name, seconds in group.figures.items():
            figures[f"{group.name}: {name}"].append(seconds)


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
def test_group_survives_ten_times_in_a_row(
    scenario: Scenario, cluster: ApacheKafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures: Figures = defaultdict(list)
    for number in range(ROUNDS):
        with asyncio.Runner(loop_factory=LOOPS[number % len(LOOPS)]) as runner:
            runner.run(play(scenario, cluster, tmp_path / str(number), figures))
    with capsys.disabled():
        print(f"\nKafka {cluster.version}, {scenario.__name__}, {ROUNDS} times:")
        for name, seconds in figures.items():
            median = statistics.median(seconds)
            print(f"  {name}: median {median:.2f} s, longest {max(seconds):.2f} s")
