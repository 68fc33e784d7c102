"""Measures how costs grow with a client's size while its active part stays the same.

The costs are the time and the CPU to the first record, CPU per round, CPU per idle second, and
memory. The clients are ours, aiokafka and confluent-kafka, by the same harness. The broker is the
embedded one, or a real Kafka with three nodes.

Three cases have a consumer: a group of one with many partitions, the same with many topics, and
many consumers in one process. The fourth is a producer with many partitions. Records come to a
fixed few of the partitions, so far apart that nearly each is a round of its own. A round is a poll
that returns records, or a send that is acknowledged.
"""

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from aiokafka_lite import AIOKafkaProducer, TopicPartition
from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic, RecordsToDelete
from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.child_process import child_process
from benchmarks.processes.harness import PEERS, fresh, in_turn, peer_command
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
GROWING_PEERS = ("ours", "aiokafka_peer", "confluent_peer")
TOO_MANY = {("aiokafka_peer", "consumers"): 100, ("confluent_peer", "consumers"): 100}
"""The largest sizes: a thousand consumers take minutes to start, or thousands of threads."""
LEAST_SHARE = 0.5
"""The least share of the rounds in the CPU while records come; below it they drown in idleness."""
FREE_GROWTH = 2.0
"""The largest ratio to what is expected: above it a figure grows too fast, below it the difference
is noise.
"""
NOISE = 0.1
"""The part of a figure by which it varies from run to run."""
IDLE = "growth-idle"
FLAT = {"growth-cpu", IDLE}
"""Costs that must not grow, but for those of more clients. The others may, as the size does."""
TOPICS_S = 120
"""The most time for creating topics: thousands of partitions take a real Kafka a while."""
CONDITIONS = (
    "{active} partitions, where there are so many, have a record of 100 bytes at the start, and "
    "later get {per_second} a second altogether; {polls} polls that return some (or acknowledged "
    "sends) and {idle_s:g} idle seconds a run, each in a fresh process, {rounds} rounds in "
    "alternate order, after one for each kind that does not count. "
    "Partitions have one replica. Consumers "
    "of partitions and topics (four partitions each) are in a group of one; of the many of one "
    "process four have an active partition each, the others an idle one, and none a group; they "
    "start one after the other; producers: idempotent, acks=all, linger 0. The first record is "
    "counted from the start of the clients, or to the first ack. Rounds are left out where being "
    "idle costs more. The note is the figure by that of the least of its kind."
)
CLUSTER_PROPERTIES = {"group.initial.rebalance.delay.ms": "0"}
"""For a real Kafka: the delay of a new group would hide what the clients need."""
CLUSTER_JAVA_OPTIONS = ("-Xmx2g",)
"""For its nodes: with 512 MB each, 5,000 partitions keep them from answering for half a minute."""
REPLICAS = 1
"""A client speaks to leaders alone; copies of 5,000 partitions would only take its processors."""
KINDS = ("partitions", "topics", "consumers", "producer")


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
    broker: str,
    address: str,
    peers: Sequence[str],
    steps: Steps,
    *,
    rounds: int,
    nodes: int = 1,
    sizes: Sequence[Size] = SIZES,
    polls: int = POLLS,
    idle_s: float = IDLE_S,
) -> list[Table]:
    """Run every peer in every size `rounds` times; return a table per kind of cost.

    Before, they run once in the first size of each kind, which does not count.
    """
    plan = _plan(peers, sizes, rounds)
    steps.expect(sum(len(turns) for turns, _ in plan.values()))
    costs: dict[str, list[tuple[str, str, float]]] = {name: [] for name in _TITLES}
    for size, (turns, uncounted) in plan.items():
        with _topics(address, size) as name:
            for number_of_run, peer in enumerate(turns):
                is_counted = number_of_run >= uncounted
                steps.begin(
                    f"growth{'' if is_counted else ', warm-up'}: {size.title}, {PEERS[peer]}"
                )
                outcome = _run(peer, size, address, name, polls, idle_s)
                for cost, value in _costs(outcome) if is_counted else ():
                    costs[cost].append((size.title, PEERS[peer], value))
                steps.done()
    conditions = CONDITIONS.format(
        active=ACTIVE, per_second=PER_SECOND, polls=polls, idle_s=idle_s, rounds=rounds
    )
    return [
        noted(
            f"growth-{cost}", f"{title}, {broker}", unit, conditions, collect(samples), sizes, nodes
        )
        for (cost, samples), (title, unit) in zip(costs.items(), _TITLES.values(), strict=True)
    ]


def _plan(
    peers: Sequence[str], sizes: Sequence[Size], rounds: int
) -> dict[Size, tuple[list[str], int]]:
    """Return the clients of each size in the order of their runs, and how many runs do not count.

    The first size of each kind has a round that does not count. There the broker does for the
    first time what the kind needs of it. The order alternates from round to round, and from size
    to size.
    """
    plan: dict[Size, tuple[list[str], int]] = {}
    kinds: set[str] = set()
    for place, size in enumerate(sizes):
        some = [
            peer
            for peer in peers
            if peer in GROWING_PEERS and size.count <= TOO_MANY.get((peer, size.kind), size.count)
        ]
        uncounted = 0 if size.kind in kinds else 1
        kinds.add(size.kind)
        first = some[::-1] if (place + uncounted) % 2 else some
        turns = in_turn(first, uncounted + rounds)
        plan[size] = turns, uncounted * len(some)
    return plan


