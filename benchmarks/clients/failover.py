"""Kills the leader while producers send: the longest gap between two acks, by the same harness.

Three real nodes, replication 3, min.insync.replicas 2. All clients send at once, at a fixed rate,
each to a topic of its own. Each topic has one partition, led by the same node. That node is killed
(SIGKILL), so every client of a round sees the same event. The remaining nodes report when the
cluster has elected the new leader.
"""

import asyncio
import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import Protocol

from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic
from aiokafka_lite.errors import KafkaError
from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.child_process import ChildProcess, child_process
from benchmarks.processes.harness import PEERS, fresh, peer_command
from benchmarks.report.progress import Steps
from benchmarks.report.results import Table, collect

PER_SECOND = 100
RUN_S = 20.0
WARM_UP = 50
KILL_AFTER_S = 3.0
LOOK_EVERY_S = 0.02
LIMIT_S = 120.0
NODE_IDS = (1, 2, 3)
BROKER_PROPERTIES = {"replica.fetch.backoff.ms": "50"}
"""A replica that asked the dead leader once more pauses so long before it asks the new one. With
the default of 1,000 ms every client waits for that, and the gap says nothing of the client.
"""
SILENT_PEERS = ("java_peer",)  # its tool prints nothing before its end
SILENT_START_S = 3.0
CONDITIONS = (
    "Apache Kafka {version}, three nodes, replication 3, min.insync.replicas 2, "
    "broker.session.timeout.ms=3000, replica.fetch.backoff.ms=50; the leader is killed (SIGKILL) "
    "once a round for all clients together; each sends {per_second} records a second to one "
    "partition: acks=all, idempotent, linger 0, request timeout 30 s, retry backoff 100 ms, else "
    "defaults; {rounds} rounds. Java's tool tells its slowest ack only, which is the gap to within "
    "{interval:g} ms."
)


@dataclass(frozen=True, slots=True)
class Gap:
    """The longest time without an ack, between moments of the machine's clock."""

    began_s: float
    ended_s: float

    @property
    def length_s(self) -> float:
        """The length in seconds."""
        return self.ended_s - self.began_s


class Cluster(Protocol):
    """Three nodes that can be killed one by one."""

    @property
    def bootstrap_servers(self) -> str:
        """Addresses of all nodes."""

    def address_without(self, node_id: int) -> str:
        """Return the addresses of the other nodes when that one is dead."""

    def kill(self, node_id: int) -> None:
        """Kill it at once."""

    def revive(self, node_id: int) -> None:
        """Start it again and wait until it has joined the cluster."""


class RealCluster:
    """Three nodes of Apache Kafka."""

    def __init__(self, kafka: ApacheKafka) -> None:
        self._nodes = {node.node_id: node for node in kafka.nodes}
        self.bootstrap_servers = kafka.bootstrap_servers

    def address_without(self, node_id: int) -> str:
        """As `Cluster`."""
        left = (node for node in self._nodes.values() if node.node_id != node_id)
        return ",".join(f"127.0.0.1:{node.port}" for node in left)

    def kill(self, node_id: int) -> None:
        """SIGKILL."""
        self._nodes[node_id].kill()

    def revive(self, node_id: int) -> None:
        """As `Cluster`."""
        self._nodes[node_id].spawn()
        self._nodes[node_id].wait_ready(len(NODE_IDS))


def measure(
    cluster: Cluster,
    peers: Sequence[str],
    steps: Steps,
    *,
    rounds: int,
    seconds: float = RUN_S,
    per_second: int = PER_SECOND,
) -> Table:
    """Kill a leader `rounds` times, each time another node, and return the gaps in milliseconds."""
    steps.expect(rounds)
    samples: list[tuple[str, str, float]] = []
    for number in range(rounds):
        steps.begin(f"leader killed: round {number + 1}")
        victim = NODE_IDS[number % len(NODE_IDS)]
        samples += _round(cluster, victim, peers, round(seconds * per_second), per_second)
        cluster.revive(victim)
        steps.done()
    samples.sort(key=lambda sample: sample[0])
    return Table(
        "failover",
        "Leader killed: time without acks",
        "ms",
        CONDITIONS.format(
            version=DEFAULT_VERSION,
            per_second=per_second,
            rounds=rounds,
            interval=1000 / per_second,
        ),
        collect(samples),
    )


