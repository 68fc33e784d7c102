"""Plays each accident of a producer's cluster ten times in a row, on three real nodes of both
tested releases of Apache Kafka.

The two event loops take turns. Each round that passes is printed as a line of JSON, and all rounds
as a table at the end. The environment variable `SOAK_ROUNDS` sets another number of rounds.
"""

import asyncio
import os
import secrets
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvloop

from aiokafka_lite.clock import SYSTEM_CLOCK
from aiokafka_lite.testing.apache_kafka import archive_classes
from tests.conftest import KAFKA_VERSIONS, require_kafka
from tests.faults.exactly_once_faults import COPY_SCENARIOS, CopyScenario, copy_stage
from tests.faults.producer_fault_rounds import Round
from tests.faults.producer_fault_scenarios import (
    SCENARIOS,
    Scenario,
    stop_with_dead_brokers,
    tally_of_stopped,
)
from tests.faults.producer_faults import STOP_MS, Stage, stage, three_nodes
from tests.support.unreliable_network import ProxiedKafka

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "10"))
LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}

Outcome = dict[str, Any]
Play = Callable[[int], Coroutine[Any, Any, Outcome]]
Again = Callable[[str, Play], None]

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module", params=KAFKA_VERSIONS, name="cluster")
def _cluster(request: pytest.FixtureRequest) -> Iterator[ProxiedKafka]:
    """One cluster for all scenarios of a release. It is repaired before each scenario."""
    require_kafka(request.param)
    archive_classes(request.param)
    with three_nodes(request.param) as kafka:
        yield kafka
        for node in kafka.nodes:
            node.kill()


@pytest.fixture(name="again_and_again")
def _again_and_again(
    cluster: ProxiedKafka, rounds: list[Round], capsys: pytest.CaptureFixture[str]
) -> Again:
    """Return a function that plays a fault in all its rounds, and keeps the figures."""

    def again_and_again(fault: str, play: Play) -> None:
        names = list(LOOPS)
        for number in range(1, ROUNDS + 1):
            loop = names[number % len(names)]
            began_s = SYSTEM_CLOCK.monotonic()
            with asyncio.Runner(loop_factory=LOOPS[loop]) as runner:
                outcome = runner.run(play(number))
            took_s = SYSTEM_CLOCK.monotonic() - began_s
            played = Round(
                kafka=cluster.version,
                fault=fault,
                number=number,
                loop=loop,
                took_s=took_s,
                **outcome,
            )
            rounds.append(played)
            with capsys.disabled():
                print(played.as_json(), flush=True)

    return again_and_again


def a_topic(name: str) -> str:
    return f"{name}-{secrets.token_hex(4)}"


def outcome_of(played: Stage) -> Outcome:
    return {
        "tally": played.tally,
        "longest_gap_s": played.longest_gap_s,
        "back_after_s": played.back_after_s,
        "slowest_stop_s": max(writer.stop_took_s for writer in played.writers),
        "figures": played.figures,
        "notes": played.notes,
    }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.__name__)
def test_producer_survives_ten_times_in_a_row(
    scenario: Scenario, cluster: ProxiedKafka, again_and_again: Again
) -> None:
    async def play(number: int) -> Outcome:
        async with stage(cluster, a_topic(scenario.__name__)) as played:
            await scenario(played)
        return outcome_of(played)

    again_and_again(scenario.__name__, play)


@pytest.mark.parametrize("scenario", COPY_SCENARIOS, ids=lambda each: each.__name__)
def test_copy_is_made_exactly_once_ten_times_in_a_row(
    scenario: CopyScenario, cluster: ProxiedKafka, again_and_again: Again, tmp_path: Path
) -> None:
    async def play(number: int) -> Outcome:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with copy_stage(cluster, a_topic(scenario.__name__), folder) as copying:
            await scenario(copying)
        return outcome_of(copying.stage)

    again_and_again(f"copy, {scenario.__name__}", play)


@pytest.mark.parametrize("is_frozen", [False, True], ids=["killed", "frozen"])
def test_stop_ends_in_time_ten_times_in_a_row(
    cluster: ProxiedKafka, again_and_again: Again, is_frozen: bool
) -> None:
    async def play(number: int) -> Outcome:
        topic = a_topic("stop")
        stopped = await stop_with_dead_brokers(cluster, topic, STOP_MS, is_frozen=is_frozen)
        return {
            "tally": await tally_of_stopped(cluster, topic, stopped),
            "slowest_stop_s": max(stopped.took_s.values()),
            "figures": stopped.took_s,
        }

    again_and_again(f"stop({STOP_MS}), all nodes {'frozen' if is_frozen else 'killed'}", play)
