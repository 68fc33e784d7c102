"""Runs sessions of Spark in turn, measures their processes, and makes tables."""

import asyncio
import json
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from aiokafka_lite import AIOKafkaConsumer, TopicPartition
from benchmarks.clients.latency import quantile
from benchmarks.peers.job import Job
from benchmarks.processes.child_process import ChildProcess, child_process
from benchmarks.processes.harness import fresh, peer_command, run_peer, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS, Figure, Table, collect
from benchmarks.spark.cases import (
    COLD,
    FIRST_BATCHES,
    READING,
    ROWS_PER_BATCH,
    TO_NOOP,
    TO_TOPIC,
    WRITING,
    Case,
    Connector,
    Payload,
    SessionJob,
    warm_up,
)
from benchmarks.spark.process_tree import (
    JVM,
    OTHER,
    STREAM_PLANNER,
    WORKER,
    TreeWatch,
    watched,
)

SESSION_LIMIT_S = 600.0
FILL_LIMIT_S = 300.0
SMALL_PARTITIONS = 2
MOST = {
    "noop": {100: 0.55, 1000: 0.65},
    "parquet": {100: 0.9, 1000: 0.9},
    "stream": {100: 0.85, 1000: 1.0},
    "write": {100: 0.9, 1000: 0.9},
    "job": {100: 0.5, 1000: 0.7},
}
"""The most CPU as a share of the official connector's, by shape and size of values."""
MOST_COLD = 1.2
"""The same of a cold start, also in time."""
LEAST_MS = 20
"""The CPU of a kind of process that is worth a row; the system counts in steps of 10 ms."""
MORE_PER_BATCH_MS = 150
"""The most extra time of a small batch over the official connector's, into noop."""
PER_SECOND = 1000
"""Records a second that a mirror follows."""
WARM_UP_S = 5
"""Records of the first seconds do not count."""
CONDITIONS = (
    "{rounds} rounds, in each a fresh session of Spark (local[2,4]) for every connector, in turn; "
    "the sessions have the same cases in the same order, and the first of each shape runs once "
    "before what counts. {records}. 8-byte keys, acks=all, idempotent; official is Spark's own "
    "connector {version} with its defaults, and with kafka.fetch.max.wait.ms=10."
)


@dataclass(slots=True)
class Outcome:
    """The outcome of one session."""

    cpu_s: dict[str, float] = field(default_factory=dict)
    """By title: the CPU of all its processes."""
    by_kind_s: dict[str, dict[str, float]] = field(default_factory=dict)
    """By title, then by the kind of process."""
    wall_s: dict[str, float] = field(default_factory=dict)
    batches_ms: dict[str, list[int]] = field(default_factory=dict)
    """Of streams of small batches: the time of each."""
    delays_s: list[float] = field(default_factory=list)
    """Of records that a mirror follows: from sending to reading them in the target."""
    peak_bytes: int = 0


