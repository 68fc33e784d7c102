"""What the benchmarks of whole clients share: the broker, topics, one run of a peer in a process of
its own, the facts about the machine. It measures nothing itself; every call blocks.
"""

import asyncio
import json
import platform
import subprocess
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version

from aiokafka_lite.cli.topic_admin import create_topic, delete_topic
from aiokafka_lite.codec import crc32c
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from benchmarks.peers.job import Job

PEERS = {
    "ours": "aiokafka-lite",
    "aiokafka_peer": "aiokafka",
    "confluent_peer": "confluent-kafka",
    "kafka_python_peer": "kafka-python",
}

Figures = dict[str, float]


@contextmanager
def running_broker(kind: str) -> Iterator[str]:
    """Yield the address of a broker in a process of its own: `embedded`, `apache`, or HOST:PORT,
    which is only borrowed.
    """
    if kind == "apache":
        with ApacheKafka() as kafka:
            yield kafka.bootstrap_servers
    elif kind == "embedded":
        command = [sys.executable, "-u", "-m", "aiokafka_lite", "broker", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                said = process.stdout.readline().split()
                if not said:
                    raise SystemExit("the embedded broker did not start")
                yield said[2]
            finally:
                process.terminate()
    else:
        yield kind


@contextmanager
def topic(bootstrap_servers: str, name: str, partitions: int) -> Iterator[str]:
    """Create a topic, yield its name, delete it."""
    asyncio.run(create_topic(bootstrap_servers, name, partitions=partitions))
    try:
        yield name
    finally:
        asyncio.run(delete_topic(bootstrap_servers, name))


def fresh(name: str) -> str:
    """Return a name nobody has used: a broker that is borrowed may remember an earlier run's."""
    return f"benchmark-{name}-{uuid.uuid4().hex[:8]}"


def peer_command(peer: str, path: str, job: Job) -> list[str]:
    """The command line of one run."""
    return [sys.executable, "-m", "benchmarks.run_peer", peer, path, json.dumps(asdict(job))]


def run_peer(peer: str, path: str, job: Job, timeout_s: float = 600) -> Figures:
    """Run one path of one peer to its end and return its figures."""
    command = peer_command(peer, path, job)
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{peer} {path} failed:\n{done.stderr[-3000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def machine(broker: str) -> dict[str, str]:
    """What the figures were taken on and with."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "build": "pure Python, " + ("fastcrc" if crc32c.USES_C else "no C CRC"),
        "broker": broker,
        **{name: version(name) for name in PEERS.values()},
    }


def heading(facts: dict[str, str]) -> str:
    """The facts as one line."""
    return ", ".join(f"{name} {value}" for name, value in facts.items())
