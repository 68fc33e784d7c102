"""Ours and the peers through the same harness: CPU per record of the whole client process, and
ratios to ours.

    python -m benchmarks.clients [--broker embedded|apache|HOST:PORT] [--rounds 5] [--json]

Every run is a fresh process; the clients take turns within a round, so that a machine that changes
speed changes it for all. The broker is a process of its own and is not counted. The median of the
rounds is shown, with its spread. Connecting stays outside of what is measured, except in `group`:
there the member joins a new group, alone, and reads 16 partitions in batches of 500.
"""

import argparse
import json
import statistics
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

from benchmarks.harness import (
    PEERS,
    Figures,
    fresh,
    heading,
    machine,
    run_peer,
    running_broker,
    topic,
)
from benchmarks.peers.job import Job

PATHS = ("send", "send_acked", "getmany", "one_by_one", "group")
PARTITIONS = 4
GROUP_PARTITIONS = 16


@dataclass(frozen=True, slots=True)
class Row:
    """The figures of one client on one path; times in microseconds per record."""

    path: str
    client: str
    cpu_us: float
    cpu_us_min: float
    cpu_us_max: float
    wall_us: float
    ratio_to_ours: float


def main() -> None:
    """Measure, and print a table or JSON."""
    options = _options()
    with running_broker(options.broker) as bootstrap_servers:
        samples = _measure(bootstrap_servers, options)
    rows = _rows(samples, options.paths)
    if options.json:
        print(json.dumps({"machine": _facts(options), "rows": [asdict(row) for row in rows]}))
    else:
        _print_table(rows, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--broker", default="embedded", help="embedded, apache, or HOST:PORT")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=100_000, help="records a run")
    parser.add_argument("--value-bytes", type=int, default=100)
    parser.add_argument("--compression", default=None)
    parser.add_argument("--paths", nargs="+", default=list(PATHS), choices=PATHS)
    parser.add_argument("--peers", nargs="+", default=list(PEERS), choices=list(PEERS))
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


Samples = dict[tuple[str, str], list[tuple[float, float]]]


def _measure(bootstrap_servers: str, options: argparse.Namespace) -> Samples:
    samples: Samples = defaultdict(list)
    with (
        _filled(bootstrap_servers, options, PARTITIONS, ("getmany", "one_by_one")) as filled,
        _filled(bootstrap_servers, options, GROUP_PARTITIONS, ("group",)) as of_group,
    ):
        for number in range(options.rounds):
            for path in options.paths:
                read = of_group if path == "group" else filled
                for peer in options.peers:
                    figures = _measure_once(bootstrap_servers, peer, path, read, options)
                    per_record = 1e6 / figures["records"]
                    samples[path, peer].append(
                        (figures["cpu_s"] * per_record, figures["wall_s"] * per_record)
                    )
            print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    return samples


@contextmanager
def _filled(
    bootstrap_servers: str, options: argparse.Namespace, partitions: int, paths: Iterable[str]
) -> Iterator[str]:
    """Yield a topic with the records of a run, if one of `paths` reads it."""
    with topic(bootstrap_servers, fresh("filled"), partitions) as name:
        if not set(paths).isdisjoint(options.paths):
            run_peer("ours", "send", _job(bootstrap_servers, name, options))
        yield name


def _measure_once(
    bootstrap_servers: str, peer: str, path: str, filled: str, options: argparse.Namespace
) -> Figures:
    if path.startswith("send"):
        with topic(bootstrap_servers, fresh(path), PARTITIONS) as empty:
            return run_peer(peer, path, _job(bootstrap_servers, empty, options))
    return run_peer(peer, path, _job(bootstrap_servers, filled, options))


def _job(bootstrap_servers: str, topic_name: str, options: argparse.Namespace) -> Job:
    return Job(
        bootstrap_servers,
        topic_name,
        options.records,
        options.value_bytes,
        options.compression,
        group_id=fresh("group"),
    )


def _rows(samples: Samples, paths: list[str]) -> list[Row]:
    medians = {at: statistics.median(cpu for cpu, _ in taken) for at, taken in samples.items()}
    rows = []
    for path in paths:
        for (sampled_path, peer), taken in samples.items():
            if sampled_path != path:
                continue
            cpus = [cpu for cpu, _ in taken]
            median = medians[path, peer]
            wall = statistics.median(wall for _, wall in taken)
            ours = medians.get((path, "ours"), median)
            rows.append(Row(path, PEERS[peer], median, min(cpus), max(cpus), wall, median / ours))
    return rows


def _facts(options: argparse.Namespace) -> dict[str, str]:
    return {
        **machine(options.broker),
        "payload": f"8-byte key, {options.value_bytes}-byte value, "
        f"compression {options.compression or 'none'}, {PARTITIONS} partitions "
        f"({GROUP_PARTITIONS} of the group)",
        "runs": f"{options.rounds} rounds of {options.records} records, fresh processes in turn",
    }


def _print_table(rows: list[Row], options: argparse.Namespace) -> None:
    print(heading(_facts(options)), end="\n\n")
    print("| path | client | CPU µs/record (min-max) | wall µs/record | CPU, ratio to ours |")
    print("|---|---|---|---|---|")
    for row in rows:
        spread = f"{row.cpu_us:.2f} ({row.cpu_us_min:.2f}-{row.cpu_us_max:.2f})"
        figures = f"{spread} | {row.wall_us:.2f} | {row.ratio_to_ours:.2f}"
        print(f"| {row.path} | {row.client} | {figures} |")


if __name__ == "__main__":
    main()
