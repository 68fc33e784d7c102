"""The common parts of the benchmarks of whole clients: broker, topics, and a peer's process.

Measures nothing itself. Every call blocks.
"""

import asyncio
import json
import subprocess
import sys
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import NamedTuple

from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.child_process import child_process

PEERS = {
    "ours": "aiokafka-lite",
    "aiokafka_peer": "aiokafka",
    "confluent_peer": "confluent-kafka",
    "confluent_aio_peer": "confluent-kafka AIO",
    "kafka_python_peer": "kafka-python",
    "java_peer": "Java",
}
NOTHING = "nothing_peer"
CLIENTS = {**PEERS, NOTHING: "a client that does nothing"}
"""What `benchmarks clients` measures."""
GROUP_PEERS = ("ours", "aiokafka_peer", "confluent_peer", "kafka_python_peer")
"""The peers that `benchmarks.groups` knows."""
RUN_TIMEOUT_S = 120.0
BROKER_PROPERTIES = {
    "log.segment.delete.delay.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
}
"""The broker deletes a run's records from the disk before the next run has ended, and lets groups
have heartbeats each second."""


@contextmanager
def running_broker(kind: str, java_options: Sequence[str] = ()) -> Iterator[str]:
    """Yield the address of a broker in a process of its own: `embedded`, `apache`, or HOST:PORT.

    `java_options` are of an `apache` one. A broker at HOST:PORT is only borrowed.
    """
    if kind == "apache":
        with ApacheKafka(properties=BROKER_PROPERTIES, java_options=java_options) as kafka:
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


class Tls(NamedTuple):
    """The listener over which the measured clients connect. Topics are made over another one."""

    bootstrap_servers: str
    ca_pem: str


@contextmanager
def running_kafka_with_tls() -> Iterator[tuple[str, Tls]]:
    """Yield the address of a real Kafka for topics, and the listener for the measured clients."""
    with ApacheKafka(properties=BROKER_PROPERTIES, security="SSL") as kafka:
        yield kafka.servers("PLAINTEXT"), Tls(kafka.bootstrap_servers, kafka.ca_pem)


@contextmanager
def topic(bootstrap_servers: str, name: str, partitions: int) -> Iterator[str]:
    """Create a topic, yield its name, delete it."""
    asyncio.run(_create_topic(bootstrap_servers, NewTopic(name, partitions)))
    try:
        yield name
    finally:
        asyncio.run(_delete_topic(bootstrap_servers, name))


async def _create_topic(bootstrap_servers: str, topic: NewTopic) -> None:
    """Create a topic, and return when its partitions have leaders."""
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        (await admin.create_topics([topic])).topics.raise_first()
        await admin.client.metadata.wait_for_topic(topic.name, 30)


async def _delete_topic(bootstrap_servers: str, name: str) -> None:
    async with AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        (await admin.delete_topics([name])).topics.raise_first()


def fresh(name: str) -> str:
    """Return an unused name: a borrowed broker may remember an earlier run's."""
    return f"benchmark-{name}-{uuid.uuid4().hex[:8]}"


def in_turn(peers: Sequence[str], rounds: int) -> list[str]:
    """Return the clients in the order of their runs: every second round has them in reverse."""
    there, back = list(peers), list(reversed(peers))
    return [peer for at in range(rounds) for peer in (back if at % 2 else there)]


def peer_command(peer: str, path: str, job: Job, python: str = sys.executable) -> list[str]:
    """Return the command line of one run in the interpreter `python`."""
    described = asdict(job)
    del described["outcome"]
    program = [python, "-m", "benchmarks.processes.run_peer"]
    return [*program, peer, path, json.dumps(described)]


def run_peer(
    peer: str,
    path: str,
    job: Job,
    timeout_s: float = RUN_TIMEOUT_S,
    python: str = sys.executable,
) -> Outcome:
    """Run one path of one peer in the interpreter `python` to its end; return the outcome."""
    with child_process(peer_command(peer, path, job, python), timeout_s) as child:
        return child.outcome()