_TITLES = {
    "first": ("Time to the first record", "ms"),
    "start": ("CPU to the first record", "CPU ms"),
    "cpu": ("CPU of a round, beyond that of being idle", "CPU µs/round"),
    "idle": ("CPU while nothing comes", "CPU ms/second"),
    "memory": ("Memory of clients that are connected and idle", "MB"),
}


def _costs(outcome: Outcome) -> Iterator[tuple[str, float]]:
    yield "first", outcome.first_s * 1000
    yield "start", outcome.first_cpu_s * 1000
    busy_s = outcome.cpu_s - outcome.idle_cpu * outcome.wall_s
    if busy_s > outcome.cpu_s * LEAST_SHARE:  # otherwise it is within the variation of idle CPU
        yield "cpu", busy_s / outcome.records * 1e6
    yield "idle", outcome.idle_cpu * 1000
    yield "memory", outcome.rss_bytes / 1e6


def noted(
    name: str,
    title: str,
    unit: str,
    conditions: str,
    figures: Sequence[Figure],
    sizes: Sequence[Size],
    nodes: int = 1,
) -> Table:
    """Note the growth beside each figure; limit ours.

    Rounds and idleness must not grow with what is not active. A start and the memory may grow. From
    one size to the next, what they cost beyond the least size may grow as the size does.
    """
    medians = {(figure.row, figure.client): figure.median for figure in figures}
    of_kind: dict[str, list[Size]] = {}
    for size in sizes:
        of_kind.setdefault(size.kind, []).append(size)
    kind_of_row = {size.title: size.kind for size in sizes}
    told = []
    for figure in figures:
        first = medians.get((of_kind[kind_of_row[figure.row]][0].title, figure.client), 0.0)
        told.append(replace(figure, note=f"{number(figure.median / first)}x" if first > 0 else ""))
    limits = {}
    for some in of_kind.values():
        costs = [medians.get((size.title, OURS), 0.0) for size in some]
        limits.update(_limits(name, some, costs, nodes) if costs[0] > 0 else {})
    return Table(name, title, unit, conditions, told, limits=limits)


def _limits(
    name: str, sizes: Sequence[Size], costs: Sequence[float], nodes: int
) -> dict[str, float]:
    first, least = costs[0], sizes[0].count
    if name in FLAT:
        return {
            size.title: FREE_GROWTH * first * (_polling(size, nodes) if name == IDLE else 1)
            for size in sizes
        }
    limits = {}
    for before, size, cost in zip(sizes[1:], sizes[2:], costs[1:], strict=False):
        grown = max(cost - first, first * NOISE)
        by_size = (size.count - least) / (before.count - least)
        limits[size.title] = first + FREE_GROWTH * grown * by_size
    return limits


def _polling(size: Size, nodes: int) -> int:
    """Return how many times more requests wait at brokers than with the least size."""
    if size.kind == "consumers":
        return size.count
    return min(size.count, nodes) if size.kind == "partitions" else 1


# One run…


def _run(peer: str, size: Size, address: str, name: str, polls: int, idle_s: float) -> Outcome:
    job = replace(size.job(address, name), records=polls, idle_s=idle_s)
    asyncio.run(_one_record_each(address, name, job.active))
    with ExitStack() as stack:
        client = stack.enter_context(child_process(peer_command(peer, size.path, job), LIMIT_S))
        client.expect("ready")
        client.expect("idle")
        if size.kind != "producer":
            feed = [address, name, str(job.active), str(PER_SECOND)]
            command = [sys.executable, "-m", "benchmarks.processes.steady_producer", *feed]
            stack.enter_context(child_process(command, LIMIT_S)).expect("writing")
        return client.outcome()


@contextmanager
def _topics(address: str, size: Size) -> Iterator[str]:
    """Create the topics of a size, yield the name of the first, delete them."""
    job = size.job(address, fresh("growth"))
    asyncio.run(_create(address, job.topic_names(), job.partitions))
    try:
        yield job.topic
    finally:
        asyncio.run(_delete(address, job.topic_names()))


async def _create(address: str, names: list[str], partitions: int) -> None:
    async with _admin(address) as admin:
        answer = await admin.create_topics([NewTopic(name, partitions, REPLICAS) for name in names])
        answer.topics.raise_first()
        for name in names:
            await admin.client.metadata.wait_for_topic(name, TOPICS_S)


async def _delete(address: str, names: list[str]) -> None:
    async with _admin(address) as admin:
        (await admin.delete_topics(names)).topics.raise_first()


def _admin(address: str) -> AIOKafkaAdminClient:
    return AIOKafkaAdminClient(bootstrap_servers=address, request_timeout_ms=TOPICS_S * 1000)


async def _one_record_each(address: str, name: str, active: int) -> None:
    """Leave one record in each active partition."""
    places = [TopicPartition(name, partition) for partition in range(active)]
    async with _admin(address) as admin:
        await admin.delete_records(dict.fromkeys(places, RecordsToDelete(-1)))
    async with AIOKafkaProducer(bootstrap_servers=address, linger_ms=0) as producer:
        for place in places:
            await producer.send_and_wait(name, bytes(100), partition=place.partition)
