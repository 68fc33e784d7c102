"""The ten most common uses, each a short program, print the same on aiokafka and on compat."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from aiokafka_lite.testing.apache_kafka import ApacheKafka
from aiokafka_lite.testing.broker import EmbeddedBroker
from tests.compat.run_program import PROGRAMS, run, run_on_this_package

SHORT = sorted((PROGRAMS / "short").glob("*.py"))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with EmbeddedBroker.threaded(num_partitions=2) as broker:
        yield broker.bootstrap_servers


def both(program: Path, bootstrap: str) -> tuple[str, str]:
    """What it prints on aiokafka, and on this package."""
    return run(str(program), bootstrap), run_on_this_package(f"short/{program.name}", bootstrap)


@pytest.mark.parametrize("program", SHORT, ids=lambda program: program.stem)
def test_a_program_prints_the_same(program: Path, address: str) -> None:
    theirs, ours = both(program, address)
    assert "Traceback" not in theirs
    assert without_noise(ours) == without_noise(theirs)


@pytest.mark.real_kafka
@pytest.mark.soak
@pytest.mark.parametrize("program", SHORT, ids=lambda program: program.stem)
def test_a_program_prints_the_same_on_a_real_kafka(
    program: Path, apache_kafka: ApacheKafka
) -> None:
    theirs, ours = both(program, apache_kafka.bootstrap_servers)
    assert without_noise(ours) == without_noise(theirs)


NOISE = ("not found in cluster metadata", "Group Coordinator Request failed", "no producer id yet")
"""Of the logs, while a topic is being made, and a node that has just started reads its state."""


def without_noise(said: str) -> str:
    lines = said.splitlines(keepends=True)
    return "".join(line for line in lines if not any(noise in line for noise in NOISE))


def test_there_are_ten() -> None:
    assert len(SHORT) == 10
