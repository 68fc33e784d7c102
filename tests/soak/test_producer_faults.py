"""Each accident of a producer's cluster ten times in a row, on a real three-node Kafka.

The event loops take turns. The figures are printed; the longest ack gap is the longest time in
which no record of some partition was acknowledged. `SOAK_ROUNDS` is how often, if not ten times.
"""

import asyncio
import os
import secrets
import statistics
from collections import defaultdict
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION
from tests.conftest import require_kafka
from tests.exactly_once_faults import COPY_SCENARIOS, CopyScenario, copy_stage
from tests.producer_fault_scenarios import SCENARIOS, Scenario, stop_with_dead_brokers
from tests.producer_faults import STOP_MS, stage, three_nodes
from tests.unreliable_network import ProxiedKafka

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "10"))
LOOPS: tuple[Callable[[], asyncio.AbstractEventLoop], ...] = (
    asyncio.new_event_loop,
    uvloop.new_event_loop,
)

Figures = dict[str, float]

pytestmark = [pytest.mark.soak, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module", name="cluster")
def _cluster() -> Iterator[ProxiedKafka]:
    """One cluster for all scenarios; each finds it whole."""
    require_kafka(DEFAULT_VERSION)
    with three_nodes() as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()


def again_and_again(play: Callable[[int], Coroutine[Any, Any, Figures]]) -> str:
    """Play all rounds; return the figures, a line each."""
    figures: dict[str, list[float]] = defaultdict(list)
    for number in range(ROUNDS):
        with asyncio.Runner(loop_factory=LOOPS[number % len(LOOPS)]) as runner:
            for name, seconds in runner.run(play(number)).items():
                figures[name].append(seconds)
    return "\n".join(
        f"  {name}: median {statistics.median(seconds):.2f} s, longest {max(seconds):.2f} s"
        for name, seconds in figures.items()
    )


def a_topic(name: str) -> str:
    return f"{name}-{secrets.token_hex(4)}"


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
def test_producer_survives_ten_times_in_a_row(
    scenario: Scenario, cluster: ProxiedKafka, capsys: pytest.CaptureFixture[str]
) -> None:
    async def play(number: int) -> Figures:
        async with stage(cluster, a_topic(scenario.__name__)) as played:
            await scenario(played)
        return played.figures

    figures = again_and_again(play)
    with capsys.disabled():
        print(f"\n{scenario.__name__}, {ROUNDS} times:\n{figures}")


@pytest.mark.parametrize("scenario", COPY_SCENARIOS, ids=lambda each: each.__name__)
def test_copy_is_made_exactly_once_ten_times_in_a_row(
    scenario: CopyScenario,
    cluster: ProxiedKafka,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def play(number: int) -> Figures:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with copy_stage(cluster, a_topic(scenario.__name__), folder) as copying:
            await scenario(copying)
        return copying.stage.figures

    figures = again_and_again(play)
    with capsys.disabled():
        print(f"\ncopy, {scenario.__name__}, {ROUNDS} times:\n{figures}")


@pytest.mark.parametrize("is_frozen", [False, True], ids=["killed", "frozen"])
def test_stop_ends_in_time_ten_times_in_a_row(
    cluster: ProxiedKafka, capsys: pytest.CaptureFixture[str], is_frozen: bool
) -> None:
    async def play(number: int) -> Figures:
        return await stop_with_dead_brokers(cluster, a_topic("stop"), STOP_MS, is_frozen=is_frozen)

    figures = again_and_again(play)
    with capsys.disabled():
        how = "frozen" if is_frozen else "killed"
        print(f"\nstop(timeout_ms={STOP_MS}), brokers {how}, {ROUNDS} times:\n{figures}")
