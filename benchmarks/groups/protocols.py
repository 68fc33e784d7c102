"""Measures what a group costs by the consumer protocol (KIP-848), beside our classic one.

There are four tables. A second member joins a group of one that reads: the pauses of the partitions
that stay, and of those that move. Many members start at once: the time until all have the same
number of partitions. A member without records: the requests it sends.
"""

import asyncio
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

from aiokafka_lite.admin import AIOKafkaAdminClient, ConfigResource
from benchmarks.groups.rebalance_pause import Pauses
from benchmarks.groups.rebalance_pause import measure as measure_pauses
from benchmarks.peers.job import Job
from benchmarks.processes.harness import fresh, run_peer, topic
from benchmarks.report.progress import Steps
from benchmarks.report.results import OURS, Table, collect

READ_PARTITIONS = 16
PER_SECOND = 8000
HEARTBEAT_MS = 1000
MEMBERS = 50
BALANCED_PARTITIONS = 100
IDLE_PARTITIONS = 4
IDLE_S = 60.0
KEPT_LIMIT_MS = 5.0
MOVED_LIMIT_MS = 150.0 + HEARTBEAT_MS
RUN_TIMEOUT_S = 240.0
CLASSIC_HEARTBEAT_MS = 3000
"""The default of an idle member; the broker's own for the other protocol is 5 s."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A client with a protocol."""

    title: str
    peer: str
    group_protocol: str

    def job(self, address: str, name: str, partitions: int) -> Job:
        """Return the job of a member."""
        return Job(
            address,
            name,
            1,
            partitions=partitions,
            group_id=fresh("group"),
            group_protocol=self.group_protocol,
            assignor="cooperative-sticky",
        )


CONTENDERS = (
    Contender(OURS, "ours", "consumer"),
    Contender(f"{OURS}, classic", "ours", "classic"),
    Contender("confluent-kafka", "confluent_peer", "consumer"),
)


def measure(
    called: str,
    address: str,
    steps: Steps,
    *,
    rounds: int,
    members: int = MEMBERS,
    idle_s: float = IDLE_S,
) -> list[Table]:
    """Measure all contenders in turn, in each round. What an idle member sends is counted once."""
    steps.expect((2 * rounds + 1) * len(CONTENDERS))
    pauses: list[tuple[Contender, Pauses]] = []
    balanced: list[tuple[str, str, float]] = []
    idle: list[tuple[str, str, float]] = []
    partitions = BALANCED_PARTITIONS * members // MEMBERS
    for _ in range(rounds):
        for contender in CONTENDERS:
            steps.begin(f"groups: a member joins, {contender.title}")
            pauses.append((contender, _pauses(contender, address)))
            steps.done()
            steps.begin(f"groups: {members} members, {contender.title}")
            with topic(address, fresh("balanced"), partitions) as name:
                job = replace(contender.job(address, name, partitions), clients=members)
                outcome = run_peer(contender.peer, "balance", job, RUN_TIMEOUT_S)
            row = f"{members} members, {partitions} partitions"
            balanced.append((f"{row}: seconds", contender.title, outcome.wall_s))
            balanced.append((f"{row}: CPU seconds", contender.title, outcome.cpu_s))
            steps.done()
    for contender in CONTENDERS:
        steps.begin(f"groups: an idle member, {contender.title}")
        for kind, count in _idle(contender, address, idle_s).items():
            idle.append((kind, contender.title, count))
        steps.done()
    return [
        _pause_table(called, pauses, rounds),
        Table(
            "group-balance",
            f"Members that start at once, on {called}",
            "s",
            "All in one process, from the first constructor until each has as many partitions; "
            f"{rounds} rounds. The members of our classic protocol are cooperative",
            collect(balanced),
        ),
        Table(
            "group-idle",
            f"A member without records, on {called}",
            "requests/minute",
            f"The only member of a group, {IDLE_PARTITIONS} partitions, watched for {idle_s:g} s. "
            f"Times are the defaults: the consumer protocol has a heartbeat each 5 s, by the "
            f"broker, and the classic one each {CLASSIC_HEARTBEAT_MS // 1000} s. The statistics of "
            "librdkafka do not count heartbeats of the consumer protocol",
            collect(idle),
        ),
    ]


def _pauses(contender: Contender, address: str) -> Pauses:
    with topic(address, fresh("steady"), READ_PARTITIONS) as name:
        job = replace(contender.job(address, name, READ_PARTITIONS), heartbeat_ms=HEARTBEAT_MS)
        if contender.group_protocol == "consumer":
            asyncio.run(_set_heartbeats(address, job.group_id))
        return measure_pauses(contender.peer, job, per_second=PER_SECOND)


async def _set_heartbeats(address: str, group_id: str) -> None:
    """Let the members of a group send heartbeats as often as those of the classic protocol."""
    change = {"consumer.heartbeat.interval.ms": str(HEARTBEAT_MS)}
    async with AIOKafkaAdminClient(bootstrap_servers=address) as admin:
        [answer] = await admin.alter_configs([ConfigResource("GROUP", group_id, change)])
        answer.configs.raise_first()


def _idle(contender: Contender, address: str, idle_s: float) -> dict[str, float]:
    with topic(address, fresh("idle"), IDLE_PARTITIONS) as name:
        job = contender.job(address, name, IDLE_PARTITIONS)
        job = replace(job, heartbeat_ms=CLASSIC_HEARTBEAT_MS, idle_s=idle_s)
        requests = run_peer(contender.peer, "idle_member", job, RUN_TIMEOUT_S).requests
    minutes = idle_s / 60
    fetches = requests.get("Fetch", 0)
    beats = sum(count for kind, count in requests.items() if kind.endswith("Heartbeat"))
    counted = {
        "fetches": fetches / minutes,
        "other requests": (sum(requests.values()) - beats - fetches) / minutes,
    }
    return {"heartbeats": beats / minutes, **counted} if beats else counted


def _pause_table(called: str, pauses: Sequence[tuple[Contender, Pauses]], rounds: int) -> Table:
    samples: list[tuple[str, str, float]] = []
    for contender, found in pauses:
        kept, moved = kept_and_moved(found)
        for row, values in (("kept", kept), ("moved", moved)):
            samples += [
                (f"{row} partitions: median", contender.title, statistics.median(values)),
                (f"{row} partitions: longest", contender.title, max(values)),
            ]
        samples.append(("longest gap before", contender.title, max(found.quiet_s) * 1000))
        again = float(found.repeated + found.skipped)
        samples.append(("records twice or left out", contender.title, again))
    return Table(
        "group-pause",
        f"Pauses of partitions when a second member joins, on {called}",
        "ms",
        f"{READ_PARTITIONS} partitions, {PER_SECOND:,} records of 100 bytes a second, heartbeats "
        f"each {HEARTBEAT_MS} ms, {rounds} rounds. A pause is how much the longest gap between "
        "two returned records is longer than the partition's longest one before",
        collect(samples),
        limits={
            "kept partitions: median": KEPT_LIMIT_MS,
            "moved partitions: longest": MOVED_LIMIT_MS,
        },
    )


def kept_and_moved(found: Pauses) -> tuple[list[float], list[float]]:
    """Return the pauses of the partitions that stayed, and of those that moved; milliseconds."""
    longer_ms = [
        max(pause_s - quiet_s, 0.0) * 1000
        for pause_s, quiet_s in zip(found.pause_s, found.quiet_s, strict=True)
    ]
    has_moved = [number in found.moved for number in range(len(longer_ms))]
    has_stayed = [not each for each in has_moved]
    return list(compress(longer_ms, has_stayed)), list(compress(longer_ms, has_moved))
