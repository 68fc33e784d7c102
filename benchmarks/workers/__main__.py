"""Measures KeyedWorkers beside a plain loop and a pool written by hand, all on our consumer.

    python -m benchmarks.workers [--broker embedded|apache|HOST:PORT] [--rounds 3] [--quick]

Handlers take 10 µs (they compute), 1 ms and 100 ms (they sleep). There are 50 handlers at a time,
1,000 keys and 4 partitions. The pool by hand has a queue per worker, and commits when all records
of a poll are handled. Each run is a process of its own; start-up and join are not counted.
"""

import argparse
import sys
from collections import defaultdict

from benchmarks.peers.job import Job, Outcome
from benchmarks.peers.worker_loops import CONCURRENCY
from benchmarks.processes.harness import fresh, run_peer, running_broker, topic
from benchmarks.report.machine_facts import machine_facts
from benchmarks.report.results import OURS, Figure, Table, as_text, facts_line

PARTITIONS = 4
HANDLERS_US = {"10 µs": 10, "1 ms": 1000, "100 ms": 100_000}
WAYS = {
    "keyed_workers": OURS,
    "pool_by_hand": "pool by hand",
    "plain_loop": "plain loop",
}
RECORDS = {10: 100_000, 1000: 20_000, 100_000: 2000}
ALONE = {10: 100_000, 1000: 2000, 100_000: 30}
"""Of the plain loop, which handles one record at a time."""
QUICK_PART = 50
RUN_TIMEOUT_S = 180.0

Samples = dict[tuple[str, str], list[Outcome]]


def main() -> None:
    """Measure, and print tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--broker", default="embedded", help="embedded, apache, or HOST:PORT")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the records")
    options = parser.parse_args()
    part = QUICK_PART if options.quick else 1
    with running_broker(options.broker) as bootstrap_servers:
        samples = measure(bootstrap_servers, rounds=options.rounds, part=part)
    print(facts_line({"broker": options.broker, **machine_facts()}), end="\n\n")
    for table in tables(samples):
        print(as_text(table))


def measure(bootstrap_servers: str, *, rounds: int, part: int = 1) -> Samples:
    """Run each way with each handler, in turns. `part`: by what to divide the records."""
    samples: Samples = defaultdict(list)
    filled = max(RECORDS.values()) // part + 1000
    with topic(bootstrap_servers, fresh("workers"), PARTITIONS) as name:
        run_peer("ours", "send", Job(bootstrap_servers, name, filled))
        for number in range(rounds):
            for handler, handler_us in HANDLERS_US.items():
                for way in WAYS:
                    records = (ALONE if way == "plain_loop" else RECORDS)[handler_us] // part
                    job = Job(
                        bootstrap_servers,
                        name,
                        max(records, 2),
                        warm_up=1,
                        group_id=fresh("group"),
                        handler_us=handler_us,
                    )
                    outcome = run_peer("worker_loops", way, job, RUN_TIMEOUT_S)
                    samples[handler, way].append(outcome)
            print(f"workers: round {number + 1} of {rounds}", file=sys.stderr)
    return samples


def tables(samples: Samples) -> list[Table]:
    """Return the tables of wall time and of CPU."""
    conditions = f"{CONCURRENCY} handlers at a time, 1,000 keys, {PARTITIONS} partitions"
    return [
        Table(
            f"workers_{what}",
            f"Handlers side by side: {title}",
            "µs/record",
            conditions,
            [
                Figure(
                    handler,
                    WAYS[way],
                    [getattr(each, what) / each.records * 1e6 for each in taken],
                )
                for (handler, way), taken in samples.items()
            ],
        )
        for what, title in (("wall_s", "wall time"), ("cpu_s", "CPU"))
    ]


if __name__ == "__main__":
    main()
