"""Plays each accident of a share group ten times in a row on a real three-node Kafka.

In each round a member is killed, one paused, one added and one stopped. The accidents: nothing
more, the group's coordinator is killed, or the nodes restart one after the other. Each round prints
a line. The environment variable `SOAK_ROUNDS` sets another number of rounds.
"""

import asyncio
import os
import random
import secrets
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
import uvloop

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from tests.conftest import require_kafka
from tests.faults.group_faults import Cluster
from tests.faults.share_faults import PROPERTIES, share_round
from tests.faults.share_oracle import Figures

ROUNDS = int(os.environ.get("SOAK_ROUNDS", "10"))
ACCIDENTS = ("members", "coordinator", "rolling")
LOOPS: tuple[Callable[[], asyncio.AbstractEventLoop], ...] = (
    asyncio.new_event_loop,
    uvloop.new_event_loop,
)

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(2400)]


@pytest.fixture(scope="module", name="cluster")
def _cluster() -> Iterator[ApacheKafka]:
    """One cluster for all rounds. Each round heals it."""
    require_kafka(DEFAULT_VERSION)
    with ApacheKafka(DEFAULT_VERSION, nodes=3, properties=PROPERTIES) as kafka:
        yield kafka


async def play(kafka: ApacheKafka, accident: str, number: int, folder: Path) -> Figures:
    topic = f"share-{accident}-{number}-{secrets.token_hex(4)}"
    async with share_round(Cluster(kafka), topic, folder) as played:
        made = await played.play(random.Random(f"{accident}-{number}"), accident)
        left = await played.left_over()
        unheard = {place for place in left if made.accepted[place]}
        complaints = [
            *made.complaints,
            *(f"{place} was accepted and came again" for place in unheard),
        ]
        assert not complaints, "\n".join([*complaints[:30], str(made.figures)])
    return made.figures


@pytest.mark.parametrize("accident", ACCIDENTS)
def test_each_record_is_accepted_once(
    accident: str, cluster: ApacheKafka, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(ROUNDS):
        with asyncio.Runner(loop_factory=LOOPS[number % len(LOOPS)]) as runner:
            figures = runner.run(play(cluster, accident, number, tmp_path / str(number)))
        with capsys.disabled():
            shown = ", ".join(f"{name} {value}" for name, value in asdict(figures).items())
            print(f"\nround {number + 1}, {accident}: {shown}", end="", flush=True)
