"""Plays ten rounds of keyed workers on a real three-node Kafka: members are added, killed, stopped.

Eager and cooperative groups take turns, and so do the two event loops. Each round prints a line.
"""

import asyncio
import random
import secrets
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest
import uvloop

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from tests.conftest import VERSION_BETWEEN, require_kafka
from tests.faults.workers_faults import workers_round
from tests.faults.workers_oracle import Figures

ROUNDS = 10
LOOPS: tuple[Callable[[], asyncio.AbstractEventLoop], ...] = (
    asyncio.new_event_loop,
    asyncio.new_event_loop,
    uvloop.new_event_loop,
    uvloop.new_event_loop,
)
PROPERTIES = {"group.min.session.timeout.ms": "1000", "group.initial.rebalance.delay.ms": "500"}

pytestmark = [pytest.mark.soak, pytest.mark.real_kafka, pytest.mark.timeout(1200)]


async def play(address: str, number: int, folder: Path) -> Figures:
    topic = f"workers-{number}-{secrets.token_hex(4)}"
    async with workers_round(address, topic, folder, is_cooperative=bool(number % 2)) as played:
        made = await played.play(random.Random(number))
        complaints = [*made.complaints, *await played.check_stored()]
        assert not complaints, "\n".join([*complaints[:30], str(made.figures)])
    return made.figures


def test_nothing_is_lost_and_keys_keep_their_order_while_members_die(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    require_kafka(VERSION_BETWEEN)
    with ApacheKafka(VERSION_BETWEEN, nodes=3, properties=PROPERTIES) as kafka:
        for number in range(ROUNDS):
            with asyncio.Runner(loop_factory=LOOPS[number % len(LOOPS)]) as runner:
                figures = runner.run(
                    play(kafka.servers("PLAINTEXT"), number, tmp_path / str(number))
                )
            with capsys.disabled():
                shown = ", ".join(f"{name} {value}" for name, value in asdict(figures).items())
                print(f"\nround {number + 1}: {shown}", end="", flush=True)
