"""The data source `kafka-lite` beside Spark's own Kafka connector: one command prints the tables.

    python -m benchmarks.spark             all of it, on a real Apache Kafka
    python -m benchmarks.spark --quick     about a minute
    python -m benchmarks.spark --targets   the project's targets
    python -m benchmarks.spark --shapes noop --partitions 1 4 16 --compressions none lz4 zstd
    python -m benchmarks.spark --markdown table.md --json figures.json

With `--targets` streams have five batches of four partitions, there is one codec, and latency is
measured. Tables go to stdout, progress to stderr. It needs Java 17, PySpark 4.2.0 and Linux. Every
figure is a cost. A ratio compares another connector with ours in the same run, by the medians. The
ratio of the worst case compares the other's best round with our worst.
"""

import argparse
import compileall
import json
from pathlib import Path

import aiokafka_lite
from aiokafka_lite.testing.java_runtime import find_java
from benchmarks.processes.harness import running_broker
from benchmarks.report.machine_facts import machine_facts, version_of
from benchmarks.report.progress import progress
from benchmarks.report.results import as_markdown, as_text, as_values, facts_line
from benchmarks.spark.cases import CONNECTORS, RECORDS, SHAPES, select
from benchmarks.spark.measure import CONDITIONS, Contest, tables
from benchmarks.spark.official import VERSION

ROUNDS = 3
BATCHES = 30
QUICK_SCALE = 0.05
QUICK_BATCHES = 5
TARGETS = {
    "compressions": ["lz4"],
    "partitions": [4],
    "connectors": ["ours", "tuned"],
    "stream_batches": 5,
    "batches": 0,
    "paced": 20,
}
"""What `--targets` sets, unless the command line has it, too."""
CODECS = ("none", "gzip", "snappy", "lz4", "zstd")


def main() -> None:
    """Measure, print, and write the requested files."""
    options = _options()
    find_java()  # reports a missing Java before anything runs
    compileall.compile_dir(Path(aiokafka_lite.__file__).parent, quiet=2)  # like pip
    connectors = [each for each in CONNECTORS if each.name in options.connectors]
    cases = select(
        options.shapes,
        options.sizes,
        options.compressions,
        options.partitions,
        options.scale,
        options.stream_batches,
    )
    facts = {**machine_facts(), "pyspark": version_of("pyspark"), "broker": options.broker}
    print(facts_line(facts), end="\n\n", flush=True)
    with running_broker(options.broker) as servers, progress() as steps:
        contest = Contest(servers, cases, connectors, options.batches, steps, options.paced)
        outcomes = contest.run(options.rounds)
    records = " and ".join(
        f"{RECORDS[size] * options.scale:,.0f} records of {size} bytes" for size in options.sizes
    )
    conditions = CONDITIONS.format(rounds=options.rounds, records=records, version=VERSION)
    made = tables(cases, outcomes, conditions)
    for table in made:
        print(as_text(table), flush=True)
    if options.json:
        told = {"facts": facts, "tables": [as_values(table) for table in made]}
        options.json.write_text(json.dumps(told, indent=1) + "\n")
    if options.markdown:
        parts = [as_markdown(table) for table in made]
        options.markdown.write_text("\n".join([facts_line(facts), "", *parts]))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.spark",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--broker", default="apache", help="apache, embedded, or HOST:PORT")
    parser.add_argument("--rounds", type=int, help=f"{ROUNDS}; in --quick 1")
    parser.add_argument("--scale", type=float, help="of the numbers of records: 1.0 is all")
    parser.add_argument("--batches", type=int, help="small ones to measure; 0 leaves them out")
    parser.add_argument("--stream-batches", type=int, help="of each stream; 1")
    parser.add_argument("--paced", type=int, metavar="SECONDS", help="of records to follow; 0")
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--sizes", nargs="+", type=int, choices=list(RECORDS), help="of values")
    parser.add_argument("--compressions", nargs="+", choices=CODECS)
    parser.add_argument("--partitions", nargs="+", type=int, help="4, and batch reads also 16")
    names = [each.name for each in CONNECTORS]
    parser.add_argument("--connectors", nargs="+", choices=names)
    parser.add_argument("--quick", action="store_true", help="about a minute")
    parser.add_argument("--targets", action="store_true", help="what the targets speak of")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="tables for a README")
    options = parser.parse_args()
    quick = options.quick
    for name, value in TARGETS.items() if options.targets else ():
        if getattr(options, name) is None:
            setattr(options, name, value)
    options.connectors = options.connectors or names
    options.stream_batches = options.stream_batches or 1
    options.paced = options.paced or 0
    options.rounds = options.rounds or (1 if quick else ROUNDS)
    options.scale = options.scale or (QUICK_SCALE if quick else 1.0)
    options.sizes = options.sizes or ([100] if quick else list(RECORDS))
    options.compressions = options.compressions or (["lz4"] if quick else ["none", "lz4"])
    options.partitions = options.partitions or ([4] if quick else [4, 16])
    if options.batches is None:
        options.batches = QUICK_BATCHES if quick else BATCHES
    return options


if __name__ == "__main__":
    main()
