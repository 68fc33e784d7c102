"""Measures the clients of asyncio in several interpreters and event loops, a column for each.

The runs are those of `benchmarks.clients.clients`. All environments take turns within a round.
Broker, topics and their contents are made by the interpreter of the command.
"""

import json
import subprocess
from collections.abc import Sequence

from benchmarks.clients.clients import CONDITIONS, Environment, Run, figure, run_all
from benchmarks.clients.paths import ASYNCIO, Path
from benchmarks.processes.harness import PEERS
from benchmarks.report.progress import Steps
from benchmarks.report.results import Table

LOOK_S = 60.0


def look_at(
    pythons: Sequence[str], loops: Sequence[str], peers: Sequence[str]
) -> list[Environment]:
    """Return an environment for each interpreter and loop, once it was seen to have the clients.

    Raises: SystemExit if an interpreter lacks a client or a loop.
    """
    needed = [*loops, *(f"benchmarks.peers.{peer}" for peer in peers)]
    return [
        Environment(python, loop, f"{version}, {loop}")
        for python in pythons
        for version in [_version_of(python, needed)]
        for loop in loops
    ]


def _version_of(python: str, needed: Sequence[str]) -> str:
    command = [python, "-m", "benchmarks.processes.python_facts", *needed]
    try:
        told = subprocess.run(command, capture_output=True, text=True, timeout=LOOK_S, check=False)
    except OSError as error:
        raise SystemExit(f"{python} cannot be run: {error}") from None
    if told.returncode != 0:
        raise SystemExit(
            f"{python} cannot run the clients; {python} -m pip install -e '.[bench]' may help:\n"
            f"{told.stderr[-2000:]}"
        )
    facts = json.loads(told.stdout)
    return f"{facts['python']}{'' if facts['is_native'] else ' without native leaves'}"


def measure(
    broker: str,
    bootstrap_servers: str,
    paths: Sequence[Path],
    peers: Sequence[str],
    environments: Sequence[Environment],
    steps: Steps,
    *,
    rounds: int,
    scale: float = 1.0,
) -> Table:
    """Run every path of every asyncio client in every environment, `rounds` times.

    A row is a path and a client.
    """
    plan = [
        Run(path, peer, environment)
        for path in paths
        for peer in path.peers
        if peer in peers and peer in ASYNCIO
        for environment in environments
    ]
    samples = run_all(broker, bootstrap_servers, plan, steps, rounds=rounds, scale=scale)
    return Table(
        f"environments-{broker.split(maxsplit=1)[0].lower()}",
        f"Interpreters and event loops on {broker}",
        "CPU µs/record",
        CONDITIONS.format(rounds=rounds, partitions="4 (the group: 16)"),
        [
            figure(f"{run.path.title}: {PEERS[run.peer]}", run.environment.title, taken)
            for run, taken in samples.items()
        ],
    )
