"""Measures whole clients, ours and the peers by the same harness: CPU per record.

The figure includes the client process with its threads and children. Every run is a fresh process.
The clients take turns within a round, so that a change of the machine's speed affects all of them.
The broker is a process of its own and is not counted. The start of a client is not counted either.
A producer first sends and flushes some records. A consumer's clock starts with its first returned
records, which do not count. Records it has fetched ahead by then are in its favour. For Java's
tools, the cost of a run of 1,000 records is subtracted.
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.clients.paths import TLS_TARGETS, Path
from benchmarks.peers.job import LOOPS, Job
from benchmarks.processes.harness import CLIENTS, Tls, fresh, run_peer, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import Figure, Table

WARM_UP = 3000
SMALL_RECORDS = 50_000
"""A client that reads at most this many records has a topic of its own: it might fetch far
ahead.
"""
CONDITIONS = (
    "CPU of the whole client process, threads and children included, start excluded; fresh "
    "processes in turn, {rounds} rounds. 8-byte keys (Java's tool: none), 100-byte values unless "
    "1 KB is said, {partitions} partitions, acks=all, idempotent. Else each client's defaults: "
    "batches of 16 KB, ours behind a backlog up to 256 KB, confluent-kafka and its AIO 1 MB and no "
    "CRC check; equal settings are batches of 128 KB, linger 5 ms, CRCs checked; bulk is send_many "
    "and send_batch with 128 KB, produce_batch. Levels: aiokafka-lite gzip 1, lz4 0, zstd 3; "
    "aiokafka gzip 9, lz4 9, zstd 3; confluent-kafka its codecs' defaults (gzip 6, lz4 0, zstd 3); "
    "what is read was written by aiokafka-lite."
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One run; microseconds per record."""

    cpu_us: float
    wall_us: float
    records: int


@dataclass(frozen=True, slots=True)
class Environment:
    """What a client runs in."""

    python: str = sys.executable
    """The path of an interpreter that has the client."""
    loop: str = LOOPS[0]
    title: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What every round runs once."""

    path: Path
    peer: str
    environment: Environment = Environment()


def measure(
    broker: str,
    bootstrap_servers: str,
    paths: Sequence[Path],
    peers: Sequence[str],
    steps: Steps,
    *,
    rounds: int,
    scale: float = 1.0,
    tls: Tls | None = None,
) -> Table:
    """Run every path with every peer that has it, `rounds` times; `broker` is the broker's name.

    With `tls` the measured clients connect over it.
    """
    plan = [Run(path, peer) for path in paths for peer in path.peers if peer in peers]
    samples = run_all(broker, bootstrap_servers, plan, steps, rounds=rounds, scale=scale, tls=tls)
    suffix = "" if tls is None else "-tls"
    targets = {
        path.name: path.targets if tls is None else TLS_TARGETS.get(path.name, {}) for path in paths
    }
    return Table(
        f"clients-{broker.split(maxsplit=1)[0].lower()}{suffix}",
        f"Clients on {broker}",
        "CPU µs/record",
        CONDITIONS.format(rounds=rounds, partitions="4 (the group: 16)"),
        [figure(run.path.title, CLIENTS[run.peer], taken) for run, taken in samples.items()],
        {
            (path.title, CLIENTS[peer]): x
            for path in paths
            for peer, x in targets[path.name].items()
        },
    )


def run_all(
    broker: str,
    bootstrap_servers: str,
    plan: Sequence[Run],
    steps: Steps,
    *,
    rounds: int,
    scale: float,
    tls: Tls | None = None,
) -> dict[Run, list[Sample]]:
    """Run all of `plan` in turn, `rounds` times; return the samples of each run in its order."""
    topics = sorted({found for run in plan if (found := _source(run.path, run.peer, scale))})
    steps.expect(len(topics) + rounds * len(plan))
    samples: dict[Run, list[Sample]] = {run: [] for run in plan}
    with ExitStack() as stack:
        filled = {}
        for each in topics:
            steps.begin(f"{broker}: filling {each.records:,} records {each.compression}")
            filled[each] = stack.enter_context(_filled(bootstrap_servers, each))
            steps.done()
        for run in [*plan] * rounds:
            told = f"{broker}: {run.path.title}, {CLIENTS[run.peer]}"
            steps.begin(" ".join([told, run.environment.title]).rstrip())
            source = _source(run.path, run.peer, scale)
            job = _job(bootstrap_servers, run.path, run.path.records_of(run.peer, scale))
            job.loop = run.environment.loop
            if tls is not None:
                job.bootstrap_servers, job.ca_pem = tls
            if source is None:
                sample = _run_on_a_new_topic(bootstrap_servers, run, job)
            else:
                job.topic = filled[source]
                sample = _run(run, job)
            samples[run].append(sample)
            steps.done()
    return samples


@dataclass(frozen=True, slots=True, order=True)
class Source:
    """The required contents of a topic to read."""

    partitions: int
    value_bytes: int
    compression: str
    records: int


def _source(path: Path, peer: str, scale: float) -> Source | None:
    if not path.reads:
        return None
    wanted, most = path.records_of(peer, scale), path.records_of("ours", scale)
    records = wanted if wanted <= SMALL_RECORDS else most
    return Source(path.partitions, path.value_bytes, path.compression or "", records)


@contextmanager
def _filled(bootstrap_servers: str, source: Source) -> Iterator[str]:
    with topic(bootstrap_servers, fresh("filled"), source.partitions) as name:
        job = Job(
            bootstrap_servers,
            name,
            source.records,
            source.value_bytes,
            source.compression or None,
        )
        run_peer("ours", "send", job)
        yield name


def _job(bootstrap_servers: str, path: Path, records: int) -> Job:
    return Job(
        bootstrap_servers,
        "",
        records,
        path.value_bytes,
        path.compression,
        warm_up=min(WARM_UP, records // 10),
        equal=path.equal,
        partitions=path.partitions,
        group_id=fresh("group"),
    )


def _run_on_a_new_topic(bootstrap_servers: str, run: Run, job: Job) -> Sample:
    with topic(bootstrap_servers, fresh(run.path.name), run.path.partitions) as name:
        job.topic = name
        return _run(run, job)


def _run(run: Run, job: Job) -> Sample:
    outcome = run_peer(run.peer, run.path.run, job, python=run.environment.python)
    per_record = 1e6 / outcome.records
    return Sample(outcome.cpu_s * per_record, outcome.wall_s * per_record, job.records)


def figure(row: str, client: str, taken: Sequence[Sample]) -> Figure:
    """Return the CPU of all rounds as a figure, noted with wall time."""
    wall_us = sorted(sample.wall_us for sample in taken)[len(taken) // 2]
    note = f"{taken[0].records:,} a run, wall {wall_us:.2f} µs"
    return Figure(row, client, [sample.cpu_us for sample in taken], note)
