"""What a stream into noop costs, as a + b * tasks + c * batches + d * rows, by connector.

    python -m benchmarks.spark.costs                    three rounds, on a real Apache Kafka
    python -m benchmarks.spark.costs --scale 0.1 --rounds 1

Every round has a fresh session of Spark for each connector, in turn, with the same streams in the
same order. Only CPU seconds count, of the JVM and all Python processes: wall time would tell of
other work on the machine. Load still moves CPU seconds by some tenths, so look at all rounds.
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from aiokafka_lite.testing.java_runtime import find_java
from benchmarks.processes.harness import running_broker
from benchmarks.report.machine_facts import machine_facts, version_of
from benchmarks.report.progress import progress
from benchmarks.report.results import OURS, as_text, as_values, facts_line
from benchmarks.spark.cases import CONNECTORS, Case
from benchmarks.spark.cost_parts import CostParts, cases, kinds_table, sample, table
from benchmarks.spark.measure import Contest
from benchmarks.spark.process_tree import JVM, STREAM_PLANNER, WORKER

ROUNDS = 3
CONDITIONS = (
    "{rounds} rounds; streams of 1, 5 and 20 batches, 4 and 16 partitions, {scale:g} times 0.4 and"
    " 2 million records of 100 bytes, lz4. Least squares in each round; the table has the medians."
)


def main() -> None:
    """Measure, fit and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark.costs", description=__doc__)
    names = [each.name for each in CONNECTORS]
    parser.add_argument("--broker", default="apache", help="apache, embedded, or HOST:PORT")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of records")
    parser.add_argument("--connectors", nargs="+", choices=names, default=["ours", "tuned"])
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    find_java()  # reports a missing Java before anything runs
    connectors = [each for each in CONNECTORS if each.name in options.connectors]
    facts = {**machine_facts(), "pyspark": version_of("pyspark"), "broker": options.broker}
    print(facts_line(facts), end="\n\n", flush=True)
    streams = cases(options.scale)
    with running_broker(options.broker) as servers, progress() as steps:
        outcomes = Contest(servers, streams, connectors, 0, steps).run(options.rounds)
    conditions = CONDITIONS.format(rounds=options.rounds, scale=options.scale)
    of_all = {
        client: [_fitted(streams, taken.cpu_s) for taken in rounds]
        for client, rounds in outcomes.items()
    }
    of_kinds = {
        kind: {
            client: [
                _fitted(streams, {title: found.get(kind, 0.0) for title, found in each.items()})
                for each in (taken.by_kind_s for taken in rounds)
            ]
            for client, rounds in outcomes.items()
            if kind == JVM or client == OURS
        }
        for kind in (JVM, STREAM_PLANNER, WORKER)
    }
    made = [table(of_all, conditions), kinds_table(of_kinds, conditions)]
    for each in made:
        print(as_text(each), flush=True)
    if options.json:
        runs = {name: [each.by_kind_s for each in rounds] for name, rounds in outcomes.items()}
        told = {"facts": facts, "tables": [as_values(each) for each in made], "cpu_s": runs}
        options.json.write_text(json.dumps(told, indent=1) + "\n")


def _fitted(streams: Sequence[Case], cpu_s: Mapping[str, float]) -> CostParts:
    return CostParts.fitted([sample(each, cpu_s[each.title]) for each in streams])


if __name__ == "__main__":
    main()