def longest_gap(acks: Sequence[tuple[float, float]]) -> Gap:
    """Return the longest gap between two consecutive acks; the moments of sending do not matter.

    `acks` has at least two entries.
    """
    moments = sorted(acked_s for _, acked_s in acks)
    gaps = (Gap(*pair) for pair in itertools.pairwise(moments))
    return max(gaps, key=lambda gap: gap.length_s)


def figures(outcome: Outcome, elected_s: float) -> Iterator[tuple[str, float]]:
    """Yield the figures of one client's run in milliseconds; `elected_s` is when a new leader
    was known.
    """
    if not outcome.acks:
        yield "longest gap", outcome.quantiles_s["max"] * 1000
        return
    gap = longest_gap(outcome.acks)
    yield "longest gap", gap.length_s * 1000
    yield "of it after the election", max(0.0, gap.ended_s - max(elected_s, gap.began_s)) * 1000
    yield "records given up", float(outcome.failed)


def _round(
    cluster: Cluster, victim: int, peers: Sequence[str], records: int, per_second: int
) -> list[tuple[str, str, float]]:
    topics = {peer: fresh("failover") for peer in peers}
    asyncio.run(_create_led_by(cluster, victim, list(topics.values())))
    with ExitStack() as stack:
        children = {
            peer: stack.enter_context(
                _sender(cluster.bootstrap_servers, peer, name, records, per_second)
            )
            for peer, name in topics.items()
        }
        for child in children.values():
            child.expect("sending")
        if not set(SILENT_PEERS).isdisjoint(peers):
            time.sleep(SILENT_START_S)
        time.sleep(KILL_AFTER_S)
        cluster.kill(victim)
        left = cluster.address_without(victim)
        elected_s = asyncio.run(_moment_of_election(left, victim, list(topics.values())))
        return [
            (row, PEERS[peer], value)
            for peer, child in children.items()
            for row, value in figures(child.outcome(), elected_s)
        ]


@contextmanager
def _sender(
    bootstrap_servers: str, peer: str, name: str, records: int, per_second: int
) -> Iterator[ChildProcess]:
    job = Job(bootstrap_servers, name, records, warm_up=WARM_UP, per_second=per_second)
    with child_process(peer_command(peer, "paced", job), LIMIT_S) as child:
        yield child


async def _create_led_by(cluster: Cluster, leader: int, names: Sequence[str]) -> None:
    """Create topics of one partition whose preferred leader is that node."""
    replicas = sorted(NODE_IDS, key=lambda node_id: node_id != leader)
    topics = [NewTopic(name, replica_assignments={0: replicas}) for name in names]
    async with AIOKafkaAdminClient(bootstrap_servers=cluster.bootstrap_servers) as admin:
        (await admin.create_topics(topics)).topics.raise_first()
        for name in names:
            await admin.client.metadata.wait_for_topic(name, 30)


async def _moment_of_election(address: str, dead: int, names: Sequence[str]) -> float:
    """Wait until another node leads every topic, by the metadata of the remaining nodes."""
    async with asyncio.timeout(LIMIT_S):
        while True:
            leaders: set[int | None] = set()
            with suppress(KafkaError):
                async with AIOKafkaAdminClient(bootstrap_servers=address) as admin:
                    topics = (await admin.describe_topic_partitions(names)).succeeded.values()
                leaders = {part.leader for topic in topics for part in topic.partitions}
            now_s = time.monotonic()
            if leaders and leaders.isdisjoint({dead, None}):
                return now_s
            await asyncio.sleep(LOOK_EVERY_S)
