"""Measures admin calls: the CPU of the client process for a thousand topics, and many partitions.

Each run is one call about everything, by a client that has made the same call about one thing. A
round creates, describes and deletes topics with each client in turn, each in fresh processes. The
offsets are those of a few topics, whose partitions all clients ask for.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from aiokafka_lite.admin import AIOKafkaAdminClient, NewTopic
from benchmarks.peers.job import Job
from benchmarks.processes.harness import PEERS, fresh, run_peer
from benchmarks.report.progress import Steps
from benchmarks.report.results import Figure, Table

TOPICS = 1_000
WIDE_TOPICS = 10
"""A real controller refuses a topic of 10,000 partitions: it limits one change to as many records.
"""
WIDE_PARTITIONS = 1_000
ADMIN_PEERS = ("ours", "kafka_python_peer", "confluent_peer")
CALLS = ("create", "describe", "delete")
LIMIT_S = 240.0
CONDITIONS = (
    "CPU of the whole client process for one call, threads included, start excluded; fresh "
    "processes in turn, {rounds} rounds, after the same call about one topic or partition. Topics "
    "have one partition; the offsets are the ends of the partitions of ten topics."
)


def measure(
    broker: str,
    bootstrap_servers: str,
    peers: Sequence[str],
    steps: Steps,
    *,
    rounds: int,
    scale: float = 1.0,
) -> Table:
    """Run each call with every peer that has it, `rounds` times; return milliseconds."""
    topics, each = (max(1, round(count * scale)) for count in (TOPICS, WIDE_PARTITIONS))
    chosen = [peer for peer in peers if peer in ADMIN_PEERS]
    steps.expect(rounds * len(chosen) * (len(CALLS) + 1))
    samples: dict[tuple[str, str], list[tuple[float, float]]] = {}

    def run(row: str, peer: str, call: str, job: Job) -> None:
        steps.begin(f"{broker}: {row}, {PEERS[peer]}")
        outcome = run_peer(peer, f"admin_{call}", job, LIMIT_S)
        taken = samples.setdefault((row, PEERS[peer]), [])
        taken.append((outcome.cpu_s * 1000, outcome.wall_s * 1000))
        steps.done()

    wide = Job(bootstrap_servers, fresh("wide"), 1, partitions=each, topics=WIDE_TOPICS)
    with _wide_topics(wide):
        for _ in range(rounds):
            names = {peer: fresh("admin") for peer in chosen}
            for call in CALLS:
                for peer in chosen:
                    job = Job(bootstrap_servers, names[peer], topics)
                    run(f"{call} {topics:,} topics", peer, call, job)
                if call == "create":
                    last = [f"{names[peer]}-{topics - 1}" for peer in chosen]
                    asyncio.run(_until_known(bootstrap_servers, last))
            for peer in chosen:
                run(f"list {WIDE_TOPICS * each:,} offsets", peer, "offsets", wide)
    return Table(
        f"admin-{broker.split(maxsplit=1)[0].lower()}",
        f"Admin calls on {broker}",
        "CPU ms",
        CONDITIONS.format(rounds=rounds),
        [_figure(*at, taken) for at, taken in samples.items()],
    )


@contextmanager
def _wide_topics(job: Job) -> Iterator[None]:
    """Create the topics with many partitions, which takes a real broker up to minutes."""
    address, names = job.bootstrap_servers, job.topic_names()

    async def create() -> None:
        async with AIOKafkaAdminClient(bootstrap_servers=address) as admin:
            for name in names:
                created = await admin.create_topics([NewTopic(name, job.partitions, 1)])
                created.topics.raise_first()

    async def delete() -> None:
        async with AIOKafkaAdminClient(bootstrap_servers=address) as admin:
            (await admin.delete_topics(names)).topics.raise_first()

    asyncio.run(create())
    try:
        asyncio.run(_until_known(address, names))
        yield
    finally:
        asyncio.run(delete())


async def _until_known(bootstrap_servers: str, names: Sequence[str]) -> None:
    """Return when the broker knows these topics: it lags behind its controller."""
    async with (
        asyncio.timeout(LIMIT_S),
        AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin,
    ):
        while (await admin.describe_topic_partitions(names)).failed:
            continue


def _figure(row: str, client: str, taken: Sequence[tuple[float, float]]) -> Figure:
    wall_ms = sorted(wall_ms for _, wall_ms in taken)[len(taken) // 2]
    return Figure(row, client, [cpu_ms for cpu_ms, _ in taken], f"wall {wall_ms:,.0f} ms")
