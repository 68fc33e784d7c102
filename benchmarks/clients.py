"""Ours and the peers through the same harness: CPU per record of the whole client process, and
ratios to ours.

    python -m benchmarks.clients [--broker embedded|apache|HOST:PORT] [--rounds 5] [--json]

Every run is a fresh process; the clients take turns within a round, so that a machine that changes
speed changes it for all. The broker is a process of its own and is not counted. The median of the
rounds is shown, with its spread.
"""

import argparse
import asyncio
import json
import platform
import statistics
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from aiokafka_lite.cli.topic_admin import create_topic, delete_topic
from aiokafka_lite.codec import crc32c
from aiokafka_lite.testing.apache_kafka import ApacheKafka
from benchmarks.peers.job import Job

PEERS = {
    "ours": "aiokafka-lite",
    "aiokafka_peer": "aiokafka",
    "confluent_peer": "confluent-kafka",
    "kafka_python_peer": "kafka-python",
}
PATHS = ("send", "send_acked", "getmany", "one_by_one")
PARTITIONS = 4


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
    with _broker(options.broker) as bootstrap_servers:
        samples = _measure(bootstrap_servers, options)
    rows = _rows(samples, options.paths)
    if options.json:
        print(json.dumps({"machine": _machine(options), "rows": [asdict(row) for row in rows]}))
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


@contextmanager
def _broker(kind: str) -> Iterator[str]:
    if kind == "apache":
        with ApacheKafka() as kafka:
            yield kafka.bootstrap_servers
    elif kind == "embedded":
        command = [sys.executable, "-u", "-m", "aiokafka_lite", "broker", "--port", "0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            try:
                yield process.stdout.readline().split()[2]
            finally:
                process.terminate()
    else:
        yield kind


Samples = dict[tuple[str, str], list[tuple[float, float]]]


def _measure(bootstrap_servers: str, options: argparse.Namespace) -> Samples:
    samples: Samples = defaultdict(list)
    filled = _new_topic(bootstrap_servers, "benchmark-filled")
    _run("ours", "send", _job(bootstrap_servers, filled, options))
    for number in range(options.rounds):
        for path in options.paths:
            for peer in options.peers:
                topic = filled
                if path.startswith("send"):
                    topic = _new_topic(bootstrap_servers, f"benchmark-{path}-{peer}-{number}")
                figures = _run(peer, path, _job(bootstrap_servers, topic, options))
                per_record = 1e6 / figures["records"]
                samples[path, peer].append(
                    (figures["cpu_s"] * per_record, figures["wall_s"] * per_record)
                )
                if topic != filled:
                    asyncio.run(delete_topic(bootstrap_servers, topic))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    asyncio.run(delete_topic(bootstrap_servers, filled))
    return samples


def _job(bootstrap_servers: str, topic: str, options: argparse.Namespace) -> Job:
    return Job(bootstrap_servers, topic, options.records, options.value_bytes, options.compression)


def _new_topic(bootstrap_servers: str, name: str) -> str:
    asyncio.run(create_topic(bootstrap_servers, name, partitions=PARTITIONS))
    return name


def _run(peer: str, path: str, job: Job) -> dict[str, float]:
    command = [sys.executable, "-m", "benchmarks.run_peer", peer, path, json.dumps(asdict(job))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{peer} {path} failed:\n{done.stderr[-3000:]}")
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return figures


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


def _machine(options: argparse.Namespace) -> dict[str, str]:
    versions = {name: version(name) for name in PEERS.values()}
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "build": "pure Python, " + ("fastcrc" if crc32c.USES_C else "no C CRC"),
        "broker": options.broker,
        "payload": f"8-byte key, {options.value_bytes}-byte value, "
        f"compression {options.compression or 'none'}, {PARTITIONS} partitions",
        "runs": f"{options.rounds} rounds of {options.records} records, fresh processes in turn",
        **versions,
    }


def _print_table(rows: list[Row], options: argparse.Namespace) -> None:
    print(", ".join(f"{name} {value}" for name, value in _machine(options).items()), end="\n\n")
    print("| path | client | CPU µs/record (min-max) | wall µs/record | CPU, ratio to ours |")
    print("|---|---|---|---|---|")
    for row in rows:
        spread = f"{row.cpu_us:.2f} ({row.cpu_us_min:.2f}-{row.cpu_us_max:.2f})"
        figures = f"{spread} | {row.wall_us:.2f} | {row.ratio_to_ours:.2f}"
        print(f"| {row.path} | {row.client} | {figures} |")


if __name__ == "__main__":
    main()
