"""Measures groups by the same harness: the time to the first record, and the pause when a member
joins.

    python -m benchmarks.groups [--broker embedded|apache|HOST:PORT] [--rounds 5] [--json]

Time to first record: from the consumer's constructor to the first record of a topic of 16
partitions. Each client has its defaults. `assigned` means assigned by hand. `new group` means the
only member of a group without committed offsets; `old group` means one with offsets.

Rebalance pause: one member reads 16 partitions that are written steadily, and a second one joins. A
partition's pause is its longest gap between two returned records after that, of either member.
Members send heartbeats each second and commit by their defaults. The broker's first rebalance has
no delay. `longest before` is the same gap before the join. A partition counts as unpaused if its
gap is at most twice as long.

Every client is a process of its own, and the clients take turns within a round. The tables show the
median of the rounds, with minimum and maximum. The table `clients` has the CPU of a group, as
`group`.
"""

import argparse
import asyncio
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass

from aiokafka_lite import AIOKafkaConsumer, TopicPartition
from benchmarks.groups.rebalance_pause import Pauses, measure
from benchmarks.peers.job import Job, Outcome
from benchmarks.processes.harness import (
    GROUP_PEERS,
    PEERS,
    fresh,
    run_peer,
    running_broker,
    topic,
)
from benchmarks.report.machine_facts import machine_facts
from benchmarks.report.results import facts_line

PARTITIONS = 16
FILLED_RECORDS = 10_000
STARTS = {
    "assigned": "first_assigned",
    "new group": "first_subscribed",
    "old group": "first_subscribed",
}
ASSIGNORS = {
    "range": GROUP_PEERS,
    # aiokafka has no such assignor
    "cooperative-sticky": ("ours", "confluent_peer", "kafka_python_peer"),
}
RUN_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Spread:
    """A figure of several rounds."""

    median: float
    least: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> "Spread":
        """Summarise the rounds."""
        taken = list(values)
        return cls(statistics.median(taken), min(taken), max(taken))

    def __str__(self) -> str:
        return f"{self.median:.0f} ({self.least:.0f}-{self.most:.0f})"


@dataclass(frozen=True, slots=True)
class FirstRecord:
    """The time until the first record of one client; milliseconds."""

    start: str
    client: str
    wall_ms: Spread
    cpu_ms: Spread


@dataclass(frozen=True, slots=True)
class RebalancePause:
    """The effect of a join on the partitions of one client's group; milliseconds."""

    assignor: str
    client: str
    median_ms: Spread
    """The median of the partitions' pauses."""
    longest_ms: Spread
    unpaused: Spread
    """How many partitions paused no longer than twice `before_ms` of their run."""
    before_ms: Spread
    """The longest gap of any partition before the join."""
    repeated: Spread
    """Records returned twice."""
    skipped: Spread
    moved: Spread
    """Partitions that the second member came to read."""


def main() -> None:
    """Measure, and print tables or JSON."""
    options = _options()
    starts: list[FirstRecord] = []
    pauses: list[RebalancePause] = []
    with running_broker(options.broker) as bootstrap_servers:
        if "first" in options.parts:
            starts = _first_records(bootstrap_servers, options)
        if "pause" in options.parts:
            pauses = _rebalance_pauses(bootstrap_servers, options)
    facts = {
        "broker": options.broker,
        **machine_facts(),
        "topic": f"{PARTITIONS} partitions, 100-byte values",
        "load": f"{options.per_second} records a second while members join",
        "runs": f"{options.rounds} rounds, fresh processes in turn",
    }
    if options.json:
        told = {
            "machine": facts,
            "first_record": [asdict(row) for row in starts],
            "rebalance_pause": [asdict(row) for row in pauses],
        }
        print(json.dumps(told))
        return
    print(facts_line(facts))
    _print_first_records(starts)
    _print_pauses(pauses, options.peers)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--broker", default="embedded", help="embedded, apache, or HOST:PORT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--per-second", type=int, default=2000, help="records written a second")
    parser.add_argument(
        "--parts", nargs="+", default=["first", "pause"], choices=["first", "pause"]
    )
    parser.add_argument("--peers", nargs="+", default=list(GROUP_PEERS), choices=GROUP_PEERS)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


# Time to first record…