class Contest:
    """Cases and connectors, with topics for them."""

    def __init__(
        self,
        bootstrap_servers: str,
        cases: Sequence[Case],
        connectors: Sequence[Connector],
        batches: int,
        steps: Steps,
        paced_s: int = 0,
    ) -> None:
        """`batches` is how many small ones count, and `paced_s` how long a mirror follows.

        0 leaves them out.
        """
        self._servers = bootstrap_servers
        self._cases = cases
        self._connectors = connectors
        self._batches = batches + FIRST_BATCHES if batches else 0
        self._steps = steps
        self._paced_s = paced_s
        self._sources: dict[Payload, str] = {}
        self._small = ""

    def run(self, rounds: int) -> dict[str, list[Outcome]]:
        """Return the outcome of every session, by the connector's title."""
        plan = [*warm_up(self._cases), *self._cases]
        in_session = len(plan) + 1 + (2 if self._batches else 0) + bool(self._paced_s)
        outcomes: dict[str, list[Outcome]] = {each.title: [] for each in self._connectors}
        with ExitStack() as stack:
            self._fill(stack)
            self._steps.expect(rounds * len(self._connectors) * in_session)
            for number in range(1, rounds + 1):
                for connector in self._connectors:
                    told = f"round {number} of {rounds}, {connector.title}"
                    outcomes[connector.title].append(self._session(connector, plan, told))
        return outcomes

    def _fill(self, stack: ExitStack) -> None:
        payloads = dict.fromkeys(each.payload for each in self._cases if each.shape in READING)
        small = Payload(100, "none", SMALL_PARTITIONS, max(self._batches, 1) * ROWS_PER_BATCH)
        self._steps.expect(len(payloads) + 1)
        for payload in (*payloads, small):
            self._steps.begin(f"filling {payload.records:,} records, {payload.title}")
            name = stack.enter_context(topic(self._servers, fresh("spark"), payload.partitions))
            self._sources[payload] = name
            run_peer(
                "ours",
                "send",
                Job(
                    self._servers,
                    name,
                    payload.records,
                    payload.value_bytes,
                    None if payload.compression == "none" else payload.compression,
                ),
                FILL_LIMIT_S,
            )
            self._steps.done()
        self._small = self._sources.pop(small)

    def _session(self, connector: Connector, plan: Sequence[Case], told: str) -> Outcome:
        outcome = Outcome()
        with ExitStack() as stack:
            target = partial(self._target, stack)
            job = SessionJob(
                connector=connector.name,
                bootstrap_servers=self._servers,
                cases=[self._described(case, target) for case in plan],
                small=self._small,
                batches=self._batches,
                target=target(SMALL_PARTITIONS),
                paced=(target(1), target(1)) if self._paced_s else None,
            )
            command = [sys.executable, "-m", "benchmarks.spark.session", json.dumps(asdict(job))]
            child = stack.enter_context(child_process(command, SESSION_LIMIT_S))
            watch = stack.enter_context(watched(child.pid))
            for line in child.lines():
                if line.startswith("{"):  # a JVM prints its warnings there, too
                    said = json.loads(line)
                    if "ready" in said:
                        self._feed(child, job, outcome)
                    else:
                        self._note(said, outcome, watch, told)
            self._check_written(job)
            outcome.peak_bytes = watch.peak_bytes
        return outcome

    def _target(self, stack: ExitStack, partitions: int) -> str:
        return stack.enter_context(topic(self._servers, fresh("spark-target"), partitions))

    def _described(self, case: Case, target: Callable[[int], str]) -> dict[str, object]:
        return {
            **asdict(case),
            "title": case.title,
            "source": self._sources.get(case.payload, ""),
            "target": target(case.payload.partitions) if case.shape in WRITING else "",
        }

    def _note(self, said: dict[str, Any], outcome: Outcome, watch: TreeWatch, told: str) -> None:
        title = said.get("begin", "")
        if title:
            self._steps.begin(f"{told}: {title}")
            outcome.cpu_s[title] = -watch.cpu_s()
            outcome.by_kind_s[title] = watch.cpu_by_kind()
            return
        title = said["end"]
        outcome.cpu_s[title] += watch.cpu_s()
        before = outcome.by_kind_s[title]
        outcome.by_kind_s[title] = {
            kind: cpu_s - before.get(kind, 0.0) for kind, cpu_s in watch.cpu_by_kind().items()
        }
        outcome.wall_s[title] = said["wall_s"]
        if said["batches_ms"]:
            outcome.batches_ms[title] = said["batches_ms"]
        self._steps.done()

    def _feed(self, child: ChildProcess, job: SessionJob, outcome: Outcome) -> None:
        """Send records at a fixed rate, and read them where the session has mirrored them."""
        assert job.paced is not None
        source, target = job.paced
        warm_up, records = PER_SECOND * WARM_UP_S, PER_SECOND * self._paced_s
        sent = Job(self._servers, source, warm_up + records, per_second=PER_SECOND)
        read = Job(self._servers, target, records, warm_up=warm_up)
        with child_process(peer_command("ours", "paced_receive", read), FILL_LIMIT_S) as reader:
            reader.expect("ready")
            with child_process(peer_command("ours", "paced", sent), FILL_LIMIT_S) as sender:
                sender.expect("sending")
                if sender.outcome().failed:
                    raise SystemExit("some of the paced records were not acknowledged")
            outcome.delays_s = reader.outcome().delays_s
        child.say("")

    def _check_written(self, job: SessionJob) -> None:
        """Raise SystemExit for a write that has lost records, because its figure is worthless."""
        for case in job.cases:
            if case["target"]:
                found = asyncio.run(_records_in(self._servers, case["target"]))
                if found < case["payload"]["records"]:
                    raise SystemExit(f"{case['title']} wrote no more than {found} records")


async def _records_in(bootstrap_servers: str, name: str) -> int:
    async with AIOKafkaConsumer(bootstrap_servers=bootstrap_servers) as consumer:
        partitions = (await consumer.list_partitions(name))[name]
        ends = await consumer.end_offsets([TopicPartition(name, each) for each in partitions])
    return sum(ends.values())


# Tables…


def tables(
    cases: Sequence[Case], outcomes: dict[str, list[Outcome]], conditions: str
) -> list[Table]:
    """Make all tables."""
    return [
        _of_rows(cases, outcomes, conditions),
        _of_time(cases, outcomes),
        *_of_kinds(cases, outcomes),
        *_of_batches(outcomes),
        *_of_delays(outcomes),
        *_of_sessions(outcomes),
    ]


