"""Measures `aiokafka-lite produce` beside the same loop with the library: CPU of a fresh process.

The start of each process is measured with an empty input, and subtracted.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes.harness import fresh, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS, Table, collect

LINES = 1_000_000
ROW = "produce a line"
KEYED, LIBRARY = "the command with -K", "for line: await send()"
CONDITIONS = (
    "CPU of a process that sends {lines:,} lines of a file such as `key:1`, less the CPU of one "
    "that sends none; {rounds} rounds in turn."
)
_PROGRAM = """
import asyncio, sys
from aiokafka_lite import AIOKafkaProducer

async def main():
    async with AIOKafkaProducer(bootstrap_servers=sys.argv[1]) as producer:
        for line in sys.stdin.buffer:
            await producer.send(sys.argv[2], line[:-1])

asyncio.run(main())
"""


def measure(address: str, steps: Steps, *, rounds: int, lines: int = LINES) -> Table:
    """Send the lines `rounds` times in each way, and return microseconds a line."""
    steps.expect(rounds * 3)
    samples = []
    with tempfile.TemporaryDirectory() as folder, topic(address, fresh("lines"), 1) as name:
        file = Path(folder) / "lines"
        file.write_text("".join(f"key:{number}\n" for number in range(lines)))
        module = [sys.executable, "-m", "aiokafka_lite", "produce", "-b", address, "-t", name]
        commands = {
            OURS: module,
            KEYED: [*module, "-K", ":"],
            LIBRARY: [sys.executable, "-c", _PROGRAM, address, name],
        }
        for _ in range(rounds):
            for way, command in commands.items():
                steps.begin(f"command line: {way}")
                cost_s = _cpu_s(command, file) - _cpu_s(command, Path(os.devnull))
                samples.append((ROW, way, cost_s / lines * 1e6))
                steps.done()
    conditions = CONDITIONS.format(lines=lines, rounds=rounds)
    return Table(
        "command-line",
        "Command line",
        "CPU µs",
        conditions,
        collect(samples),
        {(ROW, LIBRARY): 0.5},
        {ROW: 1.0},
    )


def _cpu_s(command: Sequence[str], file: Path) -> float:
    before = os.times()
    with file.open("rb") as source:
        subprocess.run(command, stdin=source, capture_output=True, timeout=600, check=True)
    after = os.times()
    return (after.children_user + after.children_system) - (
        before.children_user + before.children_system
    )
