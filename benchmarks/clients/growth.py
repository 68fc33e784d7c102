"""Measures how costs grow with a client's size while its active part stays the same.

The costs are CPU per round, CPU per idle second, and memory; ours and aiokafka by the same harness.
Three cases have a consumer: a group of one with many partitions, the same with many topics, and
many consumers in one process. The fourth is a producer with many partitions. Records come to a
fixed few of the partitions, so far apart that nearly each is a round of its own. A round is a poll
that returns records, or a send that is acknowledged.
"""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.child_process import child_process
from benchmarks.processes.harness import PEERS, fresh, peer_command, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS, Figure, Table, collect, number

PARTITIONS = (1, 50, 500, 5000)
TOPICS = (1, 10, 100)
CONSUMERS = (1, 10, 100, 1000)
ACTIVE = 4
"""Partitions that get records, if there are as many."""
FIXED_PARTITIONS = {"topics": ACTIVE, "consumers": ACTIVE + 1}
"""Partitions of a topic, whatever the size.

The last one belongs to all consumers without records.
"""
PER_SECOND = 100
POLLS = 200
WARM_UP = 20
IDLE_S = 3.0
LIMIT_S = 240.0
GROWING_PEERS = ("ours", "aiokafka_peer")
TOO_MANY = {("aiokafka_peer", "consumers"): 100}
"""The largest sizes: a thousand consumers take minutes to start."""
LEAST_SHARE = 0.5
"""The least share of the rounds in the CPU while records come; below it they drown in idleness."""
FREE_GROWTH = 2.0
"""The largest ratio to the smallest size: above it a figure grows, below it the difference is
noise.
"""
CONDITIONS = (
    "{active} partitions, where there are so many, get {per_second} records of 100 bytes a second "
    "altogether; {polls} polls that return some (or acknowledged sends) and {idle_s:g} idle "
    "seconds a run, each in a fresh process, {rounds} rounds; the embedded broker. Consumers of "
    "partitions and topics (four partitions each) are in a group of one; of the many of one "
    "process four have an active partition each, the others an idle one, and none a group; "
    "producers: idempotent, acks=all, linger 0. Rounds are left out where being idle costs more. "
    "The note is the figure by that of the least of its kind."
)


@dataclass(frozen=True, slots=True)
class Size:
    """One row: a kind and its size."""

    kind: str
    """partitions, topics, consumers, or producer."""
    count: int

    @property
    def title(self) -> str:
        """The row's name."""
        if self.kind == "consumers":
            return f"consumers: {self.count:,}"
        if self.kind == "producer":
            return f"producer, partitions: {self.count:,}"
        return f"consumer, {self.kind}: {self.count:,}"

    def job(self, address: str, name: str) -> Job:
        """Return the job of a client of this size."""
        job = Job(address, name, POLLS, per_second=PER_SECOND, warm_up=WARM_UP, idle_s=IDLE_S)
        job.partitions = FIXED_PARTITIONS.get(self.kind, self.count)
        job.topics = self.count if self.kind == "topics" else 1
        job.clients = self.count if self.kind == "consumers" else 1
        job.active = min(ACTIVE, self.count if self.kind == "consumers" else job.partitions)
        job.group_id = fresh("group")
        return job

    @property
    def path(self) -> str:
        """The path's name in `benchmarks.peers`."""
        names = {"consumers": "growing_consumers", "producer": "growing_producer"}
        return names.get(self.kind, "growing_group")


SIZES = [
    *(Size("partitions", count) for count in PARTITIONS),
    *(Size("topics", count) for count in TOPICS),
    *(Size("consumers", count) for count in CONSUMERS),
    *(Size("producer", count) for count in PARTITIONS),
]
QUICK_SIZES = [Size("partitions", count) for count in (1, 500)]


def measure(
    address: str,
    peers: Sequence[str],
    steps: Steps,
    *,
    rounds: int,
    sizes: Sequence[Size] = SIZES,
    polls: int = POLLS,
    idle_s: float = IDLE_S,
) -> list[Table]:
    """Run every peer in every size `rounds` times; return a table per kind of cost."""
    plan = [
        (size, peer)
        for size in sizes
        for peer in peers
        if peer in GROWING_PEERS and size.count <= TOO_MANY.get((peer, size.kind), size.count)
    ]
    steps.expect(rounds * len(plan))
    cpu: list[tuple[str, str, float]] = []
    idle: list[tuple[str, str, float]] = []
    memory: list[tuple[str, str, float]] = []
    for _ in range(rounds):
        for size, peer in plan:
            steps.begin(f"growth: {size.title}, {PEERS[peer]}")
            outcome = _run(peer, size, address, polls, idle_s)
            row = size.title, PEERS[peer]
            busy_s = outcome.cpu_s - outcome.idle_cpu * outcome.wall_s
            # otherwise it is within the variation of idle CPU
            if busy_s > outcome.cpu_s * LEAST_SHARE:
                cpu.append((*row, busy_s / outcome.records * 1e6))
            idle.append((*row, outcome.idle_cpu * 1000))
            memory.append((*row, outcome.rss_bytes / 1e6))
            steps.done()
    conditions = CONDITIONS.format(
        active=ACTIVE, per_second=PER_SECOND, polls=polls, idle_s=idle_s, rounds=rounds
    )
    told = [
        ("cpu", "CPU of a round, beyond that of being idle", "CPU µs/round", cpu),
        ("idle", "CPU while nothing comes", "CPU ms/second", idle),
        ("memory", "Memory of clients that are connected and idle", "MB", memory),
    ]
    return [
        noted(f"growth-{name}", title, unit, conditions, collect(samples), sizes)
        for name, title, unit, samples in told
    ]


def noted(
    name: str,
    title: str,
    unit: str,
    conditions: str,
    figures: Sequence[Figure],
    sizes: Sequence[Size],
) -> Table:
    """Note the growth beside each figure; set a limit on figures that must not grow."""
    medians = {(figure.row, figure.client): figure.median for figure in figures}
    least: dict[str, Size] = {}
    for size in sizes:
        least.setdefault(size.kind, size)
    of_row = {size.title: size for size in sizes}
    told = []
    for figure in figures:
        first = medians.get((least[of_row[figure.row].kind].title, figure.client), 0.0)
        told.append(replace(figure, note=f"{number(figure.median / first)}x" if first > 0 else ""))
    limits = {}
    if name != "growth-memory":  # a client has to remember its assignment
        for size in sizes:
            first = medians.get((least[size.kind].title, OURS), 0.0)
            is_active = size.kind == "consumers" and name == "growth-idle"  # each of them polls
            if first > 0:
                limits[size.title] = FREE_GROWTH * first * (size.count if is_active else 1)
    return Table(name, title, unit, conditions, told, limits=limits)


def _run(peer: str, size: Size, address: str, polls: int, idle_s: float) -> Outcome:
    with ExitStack() as stack:
        first = fresh("growth")
        job = replace(size.job(address, first), records=polls, idle_s=idle_s)
        for name in job.topic_names():
            stack.enter_context(topic(address, name, job.partitions))
        client = stack.enter_context(child_process(peer_command(peer, size.path, job), LIMIT_S))
        client.expect("ready")
        client.expect("idle")
        if size.kind != "producer":
            feed = [address, first, str(job.active), str(PER_SECOND)]
            command = [sys.executable, "-m", "benchmarks.processes.steady_producer", *feed]
            stack.enter_context(child_process(command, LIMIT_S)).expect("writing")
        return client.outcome()
