"""Measures the import of a client beyond `import asyncio`: CPU of a fresh interpreter."""

import os
import subprocess
import sys
from collections.abc import Sequence

from benchmarks.processes.harness import PEERS
from benchmarks.report.progress import Steps
from benchmarks.report.results import Table, collect

STATEMENTS = {
    "import of the package": {
        "ours": "import aiokafka_lite",
        "aiokafka_peer": "import aiokafka",
        "confluent_peer": "import confluent_kafka",
        "kafka_python_peer": "import kafka",
    },
    "import of producer and consumer": {
        "ours": "from aiokafka_lite import AIOKafkaConsumer, AIOKafkaProducer",
        "aiokafka_peer": "from aiokafka import AIOKafkaConsumer, AIOKafkaProducer",
        "confluent_peer": "from confluent_kafka import Consumer, Producer",
        "kafka_python_peer": "from kafka import KafkaConsumer, KafkaProducer",
    },
}
LIMITS = {"import of the package": 30.0}
CONDITIONS = (
    "CPU of a fresh interpreter that has imported asyncio; compiled modules are kept, and each was "
    "imported once before; {rounds} rounds in turn."
)
_PROGRAM = """
import asyncio, time
began = time.process_time()
{}
print(time.process_time() - began)
"""


def measure(peers: Sequence[str], steps: Steps, *, rounds: int) -> Table:
    """Import every client `rounds` times, and return milliseconds."""
    plan = [
        (row, peer, statement)
        for row, statements in STATEMENTS.items()
        for peer, statement in statements.items()
        if peer in peers
    ]
    steps.expect(rounds * len(plan))
    for _, _, statement in plan:
        _cpu_s(statement)
    samples = []
    for _ in range(rounds):
        for row, peer, statement in plan:
            steps.begin(f"import: {PEERS[peer]}")
            samples.append((row, PEERS[peer], _cpu_s(statement) * 1000))
            steps.done()
    conditions = CONDITIONS.format(rounds=rounds)
    return Table("imports", "Import", "CPU ms", conditions, collect(samples), limits=LIMITS)


def _cpu_s(statement: str) -> float:
    command = [sys.executable, "-W", "ignore", "-c", _PROGRAM.format(statement)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=True, env=environment
    )
    return float(done.stdout)
