"""The benchmarks, all or some: one command prints the tables.

    python -m benchmarks                            everything: real Kafka, embedded broker, leaves
    python -m benchmarks --quick                    a minute: fewer of everything, embedded broker
    python -m benchmarks clients --brokers apache   one table
    python -m benchmarks clients --tls              the same over TLS
    python -m benchmarks clients --paths send getmany --peers ours aiokafka_peer --rounds 3
    python -m benchmarks growth --brokers apache --kinds partitions --curves growth.svg

With --loops and --pythons, clients of asyncio get a column per event loop and interpreter:

    python -m benchmarks clients --loops asyncio uvloop --pythons .venv/bin/python other/bin/python

Tables go to stdout, progress to stderr. Every figure is a cost. A ratio compares a client with ours
in the same run, by the medians. The ratio of the worst case compares the peer's best round with our
worst.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from aiokafka_lite.testing.apache_kafka import DEFAULT_VERSION, ApacheKafka
from aiokafka_lite.testing.java_runtime import JavaNotFoundError, find_java
from benchmarks.clients import (
    admin_calls,
    clients,
    command_line,
    environments,
    failover,
    growth,
    imports,
    latency,
    memory,
    observing,
)
from benchmarks.clients.paths import ASYNCIO, BY_NAME, QUICK, TLS_PEERS
from benchmarks.groups import protocols
from benchmarks.leaves import leaves
from benchmarks.peers.job import LOOPS
from benchmarks.processes.harness import (
    BROKER_PROPERTIES,
    CLIENTS,
    NOTHING,
    Tls,
    running_broker,
    running_kafka_with_tls,
)
from benchmarks.report.curves import draw_curves
from benchmarks.report.machine_facts import machine_facts
from benchmarks.report.plot import plot
from benchmarks.report.progress import Steps, progress
from benchmarks.report.results import Table, as_markdown, as_text, as_values, facts_line

SECTIONS = (
    "clients",
    "latency",
    "admin",
    "cli",
    "observing",
    "groups",
    "failover",
    "memory",
    "growth",
    "leaves",
    "imports",
)
BROKERS = {"apache": f"Apache Kafka {DEFAULT_VERSION}", "embedded": "embedded broker"}
NEED_JAVA = ("java_peer",)
NEED_KAFKA = ("groups", "failover")
"""The sections that the embedded broker is not measured by. `groups` sets short heartbeats."""
QUICK_SCALE = 0.03
FAILOVER_ROUNDS = 5
"""The most rounds of this table: one takes half a minute."""
LEAF_ROUNDS = 15
QUICK_LEAF_ROUNDS = 2
QUICK_LATENCY_S = 0.5
QUICK_WARM_UP_S = 0.0
"""One round of all clients: the fewest that `latency` leaves uncounted."""
QUICK_MEMORY_RECORDS = 10_000
GROUP_ROUNDS = 3
"""The most rounds of these tables."""
QUICK_MEMBERS = 5
GROWTH_ROUNDS = 3
"""The most rounds of this table."""
QUICK_POLLS = 20
QUICK_TURNS = 4
QUICK_IDLE_S = 0.5


def main() -> None:
    """Measure, print, and write the requested files."""
    options = _options()
    _without_java(options)
    facts = machine_facts()
    print(facts_line(facts), end="\n\n", flush=True)
    tables = []
    with progress() as steps:
        for table in _measure(options, steps):
            tables.append(table)
            print(as_text(table), flush=True)
    if options.json:
        told = {"facts": facts, "tables": [as_values(table) for table in tables]}
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    if options.markdown:
        parts = [as_markdown(table) for table in tables]
        options.markdown.write_text("\n".join([facts_line(facts), "", *parts]))
    if options.plot:
        plot(tables, options.plot, facts_line(facts))
    if options.curves:
        draw_curves(tables, options.curves, facts_line(facts))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; all without any")
    parser.add_argument("--brokers", nargs="+", help="apache, embedded, or HOST:PORT")
    parser.add_argument("--rounds", type=int, help="5; in --quick 1")
    parser.add_argument("--scale", type=float, help="of the numbers of records: 1.0 is all")
    parser.add_argument("--paths", nargs="+", choices=list(BY_NAME), help="of clients")
    parser.add_argument(
        "--kinds", nargs="+", choices=growth.KINDS, default=growth.KINDS, help="of growth"
    )
    parser.add_argument("--peers", nargs="+", choices=list(CLIENTS), default=list(CLIENTS))
    parser.add_argument(
        "--loops", nargs="+", choices=LOOPS, help="clients of asyncio, a column per loop"
    )
    parser.add_argument(
        "--pythons",
        nargs="+",
        metavar="PATH",
        help="clients of asyncio, a column per interpreter; each has the package with [bench]",
    )
    parser.add_argument(
        "--tls", action="store_true", help="clients over TLS, on real Kafka, without Java's tool"
    )
    parser.add_argument("--quick", action="store_true", help="fits in a minute")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="tables for a README")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="a picture, .png or .svg")
    parser.add_argument("--largest", type=int, metavar="SIZE", help="of growth, in each kind")
    parser.add_argument("--curves", type=Path, metavar="FILE", help="a picture of growth")
    options = parser.parse_args()
    for section in options.sections:
        if section not in SECTIONS:
            parser.error(f"{section!r} is none of {', '.join(SECTIONS)}")
    quick = options.quick
    if options.tls:
        options.sections, options.brokers = ["clients"], ["apache"]
        options.peers = [peer for peer in options.peers if peer in TLS_PEERS]
    if options.loops or options.pythons:
        options.sections = ["clients"]
        options.peers = [peer for peer in options.peers if peer in ASYNCIO]
        if not options.peers:
            parser.error(f"--loops and --pythons measure {', '.join(ASYNCIO)}: name one of them")
    options.sections = options.sections or [
        section for section in SECTIONS if not quick or section not in NEED_KAFKA
    ]
    options.brokers = options.brokers or (["embedded"] if quick else list(BROKERS))
    if options.sections == ["groups"] and options.brokers == ["embedded"]:
        parser.error("groups is measured on a real Kafka: add --brokers apache")
    options.rounds = options.rounds or (1 if quick else 5)
    options.scale = options.scale or (QUICK_SCALE if quick else 1.0)
    options.paths = options.paths or (QUICK if quick else list(BY_NAME))
    if quick:
        options.peers = [peer for peer in options.peers if peer not in NEED_JAVA]
    return options


def _without_java(options: argparse.Namespace) -> None:
    """Leave out the tables that this machine cannot run, and say so."""
    try:
        find_java()
    except JavaNotFoundError as error:
        print(
            f"without Java: no Apache Kafka, no failover, no Java client ({error})", file=sys.stderr
        )
        options.brokers = [broker for broker in options.brokers if broker != "apache"]
        options.sections = [each for each in options.sections if each not in NEED_KAFKA]
        options.peers = [peer for peer in options.peers if peer not in NEED_JAVA]


def _measure(options: argparse.Namespace, steps: Steps) -> Iterator[Table]:
    for broker in options.brokers:
        with ExitStack() as stack:
            if options.tls:
                address, tls = stack.enter_context(running_kafka_with_tls())
                yield from _with_broker(broker, address, options, steps, tls)
            elif not {"clients", "admin", "cli", "observing", "groups"}.isdisjoint(
                options.sections
            ):
                address = stack.enter_context(running_broker(broker))
                yield from _with_broker(broker, address, options, steps)
        if "latency" in options.sections:
            yield _latency(broker, options, steps)
    rounds, peers, quick = options.rounds, _real(options.peers), options.quick
    if "failover" in options.sections:
        with ApacheKafka(nodes=3, properties=failover.BROKER_PROPERTIES) as kafka:
            cluster = failover.RealCluster(kafka)
            yield failover.measure(cluster, peers, steps, rounds=min(rounds, FAILOVER_ROUNDS))
    if "memory" in options.sections:
        records = QUICK_MEMORY_RECORDS if quick else memory.RECORDS
        yield memory.measure(peers, steps, rounds=rounds, records=records)
    if "growth" in options.sections:
        for broker in options.brokers:
            yield from _growth(broker, options, steps)
    if "leaves" in options.sections:
        yield from leaves.measure(steps, rounds=QUICK_LEAF_ROUNDS if quick else LEAF_ROUNDS)
    if "imports" in options.sections:
        yield imports.measure(peers, steps, rounds=rounds)


def _real(peers: Sequence[str]) -> list[str]:
    return [peer for peer in peers if peer != NOTHING]


def _latency(broker: str, options: argparse.Namespace, steps: Steps) -> Table:
    """Measure it on a broker of its own, which no other table has loaded."""
    quick = options.quick
    with running_broker(broker, latency.JAVA_OPTIONS) as address:
        return latency.measure(
            BROKERS.get(broker, broker),
            address,
            _real(options.peers),
            steps,
            rounds=options.rounds,
            seconds=QUICK_LATENCY_S if quick else latency.RUN_S,
            warm_up_s=QUICK_WARM_UP_S if quick else latency.WARM_UP_S,
        )


def _growth(broker: str, options: argparse.Namespace, steps: Steps) -> Iterator[Table]:
    quick, sizes = options.quick, growth.QUICK_SIZES if options.quick else growth.SIZES
    called = BROKERS.get(broker, broker)
    nodes = 1
    with ExitStack() as stack:
        if broker == "apache":
            nodes = 3
            properties = {**BROKER_PROPERTIES, **growth.CLUSTER_PROPERTIES}
            java_options = growth.CLUSTER_JAVA_OPTIONS
            kafka = stack.enter_context(
                ApacheKafka(nodes=nodes, properties=properties, java_options=java_options)
            )
            address, called = kafka.bootstrap_servers, f"{called}, three nodes"
        else:
            address = stack.enter_context(running_broker(broker))
        yield from growth.measure(
            called,
            address,
            _real(options.peers),
            steps,
            rounds=min(options.rounds, GROWTH_ROUNDS),
            nodes=nodes,
            sizes=[
                size
                for size in sizes
                if size.kind in options.kinds and size.count <= (options.largest or size.count)
            ],
            polls=QUICK_POLLS if quick else growth.POLLS,
            idle_s=QUICK_IDLE_S if quick else growth.IDLE_S,
        )


def _with_broker(
    broker: str, address: str, options: argparse.Namespace, steps: Steps, tls: Tls | None = None
) -> Iterator[Table]:
    called = BROKERS.get(broker, broker)
    peers = _real(options.peers)
    if "clients" in options.sections:
        paths = [BY_NAME[name] for name in options.paths]
        settings = {"rounds": options.rounds, "scale": options.scale}
        called += "" if tls is None else " over TLS"
        if options.loops or options.pythons:
            places = environments.look_at(
                options.pythons or [sys.executable], options.loops or LOOPS[:1], peers
            )
            yield environments.measure(called, address, paths, peers, places, steps, **settings)
            return
        chosen = options.peers
        yield clients.measure(called, address, paths, chosen, steps, tls=tls, **settings)
    if "cli" in options.sections:
        lines = max(1_000, int(command_line.LINES * options.scale))
        yield command_line.measure(address, steps, rounds=options.rounds, lines=lines)
    if "observing" in options.sections:
        turns = QUICK_TURNS if options.quick else observing.TURNS
        yield observing.measure(called, address, steps, rounds=options.rounds, turns=turns)
    if "admin" in options.sections:
        settings = {"rounds": options.rounds, "scale": options.scale}
        yield admin_calls.measure(called, address, peers, steps, **settings)
    if "groups" in options.sections and broker != "embedded":
        yield from protocols.measure(
            called,
            address,
            steps,
            rounds=min(options.rounds, GROUP_ROUNDS),
            members=QUICK_MEMBERS if options.quick else protocols.MEMBERS,
            idle_s=QUICK_IDLE_S if options.quick else protocols.IDLE_S,
        )


if __name__ == "__main__":
    main()