def _first_records(bootstrap_servers: str, options: argparse.Namespace) -> list[FirstRecord]:
    samples: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    with topic(bootstrap_servers, fresh("first-record"), PARTITIONS) as filled:
        run_peer("ours", "send", Job(bootstrap_servers, filled, FILLED_RECORDS))
        asyncio.run(_commit(bootstrap_servers, filled, fresh("warm-up")))
        for number in range(options.rounds):
            for start, path in STARTS.items():
                for peer in options.peers:
                    group_id = fresh("group")
                    if start == "old group":
                        asyncio.run(_commit(bootstrap_servers, filled, group_id))
                    job = Job(
                        bootstrap_servers, filled, 1, partitions=PARTITIONS, group_id=group_id
                    )
                    samples[start, peer].append(run_peer(peer, path, job, RUN_TIMEOUT_S))
            print(f"first record: round {number + 1} of {options.rounds}", file=sys.stderr)
    return [
        FirstRecord(
            start,
            PEERS[peer],
            Spread.of(outcome.wall_s * 1000 for outcome in taken),
            Spread.of(outcome.cpu_s * 1000 for outcome in taken),
        )
        for (start, peer), taken in samples.items()
    ]


async def _commit(bootstrap_servers: str, topic_name: str, group_id: str) -> None:
    """Create a group that has read ten records of each partition."""
    partitions = [TopicPartition(topic_name, number) for number in range(PARTITIONS)]
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap_servers, group_id=group_id, enable_auto_commit=False
    )
    consumer.assign(partitions)
    async with consumer:
        await consumer.commit(dict.fromkeys(partitions, 10))


# Rebalance pause…


def _rebalance_pauses(bootstrap_servers: str, options: argparse.Namespace) -> list[RebalancePause]:
    samples: dict[tuple[str, str], list[Pauses]] = defaultdict(list)
    for number in range(options.rounds):
        for assignor, peers in ASSIGNORS.items():
            for peer in (peer for peer in options.peers if peer in peers):
                with topic(bootstrap_servers, fresh("steady"), PARTITIONS) as steady:
                    job = Job(
                        bootstrap_servers,
                        steady,
                        1,
                        partitions=PARTITIONS,
                        group_id=fresh("group"),
                        assignor=assignor,
                    )
                    pauses = measure(peer, job, per_second=options.per_second)
                samples[assignor, peer].append(pauses)
        print(f"rebalance pause: round {number + 1} of {options.rounds}", file=sys.stderr)
    return [_pause_row(assignor, peer, taken) for (assignor, peer), taken in samples.items()]


def _pause_row(assignor: str, peer: str, taken: list[Pauses]) -> RebalancePause:
    def spread(figure: Callable[[Pauses], float]) -> Spread:
        return Spread.of(figure(pauses) for pauses in taken)

    return RebalancePause(
        assignor,
        PEERS[peer],
        spread(lambda pauses: statistics.median(pauses.pause_s) * 1000),
        spread(lambda pauses: max(pauses.pause_s) * 1000),
        spread(_unpaused),
        spread(lambda pauses: max(pauses.quiet_s) * 1000),
        spread(lambda pauses: pauses.repeated),
        spread(lambda pauses: pauses.skipped),
        spread(lambda pauses: len(pauses.moved)),
    )


def _unpaused(pauses: Pauses) -> int:
    """Count the partitions whose longest gap is within the machine's own variation."""
    noise_s = 2 * max(pauses.quiet_s)
    return sum(pause_s <= noise_s for pause_s in pauses.pause_s)


# Tables…


def _print_first_records(rows: list[FirstRecord]) -> None:
    if not rows:
        return
    print("\n| time to first record | client | ms (min-max) | ratio to ours | CPU ms |")
    print("|---|---|---|---|---|")
    for start in STARTS:
        found = [row for row in rows if row.start == start]
        ours = [row.wall_ms.median for row in found if row.client == PEERS["ours"]]
        for row in found:
            ratio = f"{row.wall_ms.median / ours[0]:.2f}" if ours else ""
            print(f"| {start} | {row.client} | {row.wall_ms} | {ratio} | {row.cpu_ms} |")


def _print_pauses(rows: list[RebalancePause], peers: list[str]) -> None:
    if not rows:
        return
    print(
        "\n| assignor | client | pause ms, median partition | longest | partitions without | "
        "longest before | records twice | moved |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for assignor in ASSIGNORS:
        for peer in peers:
            row = next(
                (row for row in rows if (row.assignor, row.client) == (assignor, PEERS[peer])), None
            )
            if row is None:
                figures = "n/a | | | | | "
            else:
                figures = (
                    f"{row.median_ms} | {row.longest_ms} | {row.unpaused} | {row.before_ms} | "
                    f"{row.repeated} | {row.moved}"
                )
            print(f"| {assignor} | {PEERS[peer]} | {figures} |")


if __name__ == "__main__":
    main()