def _of_rows(cases: Sequence[Case], outcomes: dict[str, list[Outcome]], conditions: str) -> Table:
    samples = [
        (case.title, client, taken.cpu_s[case.title] / case.payload.records * 1e6)
        for case in cases
        for client, all_taken in outcomes.items()
        for taken in all_taken
    ]
    targets = {
        (case.title, client): 1 / MOST[case.shape][case.payload.value_bytes]
        for case in cases
        for client in outcomes
        if client != OURS and case.shape in MOST
    }
    return Table(
        "spark-cpu",
        "CPU with Spark, JVM and Python together",
        "CPU-seconds per million rows",
        conditions,
        collect(samples),
        targets,
    )


def _of_time(cases: Sequence[Case], outcomes: dict[str, list[Outcome]]) -> Table:
    figures = []
    for case in cases:
        for client, all_taken in outcomes.items():
            per_million = 1e6 / case.payload.records
            samples = [taken.wall_s[case.title] * per_million for taken in all_taken]
            note = f"{1000 / statistics.median(samples):,.0f} thousand rows/s"
            figures.append(Figure(case.title, client, samples, note))
    told = "The same runs, from the call to its end: planning and starting are in it."
    return Table("spark-time", "Time with Spark", "seconds per million rows", told, figures)


def _of_kinds(cases: Sequence[Case], outcomes: dict[str, list[Outcome]]) -> Iterator[Table]:
    samples = [
        (f"{case.title}: {kind}", client, taken.by_kind_s[case.title].get(kind, 0.0) * 1e3)
        for case in cases
        for kind in (JVM, STREAM_PLANNER, WORKER, OTHER)
        for client, all_taken in outcomes.items()
        for taken in all_taken
        if case.title in taken.by_kind_s
    ]
    figures = [each for each in collect(samples) if each.median >= LEAST_MS]
    if figures:
        told = f"The same runs, a whole case each. What took less than {LEAST_MS} ms is left out."
        yield Table("spark-kinds", "CPU by kinds of processes", "CPU ms", told, figures)


def _of_batches(outcomes: dict[str, list[Outcome]]) -> Iterator[Table]:
    samples = [
        (
            f"{SMALL_PARTITIONS} partitions {title}",
            client,
            statistics.median(taken.batches_ms[title]),
        )
        for title in (TO_NOOP, TO_TOPIC)
        for client, all_taken in outcomes.items()
        for taken in all_taken
        if title in taken.batches_ms
    ]
    if not samples:
        return
    figures = collect(samples)
    row = figures[0].row
    theirs = [each.median for each in figures if each.row == row and each.client != OURS]
    limits = {row: min(theirs) + MORE_PER_BATCH_MS} if theirs else {}
    told = (
        f"The median batch of a stream of batches of {ROWS_PER_BATCH} rows, after the first"
        f" {FIRST_BATCHES}. The limit is {MORE_PER_BATCH_MS} ms more than the official one's."
    )
    yield Table("spark-batch", "What a micro-batch takes", "ms", told, figures, limits=limits)


def _of_delays(outcomes: dict[str, list[Outcome]]) -> Iterator[Table]:
    samples = [
        (f"produce to sink, {name}", client, quantile(taken.delays_s, share) * 1000)
        for name, share in (("p50", 0.5), ("p99", 0.99))
        for client, all_taken in outcomes.items()
        for taken in all_taken
        if taken.delays_s
    ]
    if samples:
        told = (
            f"{PER_SECOND:,} records a second of 100 bytes to one partition, mirrored to another"
            f" topic by a stream without pauses; the first {WARM_UP_S} s do not count. From the"
            " call that sends a record to the arrival of its copy at a consumer."
        )
        yield Table("spark-latency", "Latency through Spark", "ms", told, collect(samples))


def _of_sessions(outcomes: dict[str, list[Outcome]]) -> Iterator[Table]:
    told = (
        "From the call that starts Spark to the end of a first small read. With the jars, or with"
        " the Python processes that take their place."
    )
    for unit, kind in (("seconds", "wall_s"), ("CPU-seconds", "cpu_s")):
        samples = [
            ("session and first job", client, getattr(taken, kind)[COLD])
            for client, all_taken in outcomes.items()
            for taken in all_taken
        ]
        figures = collect(samples)
        targets = {(each.row, each.client): 1 / MOST_COLD for each in figures}
        yield Table(f"spark-cold-{kind}", "Cold start", unit, told, figures, targets)
    samples = [
        ("whole session", client, taken.peak_bytes / 1e6)
        for client, all_taken in outcomes.items()
        for taken in all_taken
    ]
    told = "Resident, summed over all processes: what Python processes share counts in each."
    yield Table("spark-memory", "Peak memory", "MB", told, collect(samples))


__all__ = ["CONDITIONS", "Contest", "Outcome", "tables"]
